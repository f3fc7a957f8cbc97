"""torch.linalg: the functions of the table whose names begin with linalg_."""

from __future__ import annotations

from typing import Any

from runtime.pytorch.calls.table import FUNCTIONS
from runtime.pytorch.compute.matrices import LinAlgError
from runtime.pytorch.ops.matrices import multi_dot

__all__ = ["LinAlgError", "multi_dot"]

_PREFIX = "linalg_"


def __getattr__(name: str) -> Any:
    found = FUNCTIONS.get(_PREFIX + name)
    if found is None:
        raise AttributeError(f"module 'torch.linalg' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    names = (name for name in FUNCTIONS if name.startswith(_PREFIX))
    return sorted([*__all__, *(name.removeprefix(_PREFIX) for name in names)])
