"""Calls of the operating system for Lua's ``paths``, ``sys``, ``lfs`` and searcher of C libraries.

Each function takes bytes and numbers. It returns a number, None, or bytes that begin with
``\\1``, by which the bridge tells a string from an error. A call that fails returns its errno,
of which `_describe` gives the text.
"""

from __future__ import annotations

import atexit
import os
import stat
import time
from collections.abc import Callable
from typing import Any

from runtime.core import machine

_KINDS: list[tuple[Callable[[int], bool], str]] = [
    (stat.S_ISREG, "file"),
    (stat.S_ISDIR, "directory"),
    (stat.S_ISLNK, "link"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISCHR, "char device"),
    (stat.S_ISBLK, "block device"),
]


def _c_string(text: bytes) -> bytes:
    # The reference passes names to C, whose strings end at the first zero byte.
    return text.partition(b"\0")[0]


def _status(function: Callable[..., object], *args: Any) -> int:
    """Call a function; returns 0, or the errno if it fails."""
    try:
        function(*args)
    except OSError as error:
        return error.errno or -1
    return 0


def _kind(path: bytes) -> bytes | None:
    """What a path leads to: 'file', 'directory', …; None where it does not exist."""
    try:
        mode = os.stat(_c_string(path)).st_mode
    except OSError:
        return None
    return b"\1" + _kind_of(mode)


def _kind_of(mode: int) -> bytes:
    return next((name for test, name in _KINDS if test(mode)), "other").encode()


def _attributes(path: bytes, follow: bool) -> bytes | int:
    """The attributes of a path, each a line of name and value; or the errno."""
    try:
        status = os.stat(_c_string(path), follow_symlinks=follow)
    except OSError as error:
        return error.errno or -1
    values = {
        "dev": status.st_dev,
        "ino": status.st_ino,
        "nlink": status.st_nlink,
        "uid": status.st_uid,
        "gid": status.st_gid,
        "rdev": getattr(status, "st_rdev", 0),
        "access": int(status.st_atime),
        "modification": int(status.st_mtime),
        "change": int(status.st_ctime),
        "size": status.st_size,
        "blocks": getattr(status, "st_blocks", 0),
        "blksize": getattr(status, "st_blksize", 0),
    }
    lines = [f"{name} {value}" for name, value in values.items()]
    lines.append(f"permissions {stat.filemode(status.st_mode)[1:]}")
    lines.append(f"mode {_kind_of(status.st_mode).decode()}")
    return b"\1" + "\n".join(lines).encode()


def _listing(path: bytes) -> bytes | int:
    """The names in a directory, each with a zero byte behind it; or the errno."""
    try:
        names = os.listdir(_c_string(path))
    except OSError as error:
        return error.errno or -1
    return b"\1" + b"".join(name + b"\0" for name in [b".", b"..", *names])


def _cwd() -> bytes:
    try:
        return b"\1" + os.getcwdb()
    except OSError:
        return b"\1."


def _chdir(path: bytes) -> int:
    return _status(os.chdir, _c_string(path))


def _mkdir(path: bytes) -> int:
    path = _c_string(path)
    if path in _temporary and os.path.isfile(path) and not os.path.getsize(path):
        # Torch7: tmpname creates no file, so that a program can make a folder of that name.
        _status(os.remove, path)
    return _status(os.mkdir, path)


def _rmdir(path: bytes) -> int:
    return _status(os.rmdir, _c_string(path))


def _link(target: bytes, name: bytes, symbolic: bool) -> int:
    return _status(os.symlink if symbolic else os.link, _c_string(target), _c_string(name))


def _readlink(path: bytes) -> bytes | int:
    try:
        return b"\1" + os.readlink(_c_string(path))
    except OSError as error:
        return error.errno or -1


def _lock(descriptor: int, mode: bytes, start: float, length: float) -> int:
    """Lock a part of an open file for reading (``r``) or writing (``w``), or unlock it (``u``).

    The part is `length` bytes from `start` on; without a length, all to the end.
    """
    import fcntl  # late: few programs need it

    commands = {b"r": fcntl.LOCK_SH, b"w": fcntl.LOCK_EX, b"u": fcntl.LOCK_UN}
    wait = 0 if mode == b"u" else fcntl.LOCK_NB
    return _status(
        fcntl.lockf, int(descriptor), commands[mode] | wait, int(length), int(start), os.SEEK_SET
    )


def _touch(path: bytes, access: float | None, modification: float | None) -> int:
    now = time.time()
    access = now if access is None else access
    return _status(
        os.utime, _c_string(path), (access, access if modification is None else modification)
    )


def _describe(code: int) -> bytes:
    return b"\1" + os.strerror(int(code)).encode()


_temporary: set[bytes] = set()  # the files that _tmpname has created


def _remove_temporary() -> None:
    for name in _temporary:
        _status(os.remove, name)


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
    return b"\1" + name


def _uname() -> bytes:
    """The names of the system, of the machine in the network, and of the processor, as lines."""
    info = os.uname()
    return f"\1{info.sysname}\n{info.nodename}\n{info.machine}".encode()


def _sleep(seconds: float) -> None:
    time.sleep(max(0.0, seconds))


def _columns() -> int:
    """The width of the terminal in characters; 80 where there is none."""
    try:
        return os.get_terminal_size(1).columns or 80
    except OSError:
        return 80


def _mentions(path: bytes, text: bytes) -> bool:
    """Whether a text occurs in a file's bytes; False where the file cannot be read."""
    try:
        with open(_c_string(path), "rb") as file:
            return text in file.read()
    except OSError:
        return False


def functions() -> dict[str, Callable[..., Any]]:
    """The functions by the names that Lua knows them under."""
    return {
        "os_kind": _kind,
        "os_attributes": _attributes,
        "os_listing": _listing,
        "os_cwd": _cwd,
        "os_chdir": _chdir,
        "os_mkdir": _mkdir,
        "os_rmdir": _rmdir,
        "os_link": _link,
        "os_readlink": _readlink,
        "os_lock": _lock,
        "os_touch": _touch,
        "os_describe": _describe,
        "os_tmpname": _tmpname,
        "os_uname": _uname,
        "os_sleep": _sleep,
        "os_columns": _columns,
        "os_lift_limit": machine.lift,
        "os_put_limit_back": machine.put_back,
        "file_mentions": _mentions,
    }
