"""The names that people ask about, and the names in Lua: how they are read and shown."""

from __future__ import annotations

import re

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)
_STRING = re.compile(r"--\[\[.*?\]\]|--.*|(['\"])(?:\\.|(?!\1).)*\1?|\[\[.*?\]\]")


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


def without_texts(source: str) -> str:
    """A source of Lua with blanks in place of comments and of what is in quotes."""
    return _STRING.sub(_blanks, source)


def _blanks(found: re.Match[str]) -> str:
    quote = found[1] or ""
    if not quote:
        return " " * len(found[0])
    return quote + " " * max(len(found[0]) - 2, 0) + quote
