"""torch.special: the functions of the table whose names begin with special_."""

from __future__ import annotations

from typing import Any

from runtime.pytorch.table import FUNCTIONS

__all__: list[str] = []

_PREFIX = "special_"


def __getattr__(name: str) -> Any:
    found = FUNCTIONS.get(_PREFIX + name)
    if found is None:
        raise AttributeError(f"module 'torch.special' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    return sorted(name.removeprefix(_PREFIX) for name in FUNCTIONS if name.startswith(_PREFIX))
