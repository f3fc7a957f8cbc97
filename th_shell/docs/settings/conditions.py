"""Conditions: when an example is skipped, or fails.

    platform == 'darwin'
    not module('nn') and engine != 'th'
    env('CI') or env('HOME') == '/root'

`platform` is Python's name of the system, `engine` the name of the engine: `th`, or the program
that runs the examples. `env(NAME)` is the value of a variable of the environment, empty if there
is none, and `module(NAME)` is true if the page's engine finds that module. A text that is not
empty is true. There are `==` and `!=`, `and`, `or`, `not` and parentheses, and nothing else: a
condition can look, and do nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

_TOKEN = re.compile(
    r"\s*(?:(?P<text>'[^']*'|\"[^\"]*\")|(?P<word>[A-Za-z_]\w*)|(?P<mark>==|!=|[()]))"
)
_RESERVED = frozenset(("and", "or", "not"))


class ConditionError(ValueError):
    """A condition that is none; the message says what is wrong."""


@dataclass(frozen=True)
class Facts:
    """What conditions ask for. modules: those that the engine finds, of all that are asked for."""

    platform: str
    engine: str
    environment: Mapping[str, str]
    modules: frozenset[str] = frozenset()


_Value = Callable[[Facts], "str | bool"]


@dataclass(frozen=True)
class Condition:
    """A condition. modules: the names of the modules that it asks for."""

    text: str
    modules: frozenset[str]
    _value: _Value

    def holds(self, facts: Facts) -> bool:
        """Whether it is true."""
        return bool(self._value(facts))


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises ConditionError."""
    parser = _Parser(text)
    value = parser.either()
    parser.end()
    return Condition(text, frozenset(parser.modules), value)


class _Parser:
    """Reads a condition from the left to the right; each method reads one part of the grammar."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._token = self._next()
        self.modules: set[str] = set()

    def either(self) -> _Value:
        left = self._both()
        while self._takes("or"):
            left = _or(left, self._both())
        return left

    def end(self) -> None:
        if self._token:
            raise ConditionError(f"unexpected {self._token}")

    def _both(self) -> _Value:
        left = self._negated()
        while self._takes("and"):
            left = _and(left, self._negated())
        return left

    def _negated(self) -> _Value:
        if self._takes("not"):
            value = self._negated()
            return lambda facts: not value(facts)
        return self._compared()

    def _compared(self) -> _Value:
        if self._takes("("):
            value = self.either()
            self._must_have(")")
            return value
        left = self._one()
        if self._takes("=="):
            return _equal(left, self._one())
        if self._takes("!="):
            equal = _equal(left, self._one())
            return lambda facts: not equal(facts)
        return left

    def _one(self) -> _Value:
        token = self._token
        if token[:1] in ("'", '"') and token:
            self._token = self._next()
            return lambda _: token[1:-1]
        if self._takes("platform"):
            return lambda facts: facts.platform
        if self._takes("engine"):
            return lambda facts: facts.engine
        if self._takes("env"):
            name = self._argument()
            return lambda facts: facts.environment.get(name, "")
        if self._takes("module"):
            module = self._argument()
            self.modules.add(module)
            return lambda facts: module in facts.modules
        if not token or token in _RESERVED or not token[0].isalpha():
            raise ConditionError(f"unexpected {token or 'end'}")
        raise ConditionError(f"unknown name {token}: there are platform, engine, env and module")

    def _argument(self) -> str:
        self._must_have("(")
        token = self._token
        if token[:1] not in ("'", '"') or not token:
            raise ConditionError(f"unexpected {token or 'end'}: a quoted name is missing")
        self._token = self._next()
        self._must_have(")")
        return token[1:-1]

    def _must_have(self, mark: str) -> None:
        if not self._takes(mark):
            raise ConditionError(f"unexpected {self._token or 'end'}: {mark} is missing")

    def _takes(self, token: str) -> bool:
        is_next = self._token == token
        if is_next:
            self._token = self._next()
        return is_next

    def _next(self) -> str:
        match = _TOKEN.match(self._text, self._at)
        if match:
            self._at = match.end()
            return match[0].strip()
        rest = self._text[self._at :].strip()
        if rest:
            raise ConditionError(f"unexpected {rest[0]}")
        return ""


def _or(left: _Value, right: _Value) -> _Value:
    return lambda facts: left(facts) or right(facts)


def _and(left: _Value, right: _Value) -> _Value:
    return lambda facts: left(facts) and right(facts)


def _equal(left: _Value, right: _Value) -> _Value:
    return lambda facts: left(facts) == right(facts)
