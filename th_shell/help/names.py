"""The names that people ask about."""

from __future__ import annotations

import re

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)


def name_in(text: str) -> str:
    """What is asked about: the text without the arguments of a call."""
    return re.sub(r"\s*\(.*\)\s*;?$", "", text.strip().rstrip("? "), flags=re.DOTALL)


def is_path(name: str) -> bool:
    """Whether a text is a name, which may have a path before it: 'torch.sum', 'x:t'."""
    return _PATH.match(name) is not None


def parts_of(name: str) -> tuple[str, str, str]:
    """The path before a name, '.' or ':', and the name."""
    last = re.split("[.:]", name)[-1]
    before = name.removesuffix(last)
    return before[:-1], before[-1:], last
