"""Bytecode of files of Lua, in the user's cache: LuaJIT loads it ten times as fast as it compiles.

The cache has a file for each path. It tells first what it was made of: the source, as it was then,
by a LuaJIT. Whatever is wrong with the cache, the source is compiled.
"""

from __future__ import annotations

import os
from contextlib import suppress
from zlib import crc32

_MOST = 2000  # files; then all go, since those of folders that are gone would stay for ever
_SUM = 4  # bytes


def kept(path: bytes, compiler: bytes) -> bytes | None:
    """Return the bytecode of a file; None where there is none of what it is now.

    compiler: the name of the LuaJIT.
    """
    try:
        with open(_place(path), "rb") as file:
            is_own = os.fstat(file.fileno()).st_uid == os.geteuid()
            data = file.read()
        head = _head(path, compiler)
    except OSError:
        return None
    is_right = data.startswith(head, _SUM) and _sum(data[_SUM:]) == data[:_SUM]
    return data[_SUM + len(head) :] if is_own and is_right else None


def keep(path: bytes, compiler: bytes, bytecode: bytes) -> None:
    """Keep the bytecode of a file, if that is possible."""
    place = _place(path)
    part = b"%s.%d" % (place, os.getpid())
    with suppress(OSError):
        data = _head(path, compiler) + bytecode
        folder = os.path.dirname(place)
        os.makedirs(folder, 0o700, exist_ok=True)
        others = os.listdir(folder)
        for name in others if len(others) >= _MOST else ():
            os.unlink(os.path.join(folder, name))
        with open(part, "wb") as file:
            file.write(_sum(data) + data)
        os.replace(part, place)


def _place(path: bytes) -> bytes:
    cache = os.environb.get(b"XDG_CACHE_HOME") or os.path.expanduser(b"~/.cache")
    return b"%s/th/bytecode/%08x" % (cache, crc32(path))


def _head(path: bytes, compiler: bytes) -> bytes:
    source = os.stat(path)
    is_now = source.st_dev, source.st_ino, source.st_size, source.st_mtime_ns
    return b"%s %d %d %d %d %s\n" % (compiler, *is_now, path)


def _sum(data: bytes) -> bytes:
    return crc32(data).to_bytes(_SUM, "little")
