"""Compares tables by their contents, whoever has printed them.

Pages show tables as Lua code, `{10, 20}`, also with strings that have no quotes, `{jan, smit}`. th
and Torch7 print a field in each line, `1 : 10`, and other programs print code with fields in
another order. All of these are read into the same values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from th_shell.docs.judging.printout import is_number

_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_ITEM = rf"(?:{_STRING}|[^\s{{}}\[\]=,;:\"'][^\n{{}}\[\]=,;:\"']*)"
_TOKEN = re.compile(
    rf"\s*(?:(?P<open>{{)|(?P<close>}})|(?P<mark>[,;])|\[\s*(?P<bracketed>{_ITEM})\s*\]\s*="
    rf"|(?P<key>{_ITEM})\s*[=:]|(?P<value>{_ITEM}))"
)
_ESCAPE = re.compile(r"\\(.)")
_DEEPEST = 50  # tables in tables
_LONGEST = 20_000  # characters of a text


@dataclass(frozen=True)
class _Word:
    """A number, or a word without quotes."""

    text: str


#: A string, another word, or the fields of a table by their keys.
_Value = str | _Word | dict[str, "_Value"]


def same_tables(expected: str, got: str, equal: Callable[[str, str], bool]) -> bool:
    """Whether two texts are one table each, with the same fields in any order.

    equal: whether words that are no strings, such as numbers, are the same. Strings must have the
    same characters; where the page has no quotes, the printed string need not have any.
    """
    if "{" not in expected or max(len(expected), len(got)) > _LONGEST:
        return False
    wanted, found = _read(expected), _read(got)
    return wanted is not None and found is not None and _same(wanted, found, equal)


def like_tables(expected: str, first: str, second: str) -> bool:
    """Whether texts are tables with the same fields, but for numbers in which two runs differ."""
    if "{" not in expected or max(map(len, (expected, first, second))) > _LONGEST:
        return False
    values = [value for value in map(_read, (expected, first, second)) if value is not None]
    return len(values) == 3 and _like(*values)


def _like(wanted: _Value, first: _Value, second: _Value) -> bool:
    if isinstance(wanted, dict) and isinstance(first, dict) and isinstance(second, dict):
        return wanted.keys() == first.keys() == second.keys() and all(
            _like(value, first[key], second[key]) for key, value in wanted.items()
        )
    if first == second:
        return wanted == first
    return all(isinstance(v, _Word) and is_number(v.text) for v in (wanted, first, second))


def _same(wanted: _Value, found: _Value, equal: Callable[[str, str], bool]) -> bool:
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(
            _same(value, found[key], equal) for key, value in wanted.items()
        )
    if isinstance(wanted, dict) or isinstance(found, dict):
        return False
    if isinstance(wanted, _Word) and isinstance(found, _Word):
        return equal(wanted.text, found.text)
    return _text(wanted) == _text(found)


def _text(value: str | _Word) -> str:
    return value.text if isinstance(value, _Word) else value


class _NoTableError(Exception):
    """A text is not one table."""


def _read(text: str) -> _Value | None:
    """The table that a text is; None where it is something else."""
    tokens = _tokens(text.strip())
    try:
        is_table = next(tokens, ("", ""))[0] == "open"
        value = _table(tokens, 0) if is_table else None
        return None if next(tokens, None) else value
    except _NoTableError:
        return None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token or not token.lastgroup:
            raise _NoTableError
        at = token.end()
        yield token.lastgroup, token[token.lastgroup].strip()


def _table(tokens: Iterator[tuple[str, str]], depth: int) -> dict[str, _Value]:
    """The fields up to the brace that closes them. depth: of tables around."""
    fields: dict[str, _Value] = {}
    key: str | None = None
    number, may_end = 0, False
    for kind, text in tokens:
        if kind == "close" and key is None:
            return fields
        if kind == "mark" and may_end:  # th writes none behind a field
            may_end = False
        elif kind in ("key", "bracketed") and key is None:
            key, may_end = _text(_item(text)), False
        elif kind in ("open", "value") and depth <= _DEEPEST:
            value = _table(tokens, depth + 1) if kind == "open" else _item(text)
            number += key is None
            name = str(number) if key is None else key
            if name in fields:
                raise _NoTableError
            fields[name] = value
            key, may_end = None, True
        else:
            break
    raise _NoTableError


def _item(text: str) -> str | _Word:
    return _ESCAPE.sub(r"\1", text[1:-1]) if text[0] in "\"'" else _Word(text)
