"""From a call in Lua to the one implementation and its arguments.

Which row of the table a call means is found out once for each combination of argument types, and
kept as a plan: a Python function that is written out for it.

Calls on few elements may be computed by a Lua function.
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
from collections.abc import Callable
from typing import Any, NamedTuple

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.calls.forms import (
    ANY_STRING,
    Argument,
    Form,
    as_number,
    lua_type,
    parse_form,
    typename,
)
from th_shell.runtime.calls.results import class_id, encode
from th_shell.runtime.calls.table import TABLE, Row
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, LONG, REALS, DType
from th_shell.runtime.core.errors import InvalidArguments, TorchError
from th_shell.runtime.core.interrupts import mark_interruptible
from th_shell.runtime.core.state import GUESTS, settle
from th_shell.runtime.core.storage import STORAGE_CLASSES
from th_shell.runtime.core.tensor import TENSOR_CLASSES

Entry = Callable[..., Any]

# Torch7: functions do not know of HalfTensor.
_DTYPE_OF = {cls: cls.dtype for cls in TENSOR_CLASSES if cls.dtype in REALS}
_BY_NAME = {dtype.tensor_name.encode(): dtype for dtype in REALS}


_MAX_PLANS = 1000  # kept for one function: each string among the arguments needs one of its own


class Plans:
    """The functions that one engine's Lua calls, and the type that its torch functions work on."""

    def __init__(self) -> None:
        self._default = DOUBLE
        self._function_plans: list[dict[Any, Entry]] = []

    def set_default_type(self, dtype: DType) -> None:
        """Make torch functions without a tensor argument work on this type."""
        self._default = dtype
        for plans in self._function_plans:
            plans.clear()

    def entry(self, name: str, dtype: DType | None) -> Entry:
        """Return what Lua calls: torch.TYPETensor's method, or torch.name if dtype is None.

        Plans are kept by the types of the arguments: for a list also by the type of its first
        element, for a string by its value, and by the numbers of dimensions if a form depends on
        them. So a repeated call costs one look-up in a dictionary.
        """
        plans: dict[Any, Entry] = {}
        if dtype is None:
            self._function_plans.append(plans)
        by_dimensions = any("~" in (row.method or "") + (row.function or "") for row in TABLE[name])
        find = plans.get

        def call(*args: Any) -> Any:
            try:
                if GUESTS:
                    settle()
                key: Any = tuple(map(type, args))
                if list in key:
                    key = tuple([(list, type(a[0])) if type(a) is list else type(a) for a in args])
                if bytes in key:
                    key = (key, tuple([a for a in args if type(a) is bytes]))
                if by_dimensions:
                    key = (key, tuple([len(getattr(a, "sizes", ())) for a in args]))
                plan = find(key)
                if plan is None:
                    plan = self._resolve(name, dtype, args)
                    if len(plans) < _MAX_PLANS:
                        plans[key] = plan
                return plan(*args)
            except BaseException as error:
                return encode_error(error, args)

        return mark_interruptible(call)

    def _resolve(self, name: str, dtype: DType | None, args: tuple[Any, ...]) -> Entry:
        """The plan for a call: a function of the same arguments that runs the implementation."""
        if dtype is not None:
            return _plan(name, "method", dtype, args)
        dtype, is_named = self.function_type(args)
        if not is_named:
            return _plan(name, "function", dtype, args)
        plan = _plan(name, "function", dtype, args[:-1])
        return lambda *args: plan(*args[:-1])

    def function_type(self, args: tuple[Any, ...]) -> tuple[DType, bool]:
        """The element type a torch function works on, and whether the last argument names it."""
        for value in args[:2]:
            if type(value) in _DTYPE_OF:
                return _DTYPE_OF[type(value)], False
        if args and type(args[0]) is list and args[0] and type(args[0][0]) in _DTYPE_OF:
            return _DTYPE_OF[type(args[0][0])], False
        if args and type(args[-1]) is bytes and args[-1] in _BY_NAME:
            return _BY_NAME[args[-1]], True
        return self._default, False


def _plan(name: str, namespace: str, dtype: DType, args: tuple[Any, ...]) -> Entry:
    rows = [row for row in TABLE[name] if dtype in row.types and row.form(namespace) is not None]
    if not rows:
        raise TorchError(f"{dtype.tensor_name} does not implement the torch.{name}() function")
    if rows[0].reads_call:
        implementation = rows[0].implementation
        return lambda *args: encode(implementation(Call(dtype, args)), args)
    forms = [(parse_form(row.form(namespace) or "", dtype), row) for row in rows]
    for form, row in forms:
        places = form.match(args)
        if places is not None:
            return _compile(form, row, places, args)
    types = "".join(_argument_type(value) + " " for value in args) or "no arguments provided"
    raise InvalidArguments(types, " | ".join(form.help for form, _ in forms))


def _argument_type(value: Any) -> str:
    name = typename(value)
    if name is not None:
        return name.removeprefix("torch.")
    if as_number(value) is not None:
        return "number"
    kind = lua_type(value)
    return kind if kind in ("nil", "boolean", "string", "table", "userdata") else "???"


