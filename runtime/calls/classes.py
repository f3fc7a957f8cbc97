"""Numbers that stand for classes between Python and Lua."""

from __future__ import annotations

from runtime.core.storage import STORAGE_CLASSES
from runtime.core.tensor import TENSOR_CLASSES

__all__ = ["CLASS_IDS", "class_id"]

#: By class; 0 stands for none.
CLASS_IDS: dict[type, int] = {
    **{cls: i + 1 for i, cls in enumerate(TENSOR_CLASSES)},
    **{cls: i + 21 for i, cls in enumerate(STORAGE_CLASSES)},
}


def class_id(cls: type) -> int:
    """The number that stands for a class between Python and Lua; new classes get the next."""
    return CLASS_IDS.setdefault(cls, 41 + len(CLASS_IDS))
