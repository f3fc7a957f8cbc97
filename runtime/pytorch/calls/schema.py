"""Signatures, as PyTorch prints them in its errors: of an implementation, or of a text.

    sum(Tensor input, tuple of ints[1] dim, bool keepdim = False, *, torch.dtype dtype = None)

In a text there may stand ``[1]`` behind a type's name: a single int is taken for a tuple of one;
and ``?``: None is taken although there is another default, or none. PyTorch prints neither of them.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from keyword import iskeyword
from typing import Any, NamedTuple, TypeAlias

from th_shell.torch.base.dtypes import dtype
from th_shell.torch.tensors.tensor import Tensor

#: A number of Python's.
Number: TypeAlias = Any
#: A tensor, or a number where the row takes numbers for tensors.
Operand: TypeAlias = Any
#: A tensor, or in a further row a number.
TensorOrNumber: TypeAlias = Any
#: A tensor, or in a further row an int.
TensorOrInt: TypeAlias = Any
#: An int, or in a further row a tuple of ints.
IntOrShape: TypeAlias = Any
#: A tuple of ints, or a single int.
IntsOrOne: TypeAlias = Any
#: Some tensors.
Tensors: TypeAlias = tuple[Tensor, ...]
#: The tensor to which a result is written.
Out: TypeAlias = Tensor | None
#: The element type of a result, where the call names one.
Kind: TypeAlias = dtype | None
#: A device, or its name or number.
Place: TypeAlias = Any

#: PyTorch's names of kinds that have another name here.
TYPES = {
    "Operand": "Tensor",
    "TensorOrNumber": "Tensor or Number",
    "TensorOrInt": "Tensor or int",
    "IntOrShape": "int or tuple of ints",
    "Out": "Tensor",
    "Tensors": "tuple of Tensors",
    "Shape": "tuple of ints",
    "IntsOrOne": "tuple of ints",
    "dtype": "torch.dtype",
    "Kind": "torch.dtype",
    "Place": "torch.device",
    "Source": "torch.Generator",
    "Any": "object",
}
#: Types each of whose alternatives makes a signature.
ALTERNATIVES = {
    "Tensor or Number": ("Tensor", "Number"),
    "Tensor or int": ("Tensor", "int"),
    "int or tuple of ints": ("int", "tuple of ints"),
}
#: Kinds that also take a single int.
SINGLE = {"IntsOrOne"}

#: Parameters that signatures have behind those of the implementation (`more` of `op`): destinations
#: of one result or of several, and the options of new tensors except their type.
OUT = "Tensor out = None"
OUTS = "tuple of Tensors out = None"
NEW = (
    "torch.layout layout = None, torch.device device = None, bool pin_memory = False, "
    "bool requires_grad = False"
)


#: numpy's names of parameters, which PyTorch takes as well.
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x2": "other"}

_PARAMETER = re.compile(
    r"(?P<kind>[\w. ]+?)(?P<single>\[1\])?(?P<nullable>\?)? (?P<name>\w+)(?: = (?P<default>.+))?"
)


class Parameter(NamedTuple):
    """One parameter of a signature."""

    #: The type, as PyTorch's messages have it: 'tuple of ints'.
    kind: str
    name: str
    #: The text of the default; None where there is none.
    default: str | None
    #: It is given by name alone.
    keyword_only: bool
    #: A single int is taken for a tuple of one.
    single: bool
    #: None is taken.
    nullable: bool

    @property
    def python_name(self) -> str:
        """Return the name in an implementation: `from` is a word of Python's, and becomes from_."""
        return f"{self.name}_" if iskeyword(self.name) else self.name

    def __str__(self) -> str:
        text = f"{self.kind} {self.name}"
        return text if self.default is None else f"{text} = {self.default}"


