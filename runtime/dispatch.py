"""From a call in Lua to the one implementation and its arguments.

Owns the table of operations. A row is a call form and the function that implements it,
written beside each other in ``ops/`` with `@op` (the reference matches the form and prints
it in its error) or `@checked` (the reference checks the arguments one by one).

What an entry returns to Lua (lupa spreads tuples; ``runtime/lua/bridge.lua`` reads it):

    None                        the call's first argument
    number, bool                itself
    bytes                       an error: position of the bad argument (0: none), message
    object, class id            a new object
    None, n, v1, k1, ... vn, kn n results; k 0: plain, k < 0: argument -k, k > 0: new object
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from runtime.dtypes import DOUBLE, DTYPES, LONG, REALS, DType, cast_scalar
from runtime.errors import ArgError, InvalidArguments, TorchError, TypeMismatch
from runtime.interrupts import INTERRUPTED, mark_interruptible, uninterruptible
from runtime.signatures import Form, TensorKind, as_number, lua_type, parse_form, typename
from runtime.storage import STORAGE_CLASSES, Storage
from runtime.tensor import TENSOR_CLASSES, Tensor, describe

__all__ = [
    "ALL",
    "EVERY",
    "FLOATS",
    "TABLE",
    "Call",
    "Row",
    "checked",
    "class_id",
    "entry",
    "op",
    "set_default_type",
]

ALL = REALS
EVERY = DTYPES  # Half, too
FLOATS = tuple(dtype for dtype in REALS if dtype.is_float)

Entry = Callable[..., Any]
F = TypeVar("F", bound=Callable[..., Any])

_CLASS_IDS: dict[type, int] = {
    **{cls: i + 1 for i, cls in enumerate(TENSOR_CLASSES)},
    **{cls: i + 21 for i, cls in enumerate(STORAGE_CLASSES)},
}
# Torch7: functions do not know of HalfTensor.
_DTYPE_OF = {cls: cls.dtype for cls in TENSOR_CLASSES if cls.dtype in REALS}
_BY_NAME = {dtype.tensor_name.encode(): dtype for dtype in REALS}


def class_id(cls: type) -> int:
    """The number that stands for a class between Python and Lua; new classes get the next."""
    return _CLASS_IDS.setdefault(cls, 41 + len(_CLASS_IDS))


@dataclass(frozen=True)
class Row:
    """One call form of one operation.

    method, function: the form as x:name(...) and as torch.name(...); None where absent.
    types: the element types that have it. hand: the arguments are checked one by one.
    each, total: a Lua formula for one element of the result, or for what the result is the sum
    of (an element, or a product of two), in the implementation's names (see runtime/small.py).
    fresh: what runs instead where the call leaves the destination out.
    pick: a Lua formula: whether an element `x` goes before the `best` one so far, for the two
    results of an extremum along a dimension.
    """

    name: str
    method: str | None
    function: str | None
    types: tuple[DType, ...]
    implementation: Callable[..., Any]
    hand: bool = False
    each: str | None = None
    total: str | None = None
    fresh: Callable[..., Any] | None = None
    pick: str | None = None

    def form(self, space: str) -> str | None:
        """The form in one name space, 'method' or 'function'."""
        return self.method if space == "method" else self.function


#: All rows by name, in the order in which they are tried.
TABLE: dict[str, list[Row]] = {}


def op(
    name: str,
    method: str | None = None,
    function: str | None = None,
    types: Iterable[DType] = ALL,
    *,
    each: str | None = None,
    total: str | None = None,
    fresh: Callable[..., Any] | None = None,
    pick: str | None = None,
) -> Callable[[F], F]:
    """Add a row whose form the dispatcher matches."""

    def register(implementation: F) -> F:
        formulas = each, total, fresh, pick
        row = Row(name, method, function, tuple(types), implementation, False, *formulas)
        TABLE.setdefault(name, []).append(row)
        return implementation

    return register


def checked(
    name: str,
    method: str | None = None,
    function: str | None = None,
    types: Iterable[DType] = EVERY,
    *,
    each: str | None = None,
) -> Callable[[F], F]:
    """Add a row whose implementation reads its arguments from a `Call` one by one."""

    def register(implementation: F) -> F:
        row = Row(name, method, function, tuple(types), implementation, True, each)
        TABLE.setdefault(name, []).append(row)
        return implementation

    return register


_LUA_TYPES = (
    "nil",
    "boolean",
    "userdata",
    "number",
    "string",
    "table",
    "function",
    "userdata",
    "thread",
)


class Call:
    """The arguments of one call, read by position (from 1) with the reference's errors."""

    __slots__ = ("args", "dtype")

    def __init__(self, dtype: DType, args: tuple[Any, ...]) -> None:
        self.dtype = dtype
        self.args = args

    def __len__(self) -> int:
        return len(self.args)

    def get(self, at: int) -> Any:
        """The argument as it is; None where absent."""
        return self.args[at - 1] if at <= len(self.args) else None

    def got(self, at: int) -> str:
        """What stands there, for an error about its Lua type."""
        return lua_type(self.args[at - 1]) if at <= len(self.args) else "no value"

    def mismatch(self, at: int, expected: str) -> TypeMismatch:
        """The error about an object of the wrong class; names the class it has.

        Torch7: of a value without class it names the Lua type whose number is the
        argument's position.
        """
        name = typename(self.get(at))
        return TypeMismatch(at, expected, name or _LUA_TYPES[min(at, 8)])

    def tensor(self, at: int, dtype: DType | None = None) -> Tensor:
        """A tensor of the given type, by default the one the method belongs to."""
        value = self.get(at)
        dtype = dtype or self.dtype
        if type(value) is not TENSOR_CLASSES[dtype.index]:
            raise self.mismatch(at, dtype.tensor_name)
        return value

    def storage(self, at: int, dtype: DType | None = None) -> Storage:
        """A storage of the given type, by default the one the method belongs to."""
        value = self.get(at)
        dtype = dtype or self.dtype
        if type(value) is not STORAGE_CLASSES[dtype.index]:
            raise self.mismatch(at, dtype.storage_name)
        return value

    def number(self, at: int) -> float | int:
        """A number (or a string that holds one)."""
        value = as_number(self.get(at))
        if value is None:
            raise TypeMismatch(at, "number", self.got(at))
        return value

    def long(self, at: int, default: int | None = None) -> int:
        """A whole number; ``default`` where the argument is absent or nil."""
        if default is not None and self.get(at) is None:
            return default
        return int(cast_scalar(self.number(at), LONG))

    def real(self, at: int) -> float | int:
        """A number converted to the element type."""
        return cast_scalar(self.number(at), self.dtype)

    def sizes(self, at: int) -> tuple[int, ...] | None:
        """The elements of a LongStorage; None where something else stands there."""
        value = self.get(at)
        if type(value) is STORAGE_CLASSES[LONG.index]:
            return tuple(value.data.tolist())
        return None

    def longs(self, at: int) -> tuple[int, ...]:
        """All whole numbers from a position to the end of the call."""
        return tuple(self.long(i) for i in range(at, len(self.args) + 1))


