"""Class ids: the numbers by which Python tells Lua the class of an object that it returns."""

from __future__ import annotations

from runtime.core.storage import STORAGE_CLASSES
from runtime.core.tensor import TENSOR_CLASSES

__all__ = ["CLASS_IDS", "class_id"]

#: Class to id. Tensors have 1 to 20, storages 21 to 40 (lua/core/bridge.lua relies on that), other
#: classes the numbers above; 0 stands for a value without class.
CLASS_IDS: dict[type, int] = {
    **{cls: i + 1 for i, cls in enumerate(TENSOR_CLASSES)},
    **{cls: i + 21 for i, cls in enumerate(STORAGE_CLASSES)},
}


def class_id(cls: type) -> int:
    """The id of a class; a class that has none yet gets a new one."""
    return CLASS_IDS.setdefault(cls, 41 + len(CLASS_IDS))
