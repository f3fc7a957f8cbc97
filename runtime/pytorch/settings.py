"""Functions of the module that are no operations: settings, and what PyTorch has removed.

PyTorch's documentation: torch, Utilities.
"""

from __future__ import annotations

import math
from typing import Any

from runtime.pytorch.classes.storages import TypedStorage, UntypedStorage
from runtime.pytorch.tensors.sharing import threads
from runtime.pytorch.tensors.tensor import Tensor

#: torch.pi and the like.
CONSTANTS = {"e": math.e, "inf": math.inf, "nan": math.nan, "newaxis": None, "pi": math.pi}


def get_num_threads() -> int:
    """How many threads operations may use."""
    return threads.count


def set_num_threads(int: int) -> None:
    """Set how many threads operations may use. Raises RuntimeError for none."""
    if int <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    threads.count = int


def are_deterministic_algorithms_enabled() -> bool:
    """Whether operations give the same bits each time: always."""
    return True


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Do nothing: operations give the same bits each time."""


def is_storage(obj: Any) -> bool:
    """Whether an object is a storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


def typename(obj: Any) -> str:
    """The name of an object's type: 'torch.FloatTensor' for a tensor."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.scalar}Tensor"
    kind = type(obj)
    module = kind.__module__
    return kind.__qualname__ if module in ("builtins", None) else f"{module}.{kind.__qualname__}"


def set_flush_denormal(mode: bool) -> bool:
    """Whether denormal numbers could be taken for 0: they cannot."""
    return not mode


#: The functions.
SETTINGS = (
    are_deterministic_algorithms_enabled,
    get_num_threads,
    is_storage,
    set_flush_denormal,
    set_num_threads,
    typename,
    use_deterministic_algorithms,
)


__all__ = ["REMOVED"]

_INSTEAD = {
    "cholesky": "torch.linalg.cholesky",
    "eig": "torch.linalg.eig",
    "lstsq": "torch.linalg.lstsq",
    "qr": "torch.linalg.qr",
    "solve": "torch.linalg.solve",
    "symeig": "torch.linalg.eigh",
}
#: What else the errors say.
_MORE = {
    "cholesky": "\nL = torch.cholesky(A) should be replaced with:\nL = torch.linalg.cholesky(A)\n"
    "U = torch.cholesky(A, upper=True) should be replaced with:\nU = torch.linalg.cholesky(A).mH"
}


def _removed(name: str, instead: str) -> Any:
    def call(*_: Any, **__: Any) -> Any:
        raise RuntimeError(
            f"This function was deprecated since version 1.9 and is now removed. `torch.{name}` is "
            f"deprecated in favor of `{instead}`.{_MORE.get(name, '')}"
        )

    call.__name__ = name
    call.__doc__ = f"Removed from PyTorch: {instead} is there instead."
    return call


REMOVED = {name: _removed(name, instead) for name, instead in _INSTEAD.items()}
