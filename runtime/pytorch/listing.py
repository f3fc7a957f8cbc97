"""Writes the types of the module, as checkers of types read them, from the rows and signatures.

    python -m th_shell.torch.listing

They stand in stubs, since functions and methods are made while the module is loaded. Signatures
that messages do not list are not told, nor are numpy's names of parameters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from th_shell.torch.base.results import FIELDS
from th_shell.torch.calls.schema import Parameter
from th_shell.torch.calls.table import FUNCTIONS, Row, operation
from th_shell.torch.names import NAMES
from th_shell.torch.ops.conversion import TypedTensor
from th_shell.torch.ops.creation import ones
from th_shell.torch.tensors.tensor import Tensor, wrap

_TOP = Path(__file__).parent

# The module has names such as float and dtype: so types have others.
_HEAD = """\
# Written by runtime/pytorch/listing.py.
# mypy: disable-error-code="overload-overlap, overload-cannot-match, override, misc"
from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Iterator, Sequence
from typing import Any, overload

from numpy import ndarray

from th_shell.torch import return_types
from th_shell.torch.base.dtypes import (
    dtype as _dtype, layout as _layout, memory_format as _memory_format
)
from th_shell.torch.base.shapes import Size as _Size
from th_shell.torch.calls.device import device as _device
from th_shell.torch.classes.generator import Generator as _Generator
from th_shell.torch.classes.storages import (
    TypedStorage as TypedStorage, UntypedStorage as UntypedStorage
)
from th_shell.torch.tensors.tensor import Tensor as Tensor

