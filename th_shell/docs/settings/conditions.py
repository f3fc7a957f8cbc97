"""Conditions: when an example is skipped, or fails.

    platform == 'darwin'
    not module('nn') and engine != 'th'
    env('CI') or env('HOME') == '/root'

`platform` is Python's name of the system, `engine` the name of the engine: `th`, or the program
that runs the examples. `env(NAME)` is the value of a variable of the environment, empty if there
is none, and `module(NAME)` is true if the page's engine finds that module. A text that is not
empty is true. There are `==` and `!=`, `and`, `or`, `not` and parentheses, and nothing else: a
condition can look, and do nothing.

Python's parser reads it, and nothing of it is run as Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import NamedTuple

from th_shell.python_syntax import expression

_NAMES = ("platform", "engine", "env", "module")


class ConditionError(ValueError):
    """A condition that is none; the message says what is wrong."""


class Facts(NamedTuple):
    """What conditions ask for. modules: those that the engine finds, of all that are asked for."""

    platform: str
    engine: str
    environment: Mapping[str, str]
    modules: frozenset[str] = frozenset()


_Value = Callable[[Facts], "str | bool"]


class Condition(NamedTuple):
    """A condition. modules: the names of the modules that it asks for."""

    text: str
    modules: frozenset[str]
    value: _Value

    def holds(self, facts: Facts) -> bool:
        """Whether it is true."""
        return bool(self.value(facts))


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises ConditionError."""
    modules: set[str] = set()
    node = expression(text.strip())
    if node is None:
        raise ConditionError("it is not one expression")
    value = _read(node, modules)
    return Condition(text, frozenset(modules), value)


def _read(node: ast.expr, modules: set[str]) -> _Value:
    """What a part of a condition means; the modules that it asks for are added to the others."""
    match node:
        case ast.Constant(value=str() as text):
            return lambda _: text
        case ast.Name(id=("platform" | "engine") as fact):
            return attrgetter(fact)
        case ast.Call(ast.Name(id="env"), [ast.Constant(value=str() as variable)], []):
            return lambda facts: facts.environment.get(variable, "")
        case ast.Call(ast.Name(id="module"), [ast.Constant(value=str() as module)], []):
            modules.add(module)
            return lambda facts: module in facts.modules
        case ast.UnaryOp(ast.Not(), operand):
            value = _read(operand, modules)
            return lambda facts: not value(facts)
        case ast.BoolOp(operator, operands):
            values = [_read(one, modules) for one in operands]
            combine = any if isinstance(operator, ast.Or) else all
            return lambda facts: combine(one(facts) for one in values)
        case ast.Compare(first, [(ast.Eq() | ast.NotEq()) as operator], [second]):
            left, right = _read(first, modules), _read(second, modules)
            equal = isinstance(operator, ast.Eq)
            return lambda facts: (left(facts) == right(facts)) is equal
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name not in _NAMES:
            raise ConditionError(f"unknown name {name}: there are platform, engine, env and module")
    raise ConditionError(f"unexpected {ast.unparse(node)}")
