"""What Lua calls in Python, besides the operations themselves.

Each function catches what it raises and returns it as bytes, as the entries of ``calls.plans``
do: no Python exception ever crosses into Lua.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from runtime.calls.classes import class_id
from runtime.calls.forms import Foreign
from runtime.calls.plans import Plans
from runtime.calls.results import encode_error
from runtime.calls.table import TABLE
from runtime.compute import formulas
from runtime.compute.c_functions import blas
from runtime.compute.processors import OURS
from runtime.compute.thread_pool import ThreadPool
from runtime.core.dtypes import DTYPES, LONG, Array, cast_scalar
from runtime.core.memory import Memory
from runtime.core.state import State
from runtime.core.storage import STORAGE_CLASSES, Storage
from runtime.core.tensor import TENSOR_CLASSES, Tensor
from runtime.host import files, operating_system
from runtime.ops import ROWS_ADDED

__all__ = ["host_functions"]


def _guarded(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any) -> Any:
        try:
            return function(*args)
        except BaseException as error:
            return encode_error(error)

    return call


def _operations(prefix: bytes, index: int | None = None) -> bytes:
    """The names, one a line, of a type's methods or (index None) of torch's functions.

    A star follows those that Lua can run by itself on few elements, an exclamation mark those
    that no tensor type is chosen for.
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
    """The address of an object's C struct and its class id; nothing for other objects."""
    if isinstance(value, (Tensor, Storage)):
        return value.mirror(), class_id(type(value))
    return None


def _adopt(storage: Storage, offset: int, *geometry: int) -> Tensor:
    """The tensor of a view that Lua made: its sizes, then its strides."""
    n = len(geometry) // 2
    cls = TENSOR_CLASSES[storage.dtype.index]
    return cls(storage, offset, tuple(geometry[:n]), tuple(geometry[n:]))


def _adopt_storage(index: int, struct: int, data: int, size: int, block: Any) -> Storage:
    """The storage of a block that Lua made: its C struct, its memory, and what keeps both."""
    return STORAGE_CLASSES[index].adopted(struct, data, size, block)


def _small_source(name: bytes, space: bytes, code: int) -> bytes | None:
    text = formulas.source(name.decode(), space.decode(), code)
    return None if text is None else b"\1" + text.encode()


_half_values: Array | None = None


def _half_table() -> int:
    """The address of the numbers that all 65,536 patterns of a Half stand for, as floats."""
    global _half_values
    if _half_values is None:
        values = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
        # Of nans only the sign is kept (see lua/tensor/elements.lua).
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
        "count_cores": lambda: OURS,
        "foreign": lambda kind, name: Foreign(kind.decode(), name and name.decode()),
        "list": lambda *items: list(items),
        "extend": lambda items, *more: items.extend(more),
        **operating_system.functions(),
    }
    guarded = {name.encode(): _guarded(f) for name, f in functions.items()}
    return {**guarded, **files.host_functions()}
