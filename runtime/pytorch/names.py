"""The names of the module ``torch``: classes, constants, and the functions of the table.

A function that is no operation on tensors, such as `set_default_dtype`, is listed here.
"""

from __future__ import annotations

import copyreg
import math
from typing import Any

from th_shell.runtime.core.pickles import makes, restored
from th_shell.torch import (
    backends,
    cuda,
    linalg,
    ops,
    random,
    return_types,
    special,
    utils,
    version,
)
from th_shell.torch.base.dtypes import (
    ALIASES,
    DTYPES,
    MEMORY_FORMATS,
    dtype,
    layout,
    memory_format,
    set_default_dtype,
    strided,
)
from th_shell.torch.base.dtypes import default_dtype as get_default_dtype
from th_shell.torch.base.results import RESULTS
from th_shell.torch.base.shapes import Size
from th_shell.torch.calls.device import device, get_default_device, set_default_device
from th_shell.torch.calls.table import FUNCTIONS, SUBMODULES, document
from th_shell.torch.classes.limits import finfo, iinfo
from th_shell.torch.classes.storages import STORAGE_CLASSES, TypedStorage, UntypedStorage
from th_shell.torch.compute.matrices import LinAlgError
from th_shell.torch.files.loading import load
from th_shell.torch.files.saving import save
from th_shell.torch.ops import attributes
from th_shell.torch.ops.conversion import TENSOR_TYPES
from th_shell.torch.submodules import tell_missing
from th_shell.torch.tensors.large_arrays import threads
from th_shell.torch.tensors.tensor import Tensor
from th_shell.torch.text.printing import set_printoptions

#: torch.pi and the like.
CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


def get_num_threads() -> int:
    """Return the number of threads that operations may use."""
    return threads.pool.count


def set_num_threads(int: int) -> None:
    """Set how many threads operations may use. Raises RuntimeError for none."""
    if int <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    threads.pool.count = int


def are_deterministic_algorithms_enabled() -> bool:
    """Tell whether operations give the same bits each time: always."""
    return True


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: operations give the same bits each time."""


def is_storage(obj: Any) -> bool:
    """Tell whether an object is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj: Any) -> str:
    """Return the name of an object's type: 'torch.FloatTensor' for a tensor."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.scalar}Tensor"
    kind = type(obj)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", None) else f"{module}.{kind.__qualname__}"


def set_flush_denormal(mode: bool) -> bool:
    """Tell whether denormal numbers could be taken for 0: they cannot."""
    return not mode


#: The functions.
SETTINGS = (
    are_deterministic_algorithms_enabled,
    get_num_threads,
    is_storage,
    load,
    save,
    set_flush_denormal,
    set_num_threads,
    typename,
    use_deterministic_algorithms,
)


assert ops  # which fills the table
document()


_CLASSES = (Size, Tensor, device, dtype, finfo, iinfo, layout, memory_format)
_STORAGES = (TypedStorage, UntypedStorage)
_MODULES = (backends, cuda, linalg, random, return_types, special, utils, version)
for _module in (*_MODULES, backends.mps, utils.backcompat, utils.dlpack):
    tell_missing(_module)
_DEFAULTS = (get_default_device, set_default_device, set_default_dtype)


def _collect() -> dict[str, Any]:
    names: dict[str, Any] = {kind.name: kind for kind in DTYPES}
    names |= {alias: names[name] for alias, name in ALIASES.items()}
    names |= {
        name: function for name, function in FUNCTIONS.items() if not name.startswith(SUBMODULES)
    }
    names |= {t.__name__: t for t in TENSOR_TYPES.values()}
    for value in (*_CLASSES, *_STORAGES, *_MODULES, *_DEFAULTS, *SETTINGS, set_printoptions):
        names[value.__name__.rpartition(".")[2]] = value
    names |= STORAGE_CLASSES
    names |= {name: getattr(random, name) for name in random.__all__ if name != "fork_rng"}
    names["get_default_dtype"] = get_default_dtype
    names |= {constant.name: constant for constant in (strided, *MEMORY_FORMATS)}
    names |= {name: getattr(attributes, name) for name in attributes.GRADIENT_MODES}
    names |= CONSTANTS
    names["__version__"] = version.__version__
    return names


#: All names of the module but those of its submodules.
NAMES = _collect()


#: Classes by the modules and names that they tell, though there are no such modules everywhere.
_BY_NAME = {
    (value.__module__, value.__name__): value
    for value in (*NAMES.values(), *RESULTS.values(), LinAlgError)
    if isinstance(value, type)
}


@makes("class")
def _named(module: str, name: str) -> Any:
    return _BY_NAME[module, name]


def _reduced(cls: type) -> Any:
    """Return the call by which pickle finds one of these classes; for others their name."""
    key = cls.__module__, cls.__name__
    return (restored, ("class", *key)) if _BY_NAME.get(key) is cls else cls.__qualname__


for _kind in {type(value) for value in _BY_NAME.values()} - {type}:
    copyreg.pickle(_kind, _reduced)
