"""Entries of nn's backend for Lua: the rows of the table, wrapped so that errors become bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import th_shell.runtime.thnn  # noqa: F401  its modules add the rows to the table
from th_shell.runtime.calls.failures import encode_error
from th_shell.runtime.core.dtypes import LONG
from th_shell.runtime.core.interrupts import mark_interruptible
from th_shell.runtime.core.state import GUESTS, settle
from th_shell.runtime.core.tensor import TENSOR_CLASSES
from th_shell.runtime.thnn._jobs import SCALE, record
from th_shell.runtime.thnn.table import TABLE


def rows() -> str:
    """A line for each function: name, kinds, digits for whether it has a state, repeats, names."""
    return "".join(
        f"{row.name} {row.kinds} {row.has_state:d}{row.repeats:d} {','.join(row.names)}\n"
        for row in TABLE.values()
    )


def entry(name: str) -> Callable[..., bytes | None]:
    """A function of tensors, numbers and None for a row, which returns the bytes of its error."""
    row = TABLE[name]

    def call(*args: Any) -> bytes | None:
        try:
            if GUESTS:
                settle()
            row.compute(args)
        except BaseException as error:
            return encode_error(error, args)
        return None

    return mark_interruptible(call)


def jobs(name: str, dtype: int, address: int, room: int, *numbers: Any) -> str | None:
    """The jobs of a call, as `record` tells them, for memory of `room` bytes from `address` on.

    dtype: the index of the element type of the function. numbers: the arguments of the call; but
    for tensors, which are contiguous, their sizes: "2x3", and behind "=" the elements of tables.
    """
    row, arguments, tensors = TABLE[name], list(numbers), {}
    for i, kind in enumerate(row.kinds.replace("?", "")):
        if row.names[i] == "scale":
            arguments[i] = SCALE
        elif numbers[i] is not None and (kind == "T" or kind in _ELEMENTS):
            text, _, elements = numbers[i].partition("=")
            sizes = tuple(map(int, filter(None, text.split("x"))))
            arguments[i] = TENSOR_CLASSES[_ELEMENTS.get(kind, dtype)].new(sizes)
            if elements:
                arguments[i].flat[...] = list(map(float, elements.split()))
            tensors[i + 1] = arguments[i]
    return record(lambda: row.compute(tuple(arguments)), tensors, address, room)


_ELEMENTS = {"I": LONG.index}
