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

from runtime.pytorch.base.c_types import why_missing
from runtime.pytorch.names import NAMES
from runtime.pytorch.tensors.tensor import finish_attributes

globals().update(NAMES)
finish_attributes()


class _Torch(ModuleType):
    """The module: a name that it lacks is an error in PyTorch's words."""

    def __getattr__(self, name: str) -> Any:
        why = why_missing(name)
        text = f"module 'torch' has no attribute '{name}'{why}"
        raise AttributeError(text, name=name, obj=self)

    def __reduce__(self) -> tuple[Any, ...]:
        """For functions that have the module, and go to other processes."""
        return import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted(NAMES)


sys.modules[__name__].__class__ = _Torch
