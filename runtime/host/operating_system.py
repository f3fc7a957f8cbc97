"""Calls of the operating system for Lua's ``paths``, ``sys``, ``lfs`` and searcher of C libraries.

Each function takes bytes and numbers, and returns a number, None or bytes. For an OSError Lua gets
its errno, of which ``os_describe`` gives the text, and 0 for the None of a call that is done.
"""

from __future__ import annotations

import atexit
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from th_shell.runtime.core import machine
from th_shell.runtime.core.state import current
from th_shell.runtime.core.system import Commands, sleep
from th_shell.runtime.host.lua_calls import with_marked_texts

_KINDS: list[tuple[Callable[[int], bool], str]] = [
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISCHR, "char device"),
    (stat.S_ISBLK, "block device"),
]


# The attributes that are numbers, and what Python calls them.
_SAME = ("dev", "ino", "nlink", "uid", "gid", "rdev", "size", "blocks", "blksize")
_MEMBERS = {
    **{name: f"st_{name}" for name in _SAME},
    "access": "st_atime",
    "modification": "st_mtime",
    "change": "st_ctime",
}


def _asked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as Lua calls it."""

    def call(*args: Any) -> Any:
        # The reference passes names to C, whose strings end at the first zero byte.
        values = [arg.partition(b"\0")[0] if isinstance(arg, bytes) else arg for arg in args]
        try:
            result = function(*values)
        except OSError as error:
            return error.errno or -1
        return 0 if result is None else result

    return with_marked_texts(call)


def _kind(path: bytes) -> bytes:
    """Return the kind of what a path leads to: 'file', 'directory', …"""
    return _kind_of(os.stat(path).st_mode)


def _kind_of(mode: int) -> bytes:
    return next((name for test, name in _KINDS if test(mode)), "other").encode()


def _attributes(path: bytes, follow: bool) -> bytes:
    """Return the attributes of a path, each a line of name and value."""
    status = os.stat(path, follow_symlinks=follow)
    lines = [f"{name} {int(getattr(status, member))}" for name, member in _MEMBERS.items()]
    lines.append(f"permissions {stat.filemode(status.st_mode)[1:]}")
    lines.append(f"mode {_kind_of(status.st_mode).decode()}")
    return "\n".join(lines).encode()


def _stamp(path: bytes) -> bytes:
    """Return a text that differs once a file was changed: its time, size and inode."""
    status = os.stat(path)
    return b"%d %d %d" % (status.st_mtime_ns, status.st_size, status.st_ino)


def _listing(path: bytes) -> bytes:
    """Return the names in a directory, each with a zero byte behind it."""
    return b"".join(name + b"\0" for name in [b".", b"..", *os.listdir(path)])


def _cwd() -> bytes:
    try:
        return os.getcwdb()
    except OSError:
        return b"."


def _mkdir(path: bytes) -> None:
    if path in _temporary and os.path.isfile(path) and not os.path.getsize(path):
        # Torch7: tmpname creates no file, so that a program can make a folder of that name.
        with suppress(OSError):
            os.remove(path)
    os.mkdir(path)


def _link(target: bytes, name: bytes, symbolic: bool) -> None:
    (os.symlink if symbolic else os.link)(target, name)


def _touch(path: bytes, access: float | None, modification: float | None) -> None:
    access = time.time() if access is None else access
    os.utime(path, (access, access if modification is None else modification))


_temporary: set[bytes] = set()  # the files that _tmpname has created


def _remove_temporary() -> None:
    for name in _temporary:
        with suppress(OSError):
            os.remove(name)


def _tmpname() -> bytes:
    """Create an empty file that only this user may use, and return its name.

    The file is removed when the program ends. Torch7: creates no file, so that another program
    could take the name.
    """
    import tempfile  # late: it takes as long to load as all else here

    if not _temporary:
        atexit.register(_remove_temporary)
    descriptor, name = tempfile.mkstemp(prefix=b"luatmp")
    os.close(descriptor)
    _temporary.add(name)
    return name


def _uname() -> bytes:
    """Return as lines the names of the system, of the machine and of its processor's kind."""
    info = os.uname()
    return f"{info.sysname}\n{info.nodename}\n{info.machine}".encode()


def columns() -> int:
    """Return the width of the terminal in characters; 80 where there is none."""
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _columns_of_bars() -> int:
    """Return what `tput cols` does: `COLUMNS` where that is set, else the terminal's width."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) else columns()


def _mentions(path: bytes, text: bytes) -> bool:
    """Tell whether a text occurs in a file's bytes; False where the file cannot be read."""
    try:
        with open(path, "rb") as file:
            return text in file.read()
    except OSError:
        return False


def _begin_command() -> int | None:
    """Prepare for a command; returns what `_end_command` takes."""
    current(Commands).begin()
    return machine.lift()


def _end_command(limit: int | None) -> None:
    current(Commands).end()
    if limit is not None:
        machine.put_back(limit)


def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions by the names that Lua knows them under."""
    called: dict[str, Callable[..., Any]] = {
        "os_kind": _kind,
        "os_attributes": _attributes,
        "os_stamp": _stamp,
        "os_listing": _listing,
        "os_cwd": _cwd,
        "os_chdir": os.chdir,
        "os_mkdir": _mkdir,
        "os_rmdir": os.rmdir,
        "os_link": _link,
        "os_readlink": os.readlink,
        "os_touch": _touch,
        "os_describe": lambda code: os.strerror(int(code)).encode(),
        "os_tmpname": _tmpname,
        "os_uname": _uname,
        "os_sleep": sleep,
        "os_columns": _columns_of_bars,
        "file_mentions": _mentions,
    }
    return {
        **{name: _asked(function) for name, function in called.items()},
        "os_begin_command": _begin_command,
        "os_end_command": _end_command,
    }
