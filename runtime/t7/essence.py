"""What of a file goes out: the parameters and buffers of modules, and not what they compute with.

Modules are saved with their gradients, their last results and room to compute in, checkpoints with
an optimizer's state. These are most of a file's bytes, and of no use elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from runtime.pytorch.tensors.tensor import Tensor, wrap
from runtime.t7.faces import lua_tensor, storage_of
from runtime.t7.values import Function, Table, TorchObject
from runtime.t7.walk import named_values

# Fields that nn, rnn, dpnn and cudnn make anew when they compute: nn's `clearState` empties most
# of them. What begins with _ is by convention; where there is a gradient of it, it is a parameter.
_SCRATCH = re.compile(
    r"""(?: _.* | grad.* | diagHessian.* | .*buffer.*
    | outputs? | inputs? | lastInput | target | output_tensor | total_weight_tensor | zeroScalar
    | f(?:grad)?[iI]nput | columns | ones | noise | indices | temp | tempgrad | [xy]_diff
    | save_(?:mean|std) | norm | normp | normalized | centered | paddedRatio | accumRatio
    | coef | localsums | adjustedsums | sharedClones | cells? | gates | next_[ch] | zeroMask
    | zeroTensor | randomSamples | reserve | hiddenOutput | cellOutput | dropoutStates )$""",
    re.IGNORECASE | re.VERBOSE,
)
_OPTIMIZERS = frozenset(  # keys of the tables in which optim's functions keep what they know
    "evalCounter funcEval dfdx denom paramVariance paramStd accDelta old_dirs Hdiag".split()
)


def is_module(value: Any) -> bool:
    """Whether an object is a module of a net, or a criterion: by its class, or as nn makes them."""
    if not isinstance(value, TorchObject):
        return False
    fields = value.fields
    return value.torch_typename.startswith("nn.") or any(
        name in fields for name in ("modules", "gradInput", "gradWeight", "_type")
    )


def is_criterion(value: Any) -> bool:
    """Whether an object is what a net was trained with: by its class's name."""
    return isinstance(value, TorchObject) and value.torch_typename.endswith("Criterion")


def chosen(value: Any, everything: bool = False) -> tuple[Any, Iterator[tuple[str, Any]]]:
    """The structure of a value of `load` that goes out, and what it holds, by names.

    Where it holds no module, and with `everything`, these are the value itself and all that
    `named_values` finds. Otherwise they are a copy without what is of no use elsewhere, and the
    tensors in it.
    """
    kept = value if everything else essence(value)
    values = named_values(kept)
    if kept is value:
        return value, values
    return kept, ((name, item) for name, item in values if isinstance(item, Tensor))


def essence(value: Any, emptied: bool = False) -> Any:
    """A copy of tables and objects with the same tensors; the value itself where it has no module.

    The modules of a container come first, so that its other fields do not name what is in these.
    emptied: whether what does not go out is there without elements: such a copy can compute, and
    leaves the results of the first one alone.
    """
    made: dict[int, Any] = {}
    waiting: list[tuple[Any, str]] = []
    has_module = False

    def copy(item: Any, place: str) -> Any:
        if isinstance(item, Function):
            return Function(item.bytecode, kind=item.kind)
        if not isinstance(item, (Table, TorchObject)):
            return item
        if id(item) not in made:
            made[id(item)] = (
                Table()
                if isinstance(item, Table)
                else TorchObject(item.torch_typename, version=item.version)
            )
            waiting.append((item, place))
        return made[id(item)]

    result = copy(value, "")
    while waiting:
        item, place = waiting.pop()
        place = "module" if is_module(item) else place or _place(item)
        has_module = has_module or place == "module"
        fields, into = item, made[id(item)]
        if isinstance(item, TorchObject):
            fields, into = item.fields, into.fields
        for key in sorted(fields, key=lambda key: key != "modules"):
            inner = fields[key]
            name = key if isinstance(key, str) else ""
            if _goes_out(name, inner, fields, place):
                at = "optimizer" if not place and "optim" in name.lower() else place
                into[copy(key, place)] = copy(inner, at)
            elif emptied:
                into[copy(key, place)] = _empty(name, inner)
    return result if has_module else value


def _empty(name: str, value: Any) -> Any:
    if isinstance(value, Tensor):
        count = int(name == "_ones")  # nn.Add asks for its size before it makes room
        return wrap(np.ones(count, value.dtype.numpy))
    return Table() if isinstance(value, Table) else value


def own_tensors(module: TorchObject) -> dict[str, Tensor]:
    """The parameters and buffers that are a module's fields themselves."""
    return {
        str(key): value
        for key, value in module.fields.items()
        if isinstance(value, Tensor) and _goes_out(str(key), value, module.fields, "module")
    }


def _place(item: Any) -> str:
    """What a table is that stands in no module."""
    is_optimizers = isinstance(item, Table) and any(name in item for name in _OPTIMIZERS)
    return "optimizer" if is_optimizers else ""


def _goes_out(name: str, value: Any, fields: Table, place: str) -> bool:
    """Whether an entry does: numbers, strings and modules do."""
    has_elements = isinstance(value, Tensor) or storage_of(value) is not None
    if place == "optimizer":
        return not has_elements
    if place != "module" or not (has_elements or isinstance(value, Table)):
        return True
    if isinstance(value, Tensor) and not lua_tensor(value).sizes:
        return False
    is_parameter = f"grad{name[:1].upper()}{name[1:]}" in fields
    return is_parameter or not _SCRATCH.match(name)
