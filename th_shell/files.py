"""Reads files of people, which may be anything, and writes files whole or not at all."""

import errno
import os
import stat
from pathlib import Path

from th_shell.lines import lua_lines
from th_shell.runtime.shell import Replacement

#: Bytes of a page or a program. It is read whole, and what is made of it takes many times as much.
_MOST = 64 << 20


def read_file(path: Path) -> bytes:
    """Return all bytes of a file.

    Raises OSError: also for what is no file, such as a pipe or a device, which may never end, or
    never begin; and for a file of more than 64 MB.
    """
    with open(path, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(
                errno.EINVAL, "it is a pipe, a device or the like, and no file", str(path)
            )
        data = file.read(_MOST + 1)
    if len(data) > _MOST:
        raise OSError(errno.EFBIG, f"it has more than {_MOST >> 20} MB", str(path))
    return data


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # of a pipe, too, into which nobody writes


def lines_of_file(path: str) -> list[str]:
    """Return the lines of a program's source; none where it cannot be read."""
    try:
        return lua_lines(read_file(Path(path)).decode("utf-8", "surrogateescape"))
    except (OSError, ValueError):
        return []


def write_file(path: Path, data: bytes) -> None:
    """Replace a file when its new content is complete. Raises OSError: the old file is kept."""
    with Replacement(os.fsencode(path)) as file:
        file.write(data)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of some bytes. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]
