"""The names that people ask about, and those that may follow a path."""

from __future__ import annotations

import re

from th_shell.paragraphs import MOST_NAMES
from th_shell.runtime.shell import Engine

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)


def name_in(text: str) -> str:
    """What is asked about: the text without the arguments of a call."""
    text = text.strip().rstrip("? ")
    is_call = text.removesuffix(";").rstrip().endswith(")")
    return text.partition("(")[0].rstrip() if is_call else text


def is_path(name: str) -> bool:
    """Whether a text is a name, which may have a path before it: 'torch.sum', 'x:t'."""
    return _PATH.match(name) is not None


def parts_of(name: str) -> tuple[str, str, str]:
    """The path before a name, '.' or ':', and the name."""
    last = re.split("[.:]", name)[-1]
    before = name.removesuffix(last)
    return before[:-1], before[-1:], last


def few_names(path: str, engine: Engine) -> list[str]:
    """The names that may follow a path; none where they are too many to be compared one by one."""
    listed = engine.members([f".{name}" for name in path.split(".") if name], limit=MOST_NAMES)
    return [] if listed.more else [member.name for member in listed.found]
