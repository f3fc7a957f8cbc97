"""The names of the module ``torch``: classes, constants, and the functions of the table.

A function that is no operation on tensors, such as `set_default_dtype`, is listed here.
"""

from __future__ import annotations

import math
from types import ModuleType, SimpleNamespace
from typing import Any

from th_shell.runtime.core.pickles import restored  # noqa: F401 (pickles find it here)
from th_shell.torch import backends, cuda, linalg, random, utils
from th_shell.torch.base.device import device, set_default_device
from th_shell.torch.base.dtypes import (
    ALIASES,
    DTYPES,
    dtype,
    finfo,
    iinfo,
    layout,
    set_default_dtype,
    strided,
)
from th_shell.torch.base.dtypes import default_dtype as get_default_dtype
from th_shell.torch.base.missing import why_missing
from th_shell.torch.base.shapes import Size
from th_shell.torch.calls.table import FUNCTIONS, SUBMODULE, document
from th_shell.torch.files.loading import load
from th_shell.torch.files.saving import save
from th_shell.torch.ops import attributes
from th_shell.torch.ops.conversion import TENSOR_TYPES
from th_shell.torch.tensors.large_arrays import threads
from th_shell.torch.tensors.printing import set_printoptions
from th_shell.torch.tensors.storages import TypedStorage, UntypedStorage
from th_shell.torch.tensors.tensor import Tensor

#: The version of PyTorch whose behaviour the package has.
version = SimpleNamespace(__version__="2.15.0", cuda=None)
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


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: operations give the same bits each time."""


def is_storage(obj: Any) -> bool:
    """Tell whether an object is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


_CLASSES = (Size, Tensor, TypedStorage, UntypedStorage, device, dtype, finfo, iinfo, layout)
_MODULES = (backends, cuda, linalg, random, utils)
_FUNCTIONS = (
    get_num_threads,
    is_storage,
    load,
    save,
    set_default_device,
    set_default_dtype,
    set_num_threads,
    set_printoptions,
    use_deterministic_algorithms,
)


def _tell_missing(module: ModuleType) -> None:
    """Let the error of a name that a module has not be PyTorch's, which knows it as torch's."""
    module_name = module.__name__.removeprefix("th_shell.torch.")

    def get(name: str) -> Any:
        why = why_missing(f"{module_name}.{name}")
        raise AttributeError(f"module 'torch.{module_name}' has no attribute '{name}'{why}")

    vars(module)["__getattr__"] = get


for _module in _MODULES:
    _tell_missing(_module)


document()


def _collect() -> dict[str, Any]:
    names: dict[str, Any] = {kind.name: kind for kind in DTYPES}
    names |= {alias: names[name] for alias, name in ALIASES.items()}
    names |= {
        name: function for name, function in FUNCTIONS.items() if not name.startswith(SUBMODULE)
    }
    names |= {t.__name__: t for t in TENSOR_TYPES.values()}
    for value in (*_CLASSES, *_MODULES, *_FUNCTIONS):
        names[value.__name__.rpartition(".")[2]] = value
    names |= {name: getattr(random, name) for name in random.__all__}
    names["get_default_dtype"] = get_default_dtype
    names |= {name: getattr(attributes, name) for name in attributes.GRADIENT_MODES}
    names |= {"strided": strided, "version": version, "__version__": version.__version__}
    return names | CONSTANTS


#: All names of the module but those of its submodules.
NAMES = _collect()