def set_default_type(dtype: DType) -> None:
    """Make torch functions without a tensor argument work on this type."""
    global _default
    _default = dtype
    for cache in _function_caches:
        cache.clear()


_MOST_PLANS = 1000  # of one function: strings among the arguments make many

_default = DOUBLE
_function_caches: list[dict[Any, Entry]] = []


def entry(name: str, dtype: DType | None) -> Entry:
    """What Lua calls for torch.TYPETensor's method, or for torch.name where dtype is None.

    Choices are kept by the types of the arguments (of a list by its first element's; and by
    numbers of dimensions, where a form asks for them), so that a repeated call costs one
    dictionary look-up.
    """
    cache: dict[Any, Entry] = {}
    if dtype is None:
        _function_caches.append(cache)
    by_value = any("~" in (row.method or "") + (row.function or "") for row in TABLE[name])
    find = cache.get

    def call(*args: Any) -> Any:
        try:
            key: Any = tuple(map(type, args))
            if list in key:
                key = tuple([(list, type(a[0])) if type(a) is list else type(a) for a in args])
            if bytes in key:
                key = (key, tuple([a for a in args if type(a) is bytes]))
            if by_value:
                key = (key, tuple([getattr(a, "ndim", None) for a in args]))
            plan = find(key)
            if plan is None:
                plan = _resolve(name, dtype, args)
                if len(cache) < _MOST_PLANS:
                    cache[key] = plan
            return plan(*args)
        except BaseException as error:
            return encode_error(error, args)

    return mark_interruptible(call)


# How numpy says that an array would be larger than any memory.
_TOO_LARGE = re.compile("array is too big|Maximum allowed dimension exceeded")
# And that it has too many dimensions.
_TOO_MANY = re.compile("maximum supported dimension|ndmin must be")


@uninterruptible
def encode_error(error: BaseException, args: tuple[Any, ...] = ()) -> bytes:
    """An exception as the bytes that make the bridge raise a Lua error.

    args: of the call, for what operations are not made for: views that unfold to size 0.
    """
    if isinstance(error, ArgError):
        return bytes([error.arg]) + error.detail.encode()
    if isinstance(error, TorchError):
        return b"\0" + str(error).encode("utf-8", "surrogateescape")
    # Lua code that an operation calls is stopped by an error of Lua's.
    lua_stopped = type(error).__name__ == "LuaError" and INTERRUPTED in str(error)
    if isinstance(error, KeyboardInterrupt) or lua_stopped:
        return b"\0" + INTERRUPTED.encode()
    if isinstance(error, MemoryError):
        return b"\0$ Torch: not enough memory. Buy new RAM!"
    if isinstance(error, ValueError) and _TOO_LARGE.match(str(error)):
        return b"\0$ Torch: invalid memory size -- maybe an overflow?"
    if isinstance(error, ValueError) and _TOO_MANY.match(str(error)):
        return b"\0too many dimensions: no operation takes so many"
    if isinstance(error, (ValueError, ArithmeticError)):
        for tensor in args:
            if isinstance(tensor, Tensor) and 0 in tensor.sizes:
                return f"\0tensor {describe(tensor.sizes)} has no elements".encode()
    if os.environ.get("TH_TRACEBACK"):
        return b"\0internal error: " + "".join(traceback.format_exception(error)).encode()
    text = f"internal error: {type(error).__name__}: {error}"
    return b"\0" + f"{text}\n(set TH_TRACEBACK=1 for where it comes from)".encode()


