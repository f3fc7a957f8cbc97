"""Compares tables by their contents, whoever has printed them.

Pages show tables as Lua code, `{10, 20}`, also with strings that have no quotes, `{jan, smit}`. th
and Torch7 print a field in each line, `1 : 10`, and other programs print code with fields in
another order. All of these are read into the same values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')|(?P<mark>[{}\[\]=,;:])"
    r"|(?P<word>[^\s{}\[\]=,;:\"'][^\n{}\[\]=,;:\"']*))"
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
    tokens = list(_tokens(text.strip()))
    try:
        reader = _Reader(tokens)
        value = reader.table(0)
        return value if reader.is_at_end else None
    except _NoTableError:
        return None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token or not token.lastgroup:
            yield "wrong", text[at:]
            return
        at = token.end()
        yield token.lastgroup, token[token.lastgroup].strip()


class _Reader:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def is_at_end(self) -> bool:
        return self._at == len(self._tokens)

    def table(self, depth: int) -> dict[str, _Value]:
        self._expect("{")
        if depth > _DEEPEST:
            raise _NoTableError
        fields: dict[str, _Value] = {}
        number = 0
        while not self._has("}"):
            key, value = self._field(depth)
            if key is None:
                number += 1
                key = str(number)
            if key in fields:
                raise _NoTableError
            fields[key] = value
            # th writes no comma behind a field.
            if self._next() in (("mark", ","), ("mark", ";")):
                self._at += 1
        self._expect("}")
        return fields

    def _field(self, depth: int) -> tuple[str | None, _Value]:
        if self._has("["):
            self._at += 1
            key = self._value(depth)
            self._expect("]")
            self._expect("=")
        else:
            key = self._value(depth)
            if not self._has("=") and not self._has(":"):
                return None, key
            self._at += 1
        if isinstance(key, dict):
            raise _NoTableError
        return _text(key), self._value(depth)

    def _value(self, depth: int) -> _Value:
        if self._has("{"):
            return self.table(depth + 1)
        kind, text = self._next()
        if kind not in ("string", "word"):
            raise _NoTableError
        self._at += 1
        return _ESCAPE.sub(r"\1", text[1:-1]) if kind == "string" else _Word(text)

    def _next(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _has(self, mark: str) -> bool:
        return self._next() == ("mark", mark)

    def _expect(self, mark: str) -> None:
        if not self._has(mark):
            raise _NoTableError
        self._at += 1
