"""The table of nn's backend: a row for each function of THNN's header, above what implements it.

A row has the function's name without prefix and type, and its parameters as the header declares
them, without the first one, the library's state:

    @thnn("HardShrink_updateOutput", "THTensor *input, THTensor *output, accreal lambda")

    THTensor, THIndexTensor     a tensor of the type the function is for; a LongTensor
    THIntegerTensor             an IntTensor
    THGenerator                 a random generator
    accreal, double             a number
    int, long, THIndex_t        a whole number, of 32 or 64 bits: it is cut to one, and others are
                                errors before the implementation is called
    bool                        True or False

A question mark behind a parameter says that it may be NULL; its field is None then. The
implementation gets a `Call`, whose fields have the header's names.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from runtime.core.tensor import Tensor

# The kinds of parameters, a letter for each, as lua/thnn/door.lua reads them.
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
_POINTERS = ("T", "I", "N", "G")
_PARAMETER = re.compile(r"(\w+) (\*?)(\w+)(\??)")


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

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


#: What computes a function.
Implementation = Callable[[Call], None]


@dataclass(frozen=True)
class Row:
    """A function of the header.

    names: those of its parameters. kinds: a letter for each, and a question mark behind those that
    may be NULL. has_state: whether its first parameter is the library's state, which the row leaves
    out. repeats: see `thnn`. formulas: those of a function that is made of them (_formulas.py).
    """

    name: str
    names: tuple[str, ...]
    kinds: str
    implementation: Implementation
    has_state: bool = True
    repeats: bool = False
    formulas: tuple[Any, ...] = ()

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields of a `Call`."""
        return tuple(name + "_" * keyword.iskeyword(name) for name in self.names)

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Which parameters are whole numbers."""
        return tuple(i for i, kind in enumerate(self.kinds.replace("?", "")) if kind in "il")

    def compute(self, values: tuple[Any, ...]) -> None:
        """Compute a call: tensors, numbers, truth values and None, for all parameters."""
        self.implementation(Call(self, values))


#: The rows by the functions' names.
TABLE: dict[str, Row] = {}


def thnn(
    name: str, parameters: str, *, has_state: bool = True, repeats: bool = False
) -> Callable[[Implementation], Implementation]:
    """Add a row for the function that follows.

    repeats: the function computes by jobs, which Lua repeats for few elements (``_jobs.py``).
    """

    def register(implementation: Implementation) -> Implementation:
        add_row(name, parameters, implementation, has_state=has_state, repeats=repeats)
        return implementation

    return register


def add_row(name: str, parameters: str, implementation: Implementation, **more: Any) -> None:
    """Add a row. parameters: as the header declares them."""
    TABLE[name] = Row(name, *_parse(parameters), implementation, **more)


def _parse(parameters: str) -> tuple[tuple[str, ...], str]:
    names, kinds = [], ""
    for text in parameters.split(", "):
        found = _PARAMETER.fullmatch(text)
        if found is None or (found[2] == "*") != (_KINDS.get(found[1], "") in _POINTERS):
            raise ValueError(f"no parameter of THNN's header: {text!r}")
        names.append(found[3])
        kinds += _KINDS[found[1]] + found[4]
    return tuple(names), kinds