"""

#: What signatures call types.
_KINDS = {
    "Tensor": "Tensor",
    "Number": "_float",
    "tuple of ints": "Sequence[_int]",
    "tuple of floats": "Sequence[_float]",
    "tuple of Scalars": "Sequence[_float]",
    "tuple of Tensors": "Sequence[Tensor]",
    "torch.device": "_device | _str | _int",
    **{kind: f"_{kind}" for kind in ("int", "bool", "float", "str")},
    **{f"torch.{kind}": f"_{kind}" for kind in ("dtype", "layout", "memory_format", "Generator")},
}
#: What implementations call the types of results.
_RESULTS = {
    "Array": "ndarray[Any, Any]",
    "Shape": "tuple[_int, ...]",
    "Tensors": "tuple[Tensor, ...]",
    **{name: f"_{name}" for name in ("int", "bool", "float", "str", "complex")},
    **{n: f"_{n}" for n in ("Size", "Generator", "dtype", "device", "layout", "memory_format")},
    **{name: name for name in ("Tensor", "tuple[Tensor, ...]", "None", "Iterator[Tensor]")},
    **{name: name for name in ("TypedStorage", "UntypedStorage")},
}
_CONVERSIONS = {f"__{name}__": f"_{name}" for name in ("int", "float", "complex")}


def stubs() -> dict[Path, str]:
    """Return the texts of all stubs, by their files."""
    named = [name for name in NAMES if name in FUNCTIONS]
    parts = {prefix: _in_submodule(f"{prefix}_") for prefix in ("linalg", "special")}
    return {
        _TOP / "__init__.pyi": _HEAD + _lines(_other_names()) + _functions({n: n for n in named}),
        **{_TOP / f"{part}.pyi": _HEAD + _functions(names) for part, names in parts.items()},
        _TOP / "return_types.pyi": _HEAD + _lines(_result_classes()),
        _TOP / "tensors" / "methods.pyi": _HEAD + "class Methods:\n" + _lines(_members(), 4),
    }


def _lines(lines: Iterable[str], margin: int = 0) -> str:
    return "".join(f"{' ' * margin}{line}\n" for line in lines)


def _in_submodule(prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): name for name in FUNCTIONS if name.startswith(prefix)}


def _functions(names: dict[str, str]) -> str:
    """Return the functions of a module: of each its name there, and in the table."""
    return _lines(line for name, full in names.items() for line in _overloads(name, full))


def _other_names() -> Iterator[str]:
    """Return the names of the module that are no functions of the table."""
    for name, value in NAMES.items():
        if isinstance(value, ModuleType):
            yield f"from th_shell.torch import {name} as {name}"
        elif name in _RESULTS and isinstance(value, type):
            if name != _RESULTS[name]:
                yield f"{name} = {_RESULTS[name]}"
        elif isinstance(value, type):
            yield f"{name}: {'type[Tensor]' if issubclass(value, TypedTensor) else 'Any'}"
        elif callable(value) and name not in FUNCTIONS:
            yield f"def {name}{_parameters(value)} -> {_result_of(value)}: ..."
        elif not callable(value):
            yield f"{name}: {_RESULTS.get(type(value).__name__, 'Any')}"


def _result_classes() -> Iterator[str]:
    yield "from typing import NamedTuple"
    for name, fields in FIELDS.items():
        yield f"class {name}(NamedTuple):"
        yield from (f"    {field}: Tensor" for field in fields)


def _members() -> Iterator[str]:
    """Return the members of tensors that are not written in their class."""
    sample = ones((2, 2))
    for name, member in vars(Tensor).items():
        function = member.fget if isinstance(member, property) else member
        if not callable(function) or function.__module__ == wrap.__module__:
            continue
        if operation(f"Tensor.{name}"):
            yield from _overloads(name, f"Tensor.{name}")
            continue
        result = _CONVERSIONS.get(name) or _result_of(function)
        if isinstance(member, property):
            if result == "Any":
                result = _RESULTS.get(type(getattr(sample, name)).__name__, "Any")
            yield from ("@property", f"def {name}(self) -> {result}: ...")
        else:
            if result == "Any" and name.startswith("__"):
                result = "Tensor"  # of operators
            yield f"def {name}(self, *args: Any, **named: Any) -> {result}: ..."


def _result_of(function: Callable[..., Any], name: str = "") -> str:
    """Return the type of what a function returns, whose named results are those of a name."""
    annotation = getattr(inspect.unwrap(function), "__annotations__", {}).get("return", "Any")
    kind = _RESULTS.get(str(annotation), "Any")
    return f"return_types.{name}" if kind == "Any" and name in FIELDS else kind


def _parameters(function: Callable[..., Any]) -> str:
    """Return the parameters of a function that has no rows; their types are not told."""
    parameters = inspect.signature(function).parameters.values()
    named = [
        p.replace(annotation=Any, default=p.empty if p.default is p.empty else ...)
        for p in parameters
    ]
    return str(inspect.Signature(named)).replace("Ellipsis", "...")


def _overloads(name: str, full: str) -> Iterator[str]:
    rows = [row for row in operation(full) if not row.hidden]
    if not rows:
        function = FUNCTIONS[full]
        yield f"def {name}{_parameters(function)} -> {_result_of(function)}: ..."
    signatures = [line for row in rows for line in _signatures(row)]
    for parameters, result in signatures:
        if len(signatures) > 1:
            yield "@overload"
        yield f"def {name}({', '.join(parameters)}) -> {result}: ..."


def _signatures(row: Row) -> Iterator[tuple[list[str], str]]:
    schema = row.schema
    result = "Tensor" if row.in_place else _result_of(row.implementation, schema.name)
    receiver = ["self"] if row.is_method else []
    by_name = [_parameter(p, row.numbers) for p in schema.parameters if p.keyword_only]
    behind = ["*", *by_name] if by_name else []
    yield [*receiver, *_positional(schema.positional, row.numbers), *behind], result
    if schema.takes_ints_apart:
        yield [*receiver, f"*{schema.positional[0].python_name}: _int", *by_name], result


def _positional(parameters: Iterable[Parameter], numbers: bool) -> Iterator[str]:
    """Yield the parameters' texts: those before a required one are required, too."""
    shown = [_parameter(p, numbers) for p in parameters]
    last = max((i for i, text in enumerate(shown) if "=" not in text), default=-1)
    yield from (text.partition(" =")[0] if i < last else text for i, text in enumerate(shown))


def _parameter(parameter: Parameter, numbers: bool) -> str:
    kind = _KINDS.get(parameter.kind, "Any")
    if numbers and parameter.kind == "Tensor":
        kind = "Tensor | _float"
    if parameter.single:
        kind += " | _int"
    if parameter.nullable:
        kind += " | None"
    return f"{parameter.python_name}: {kind}{'' if parameter.default is None else ' = ...'}"


if __name__ == "__main__":
    for path, text in stubs().items():
        path.write_text(text)
