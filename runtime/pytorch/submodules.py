"""Modules whose functions the table has under longer names: torch.linalg.inv is linalg_inv."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from th_shell.torch.base.c_types import why_missing
from th_shell.torch.calls.table import FUNCTIONS


def names_of(
    module: str, more: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and the `__dir__` of a module, which has more names itself."""
    prefix = f"{module}_"

    def get(name: str) -> Any:
        function = FUNCTIONS.get(prefix + name)
        if function is None:
            raise _missing(module, name)
        return function

    def names() -> list[str]:
        short_names = (name.removeprefix(prefix) for name in FUNCTIONS if name.startswith(prefix))
        return sorted({*more, *short_names})

    return get, names


def tell_missing(module: ModuleType) -> None:
    """Let the error of a name that a module has not be PyTorch's, which knows it as torch's."""
    module_name = module.__name__.removeprefix("th_shell.torch.")

    def get(name: str) -> Any:
        raise _missing(module_name, name)

    vars(module).setdefault("__getattr__", get)


def _missing(module: str, name: str) -> AttributeError:
    why = why_missing(f"{module}.{name}")
    return AttributeError(f"module 'torch.{module}' has no attribute '{name}'{why}")
