"""The language of call forms: kinds of arguments, forms, and their text in error messages.

A form is written as the reference prints it, for all element types at once:

    *T* [T=1] [real=1] T
    │   │     │        └ a tensor of the element type that the call works on
    │   │     └ a number, converted to that element type; 1 where the call leaves it out
    │   └ an optional tensor; where the call leaves it out, the form's argument 1 stands for it
    └ the destination, which the call returns; `[*T*]` is a new tensor where left out

The text `=default` is not printed. `=last` says that the operation takes the last dimension;
its implementation gets None. The other kinds are double, long, int, index, boolean, accreal,
Generator, LongTensor and the other tensor names, `T~2D` (a tensor of two dimensions), `{T+}` (a
table of tensors), `(V|F)` (one of these strings), `(LongStorage | dim1 [dim2...])` (sizes).
`<*T*>` is a new destination that no call can pass, and that is not printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from th_shell.runtime.core.dtypes import DOUBLE, DTYPES, INT, LONG, DType, cast_scalar
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor

Reader = Callable[[Any], Any] | None


@dataclass(eq=False)
class Foreign:
    """Stands for a Lua value that Python never looks into: a table, function, thread or cdata.

    kind: the value's Lua type. typename: its torch class, None where it has none.
    """

    kind: str
    typename: str | None = None


def lua_type(value: Any) -> str:
    """The Lua type of a value as it arrived from Lua."""
    if value is None:
        return "nil"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, bytes):
        return "string"
    if isinstance(value, Foreign):
        return value.kind
    if isinstance(value, list):
        return "table"
    return "userdata"


def typename(value: Any) -> str | None:
    """The torch class of a value, or None."""
    if isinstance(value, Tensor):
        return value.dtype.tensor_name
    if isinstance(value, Storage):
        return value.dtype.storage_name
    if isinstance(value, Foreign):
        return value.typename
    return getattr(type(value), "typename", None)


def as_number(value: Any) -> float | int | None:
    """The number a Lua value stands for, as lua_tonumber reads it (strings too), or None."""
    kind = type(value)
    if kind is float or kind is int:
        return value  # type: ignore[no-any-return]
    if kind is bytes:
        return _number_in(value)
    return None


def _number_in(text: bytes) -> float | None:
    # Python's float() also allows underscores, which Lua does not, and lacks hexadecimal numbers.
    if b"_" in text:
        return None
    try:
        return float.fromhex(text.decode()) if b"x" in text.lower() else float(text)
    except ValueError:
        return None


class Kind(NamedTuple):
    """One kind of argument.

    name: as call forms print it. accepts: whether a value may stand for this argument. reader:
    gives a function that turns values of a value's type into what the implementation takes, or
    None where the implementation takes them as they are. vararg: whether the kind takes all
    arguments to the end of the call; `accepts` and `reader` then get a tuple of them. tensor: the
    class of tensors that it is for. is_number: whether it is one for numbers.
    """

    name: str
    accepts: Callable[[Any], bool]
    reader: Callable[[Any], Reader] = lambda _: None
    vararg: bool = False
    tensor: type[Tensor] | None = None
    is_number: bool = False


def object_kind(name: str, cls: type) -> Kind:
    """Values of one class of Python."""
    return Kind(name, lambda value: type(value) is cls)


def _tensor_kind(dtype: DType, ndim: int | None = None) -> Kind:
    """A tensor of one class; where ndim is given, of that number of dimensions."""
    cls = TENSOR_CLASSES[dtype.index]

    def accepts(value: Any) -> bool:
        return type(value) is cls and (ndim is None or value.ndim == ndim)

    name = f"{dtype.name}Tensor" + (f"~{ndim}D" if ndim is not None else "")
    return Kind(name, accepts, tensor=cls)


def _list_kind(dtype: DType) -> Kind:
    """A table of tensors of one class."""
    cls = TENSOR_CLASSES[dtype.index]

    def read(values: list[Any]) -> list[Tensor]:
        if not all(type(value) is cls for value in values):
            raise TorchError(f"expected {dtype.name}Tensor in tensor array")
        return values

    return Kind(f"{{{dtype.name}Tensor+}}", lambda value: type(value) is list, lambda _: read)


def _number_kind(name: str, convert: Callable[[float | int], Any] | None) -> Kind:
    """A number, converted as C converts to the given type."""

    def reader(value: Any) -> Reader:
        if type(value) is not bytes:
            return convert
        if convert is None:
            return _number_in
        return lambda text: convert(_number_in(text))  # type: ignore[arg-type]  # never None here

    return Kind(name, lambda value: as_number(value) is not None, reader, is_number=True)


#: Stands for any string where it is asked which Lua function computes a call.
ANY_STRING = object()


def _option_kind(options: Sequence[str]) -> Kind:
    """A string that starts with one of a few letters; the implementation gets the letter."""
    letters = {option.encode() for option in options}
    return Kind(
        f"({'|'.join(options)})",
        lambda value: value is ANY_STRING or type(value) is bytes and value[:1] in letters,
        lambda _: _first_letter,
    )


def _first_letter(value: bytes) -> str:
    return chr(value[0])


def _are_sizes(values: tuple[Any, ...]) -> bool:
    if len(values) == 1 and type(values[0]) is STORAGE_CLASSES[LONG.index]:
        return True
    return all(as_number(v) is not None for v in values)


def _read_sizes(values: tuple[Any, ...]) -> tuple[int, ...]:
    if len(values) == 1 and isinstance(values[0], Storage):
        return tuple(values[0].data.tolist())
    return tuple(_to_long(as_number(v) or 0) for v in values)


def _to_long(value: float | int) -> int:
    return int(cast_scalar(value, LONG))


def _to_index(value: float | int) -> int:
    position = int(cast_scalar(value, LONG)) - 1
    return (position + 2**31) % 2**32 - 2**31  # Torch7: dimensions are numbers of 32 bits


_NUMBERS: dict[str, Kind] = {
    "double": _number_kind("double", None),
    "float": _number_kind("float", None),
    "long": _number_kind("long", _to_long),
    "int": _number_kind("int", partial(cast_scalar, to=INT)),
    "index": _number_kind("index", _to_index),
}
_REALS = {
    dtype: _number_kind(dtype.real, None if dtype is DOUBLE else partial(cast_scalar, to=dtype))
    for dtype in DTYPES
}
_BOOLEAN = object_kind("boolean", bool)
#: A LongStorage, or numbers to the end of the call; the implementation gets a tuple of int.
_SIZES = Kind("(LongStorage | dim1 [dim2...])", _are_sizes, lambda _: _read_sizes, vararg=True)
_TENSOR_NAMES = {f"{dtype.name}Tensor": dtype for dtype in DTYPES}
#: Kinds for further classes ('Generator'), which the modules that own these classes add.
OBJECT_KINDS: dict[str, Kind] = {}


def _kind(word: str, dtype: DType) -> Kind:
    """The kind that a word of a form names, for one element type."""
    name, _, ndim = word.partition("~")
    if name == "T" or name in _TENSOR_NAMES:
        return _tensor_kind(_TENSOR_NAMES.get(name, dtype), int(ndim[:-1]) if ndim else None)
    if word == "{T+}":
        return _list_kind(dtype)
    if word == "real":
        return _REALS[dtype]
    if word == "accreal":
        return _NUMBERS["double" if dtype.is_float else "long"]
    if word in _NUMBERS:
        return _NUMBERS[word]
    if word == "boolean":
        return _BOOLEAN
    if word.startswith("(LongStorage"):
        return _SIZES
    if word.startswith("("):
        return _option_kind(word[1:-1].split("|"))
    return OBJECT_KINDS[word]


class Argument(NamedTuple):
    """One argument of a form.

    returned: the argument is a destination, which the call returns. optional: the call may leave
    it out. invisible: no call passes it, and no message prints it.
    default: what the implementation gets where the call leaves the argument out: a value, 'new'
    (a new tensor), or ('argument', i) for the form's argument i, counted from 0.
    """

    kind: Kind
    returned: bool = False
    optional: bool = False
    invisible: bool = False
    default: Any = None

    @property
    def help(self) -> str:
        """The argument as error messages print it."""
        text = f"*{self.kind.name}*" if self.returned else self.kind.name
        return f"[{text}]" if self.optional else text


class Form(NamedTuple):
    """One way to call a function: its arguments in order."""

    arguments: tuple[Argument, ...]

    @property
    def help(self) -> str:
        """The form as error messages print it."""
        return " ".join(a.help for a in self.arguments if not a.invisible)

    def match(self, args: tuple[Any, ...]) -> list[int | None] | None:
        """Find where a call passes each argument of the form; None if the form does not fit.

        The result has for each argument its position in the call, counted from 0, or None where
        the call leaves the argument out. Torch7: counts in binary through the optional arguments,
        the first one as the lowest bit, and takes the first choice that fits.
        """
        optional = [i for i, a in enumerate(self.arguments) if a.optional]
        for chosen in _choices(len(optional)):
            positions = {i for i, taken in zip(optional, chosen, strict=True) if taken}
            places = self._place(positions, args)
            if places is not None:
                return places
        return None

    def _place(self, positions: set[int], args: tuple[Any, ...]) -> list[int | None] | None:
        """The positions for one choice: given has the optional arguments that the call passes."""
        places: list[int | None] = []
        at = 0
        for i, argument in enumerate(self.arguments):
            if argument.invisible or (argument.optional and i not in positions):
                places.append(None)
                continue
            if argument.kind.vararg:
                if at >= len(args) or not argument.kind.accepts(args[at:]):
                    return None
                places.append(at)
                at = len(args)
                continue
            if at >= len(args) or not argument.kind.accepts(args[at]):
                return None
            places.append(at)
            at += 1
        return places if at == len(args) else None


def _choices(count: int) -> Iterator[tuple[bool, ...]]:
    """All choices among so many optional arguments, in the order of a binary counter."""
    for bits in product((False, True), repeat=count):
        yield bits[::-1]


_WORD = re.compile(r"\(LongStorage [^()]*\)|<[^<>]*>|\[[^\[\]]*\]|\S+")


def parse_form(text: str, dtype: DType) -> Form:
    """Read one form for one element type; raises KeyError for an unknown kind."""
    return Form(tuple(_parse_argument(word, dtype) for word in _WORD.findall(text)))


def _parse_argument(word: str, dtype: DType) -> Argument:
    optional = word.startswith("[") and word.endswith("]")
    invisible = word.startswith("<")
    if optional or invisible:
        word = word[1:-1]
    word, _, default = word.partition("=")
    returned = word.startswith("*")
    if returned:
        word = word.strip("*")
    kind = _kind(word, dtype)
    return Argument(kind, returned, optional, invisible, _default(kind, returned, default))


def _default(kind: Kind, returned: bool, text: str) -> Any:
    if kind.tensor is not None:
        return ("argument", int(text) - 1) if text else "new" if returned else None
    if kind is _BOOLEAN:
        return text == "true"
    if text == "last":
        return None
    if kind.is_number and text:
        number = float(text)
        if kind.name == "index":
            number -= 1
        return int(number) if number == int(number) else number
    return text or None
