"""The names of PyTorch over the runtime's tensors; ``th --python`` has it as ``torch``.

Tensors have the runtime's storages, so that they share memory with those of Lua. Dimensions count
from 0 here, operands are broadcast and types promoted, as PyTorch 2 does. The names are collected
in `names.py`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from th_shell.torch.base.missing import why_missing
from th_shell.torch.names import NAMES
from th_shell.torch.tensors.tensor import finish_attributes

globals().update(NAMES)
finish_attributes()


def __getattr__(name: str) -> Any:
    """Raise the error of a name that is missing, in PyTorch's words."""
    text = f"module 'torch' has no attribute '{name}'{why_missing(name)}"
    raise AttributeError(text, name=name, obj=sys.modules[__name__])


def __dir__() -> list[str]:
    return sorted(NAMES)


class _Torch(ModuleType):
    """The module, which pickles. A `__getattr__` of its class would slow down its names."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the call that imports the module again, for pickle."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Torch