@dataclass(frozen=True)
class Schema:
    """A signature."""

    #: The function's name.
    name: str
    #: All parameters, in order.
    parameters: tuple[Parameter, ...]

    @cached_property
    def positional(self) -> tuple[Parameter, ...]:
        """Return the parameters that may be given by position."""
        return tuple(p for p in self.parameters if not p.keyword_only)

    @cached_property
    def by_name(self) -> dict[str, Parameter]:
        """Return the parameters by name."""
        return {p.name: p for p in self.parameters}

    @cached_property
    def takes_ints_apart(self) -> bool:
        """Tell whether a tuple of ints may be given as several arguments: x.view(2, 3)."""
        return len(self.positional) == 1 and self.positional[0].kind == "tuple of ints"

    def without(self, *names: str) -> Schema:
        """Return the signature without some parameters."""
        return Schema(self.name, tuple(p for p in self.parameters if p.name not in names))

    def __str__(self) -> str:
        parts: list[str] = []
        for parameter in self.parameters:
            if parameter.keyword_only and "*" not in parts:
                parts.append("*")
            parts.append(str(parameter))
        return f"({', '.join(parts)})"


def derive(implementation: Callable[..., Any], name: str = "", more: str = "") -> list[Schema]:
    """Return the signatures of an implementation, which its annotations and defaults tell.

    There are several where a parameter has alternatives. name: what PyTorch calls it; by default
    the implementation's name. more: the text of further parameters, which are given by name and
    which the implementation does not get.
    """
    parameters = _parameters(inspect.unwrap(implementation))
    parameters += parse(f"more(*, {more})").parameters if more else ()
    several = [kind for kind in ALTERNATIVES if any(p.kind == kind for p in parameters)]
    name = name or _without_underscore(implementation.__name__)
    return [
        Schema(name, _with_kinds(parameters, dict(zip(several, kinds, strict=True))))
        for kinds in itertools.product(*[ALTERNATIVES[kind] for kind in several])
    ]


def _parameters(implementation: Callable[..., Any]) -> list[Parameter]:
    code = implementation.__code__
    count, values = code.co_argcount, implementation.__defaults__ or ()
    names = code.co_varnames[: count + code.co_kwonlyargcount]
    defaults = dict(zip(names[count - len(values) : count], values, strict=True))
    defaults |= implementation.__kwdefaults__ or {}
    parameters: list[Parameter] = []
    for position, name in enumerate(names):
        kind, _, none = implementation.__annotations__[name].partition(" | ")
        default = _text_of(defaults[name]) if name in defaults else None
        nullable = none == "None" or default == "None"
        public_name, by_name = _without_underscore(name), position >= count
        public_kind = TYPES.get(kind, kind)
        parameters.append(
            Parameter(public_kind, public_name, default, by_name, kind in SINGLE, nullable)
        )
    return parameters


def _with_kinds(parameters: list[Parameter], kinds: dict[str, str]) -> tuple[Parameter, ...]:
    """Return the parameters with the alternatives chosen for some types."""
    return tuple([p._replace(kind=kinds.get(p.kind, p.kind)) for p in parameters])


def _without_underscore(name: str) -> str:
    """Return the name for which Python's own word, such as `from`, has an underscore."""
    plain = name.removesuffix("_")
    return plain if iskeyword(plain) else name


def _text_of(value: Any) -> str:
    """Return a default as PyTorch prints it: whole floats without a point, texts without quotes."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def parse(text: str) -> Schema:
    """Read a signature. Raises ValueError where it is not one."""
    name, bracket, inside = text.partition("(")
    if not bracket or not inside.endswith(")"):
        raise ValueError(f"not a signature: {text}")
    parameters: list[Parameter] = []
    keyword_only = False
    for part in map(str.strip, re.findall(r"(?:[^,(]|,(?! )|\([^()]*\))+", inside[:-1])):
        if part == "*":
            keyword_only = True
        else:
            parameters.append(_parameter(part, keyword_only))
    return Schema(name, tuple(parameters))


def _parameter(text: str, keyword_only: bool) -> Parameter:
    match = _PARAMETER.fullmatch(text)
    if match is None:
        raise ValueError(f"not a parameter: {text}")
    default = match["default"]
    nullable = bool(match["nullable"]) or default == "None"
    single = bool(match["single"])
    return Parameter(match["kind"], match["name"], default, keyword_only, single, nullable)
