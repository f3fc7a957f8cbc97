"""Class ids: the numbers by which Python tells Lua the class of an object that it returns."""

from __future__ import annotations

from runtime.core.storage import STORAGE_CLASSES
from runtime.core.tensor import TENSOR_CLASSES

__all__ = ["CLASS_IDS", "FIRST_OTHER", "FIRST_STORAGE", "FIRST_TENSOR", "class_id"]

#: The ids of the first tensor class, the first storage class, and the first of the other classes;
#: 0 stands for a value without class.
FIRST_TENSOR, FIRST_STORAGE, FIRST_OTHER = 1, 21, 41

#: Class to id.
CLASS_IDS: dict[type, int] = {
    **{cls: FIRST_TENSOR + i for i, cls in enumerate(TENSOR_CLASSES)},
    **{cls: FIRST_STORAGE + i for i, cls in enumerate(STORAGE_CLASSES)},
}


def class_id(cls: type) -> int:
    """The id of a class; a class that has none yet gets a new one."""
    return CLASS_IDS.setdefault(cls, FIRST_OTHER + len(CLASS_IDS))
