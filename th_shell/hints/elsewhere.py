"""Names and notations of other languages and libraries, from ``elsewhere.toml``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from th_shell.toml import loads


class Notation(NamedTuple):
    """What is written otherwise in Lua. near: the token that a message must name: '' for one
    in what the pattern finds, '*' for any."""

    pattern: re.Pattern[str]
    near: str
    say: str


@lru_cache(maxsize=1)
def _data() -> Mapping[str, Any]:
    return loads((files("th_shell.hints") / "elsewhere.toml").read_text("utf-8"))


def names(section: str) -> Mapping[str, str]:
    """What is written here for names of 'functions', 'methods' or 'globals'."""
    found: Mapping[str, str] = _data()[section]
    return found


@lru_cache(maxsize=1)
def notations() -> tuple[Notation, ...]:
    """The notations, in the order in which they are tried."""
    return tuple(
        Notation(re.compile(item["pattern"], re.ASCII), item.get("near", ""), item["say"])
        for item in _data()["notations"]
    )