def encode(result: Any, args: tuple[Any, ...]) -> Any:
    """A result as the bridge reads it."""
    if isinstance(result, tuple):
        flat: list[Any] = [None, len(result)]
        for value in result:
            flat.extend(_encode_one(value, args))
        return tuple(flat)
    if isinstance(result, (bool, int, float)):
        return result
    value, kind = _encode_one(result, args)
    if kind == -1:
        return None
    return (value, kind) if kind > 0 else (None, 1, value, kind)


def _encode_one(value: Any, args: tuple[Any, ...]) -> tuple[Any, int]:
    kind = _CLASS_IDS.get(type(value), 0)
    if kind:
        for at, arg in enumerate(args[:3]):
            if arg is value:
                return None, -1 - at
    return value, kind


def _resolve(name: str, dtype: DType | None, args: tuple[Any, ...]) -> Entry:
    """The plan for a call: a function of the same arguments that runs the implementation."""
    if dtype is not None:
        return _plan(name, "method", dtype, args)
    dtype, used = _function_type(args)
    plan = _plan(name, "function", dtype, args[: len(args) - used])
    return (lambda *given: plan(*given[:-1])) if used else plan


def _function_type(args: tuple[Any, ...]) -> tuple[DType, int]:
    """The element type that a torch function works on, and how many last arguments said so."""
    for value in args[:2]:
        if type(value) in _DTYPE_OF:
            return _DTYPE_OF[type(value)], 0
    if args and type(args[0]) is list and args[0] and type(args[0][0]) in _DTYPE_OF:
        return _DTYPE_OF[type(args[0][0])], 0
    if args and type(args[-1]) is bytes and args[-1] in _BY_NAME:
        return _BY_NAME[args[-1]], 1
    return _default, 0


def _plan(name: str, space: str, dtype: DType, args: tuple[Any, ...]) -> Entry:
    rows = [row for row in TABLE[name] if dtype in row.types and row.form(space) is not None]
    if not rows:
        raise TorchError(f"{dtype.tensor_name} does not implement the torch.{name}() function")
    if rows[0].hand:
        implementation = rows[0].implementation
        return lambda *given: encode(implementation(Call(dtype, given)), given)
    forms = [(parse_form(row.form(space) or "", dtype), row) for row in rows]
    for form, row in forms:
        places = form.match(args)
        if places is not None:
            return _compile(form, row, places, args)
    got = "".join(_argument_type(value) + " " for value in args) or "no arguments provided"
    raise InvalidArguments(got, " | ".join(form.help for form, _ in forms))


def _argument_type(value: Any) -> str:
    name = typename(value)
    if name is not None:
        return name.removeprefix("torch.")
    if as_number(value) is not None:
        return "number"
    kind = lua_type(value)
    return kind if kind in ("nil", "boolean", "string", "table", "userdata") else "???"


def _compile(form: Form, row: Row, places: list[int | None], args: tuple[Any, ...]) -> Entry:
    """Write the plan out as a Python function: no loop is left for the call itself."""
    scope: dict[str, Any] = {"implementation": row.implementation}
    names = [f"a{i}" for i in range(len(args))]
    words: list[str] = []
    made: list[str] = []
    results: list[tuple[str, int]] = []
    for i, (argument, at) in enumerate(zip(form.arguments, places, strict=True)):
        word = _word(i, form, at, names, words, args, scope)
        if argument.returned:
            kind = -1 - at if at is not None else 0
            if at is None and argument.default == "new":
                assert isinstance(argument.kind, TensorKind)
                scope[f"C{i}"] = argument.kind.cls
                made.append(f"    {word} = C{i}()")
            if at is None:
                kind = -1 - names.index(word) if word in names else -100 - class_id(scope[f"C{i}"])
            results.append((word, kind))
        words.append(word)
    if made and row.fresh is not None:
        scope["implementation"] = row.fresh
    call = f"implementation({', '.join(words)})"
    lines = [f"def plan({', '.join(names)}):", *made, *_return(call, results)]
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


def _return(call: str, results: list[tuple[str, int]]) -> list[str]:
    if not results:
        return [f"    value = {call}", "    return (None, 0) if value is None else value"]
    if len(results) == 1:
        # An implementation may return a number instead of its destination (squeeze).
        word, kind = results[0]
        if kind == -1:
            return [f"    return {call}"]
        if kind <= -100:
            return [
                f"    value = {call}",
                "    if value is not None: return value",
                f"    return {word}, {-100 - kind}",
            ]
    parts = [
        f"{word}, {-100 - kind}" if kind <= -100 else f"None, {kind}" for word, kind in results
    ]
    return [f"    {call}", f"    return None, {len(results)}, {', '.join(parts)}"]
