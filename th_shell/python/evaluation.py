"""Runs the inputs of a prompt: shows the values of their expressions, and their errors.

Each expression that is a statement shows its value, as at Python's own prompt, through
`sys.displayhook`, which is Python's: debuggers step over it. An input is a file `<input 7>` to
tracebacks, whose lines they show.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import linecache
import sys
import traceback
from contextlib import suppress
from typing import Any

from th_shell.python.programs import without_own_frames

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class Evaluator:
    """Runs inputs in a namespace.

    The last value is `_`, that of the last expression of input 7 is `_7`: names of the module
    builtins, so that a program's own names count first. most: so many values are kept.
    """

    def __init__(self, namespace: dict[str, Any], most: int) -> None:
        self.namespace = namespace
        self._most = most
        self._names: list[str] = []
        self._number = 0
        self._flags = 0  # of the future statements so far

    def run(self, source: str, number: int) -> None:
        """Run the input that has a number; raise what it raises."""
        self._number = number
        name = f"<input {number}>"
        lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[name] = (len(source), None, lines, name)
        tree: Any = compile(source, name, "exec", self._flags | ast.PyCF_ONLY_AST, True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._execute(ast.Interactive(tree.body), name, "single")
        if last is not None:
            self._show(self._execute(ast.Expression(last.value), name, "eval"))

    def _execute(self, tree: Any, name: str, mode: str) -> Any:
        code = compile(tree, name, mode, self._flags, True)
        self._flags |= code.co_flags & _FUTURES
        return eval(code, self.namespace)

    def _show(self, value: object) -> None:
        sys.displayhook(value)
        if value is not None:
            self._remember(value)

    def keep(self, value: object) -> None:
        """Let a value be the last one."""
        builtins.__dict__["_"] = value
        self._remember(value)

    def _remember(self, value: object) -> None:
        name = f"_{self._number}"
        builtins.__dict__[name] = value
        if self._names[-1:] != [name]:
            self._names.append(name)
        while len(self._names) > self._most:
            builtins.__dict__.pop(self._names.pop(0), None)

    def forget(self) -> None:
        """Let go of all values."""
        for name in ("_", *self._names):
            builtins.__dict__.pop(name, None)
        self._names.clear()


def show_error(error: BaseException) -> None:
    """Print an error as Python's prompt does, with the lines of inputs in its traceback."""
    without_own_frames(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    with suppress(Exception):
        sys.stdout.flush()
    if sys.excepthook is sys.__excepthook__:
        sys.stderr.write(_formatted(error))
        sys.stderr.flush()
        return
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as wrong:
        sys.stderr.write(
            f"Error in sys.excepthook:\n{_formatted(wrong)}\nOriginal exception was:\n"
        )
        sys.stderr.write(_formatted(error))


def _formatted(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:  # by the error's own methods
        return f"{type(error).__name__}\n"