class _Result(NamedTuple):
    """A tensor that a call returns: a new one of a class, or one of the call's arguments.

    word: the expression for it. number: what `encode` gives for it, the class's identifier, or
    -1 - i for the argument i.
    """

    word: str
    number: int
    is_new: bool


def _compile(form: Form, row: Row, places: list[int | None], args: tuple[Any, ...]) -> Entry:
    """Write the plan out as a Python function: no loop is left for the call itself."""
    scope: dict[str, Any] = {"implementation": row.implementation}
    names = [f"a{i}" for i in range(len(args))]
    words: list[str] = []
    new_lines: list[str] = []
    results: list[_Result] = []
    for i, (argument, at) in enumerate(zip(form.arguments, places, strict=True)):
        word = _word(i, form, at, names, words, args, scope)
        if at is None and argument.returned and argument.default == "new":
            scope[f"C{i}"] = argument.kind.tensor
            new_lines.append(f"    {word} = C{i}()")
        if argument.returned:
            is_new = at is None and word not in names
            place = names.index(word) if at is None and not is_new else at
            number = class_id(scope[f"C{i}"]) if place is None else -1 - place
            results.append(_Result(word, number, is_new))
        words.append(word)
    if new_lines and row.fresh is not None:
        scope["implementation"] = row.fresh
    call = f"implementation({', '.join(words)})"
    lines = [f"def plan({', '.join(names)}):", *new_lines, *_return(call, results)]
    # Compiled first: Python ends as if by a signal where one has stopped the exec of a text.
    exec(compile("\n".join(lines), "<plan>", "exec"), scope)
    return scope["plan"]  # type: ignore[no-any-return]


def _word(
    i: int,
    form: Form,
    at: int | None,
    names: list[str],
    words: list[str],
    args: tuple[Any, ...],
    scope: dict[str, Any],
) -> str:
    """The expression for the form's argument i."""
    argument = form.arguments[i]
    if at is None:
        default = argument.default
        if isinstance(default, tuple):
            return words[default[1]]
        if default == "new":
            return f"new{i}"
        return repr(default)
    if argument.kind.vararg:
        scope[f"r{i}"] = argument.kind.reader(args[at:])
        return f"r{i}(({', '.join(names[at:])},))"
    reader = argument.kind.reader(args[at])
    if reader is None:
        return names[at]
    scope[f"r{i}"] = reader
    return f"r{i}({names[at]})"


def _return(call: str, results: list[_Result]) -> list[str]:
    if not results:
        return [f"    value = {call}", "    return (None, 0) if value is None else value"]
    if len(results) == 1:
        # An implementation may return a number instead of its destination (squeeze).
        word, number, is_new = results[0]
        if number == -1:
            return [f"    return {call}"]
        if is_new:
            return [
                f"    value = {call}",
                "    if value is not None: return value",
                f"    return {word}, {number}",
            ]
    parts = [f"{word if is_new else None}, {number}" for word, number, is_new in results]
    return [f"    {call}", f"    return None, {len(results)}, {', '.join(parts)}"]


# -- functions in Lua


def _samples() -> list[Any]:
    """A value of each kind, at the number that lua/tensor/small.lua gives to the kind."""
    tensors = [cls() for cls in TENSOR_CLASSES]
    lists = [[tensors[dtype.index]] for dtype in (FLOAT, DOUBLE)]
    return [None, 1.5, True, *tensors, *lists, STORAGE_CLASSES[LONG.index].new(1), ANY_STRING]


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
    namespace = "function" if dtype is None else "method"
    if dtype is None:
        dtype, _ = plans.function_type(args)
    row, words = _match(name, namespace, dtype, args)
    if row is None or row.small is None:
        return None
    module, _, function = row.small.partition(".")
    return f"\1{dtype.index} {module} {function} {', '.join(words)}".encode()


def _match(
    name: str, namespace: str, dtype: DType, args: tuple[Any, ...]
) -> tuple[Row | None, list[str]]:
    """The row that fits, and the arguments for its Lua function."""
    rows = [row for row in TABLE[name] if dtype in row.types and row.form(namespace) is not None]
    if rows and rows[0].reads_call:
        return None if ANY_STRING in args else rows[0], [f"a{i + 1}" for i in range(len(args))]
    for row in rows:
        # How many dimensions tensors have is for the Lua function to look at.
        form = parse_form(re.sub(r"~\dD", "", row.form(namespace) or ""), dtype)
        places = form.match(args)
        if places is not None:
            return row, [_lua_word(form, i, places, len(args)) for i in range(len(places))]
    return None, []


def _lua_word(form: Form, i: int, places: list[int | None], count: int) -> str:
    """Return the Lua code of what the function gets for the form's argument i."""
    argument, at = form.arguments[i], places[i]
    if at is not None:
        last = count if argument.kind.vararg else at + 1
        return ", ".join(f"a{k + 1}" for k in range(at, last))
    if isinstance(argument.default, tuple):
        return _lua_word(form, argument.default[1], places, count)
    return _literal(argument)


def _literal(argument: Argument) -> str:
    default = argument.default
    if default is None or default == "new":
        return "nil"
    if isinstance(default, bool):
        return "true" if default else "false"
    return repr(default + 1 if argument.kind.name == "index" else default)
