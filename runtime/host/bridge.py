"""The Python functions that Lua calls, besides the operations: Lua has them in its table `host`.

No Python exception ever reaches Lua: each function is wrapped by `guarded`, which returns an
exception as bytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from runtime.calls.classes import FIRST_OTHER, FIRST_STORAGE, FIRST_TENSOR, class_id
from runtime.calls.forms import Foreign
from runtime.calls.plans import Plans
from runtime.calls.table import TABLE
from runtime.compute import formulas
from runtime.compute.c_functions import blas
from runtime.compute.processors import PROCESSORS
from runtime.compute.thread_pool import ThreadPool
from runtime.core.c_structs import ROOM, STRUCTS, Flag
from runtime.core.dtypes import DTYPES, LONG, Array, cast_scalar
from runtime.core.memory import Memory
from runtime.core.state import State
from runtime.core.storage import STORAGE_CLASSES, Storage
from runtime.core.tensor import TENSOR_CLASSES, Tensor
from runtime.host import files, operating_system
from runtime.host.guards import guarded
from runtime.ops import ROWS_ADDED

__all__ = ["definitions", "host_functions"]


def _operations(prefix: bytes, index: int | None = None) -> bytes:
    """The names of operations, one a line: a type's methods, or torch's functions (index None).

    prefix: '', or 'Storage.' for the methods of storages. A star behind a name says that the
    operation has a Lua formula, an exclamation mark that it is the same function for all types.
    """
    assert ROWS_ADDED
    lead = prefix.decode()
    names = []
    for name, rows in TABLE.items():
        if not name.startswith(lead) or ("." in name) != bool(lead):
            continue
        for row in rows:
            if index is None and row.function is not None:
                names.append(name)
                break
            if index is not None and row.method is not None and DTYPES[index] in row.types:
                names.append(name)
                break
    lines = [name.removeprefix(lead) + _mark(name) for name in names]
    return b"\1" + "\n".join(lines).encode()


def _mark(name: str) -> str:
    if formulas.has_formula(name):
        return "*"
    rows = TABLE[name]
    typed = any(row.method or re.search(r"\b(T|real)\b", row.function or "") for row in rows)
    return "" if typed else "!"


def _mirror(value: Any) -> Any:
    """The address of a tensor's or storage's C struct and the class id; None for other objects."""
    if isinstance(value, (Tensor, Storage)):
        return value.mirror(), class_id(type(value))
    return None


def _adopt(storage: Storage, offset: int, *geometry: int) -> Tensor:
    """A tensor for a view that Lua made; geometry: the sizes, then the strides."""
    n = len(geometry) // 2
    cls = TENSOR_CLASSES[storage.dtype.index]
    return cls(storage, offset, tuple(geometry[:n]), tuple(geometry[n:]))


def _adopt_storage(index: int, struct: int, data: int, size: int, block: Any) -> Storage:
    """A storage for a block that Lua made: memory and C struct in one object of Lua's, `block`."""
    return STORAGE_CLASSES[index].adopted(struct, data, size, block)


def _small_source(name: bytes, space: bytes, code: int) -> bytes | None:
    text = formulas.source(name.decode(), space.decode(), code)
    return None if text is None else b"\1" + text.encode()


_half_values: Array | None = None


def _half_table() -> int:
    """The address of 65,536 floats: the number that each pattern of 16 bits is as a Half."""
    global _half_values
    if _half_values is None:
        values = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
        # Of a nan only the sign is kept: other bits are not safe in Lua (lua/tensor/elements.lua).
        _half_values = np.where(np.isnan(values), np.copysign(np.float32(np.nan), values), values)
    return int(_half_values.ctypes.data)


def _half_bits(value: float) -> int:
    return int(np.float64(value).astype(np.float16).view(np.uint16))


def _state_functions(state: State) -> dict[str, Callable[..., Any]]:
    """The functions that read or change what belongs to an engine."""
    plans, memory, pool = state.part(Plans), state.part(Memory), state.part(ThreadPool)

    def set_threads(count: Any) -> None:
        pool.count = max(int(cast_scalar(count, LONG)), 1)

    return {
        "entry": lambda name, i: plans.entry(name.decode(), None if i is None else DTYPES[i]),
        "set_default_type": lambda index: plans.set_default_type(DTYPES[index]),
        "leaves_memory": lambda: memory.fill_pattern is None,
        "trim": memory.trim,
        "thread_pool": pool.state,
        "get_threads": lambda: pool.count,
        "set_threads": set_threads,
    }


def definitions() -> dict[bytes, bytes | int]:
    """What Lua makes its declarations of structs from, by the names that Lua knows it under."""
    offsets = [
        f"{s.name} {member} {offset}"
        for s in STRUCTS
        for member, offset in {**s.offsets(), "": s.size}.items()
    ]
    return {
        b"ELEMENT_TYPES": "".join(f"{dtype.name} {dtype.ctype}\n" for dtype in DTYPES).encode(),
        b"FLAGS": " ".join(f"{flag.name} {flag.value}" for flag in Flag).encode(),
        b"ROOM": ROOM,
        b"OFFSETS": "\n".join(offsets).encode(),
        **{s.name.upper().encode() + b"_MEMBERS": s.declaration.encode() for s in STRUCTS},
        b"FIRST_TENSOR": FIRST_TENSOR,
        b"FIRST_STORAGE": FIRST_STORAGE,
        b"FIRST_OTHER": FIRST_OTHER,
    }


def host_functions(state: State) -> dict[bytes, Callable[..., Any]]:
    """The functions by the names that Lua knows them under, for the engine of a state."""
    functions: dict[str, Callable[..., Any]] = {
        **_state_functions(state),
        "operations": _operations,
        "mirror": _mirror,
        "storage_at": Storage.at_mirror,
        "adopt": _adopt,
        "adopt_storage": _adopt_storage,
        "small_source": _small_source,
        "blas": lambda name: blas(name.decode(), 8),
        "half_bits": _half_bits,
        "half_values": _half_table,
        "count_cores": lambda: PROCESSORS,
        "foreign": lambda kind, name: Foreign(kind.decode(), name and name.decode()),
        "list": lambda *items: list(items),
        "extend": lambda items, *more: items.extend(more),
        **operating_system.functions(),
    }
    by_name = {
        name.encode(): guarded(f, interruptible=name == "os_sleep") for name, f in functions.items()
    }
    return {**by_name, **files.host_functions()}
