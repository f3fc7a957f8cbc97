"""The Lua functions that compute calls on few elements, and their arguments.

A row that names one lets LuaJIT try each call of its form first (``small='linalg/blas.addmv'``: the
function ``addmv`` of ``ops/linalg/blas.lua``, which is the Lua half of that module). The function
gets an argument for each word of the form, as the implementation does: what a call leaves out is
its default, and nil for a new tensor. Indices count from 1, and no number is converted. Where the
implementation reads a `Call`, the function gets the call's arguments as they are. It returns the
call's results, or nil, with nothing changed, for what it does not handle: all checks and messages
are Python's.

Which form a call means is decided by the same match as for Python's way
(``calls.forms.Form.match``), once for each pattern of argument kinds.
"""

from __future__ import annotations

import re
from typing import Any

from th_shell.runtime.calls.forms import Argument, Form, parse_form
from th_shell.runtime.calls.plans import Plans
from th_shell.runtime.calls.table import TABLE, Row
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, LONG, DType
from th_shell.runtime.core.storage import STORAGE_CLASSES
from th_shell.runtime.core.tensor import TENSOR_CLASSES


def _samples() -> list[Any]:
    """A value of each kind, at the number that lua/tensor/small.lua gives to the kind."""
    tensors = [cls() for cls in TENSOR_CLASSES]
    lists = [[tensors[dtype.index]] for dtype in (FLOAT, DOUBLE)]
    return [None, 1.5, True, *tensors, *lists, STORAGE_CLASSES[LONG.index].new(1)]


def find_small(plans: Plans, name: str, dtype: DType | None, code: int) -> bytes | None:
    """The Lua function for a pattern of arguments; None where there is none.

    dtype: as `Plans.entry` takes it. code: the kinds of the arguments as digits to the base 16,
    the first argument last. Returns text for Lua: the index of the element type, module, function
    and arguments, which are called a1, a2 …
    """
    samples, kinds = _samples(), []
    while code:
        kinds.append(code % 16)
        code //= 16
    args = tuple([samples[kind] for kind in kinds])
    space = "function" if dtype is None else "method"
    if dtype is None:
        dtype, _ = plans.function_type(args)
    row, words = _match(name, space, dtype, args)
    if row is None or row.small is None:
        return None
    module, _, function = row.small.partition(".")
    return f"\1{dtype.index} {module} {function} {', '.join(words)}".encode()


def _match(
    name: str, space: str, dtype: DType, args: tuple[Any, ...]
) -> tuple[Row | None, list[str]]:
    """The row that fits, and the arguments for its Lua function."""
    rows = [row for row in TABLE[name] if dtype in row.types and row.form(space) is not None]
    if rows and rows[0].reads_call:
        return rows[0], [f"a{i + 1}" for i in range(len(args))]
    for row in rows:
        # How many dimensions tensors have is for the Lua function to look at.
        form = parse_form(re.sub(r"~\dD", "", row.form(space) or ""), dtype)
        places = form.match(args)
        if places is not None:
            return row, [_word(form, i, places, len(args)) for i in range(len(places))]
    return None, []


def _word(form: Form, i: int, places: list[int | None], count: int) -> str:
    """Return the Lua code of what the function gets for the form's argument i."""
    argument, at = form.arguments[i], places[i]
    if at is not None:
        last = count if argument.kind.vararg else at + 1
        return ", ".join(f"a{k + 1}" for k in range(at, last))
    if isinstance(argument.default, tuple):
        return _word(form, argument.default[1], places, count)
    return _literal(argument)


def _literal(argument: Argument) -> str:
    default = argument.default
    if default is None or default == "new":
        return "nil"
    if isinstance(default, bool):
        return "true" if default else "false"
    return repr(default + 1 if argument.kind.name == "index" else default)
