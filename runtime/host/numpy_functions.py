"""The Python functions that Lua calls and that need numpy, besides the operations.

Lua finds them in its table `host`, as those of `host_table.py`. No Python exception ever reaches
Lua: each function is wrapped by `guarded`, which returns an exception as bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

import th_shell.runtime.ops  # noqa: F401  its modules add the operations to the table
from th_shell.runtime.calls.forms import Foreign
from th_shell.runtime.calls.plans import Plans, find_small
from th_shell.runtime.calls.results import class_id
from th_shell.runtime.compute import formulas
from th_shell.runtime.compute.blas_threads import check_room
from th_shell.runtime.compute.c_functions import (
    blas,
    conversion,
    inner_loop,
    lapack_address,
    sorter,
)
from th_shell.runtime.compute.generator import default_generator
from th_shell.runtime.compute.libm import function
from th_shell.runtime.compute.thread_pool import PROCESSORS, LuaFunctions, ThreadPool
from th_shell.runtime.core.dtypes import DTYPES, LONG, Array, cast_scalar
from th_shell.runtime.core.memory import Memory
from th_shell.runtime.core.state import State, current
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.host import files
from th_shell.runtime.host.lua_calls import guarded, with_marked_texts
from th_shell.runtime.host.operating_system import columns
from th_shell.runtime.packages import entry as package_function


def _mirror(value: Any) -> Any:
    """Return the address of a tensor's or storage's C struct and its class id; None for others."""
    return (value.mirror(), class_id(type(value))) if isinstance(value, (Tensor, Storage)) else None


def _adopt(storage: Storage, offset: int, *geometry: int) -> tuple[Tensor, int]:
    """Return a tensor for a view that Lua made, and the address of its C struct.

    geometry: the sizes, then the strides.
    """
    n = len(geometry) // 2
    tensor = TENSOR_CLASSES[storage.dtype.index](storage, offset, geometry[:n], geometry[n:])
    return tensor, tensor.mirror()


def _adopt_block(
    index: int, struct: int, data: int, size: int, block: Any, offset: int, *geometry: int
) -> tuple[Tensor, int]:
    """Return a tensor in a block that Lua made, and the address of its struct (_adopt_storage)."""
    return _adopt(_adopt_storage(index, struct, data, size, block), offset, *geometry)


def _adopt_empty(index: int) -> tuple[Tensor, int]:
    """Return a tensor without a storage, and the address of its C struct."""
    tensor = TENSOR_CLASSES[index]()
    return tensor, tensor.mirror()


def _adopt_storage(index: int, struct: int, data: int, size: int, block: Any) -> Storage:
    """Return a storage for `block`, an object of Lua's with the elements and the C struct."""
    return STORAGE_CLASSES[index].adopted(struct, data, size, block)


def _leave_block(value: Tensor | Storage) -> None:
    """Move elements out of a block of Lua's."""
    storage = value.storage if isinstance(value, Tensor) else value
    if storage is not None:
        storage.leave_block()


def _elided(value: Any, limit: int, style: bytes) -> str | None:
    """Return the text of a large tensor or storage at the prompt; None for others."""
    from th_shell.runtime.core.printing import elided_text  # which few programs need

    return elided_text(value, limit, style.decode(), columns() - 1)


def _small_source(name: bytes, space: bytes, code: int, dtype: int) -> str | None:
    return formulas.source(name.decode(), space.decode(), code, DTYPES[dtype])


def _of_nn(name: str) -> Callable[..., Any]:
    """Return a function of the backend of nn, which programs without nn do not need."""

    def call(*args: Any) -> Any:
        from th_shell.runtime.thnn import table

        values = [arg.decode() if isinstance(arg, bytes) else arg for arg in args]
        return getattr(table, name)(*values)

    return with_marked_texts(call)


def loop_for_lua(name: bytes, signature: bytes) -> tuple[int, int] | None:
    """Return the address of an inner loop of numpy's and its data.

    Raises MemoryError where there is no room for the buffers that it needs (matmul).
    """
    if name == b"matmul":
        check_room(1)
    return inner_loop(function(name.decode()), signature.decode())


@cache
def _half_values() -> Array:
    """Return 65,536 floats: the number that each pattern of 16 bits is as a Half."""
    values = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    # Nans keep only their signs: other bits are not safe in Lua (lua/tensor/elements.lua).
    return np.where(np.isnan(values), np.copysign(np.float32(np.nan), values), values)


def _half_bits(value: float | bytes) -> int:
    # -0 comes as text.
    return int(np.float32(float(value)).astype(np.float16).view(np.uint16))


def _state_functions(state: State) -> dict[str, Callable[..., Any]]:
    """Return the functions that read or change the parts of an engine, and connect these."""
    plans, memory, pool = state.part(Plans), state.part(Memory), state.part(ThreadPool)
    call = state.part(LuaFunctions).call

    def collect() -> None:
        if current(Memory) is memory:  # the thread of another engine would wait for this one's
            call(b"collect")

    memory.meter.collect = collect
    memory.leave_block = partial(call, b"leave_block")

    def set_threads(count: Any) -> None:
        pool.count = max(int(cast_scalar(count, LONG)), 1)

    return {
        "entry": lambda name, i: plans.entry(name.decode(), None if i is None else DTYPES[i]),
        "set_default_type": lambda index: plans.set_default_type(DTYPES[index]),
        "trim": memory.trim,
        "thread_pool": pool.state,
        "get_threads": lambda: pool.count,
        "find_small": lambda name, i, code: find_small(
            plans, name.decode(), None if i is None else DTYPES[i], code
        ),
        "set_threads": set_threads,
    }


def host_functions(state: State) -> dict[bytes, Callable[..., Any]]:
    """Return the functions by the names that Lua knows them under, for the engine of a state."""
    functions: dict[str, Callable[..., Any]] = {
        **_state_functions(state),
        "mirror": _mirror,
        "storage_at": Storage.at_mirror,
        "inner_loop": loop_for_lua,
        "conversion": conversion,
        "adopt": _adopt,
        "adopt_block": _adopt_block,
        "adopt_empty": _adopt_empty,
        "adopt_storage": _adopt_storage,
        "mirror_in": Tensor.mirror_in,
        "leave_block": _leave_block,
        "elided": with_marked_texts(_elided),
        "small_source": with_marked_texts(_small_source),
        "blas": lambda name, itemsize=8: blas(name.decode(), itemsize),
        "lapack": lambda name, itemsize, count: lapack_address(name.decode(), itemsize, count),
        "sorter": lambda: sorter() or 0,
        "half_bits": _half_bits,
        "half_values": lambda: int(_half_values().ctypes.data),
        "count_cores": lambda: PROCESSORS,
        "default_generator": default_generator,
        "random_stream": lambda: default_generator().native_stream(),
        **{f"thnn_{name}": _of_nn(name) for name in ("rows", "entry", "jobs")},
        "package_function": package_function,
        "foreign": lambda kind, name: Foreign(kind.decode(), name and name.decode()),
        "list": lambda *items: list(items),
        "extend": lambda items, *more: items.extend(more),
    }
    by_name = {name.encode(): guarded(f) for name, f in functions.items()}
    return {**by_name, **files.host_functions()}
