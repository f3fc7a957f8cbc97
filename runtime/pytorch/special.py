"""torch.special: the functions of the table whose names begin with special_."""

from __future__ import annotations

from typing import Any

from runtime.pytorch.calls.table import FUNCTIONS

__all__: list[str] = []

_PREFIX = "special_"
#: Functions that torch has under the same names.
SHARED = ("log_softmax", "logsumexp", "softmax")


def __getattr__(name: str) -> Any:
    found = FUNCTIONS.get(_PREFIX + name) or (FUNCTIONS.get(name) if name in SHARED else None)
    if found is None:
        raise AttributeError(f"module 'torch.special' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    return sorted(name.removeprefix(_PREFIX) for name in FUNCTIONS if name.startswith(_PREFIX))
