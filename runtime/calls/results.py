"""How results and errors of operations are handed to Lua.

Of a tuple that Python returns, lupa makes several Lua values. ``runtime/lua/core/bridge.lua``
reads them so:

    None                        the result is the call's first argument
    number, bool                the result
    bytes                       an error: a byte with the position of the bad argument (0 where it
                                is about none), then the message
    object, class id            the result is a new object
    None, n, v1, k1, ... vn, kn n results: v itself where k is 0, the call's argument -k where k
                                is negative, a new object v of the class id k where it is positive
"""

from __future__ import annotations

import math
import os
import re
import traceback
from typing import Any

from runtime.calls.classes import CLASS_IDS
from runtime.core.errors import ArgError, TorchError
from runtime.core.interrupts import INTERRUPTED, uninterruptible
from runtime.core.memory import not_enough
from runtime.core.tensor import Tensor, describe

__all__ = ["encode", "encode_error"]

# numpy's messages about an array that would be larger than the address space,
_TOO_LARGE = re.compile("array is too big|Maximum allowed dimension exceeded")
# and about one of more dimensions than numpy has.
_TOO_MANY_DIMENSIONS = re.compile("maximum supported dimension|ndmin must be")


@uninterruptible
def encode_error(error: BaseException, args: tuple[Any, ...] = ()) -> bytes:
    """An exception as the bytes that make the bridge raise a Lua error.

    args: the arguments of the call. unfold can make views with a dimension of size 0, for which
    no operation is written; where one of them is among args, a ValueError is reported as that.
    """
    if isinstance(error, ArgError):
        return bytes([error.arg]) + error.detail.encode()
    if isinstance(error, TorchError):
        return b"\0" + str(error).encode("utf-8", "surrogateescape")
    # Where an operation was running Lua code, Ctrl-C arrives here as an error of Lua's.
    was_interrupted = type(error).__name__ == "LuaError" and INTERRUPTED in str(error)
    if isinstance(error, KeyboardInterrupt) or was_interrupted:
        return b"\0" + INTERRUPTED.encode()
    # A library that is loaded at its first use needs memory too.
    no_room = isinstance(error, ImportError) and "failed to map segment" in str(error)
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if isinstance(error, MemoryError) and shape is not None and dtype is not None:  # numpy's
        return b"\0" + not_enough(math.prod(shape) * dtype.itemsize).encode()
    if isinstance(error, MemoryError) or no_room:
        return b"\0$ Torch: not enough memory. Buy new RAM!"
    if isinstance(error, ValueError) and _TOO_LARGE.match(str(error)):
        return b"\0$ Torch: invalid memory size -- maybe an overflow?"
    if isinstance(error, ValueError) and _TOO_MANY_DIMENSIONS.match(str(error)):
        return b"\0too many dimensions: no operation takes so many"
    if isinstance(error, (ValueError, ArithmeticError)):
        for tensor in args:
            if isinstance(tensor, Tensor) and 0 in tensor.sizes:
                return f"\0tensor {describe(tensor.sizes)} has no elements".encode()
    if os.environ.get("TH_TRACEBACK"):
        return b"\0internal error: " + "".join(traceback.format_exception(error)).encode()
    text = f"internal error: {type(error).__name__}: {error}"
    return b"\0" + f"{text}\n(set TH_TRACEBACK=1 for where it comes from)".encode()


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
