"""What an entry returns to Lua: results and errors.

lupa spreads tuples; ``runtime/lua/core/bridge.lua`` reads it:

    None                        the call's first argument
    number, bool                itself
    bytes                       an error: position of the bad argument (0: none), message
    object, class id            a new object
    None, n, v1, k1, ... vn, kn n results; k 0: plain, k < 0: argument -k, k > 0: new object
"""

from __future__ import annotations

import os
import re
import traceback
from typing import Any

from runtime.calls.classes import CLASS_IDS
from runtime.core.errors import ArgError, TorchError
from runtime.core.interrupts import INTERRUPTED, uninterruptible
from runtime.core.tensor import Tensor, describe

__all__ = ["encode", "encode_error"]

# How numpy says that an array would be larger than any memory.
_TOO_LARGE = re.compile("array is too big|Maximum allowed dimension exceeded")
# And that it has too many dimensions.
_TOO_MANY = re.compile("maximum supported dimension|ndmin must be")


@uninterruptible
def encode_error(error: BaseException, args: tuple[Any, ...] = ()) -> bytes:
    """An exception as the bytes that make the bridge raise a Lua error.

    args: of the call, for what operations are not made for: views that unfold to size 0.
    """
    if isinstance(error, ArgError):
        return bytes([error.arg]) + error.detail.encode()
    if isinstance(error, TorchError):
        return b"\0" + str(error).encode("utf-8", "surrogateescape")
    # Lua code that an operation calls is stopped by an error of Lua's.
    lua_stopped = type(error).__name__ == "LuaError" and INTERRUPTED in str(error)
    if isinstance(error, KeyboardInterrupt) or lua_stopped:
        return b"\0" + INTERRUPTED.encode()
    # A library that is loaded at its first use needs memory too.
    no_room = isinstance(error, ImportError) and "failed to map segment" in str(error)
    if isinstance(error, MemoryError) or no_room:
        return b"\0$ Torch: not enough memory. Buy new RAM!"
    if isinstance(error, ValueError) and _TOO_LARGE.match(str(error)):
        return b"\0$ Torch: invalid memory size -- maybe an overflow?"
    if isinstance(error, ValueError) and _TOO_MANY.match(str(error)):
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
    """A result as the bridge reads it."""
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
    kind = CLASS_IDS.get(type(value), 0)
    if kind:
        for at, arg in enumerate(args[:3]):
            if arg is value:
                return None, -1 - at
    return value, kind
