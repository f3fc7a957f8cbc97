"""Results of operations as Lua gets them; `failures.py` makes the bytes of errors.

Of a tuple that Python returns, lupa makes several Lua values. ``runtime/lua/core/bridge.lua``
reads them so:

    None                        the result is the call's first argument
    number, bool                the result
    bytes                       an error: a byte with the position of the bad argument (0 where it
                                is about none), then the message
    object, class id            the result is a new object
    None, n, v1, k1, ... vn, kn n results: v itself where k is 0, the call's argument -k where k
                                is negative, a new object v of the class id k where it is positive

The classes of such objects, and their ids, are here, too.
"""

from typing import Any

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


def encode(result: Any, args: tuple[Any, ...]) -> Any:
    """A result, or a tuple of results, as the bridge reads it; args: the call's arguments."""
    if isinstance(result, tuple):
        flat: list[Any] = [None, len(result)]
        for value in result:
            flat.extend(_encode_one(value, args))
        return tuple(flat)
    if isinstance(result, (bool, int, float)):
        return result
    value, kind = _encode_one(result, args)
    if kind == -1:
        return None
    return (value, kind) if kind > 0 else (None, 1, value, kind)


def _encode_one(value: Any, args: tuple[Any, ...]) -> tuple[Any, int]:
    """One result as the pair v, k of the module's docstring."""
    kind = CLASS_IDS.get(type(value), 0)
    if kind:
        for at, arg in enumerate(args[:3]):
            if arg is value:
                return None, -1 - at
    return value, kind
