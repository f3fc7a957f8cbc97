"""torch.cuda of a machine without a GPU."""

from __future__ import annotations

from typing import Any

from th_shell.torch.base.device import NO_DRIVER

__path__: list[str] = []  # names that it lacks are looked for as modules, and told of


def is_available() -> bool:
    """Tell whether there is a GPU that tensors can be on: never."""
    return False


def is_initialized() -> bool:
    """Tell whether a GPU is in use: never."""
    return False


def device_count() -> int:
    """Return the number of GPUs: none."""
    return 0


def _missing(*_: Any, **__: Any) -> Any:
    """Raise the error of PyTorch without a GPU."""
    raise RuntimeError(NO_DRIVER)


current_device = get_device_name = synchronize = _missing


def manual_seed(seed: int) -> None:
    """Do nothing, as PyTorch without a GPU."""


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Do nothing, as PyTorch without a GPU."""
