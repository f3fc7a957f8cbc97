"""The functions that Lua's table `host` has from the start: all that need no numpy.

The other functions, those of ``numpy_functions.py``, it gets by `find` when it uses them first:
they come with numpy. Each function is wrapped by `guarded`, which returns an exception as bytes.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from th_shell.runtime.calls.class_ids import FIRST_OTHER, FIRST_STORAGE, FIRST_TENSOR, OTHERS
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core import bytecode
from th_shell.runtime.core.c_structs import (
    ELEMENT_TYPES,
    MAX_DIMENSIONS,
    MOVES,
    ROOM,
    STRUCTS,
    Flag,
    element_ctype,
)
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.interrupts import INTERRUPTED
from th_shell.runtime.core.state import State
from th_shell.runtime.host import lazy_loading, operating_system
from th_shell.runtime.host.clocks import Clocks
from th_shell.runtime.host.lua_calls import guarded, with_marked_texts


def definitions() -> dict[bytes, bytes | int]:
    """Return numbers and names that Lua and Python share, from which Lua makes its declarations."""
    types = "".join(f"{name} {element_ctype(real)}\n" for name, real in ELEMENT_TYPES)
    offsets = [
        f"{s.name} {member} {offset}"
        for s in STRUCTS
        for member, offset in {**s.offsets(), "": s.size}.items()
    ]
    return {
        b"ELEMENT_TYPES": types.encode(),
        b"FLAGS": " ".join(f"{flag.name} {flag.value}" for flag in Flag).encode(),
        b"ROOM": ROOM,
        b"MAX_DIMENSIONS": MAX_DIMENSIONS,
        b"OFFSETS": "\n".join(offsets).encode(),
        **{s.name.upper().encode() + b"_MEMBERS": s.declaration.encode() for s in STRUCTS},
        b"FIRST_TENSOR": FIRST_TENSOR,
        b"FIRST_STORAGE": FIRST_STORAGE,
        b"FIRST_OTHER": FIRST_OTHER,
        b"OTHERS": " ".join(OTHERS).encode(),
        b"LARGE": LARGE,
        b"MOVES": ctypes.addressof(MOVES),
        b"INTERRUPTED": INTERRUPTED.encode(),
    }


def host_functions(state: State) -> dict[bytes, Callable[..., Any]]:
    """Return the functions by the names that Lua knows them under, for the engine of a state."""
    clocks = state.part(Clocks)
    functions: dict[str, Callable[..., Any]] = {
        "find": _finder(state),
        "clock": clocks.now,
        "times": clocks.times,
        "md5": _md5,
        "isatty": os.isatty,
        "kept_bytecode": with_marked_texts(bytecode.kept),
        "keep_bytecode": bytecode.keep,
        **operating_system.functions(),
    }
    return {
        name.encode(): guarded(f, interruptible=name == "os_sleep") for name, f in functions.items()
    }


def _finder(state: State) -> Callable[[bytes], Any]:
    """Return the function by which Lua finds the others: it loads the module that has them."""
    functions: dict[bytes, Callable[..., Any]] = {}

    def find(name: bytes) -> Any:
        if not functions:
            try:
                lazy_loading.load_operations()
            except ImportError as error:
                raise TorchError(str(error)) from error
            from th_shell.runtime.host import numpy_functions

            functions.update(numpy_functions.host_functions(state))
        return functions.get(name)

    return find


def _md5(text: bytes) -> bytes:
    import hashlib  # late: few programs need it, and it loads a large library

    return b"\1" + hashlib.md5(text, usedforsecurity=False).digest()
