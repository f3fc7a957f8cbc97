"""The names of the module ``torch``: classes, constants, and the functions of the table.

A function that is no operation on tensors, such as `set_default_dtype`, is listed here.
"""

from __future__ import annotations

from typing import Any

from runtime.pytorch import cuda, linalg, ops, random, return_types, special, utils, version
from runtime.pytorch.base.dtypes import ALIASES, DTYPES, dtype, set_default_dtype
from runtime.pytorch.base.dtypes import default_dtype as get_default_dtype
from runtime.pytorch.base.formats import MEMORY_FORMATS, layout, memory_format, strided
from runtime.pytorch.base.print_options import set_printoptions
from runtime.pytorch.base.size import Size
from runtime.pytorch.calls.device import device, get_default_device, set_default_device
from runtime.pytorch.calls.table import FUNCTIONS, document
from runtime.pytorch.classes.limits import finfo, iinfo
from runtime.pytorch.classes.storages import STORAGE_CLASSES, TypedStorage, UntypedStorage
from runtime.pytorch.ops import autograd
from runtime.pytorch.ops.legacy import TENSOR_TYPES, set_default_tensor_type
from runtime.pytorch.settings import CONSTANTS, REMOVED, SETTINGS
from runtime.pytorch.tensors.tensor import Tensor

assert ops  # which fills the table
document()


_CLASSES = (Size, Tensor, device, dtype, finfo, iinfo, layout, memory_format)
_STORAGES = (TypedStorage, UntypedStorage)
_MODULES = (cuda, linalg, random, return_types, special, utils, version)
_DEFAULTS = (get_default_device, set_default_device, set_default_dtype, set_default_tensor_type)


def _collect() -> dict[str, Any]:
    names: dict[str, Any] = {kind.name: kind for kind in DTYPES}
    names |= {alias: names[name] for alias, name in ALIASES.items()}
    names |= {
        name: made
        for name, made in FUNCTIONS.items()
        if not name.startswith(("linalg_", "special_"))
    }
    names |= {t.__name__: t for t in TENSOR_TYPES.values() if not t.is_cuda}
    for own in (*_CLASSES, *_STORAGES, *_MODULES, *_DEFAULTS, *SETTINGS, set_printoptions):
        names[own.__name__.rpartition(".")[2]] = own
    names |= STORAGE_CLASSES | REMOVED
    names |= {name: getattr(random, name) for name in random.__all__ if name != "fork_rng"}
    names["get_default_dtype"] = get_default_dtype
    names |= {constant.name: constant for constant in (strided, *MEMORY_FORMATS)}
    names |= {name: getattr(autograd, name) for name in autograd.__all__}
    names |= CONSTANTS
    names["__version__"] = version.__version__
    return names


#: All names of the module but those of its submodules.
NAMES = _collect()
