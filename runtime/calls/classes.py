"""The classes of objects that Python returns to Lua, and their ids."""

from __future__ import annotations

from th_shell.runtime.calls.class_ids import FIRST_OTHER, FIRST_STORAGE, FIRST_TENSOR, OTHERS
from th_shell.runtime.core.storage import STORAGE_CLASSES
from th_shell.runtime.core.tensor import TENSOR_CLASSES

#: Class to id.
CLASS_IDS: dict[type, int] = {
    **{cls: FIRST_TENSOR + i for i, cls in enumerate(TENSOR_CLASSES)},
    **{cls: FIRST_STORAGE + i for i, cls in enumerate(STORAGE_CLASSES)},
}


def class_id(cls: type) -> int:
    """The id of a class: of tensors, of storages, or one whose `typename` is among `OTHERS`."""
    number = CLASS_IDS.get(cls)
    if number is None:
        number = CLASS_IDS[cls] = FIRST_OTHER + OTHERS.index(getattr(cls, "typename", ""))
    return number
