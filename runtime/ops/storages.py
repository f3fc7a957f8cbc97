"""Manual, Storage: the methods of storages, except access to elements, which is in Lua.

Sizes and offsets count elements; offsets start at 1. Arguments of the wrong type raise
TypeMismatch.

The last operation makes the text that `tostring` and `print` show of tensors and storages.
"""

from __future__ import annotations

from typing import Any

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.calls.table import checked
from th_shell.runtime.core import mapping
from th_shell.runtime.core.dtypes import BYTE, CHAR
from th_shell.runtime.core.errors import TypeMismatch
from th_shell.runtime.core.printing import storage_text, tensor_text
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage


@checked(
    "Storage.new", method="[size] [ptr] | Storage [offset] [size] | file [shared] [size] [shm]"
)
def new(call: Call) -> Storage:
    """A storage of a size; over the memory at an address; a view of a storage; or a mapped file.

    Without a size, a view reaches to the end of the other storage, and a mapped storage to that
    of the file (see core/mapping.py). All but the first form give a storage that cannot be resized.
    """
    cls = STORAGE_CLASSES[call.dtype.index]
    first = call.get(1)
    if type(first) is bytes:
        return _mapped(call, cls, first)
    if isinstance(first, Storage) or (first is not None and call.type_name(1) == "userdata"):
        source = call.storage(1)
        offset = call.long(2, 1) - 1
        return cls.view_of(source, offset, call.long(3, source.size - offset))
    if type(call.get(2)) in (int, float):
        return cls.at_address(call.long(2), call.long(1, 0))
    return cls.new(call.long(1, 0))


def _mapped(call: Call, cls: type[Storage], name: bytes) -> Storage:
    shared, memory = _flag(call, 2), _flag(call, 4)
    size = call.long(3, 0)
    return mapping.map_file(cls, name, size, shared=shared, shared_memory=shared and memory)


def _flag(call: Call, at: int) -> bool:
    value = call.get(at)
    if value is None or type(value) is bool:
        return bool(value)
    raise call.mismatch(at, "boolean")


@checked("Storage.size", method="Storage")
def size(call: Call) -> int:
    """Number of elements."""
    return call.storage(1).size


@checked("Storage.elementSize", method="Storage")
def element_size(call: Call) -> int:
    """Bytes of one element."""
    return call.dtype.size


@checked("Storage.resize", method="*Storage* size")
def resize(call: Call) -> Storage:
    """Change the number of elements; those that remain keep their values."""
    storage = call.storage(1)
    storage.resize(call.long(2))
    return storage


@checked("Storage.fill", method="*Storage* real")
def fill(call: Call) -> Storage:
    """Set every element to a number."""
    storage = call.storage(1)
    storage.data.fill(call.real(2))
    return storage


@checked("Storage.copy", method="*Storage* Storage")
def copy(call: Call) -> Storage:
    """Copy the elements of a storage of the same size and any type, converted."""
    storage, source = call.storage(1), call.get(2)
    if not isinstance(source, Storage):
        raise TypeMismatch(2, "torch.*Storage", call.type_name(2))
    storage.copy(source)
    return storage


@checked("Storage.string", method="Storage [string]", types=(BYTE, CHAR))
def string(call: Call) -> Any:
    """The elements as a string; with a string, the storage, resized and set to its bytes."""
    storage, text = call.storage(1), call.args[-1]
    if type(text) in (int, float):
        text = b"%.14g" % text
    if type(text) is not bytes:
        return storage.data.tobytes()
    storage.resize(len(text))
    storage.data.view("u1")[...] = bytearray(text)
    return storage


@checked("Storage.retain", method="Storage")
def retain(call: Call) -> tuple[()]:
    """Add 1 to the reference counter; see Storage.count_references."""
    call.storage(1).count_references(1)
    return ()


@checked("Storage.free", method="Storage")
def free(call: Call) -> tuple[()]:
    """Subtract 1 from the reference counter; see Storage.count_references."""
    call.storage(1).count_references(-1)
    return ()


@checked("tostring", method="T")
def tensor_tostring(call: Call) -> bytes:
    """The text of a tensor, as print shows it."""
    return tensor_text(call.tensor(1)).encode()


@checked("Storage.tostring", method="Storage")
def storage_tostring(call: Call) -> bytes:
    """The text of a storage, as print shows it."""
    return storage_text(call.storage(1)).encode()
