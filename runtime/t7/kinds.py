"""The kinds of objects by their numbers in files, and how numbers and strings become Python's."""

from __future__ import annotations

from math import copysign

from th_shell.runtime.core.dtypes import EXACT

NIL, NUMBER, STRING, TABLE, TORCH, BOOLEAN = range(6)
# 6 is only in old files: it has no number, so that it cannot hold itself. 7, too; its upvalues are
# a list of values. In 8 they have names.
PLAIN_FUNCTION, OLD_FUNCTION, FUNCTION = 6, 7, 8


def plain_number(value: float) -> int | float:
    """A number of Lua: an int where it is whole. -0 stays a float: int has no such number."""
    if value.is_integer() and -EXACT <= value <= EXACT and (value or copysign(1, value) > 0):
        return int(value)
    return value


def plain_string(data: bytes) -> str | bytes:
    """A string of Lua: a str where it is valid UTF-8, otherwise its bytes."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data
