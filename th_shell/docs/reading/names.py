"""The names in Lua code: which variables it reads, and which it gives a value; its strings."""

from __future__ import annotations

import re

from th_shell.tokens import KEYWORDS

_TOKEN = re.compile(
    r"--\[(=*)\[.*?(?:\]\1\]|\Z)|--[^\n]*"
    r"|\[(=*)\[.*?(?:\]\2\]|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|(?P<name>[A-Za-z_]\w*)|\d[\w.]*|\.\.\.?|::|[^\s\w]",
    re.S,
)
_NAME = r"[A-Za-z_]\w*"
_NAMES = rf"({_NAME}(?:\s*,\s*{_NAME})*)"
_BOUND = (
    re.compile(rf"(?:^|(?<!,)[;\s)]){_NAMES}\s*=(?!=)"),
    re.compile(rf"\blocal\s+{_NAMES}"),
    re.compile(rf"\bfor\s+{_NAMES}"),
    re.compile(rf"\bfunction\s+({_NAME})\s*\("),
    re.compile(rf"\bfunction\b\s*[\w.:]*\s*\(\s*{_NAMES}"),
)
#: `require 'nn'` alone: modules of this kind are variables of their own name.
_REQUIRED = re.compile(rf"(?:^|[;\n])\s*require\s*\(?\s*([\"'])({_NAME})\1")


def bound_names(source: str) -> set[str]:
    """The names that code gives a value, also those of locals and parameters."""
    code = _TOKEN.sub(lambda match: match[0] if _is_code(match[0]) else " ", source)
    lists = [names for pattern in _BOUND for names in pattern.findall(code)]
    lists += [name for _, name in _REQUIRED.findall(source)]
    return {name.strip() for names in lists for name in names.split(",")} - KEYWORDS


def read_names(source: str) -> set[str]:
    """The names that code uses otherwise: not as fields, methods or keys of tables."""
    found, before = set(), ""
    opened: list[str] = []
    tokens = [match for match in _TOKEN.finditer(source) if _is_code(match[0])]
    for at, match in enumerate(tokens):
        token, name = match[0], match["name"]
        after = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        in_table = opened[-1:] == ["{"]
        is_key = in_table and after == "=" and before in ("{", ",", ";")
        if name and before not in (".", ":") and not is_key:
            found.add(name)
        if token in "([{":
            opened.append(token)
        elif token in ")]}" and opened:
            opened.pop()
        before = token
    return found - KEYWORDS


def called_names(source: str) -> set[str]:
    """The names of fields and methods in code, and of functions that it calls."""
    found, before = set(), ""
    tokens = [match for match in _TOKEN.finditer(source) if not match[0].startswith("--")]
    for at, match in enumerate(tokens):
        name = match["name"]
        after = tokens[at + 1][0] if at + 1 < len(tokens) else ""
        if name and (before in (".", ":") or after.startswith(("(", "{", '"', "'", "[["))):
            found.add(name)
        before = match[0]
    return found - KEYWORDS


def strings(source: str) -> list[str]:
    """The contents of the short strings in code, as they are written."""
    tokens = (match[0] for match in _TOKEN.finditer(source))
    return [token[1:-1] for token in tokens if token[0] in "\"'"]


def _is_code(token: str) -> bool:
    return not token.startswith(("--", '"', "'", "[[", "[="))
