"""The names of the module ``torch``: classes, constants, and the functions of the table.

A function that is no operation on tensors, such as `set_default_dtype`, is listed here.
"""

from __future__ import annotations

from typing import Any

from runtime.pytorch import ops
from runtime.pytorch.device import device
from runtime.pytorch.dtypes import ALIASES, DTYPES, dtype, promote_types, set_default_dtype
from runtime.pytorch.dtypes import default_dtype as get_default_dtype
from runtime.pytorch.options import layout, memory_format, strided
from runtime.pytorch.promotion import can_cast
from runtime.pytorch.size import Size
from runtime.pytorch.table import FUNCTIONS
from runtime.pytorch.tensor import Tensor

__all__ = ["NAMES"]

assert ops  # which fills the table


def _collect() -> dict[str, Any]:
    names: dict[str, Any] = {kind.name: kind for kind in DTYPES}
    names |= {alias: names[name] for alias, name in ALIASES.items()}
    names |= {name: made for name, made in FUNCTIONS.items() if "." not in name}
    for listed in (Size, Tensor, can_cast, device, dtype, layout, memory_format):
        names[listed.__name__] = listed
    for function in (promote_types, set_default_dtype):
        names[function.__name__] = function
    names["get_default_dtype"] = get_default_dtype
    names["strided"] = strided
    return names


#: All names of the module but those of its submodules.
NAMES = _collect()
