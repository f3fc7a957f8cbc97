"""The operation that an engine is busy with, read off the Python frames of its thread."""

from __future__ import annotations

import sys
from types import FrameType

from th_shell.runtime.core.interrupts import is_entry

#: What runs where no operation does.
IN_LUA = "a function of Lua or of a C library"
_IN_HOST = "what reads, writes or waits"


def describe(thread: int) -> str:
    """The operation that a thread is in, as ``torch.sort``; else `IN_LUA`.

    thread: its identifier. Any thread may call this.
    """
    frame: FrameType | None = sys._current_frames().get(thread)
    activity = IN_LUA
    while frame is not None:
        if is_entry(frame.f_code):
            name = frame.f_locals.get("name")
            # The outermost one is the one that the program has called.
            activity = f"torch.{name}" if isinstance(name, str) else _IN_HOST
        frame = frame.f_back
    return activity
