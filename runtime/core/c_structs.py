"""The C structs that Lua and Python both use, each defined here and nowhere else.

Lua's declarations are made from these (lua/core/c_structs.lua) and so is what Python packs; at its
start Lua compares where its members lie with `offsets`.
"""

from __future__ import annotations

import ctypes
import struct
from enum import IntFlag
from typing import Any

#: The names of the element types in Torch, and their C types as call forms print them.
ELEMENT_TYPES = (
    ("Byte", "unsigned char"),
    ("Char", "char"),
    ("Short", "short"),
    ("Int", "int"),
    ("Long", "long"),
    ("Float", "float"),
    ("Double", "double"),
    ("Half", "half"),
)


def element_ctype(real: str) -> str:
    """Return the C type of an element, one that has the same size and sign everywhere."""
    return {"char": "signed char", "half": "uint16_t"}.get(real, real)


#: The dimensions that a tensor's struct has room for behind its members.
ROOM = 8
#: The most dimensions of any tensor: a file with more is damaged, a deeper table holds itself.
MAX_DIMENSIONS = 1000

#: A number that changes, and may wrap, whenever the memory of a storage does: by it Lua code that
#: has read where elements are finds out whether a storage has been resized since.
MOVES = ctypes.c_int32()

# C types: the letter of the module struct, and the type of ctypes.
_TYPES: dict[str, tuple[str, Any]] = {
    "int": ("i", ctypes.c_int),
    "char": ("B", ctypes.c_ubyte),
    "ptrdiff_t": ("n", ctypes.c_ssize_t),
    "double": ("d", ctypes.c_double),
}
_POINTER = ("P", ctypes.c_void_p)


class CStruct:
    """A struct: its name, and its members as C declares them ('int refcount').

    In the declarations, REAL is the name of an element type ('Double'), CTYPE its C type.
    """

    def __init__(self, name: str, *members: str) -> None:
        self.name = name
        self.declaration = " ".join(f"{member};" for member in members)
        self.members = [member.rpartition(" ")[2].lstrip("*") for member in members]
        kinds = [_POINTER if "*" in m else _TYPES[m.rpartition(" ")[0]] for m in members]
        #: The format by which the module struct packs the members, natively aligned.
        self.format = "@" + "".join(letter for letter, _ in kinds)
        self.fields = [(name, kind) for name, (_, kind) in zip(self.members, kinds, strict=True)]

    @property
    def size(self) -> int:
        """Return the number of its bytes, with the padding that an array of it has."""
        return struct.calcsize(self.format + "0P")

    def offset(self, member: str) -> int:
        """Return the position of a member, in bytes from the start of the struct."""
        at = self.members.index(member)
        return struct.calcsize(self.format[: at + 1] + "0" + self.format[at + 1])

    def offsets(self) -> dict[str, int]:
        """Return the position of each member, in bytes."""
        return {member: self.offset(member) for member in self.members}


class Flag(IntFlag):
    """Flags of storages. Torch7's first four; the others are for blocks, which Lua makes."""

    REFCOUNTED = 1
    RESIZABLE = 2
    FREEMEM = 4  # the memory is freed with the storage
    VIEW = 8  # of another storage, or of memory that something else owns
    MOVED = 16  # the elements are no longer in the block
    SHARED = 32  # other tensors may view the storage, too
    KNOWN = 64  # Python has an object for the storage


STORAGE = CStruct("Storage", "CTYPE *data", "ptrdiff_t size", "int refcount", "char flag")

TENSOR = CStruct(
    "Tensor",
    "long *size",
    "long *stride",
    "int nDimension",
    "THREALStorage *storage",
    "ptrdiff_t storageOffset",
    "int refcount",
    "char flag",
)

#: The state of a file; what its members mean is told in io/file.py.
WINDOW = CStruct(
    "Window",
    "THCharStorage *memory",
    "double at",
    "double stop",
    "double room",
    *(f"int {name}" for name in ("opened", "readable", "writable", "quiet", "binary", "spacing")),
    *(f"int {name}" for name in ("failed", "swapped", "long_size", "direct", "stream")),
)

STRUCTS = (STORAGE, TENSOR, WINDOW)
