"""Tells the parameters and buffers of modules from the memory that these work with.

Modules are saved with their gradients, their last results and room to compute in, checkpoints with
an optimizer's state. These are most of a file's bytes, and of no use elsewhere. What is room to
compute in, a field's class decides (working_memory.txt). The fields of a class that is not known
may be anything, and go out.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Any

from th_shell.runtime.core.dtypes import LONG
from th_shell.runtime.t7.tensors import storage_of
from th_shell.runtime.t7.values import (
    Function,
    Table,
    TorchObject,
    inner_entries,
    name_of_key,
    named_values,
)
from th_shell.torch.tensors.tensor import Tensor

_MAX_SIZES = 16  # elements of a LongStorage that stays: modules have sizes as such
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


def portable_tensors(value: Any, everything: bool = False) -> tuple[list[tuple[str, Any]], int]:
    """Return the tensors and storages in a value of `load` that are of use elsewhere, by names.

    With `everything`, and where it holds no module, these are all. Otherwise storages of few
    numbers, such as sizes, are not among them. The second result is how many others have elements.
    """
    every = [(name, each) for name, each in named_values(value) if _has_elements(each)]
    named, has_module = _without_working_memory(value)
    if everything or not has_module:
        return every, 0
    left_out = {id(each) for _, each in every if _has_elements(each, some=True)}
    left_out -= {id(each) for _, each in named}
    return [(name, each) for name, each in named if not _is_short(each)], len(left_out)


def _is_short(value: Any) -> bool:
    storage = storage_of(value)
    return storage is not None and storage.dtype is LONG and storage.size <= _MAX_SIZES


def _without_working_memory(root: Any) -> tuple[list[tuple[str, Any]], bool]:
    """Return what a value holds but working memory, and whether there is a module in it.

    The modules of a container come first, so that its other fields do not name what is in these.
    """
    named: list[tuple[str, Any]] = []
    has_module = False
    seen: set[int] = set()
    waiting = [("", root, _OUTSIDE)]
    while waiting:
        name, item, place = waiting.pop()
        fields = None if isinstance(item, Function) else inner_entries(item)
        if fields is None:
            if _has_elements(item):
                named.append((name or "value", item))
        elif id(item) not in seen:
            seen.add(id(item))
            has_module = has_module or is_module(item)
            waiting += reversed(list(_entries(name, item, fields, _place(item, place))))
    return named, has_module


def _entries(name: str, item: Any, fields: Table, place: str) -> Iterator[tuple[str, Any, str]]:
    """Yield the entries of a table or object that go out: name, value, and what it belongs to."""
    for key in sorted(fields, key=lambda key: key != "modules"):
        field = key if isinstance(key, str) else ""
        if _goes_out(field, fields[key], item, place):
            is_optimizer = place == _OUTSIDE and _OPTIMIZER_NAME.match(field)
            path = f"{name}.{name_of_key(key)}" if name else name_of_key(key)
            yield path, fields[key], _OPTIMIZER if is_optimizer else place


def portable_fields(module: TorchObject) -> dict[str, Any]:
    """Return a module's fields but working memory."""
    place = _place(module, _OUTSIDE)
    fields = ((str(key), value) for key, value in module.fields.items())
    return {key: value for key, value in fields if _goes_out(key, value, module, place)}


def parameters_and_buffers(module: TorchObject) -> dict[str, Tensor]:
    """Return the parameters and buffers that are a module's fields themselves."""
    fields = portable_fields(module)
    return {key: value for key, value in fields.items() if isinstance(value, Tensor)}


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
