"""The table of nn's backend: a row for each function of THNN's header, above what implements it.

A row has the function's name without prefix and type, and its parameters as the header declares
them, without the first one, the library's state:

    @thnn("HardShrink_updateOutput", "input, output, accreal lambda")

    no type                     a tensor of the type the function is for, the header's THTensor
    THIndexTensor               a LongTensor
    THIntegerTensor             an IntTensor
    THGenerator                 a random generator
    accreal, double             a number
    int, long, THIndex_t        a whole number, of 32 or 64 bits: it is cut to one, and others are
                                errors before the implementation is called
    bool                        True or False

A question mark behind a parameter says that it may be NULL; its field is None then. The
implementation gets a `Call`, whose fields have the header's names. It checks them, and computes by
jobs (``_jobs.py``), which Lua repeats for few elements.

The functions at the end are what Lua calls: they find a row, and make bytes of errors.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.core.dtypes import LONG, Array
from th_shell.runtime.core.interrupts import mark_interruptible
from th_shell.runtime.core.state import GUESTS, settle
from th_shell.runtime.core.storage import Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Sizes, Tensor
from th_shell.runtime.thnn._jobs import SCALE, keep, record

# The kinds of parameters, a letter for each, as thnn/entries.lua reads them.
_KINDS = {
    "THTensor": "T",
    "THIndexTensor": "I",
    "THIntegerTensor": "N",
    "THGenerator": "G",
    "accreal": "r",
    "double": "r",
    "int": "i",
    "long": "l",
    "THIndex_t": "l",
    "bool": "b",
}
_PARAMETER = re.compile(r"(?:(\w+) \*?)?(\w+)(\??)")

#: The parameters of most layers.
FORWARD = "input, output"
BACKWARD = "input, gradOutput, gradInput"
GRADIENTS = "input, gradOutput, gradWeight, gradBias"


class Call:
    """The arguments of a call, by the names of the header's parameters: `call.gradOutput`.

    Behind a name that is a word of Python's stands an underscore: `call.lambda_`. numbers: those
    for parameters of whole numbers, in their order.
    """

    input: Tensor
    output: Tensor
    gradOutput: Tensor
    gradInput: Tensor
    numbers: tuple[int, ...]

    def __init__(self, row: Row, values: tuple[Any, ...]) -> None:
        vars(self).update(zip(row.fields, values, strict=True))
        self.numbers = tuple(values[i] for i in row.whole)
        self._sources: list[Storage | None] = []
        self._results: list[tuple[Tensor, Array]] = []

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def read(self, tensor: Tensor, count: int | None = None) -> Array:
        """The elements of a tensor, or the first ones of them in a row, side by side in memory.

        They stay as they are until the call is done, whatever is written.
        """
        self._sources.append(tensor.storage)
        values = tensor.array if count is None else tensor.flat[:count]
        return keep(np.ascontiguousarray(values), tensor, "read")

    def given(self, tensor: Tensor | None) -> Array | int:
        """Return what jobs get for a tensor that may be absent: its elements, or 0."""
        return 0 if tensor is None else self.read(tensor)

    def write(self, tensor: Tensor, sizes: Sizes) -> Array:
        """Resize a tensor. Its elements become those of the contiguous array that is returned.

        What is read must be so before.
        """
        tensor.resize(sizes)
        if tensor.is_contiguous and tensor.storage not in self._sources:
            return keep(tensor.array, tensor, "write")
        array = np.empty(sizes, tensor.dtype.numpy)
        self._results.append((tensor, array))
        return array

    def change(self, tensor: Tensor) -> Array:
        """The elements of a tensor side by side, which get those of the array in the end.

        A job that may fail, and be done again, does not change what the next one starts from.
        """
        if tensor.is_contiguous and tensor.storage not in self._sources:
            return keep(tensor.array, tensor, "change")
        array = np.array(tensor.array, order="C")
        self._results.append((tensor, array))
        return array

    def finish(self) -> None:
        """Store the results that could not be written in place."""
        for tensor, array in self._results:
            tensor.array[...] = array
        self._results.clear()


#: What computes a function.
Implementation = Callable[[Call], None]


@dataclass(frozen=True)
class Row:
    """A function of the header.

    names: those of its parameters. kinds: a letter for each, and a question mark behind those that
    may be NULL. The row leaves out the library's state, which comes first. repeats: whether it
    computes by jobs alone.
    """

    name: str
    names: tuple[str, ...]
    kinds: str
    implementation: Implementation
    repeats: bool = True

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of a `Call`."""
        return tuple(name + "_" * keyword.iskeyword(name) for name in self.names)

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Return the positions of the parameters that are whole numbers."""
        return tuple(i for i, kind in enumerate(self.kinds.replace("?", "")) if kind in "il")

    def compute(self, values: tuple[Any, ...]) -> None:
        """Compute a call: tensors, numbers, truth values and None, for all parameters."""
        call = Call(self, values)
        self.implementation(call)
        call.finish()


#: The rows by the functions' names.
TABLE: dict[str, Row] = {}


def thnn(
    name: str, parameters: str, *, repeats: bool = True
) -> Callable[[Implementation], Implementation]:
    """Add a row for the function that follows.

    repeats: whether Lua may repeat its jobs; not where it does anything else.
    """

    def register(implementation: Implementation) -> Implementation:
        add_row(name, parameters, implementation, repeats=repeats)
        return implementation

    return register


def unrepeated(name: str, parameters: str) -> Callable[[Implementation], Implementation]:
    """Add a row for the function that follows, which does more than jobs that Lua may repeat."""
    return thnn(name, parameters, repeats=False)


def add_row(name: str, parameters: str, implementation: Implementation, **more: Any) -> None:
    """Add a row. parameters: as the header declares them."""
    TABLE[name] = Row(name, *_parse(parameters), implementation, **more)


def _parse(parameters: str) -> tuple[tuple[str, ...], str]:
    names, kinds = [], ""
    for text in parameters.split(", "):
        match = _PARAMETER.fullmatch(text)
        if match is None:
            raise ValueError(f"no parameter of THNN's header: {text!r}")
        names.append(match[2])
        kinds += _KINDS[match[1] or "THTensor"] + match[3]
    return tuple(names), kinds


def rows() -> str:
    """A line for each function: name, kinds, a digit for whether it repeats, names."""
    return "".join(
        f"{row.name} {row.kinds} {row.repeats:d} {','.join(row.names)}\n" for row in TABLE.values()
    )


def entry(name: str) -> Callable[..., bytes | None]:
    """A function of tensors, numbers and None for a row, which returns the bytes of its error."""
    row = TABLE[name]

    def call(*args: Any) -> bytes | None:
        try:
            if GUESTS:
                settle()
            row.compute(args)
        except BaseException as error:
            return encode_error(error, args)
        return None

    return mark_interruptible(call)


def jobs(name: str, dtype: int, address: int, room: int, *numbers: Any) -> str | None:
    """The jobs of a call, as `record` tells them, for memory of `room` bytes from `address` on.

    dtype: the index of the element type of the function. numbers: the arguments of the call; but
    for tensors, which are contiguous, their sizes: "2x3".
    """
    row, arguments, tensors = TABLE[name], list(numbers), {}
    for i, kind in enumerate(row.kinds.replace("?", "")):
        if row.names[i] == "scale":
            arguments[i] = SCALE
        elif numbers[i] is not None and (kind == "T" or kind in _ELEMENTS):
            sizes = tuple(map(int, filter(None, numbers[i].split("x"))))
            arguments[i] = TENSOR_CLASSES[_ELEMENTS.get(kind, dtype)].new(sizes)
            tensors[i + 1] = arguments[i]
    return record(lambda: row.compute(tuple(arguments)), tensors, address, room)


_ELEMENTS = {"I": LONG.index}
