"""Encodes Python's exceptions for Lua, as bytes of which the bridge makes a Lua error.

`results.py` tells their form. Users never see a position in our files: an unexpected exception is
an "internal error". This module does not load numpy, since functions that need none use it, too.
"""

from __future__ import annotations

import errno
import math
import os
from typing import Any

from th_shell.runtime.core.encoding import to_bytes
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.interrupts import INTERRUPTED, uninterruptible

#: numpy's messages about an array that would be larger than the address space.
_TOO_LARGE = ("array is too big", "Maximum allowed dimension exceeded")
#: numpy's messages about an array of too many dimensions.
_TOO_MANY_DIMENSIONS = ("maximum supported dimension", "ndmin must be")


@uninterruptible
def encode_error(error: BaseException, args: tuple[Any, ...] = ()) -> bytes:
    """Return the bytes that make the bridge raise a Lua error for an exception.

    args: the arguments of the call. unfold can make views with a dimension of size 0, which no
    operation is written for. If such a view is among args, numpy's error is reported as "tensor …
    has no elements".
    """
    if isinstance(error, ArgError):
        return bytes([error.arg]) + error.detail.encode()
    if isinstance(error, TorchError):
        return b"\0" + to_bytes(str(error))
    # Where an operation was running Lua code, Ctrl-C arrives here as an error of Lua's.
    was_interrupted = type(error).__name__ == "LuaError" and INTERRUPTED in str(error)
    if isinstance(error, KeyboardInterrupt) or was_interrupted:
        return b"\0" + INTERRUPTED.encode()
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        # A module or library that is loaded at its first use is a file.
        return b"\0" + os.strerror(error.errno).encode()
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return b"\0the system has no more threads"
    # A library that is loaded at its first use needs memory too.
    no_room = isinstance(error, ImportError) and "failed to map segment" in str(error)
    if isinstance(error, MemoryError) or no_room:
        return b"\0" + _want_of_memory(error).encode()
    if isinstance(error, ValueError) and str(error).startswith(_TOO_LARGE):
        return b"\0$ Torch: invalid memory size -- maybe an overflow?"
    if isinstance(error, ValueError) and str(error).startswith(_TOO_MANY_DIMENSIONS):
        return b"\0too many dimensions: no operation takes so many"
    if args and isinstance(error, (ValueError, ArithmeticError)):
        # It is loaded already: arguments are made with it.
        from th_shell.runtime.core.tensor import Tensor, describe

        for tensor in args:
            if isinstance(tensor, Tensor) and 0 in tensor.sizes:
                return f"\0tensor {describe(tensor.sizes)} has no elements".encode()
    if os.environ.get("TH_TRACEBACK"):
        import traceback  # late: it loads the tokenizer of Python

        return b"\0internal error: " + "".join(traceback.format_exception(error)).encode()
    text = f"internal error: {type(error).__name__}: {error}"
    return b"\0" + f"{text}\n(set TH_TRACEBACK=1 for where it comes from)".encode()


def _want_of_memory(error: BaseException) -> str:
    """Return the reference's message, with the size of the array if numpy tells that."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is not None and dtype is not None:  # numpy's
        from th_shell.runtime.core.memory import not_enough

        return not_enough(math.prod(shape) * dtype.itemsize)
    return "$ Torch: not enough memory. Buy new RAM!"
