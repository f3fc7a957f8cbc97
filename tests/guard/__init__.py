"""Guard mode: with TH_GUARD in the environment, memory ends where nothing is accessible.

``guard.lua`` tells what it does. Here Lua and numpy get their memory from it, and the system tells
what was accessed where a process ends. All processes that import ``tests`` look for TH_GUARD;
``python -m tests.guard`` is the shell in guard mode.
"""

import ctypes
import os
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from th_shell.runtime.compute import luajit
from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.memory import Pool
from th_shell.runtime.core.tensor import Tensor

# The place of PyDataMem_GetHandler in the table of numpy's C API.
_GET_HANDLER = 305


class _Handler(ctypes.Structure):
    """numpy's PyDataMem_Handler: the functions that give arrays their memory."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p),
        ("calloc", ctypes.c_void_p),
        ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]


def install() -> None:
    """Guard the memory of new Lua states, and of numpy's arrays, of all that are made from now."""
    os.environ["XDG_CACHE_HOME"] = os.devnull  # without bytecode, kept of or for what is plain
    plain = luajit._source
    guard = Path(__file__).with_name("guard.lua").read_bytes()

    def source(name: bytes) -> bytes:
        text = plain(name)
        if name != b"parallel/memory":
            return text
        calls = b"local module = (function(...) %s\nend)(...); (function(...) %s\nend)(module)"
        return calls % (text, guard) + b"; return module"

    luajit._source = source
    _functions()[b"report"]()
    functions = _functions()
    malloc, calloc, realloc, free = functions[b"for_numpy"]()
    handler = _default_handler()
    handler.malloc, handler.calloc = int(malloc), int(calloc)
    handler.realloc, handler.free = int(realloc), int(free)
    _keep_no_memory()
    _keep_no_arrays()


def _functions() -> dict[bytes, Any]:
    """The functions of guard.lua in a Lua state of their own, which never ends."""
    lua = luajit._new_state()
    raw_memory = luajit._importer(lua)(b"parallel.memory")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(lua))  # numpy frees arrays at the very end
    return dict(raw_memory[b"guard"].items())


def _keep_no_memory() -> None:
    """Let storages have memory of numpy's as it is, and give it back."""

    def take(_: Pool, nbytes: int) -> Array:
        return np.empty(nbytes, np.uint8)

    Pool.take = take  # type: ignore[method-assign, assignment]
    Pool.MAX_KEPT = 0


def _keep_no_arrays() -> None:
    """Let tensors keep no array: it keeps the memory that their storage had before it moved."""
    make = vars(Tensor)["array"].fget

    def array(tensor: Tensor) -> Array:
        found: Array = make(tensor)
        tensor._array = tensor._memory = None
        return found

    Tensor.array = property(array)  # type: ignore[method-assign, assignment]


def _default_handler() -> _Handler:
    """The functions of all arrays that no other handler was set for."""
    numpy_c = import_module("numpy._core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * (_GET_HANDLER + 1)).from_address(pointer(numpy_c._ARRAY_API, None))
    get_handler = ctypes.PYFUNCTYPE(ctypes.py_object)(table[_GET_HANDLER] or 0)
    return _Handler.from_address(pointer(get_handler(), b"mem_handler"))
