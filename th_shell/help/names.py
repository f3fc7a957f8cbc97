"""The names that people ask about: how they are read."""

from __future__ import annotations

import re

__all__ = ["is_path", "name_in", "parts_of"]

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)


def name_in(text: str) -> str:
    """What is asked about: the text without the arguments of a call."""
    return re.sub(r"\s*\(.*\)\s*;?$", "", text.strip(), flags=re.DOTALL)


def is_path(name: str) -> bool:
    """Whether a text is a name, which may have a path before it: 'torch.sum', 'x:t'."""
    return _PATH.match(name) is not None


def parts_of(name: str) -> tuple[str, str, str]:
    """The path before a name, '.' or ':', and the name."""
    last = re.split("[.:]", name)[-1]
    before = name.removesuffix(last)
    return before[:-1], before[-1:], last
