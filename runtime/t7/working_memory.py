"""Tells the parameters and buffers of modules from the memory that these work with.

Modules are saved with their gradients, their last results and room to compute in, checkpoints with
an optimizer's state. These are most of a file's bytes, and of no use elsewhere. What is room to
compute in, a field's class decides (working_memory.txt). The fields of a class that is not known
may be anything, and go out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

from th_shell.runtime.core.dtypes import LONG
from th_shell.runtime.t7.tensors import storage_of
from th_shell.runtime.t7.values import Function, Table, TorchObject, named_values
from th_shell.torch.tensors.tensor import Tensor

_MAX_SIZES = 16  # elements of a LongStorage that the structure has: modules have sizes as such
_OUTSIDE, _OPTIMIZER = "", "an optimizer"  # places that are no classes of modules
_OPTIMIZERS = [  # keys of the tables in which optim's functions keep what they know
    {"evalCounter"}, {"funcEval"}, {"dfdx"}, {"denom", "t"}, {"paramVariance"}, {"accDelta"},
    {"old_dirs"}, {"Hdiag"}
]  # fmt: skip
_OPTIMIZER_NAME = re.compile(r"optim(s|izers?)?(_?(state|config|param|option|method)s?)?$", re.I)


@cache
def _working_memory() -> dict[str, frozenset[str]]:
    """Return the fields of classes that these make anew, by the names of the classes."""
    text = (resources.files("th_shell.runtime.t7") / "working_memory.txt").read_text("utf-8")
    lines = [line.partition(":") for line in text.splitlines() if not line.startswith("#")]
    return {kind: frozenset(fields.split()) for kinds, _, fields in lines for kind in kinds.split()}


@cache
def _made_anew(kind: str) -> frozenset[str]:
    """Return the names of the fields that a class makes anew; none of a class that is not known."""
    fields_by_class, (package, _, name) = _working_memory(), kind.partition(".")
    if package == "cudnn":
        return fields_by_class["cudnn"] | fields_by_class.get(f"nn.{name}", frozenset())
    return fields_by_class.get(kind, frozenset())


def is_module(value: Any) -> bool:
    """Tell whether an object is a module of a net, or a criterion, by its class or its fields."""
    if not isinstance(value, TorchObject):
        return False
    fields = value.fields
    return value.torch_typename.startswith("nn.") or any(
        name in fields for name in ("modules", "gradInput", "gradWeight", "_type")
    )


def is_criterion(value: Any) -> bool:
    """Tell whether an object is a criterion, by its class's name."""
    return isinstance(value, TorchObject) and value.torch_typename.endswith("Criterion")


def portable_parts(value: Any, everything: bool = False) -> tuple[Any, Iterator[tuple[str, Any]]]:
    """Return the structure of a value of `load` that goes out, and what it holds, by names.

    Where it holds no module, and with `everything`, these are the value itself and all that
    `named_values` finds. Otherwise they are a copy without what is of no use elsewhere, and the
    tensors in it, with the storages whose elements the structure does not tell.
    """
    structure = value if everything else without_working_memory(value)
    values = named_values(structure)
    if structure is value:
        return value, values
    tensors = ((name, each) for name, each in values if _has_elements(each))
    return structure, ((name, each) for name, each in tensors if not is_short(each))


def is_short(value: Any) -> bool:
    """Tell whether the structure of a file has a storage's elements: few numbers, such as sizes."""
    storage = storage_of(value)
    return storage is not None and storage.dtype is LONG and storage.size <= _MAX_SIZES


def count_left_out(value: Any, structure: Any) -> int:
    """Return how many tensors and storages with elements the structure of a value does not have.

    structure: the first result of `portable_parts`.
    """
    ids = {id(each) for _, each in named_values(structure)}
    tensors = {id(each): each for _, each in named_values(value)}
    return sum(_has_elements(each, some=True) for key, each in tensors.items() if key not in ids)


def without_working_memory(value: Any) -> Any:
    """Return a copy without working memory and with the same tensors.

    A value without a module is returned itself.

    The modules of a container come first, so that its other fields do not name what is in these.
    """
    copies: dict[int, Any] = {}
    waiting: list[tuple[Any, str]] = []
    has_module = False

    def copy(item: Any, place: str) -> Any:
        if isinstance(item, Function):
            return Function(item.bytecode, kind=item.kind)
        if not isinstance(item, (Table, TorchObject)):
            return item
        if id(item) not in copies:
            copies[id(item)] = (
                type(item)()
                if isinstance(item, Table)
                else TorchObject(item.torch_typename, version=item.version)
            )
            waiting.append((item, place))
        return copies[id(item)]

    result = copy(value, _OUTSIDE)
    while waiting:
        item, place = waiting.pop()
        has_module = has_module or is_module(item)
        place = _place(item, place)
        fields, into = item, copies[id(item)]
        if isinstance(item, TorchObject):
            fields, into = item.fields, into.fields
        for key in sorted(fields, key=lambda key: key != "modules"):
            inner = fields[key]
            name = key if isinstance(key, str) else ""
            if _goes_out(name, inner, item, place):
                is_optimizer = place == _OUTSIDE and _OPTIMIZER_NAME.match(name)
                into[copy(key, place)] = copy(inner, _OPTIMIZER if is_optimizer else place)
    return result if has_module else value


def parameters_and_buffers(module: TorchObject) -> dict[str, Tensor]:
    """Return the parameters and buffers that are a module's fields themselves."""
    return {
        str(key): value
        for key, value in module.fields.items()
        if isinstance(value, Tensor)
        and _goes_out(str(key), value, module, _place(module, _OUTSIDE))
    }


def _place(item: Any, place: str) -> str:
    """Return what a table or object belongs to: the class of the nearest module, or a place above.

    place: what the value belongs to in which it stands.
    """
    if is_module(item) or place not in (_OUTSIDE, _OPTIMIZER) and isinstance(item, TorchObject):
        return str(item.torch_typename)
    is_optimizers = isinstance(item, Table) and any(keys <= item.keys() for keys in _OPTIMIZERS)
    return _OPTIMIZER if place == _OUTSIDE and is_optimizers else place


def _has_elements(value: Any, some: bool = False) -> bool:
    """Tell whether a value is a tensor or a storage; some: one that is not empty."""
    if isinstance(value, Tensor):
        return not some or value.numel() > 0
    storage = storage_of(value)
    return storage is not None and (not some or storage.size > 0)


def _goes_out(name: str, value: Any, item: Any, place: str) -> bool:
    """Tell whether an entry is of use elsewhere; numbers, strings and modules are."""
    has_elements = _has_elements(value)
    if place == _OPTIMIZER:
        return not has_elements
    if place == _OUTSIDE or not (has_elements or isinstance(value, Table)):
        return True
    if name in _made_anew(place):
        return False
    return not is_module(item) or not (
        name in ("output", "gradInput") or _is_gradient(name, value, item.fields)
    )


def _is_gradient(name: str, value: Any, fields: Table) -> bool:
    """Tell whether a field is named as a parameter's gradient, and has as many elements or none."""
    if not name.startswith(("grad", "diagHessian")) or not isinstance(value, Tensor):
        return False
    of = name.removeprefix("diagHessian").removeprefix("grad")
    parameter = next((fields[key] for key in (of, of[:1].lower() + of[1:]) if key in fields), None)
    return isinstance(parameter, Tensor) and value.numel() in (0, parameter.numel())
