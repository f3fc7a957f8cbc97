"""torch.linalg: the functions of the table whose names begin with linalg_."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from th_shell.torch.calls.table import FUNCTIONS, SUBMODULE
from th_shell.torch.ops.linalg import LinAlgError

__all__ = ["LinAlgError"]

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of

_functions = {
    name.removeprefix(SUBMODULE): f for name, f in FUNCTIONS.items() if name.startswith(SUBMODULE)
}
globals().update(_functions)
__all__ += _functions


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
