"""``Replacement``: a file that is written whole, so that its name always has a good one.

The bytes go to a new file beside the old one, which takes the old one's place when all of them
are on the disk. Until then neither a full disk nor the end of the process touches the old one.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from contextlib import suppress

from runtime.io import system

__all__ = ["Replacement"]

_PIECE = 1 << 20  # bytes copied at a time
_LONGEST = 200  # bytes of a name that a temporary one repeats
_MOST_LINKS = 40


class Replacement:
    """What is to stand under a name.

    name: links are followed, and stay. descriptor: where the bytes go; closed by its user.
    Devices, pipes and open files (/dev/stdout) are written directly.
    """

    def __init__(self, name: bytes) -> None:
        """Begin. Raises OSError where the name could not be opened for writing."""
        self._temporary = b""
        self._process = os.getpid()
        self._old = _status(name)
        if name[-1:] in (b"", b"/") or _is_special(name, self._old):
            self._target = b""
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            self.descriptor = system.open_descriptor(name, flags)
            return
        self._target = os.path.realpath(name)
        if self._old is not None:
            # A file that must not be written must not be replaced either.
            os.close(system.open_descriptor(self._target, os.O_WRONLY | os.O_NONBLOCK))
        self.descriptor = self._begin()

    def _begin(self) -> int:
        folder, base = os.path.split(self._target)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        # In the making, it is not shown to more people than the old one.
        mode = 0o666 if self._old is None else 0o600
        while True:
            token = secrets.token_hex(6).encode()
            name = os.path.join(folder, b".%s.%s.tmp" % (base[:_LONGEST], token))
            try:
                descriptor = system.open_descriptor(name, flags, mode)
            except FileExistsError:
                continue
            except OSError as error:
                if self._old is None or error.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
                    raise
                return _elsewhere()
            self._temporary = name
            return descriptor

    def commit(self) -> None:
        """Put all that was written under the name. Raises OSError; then the old file stays."""
        if not self._target:
            return
        os.fsync(self.descriptor)
        if self._temporary:
            if self._old is not None:
                _resemble(self.descriptor, self._target, self._old)
            try:
                os.replace(self._temporary, self._target)
                self._temporary = b""
                return
            except OSError:
                # Mounted over, or somebody else's in a folder like /tmp.
                if self._old is None:
                    raise
        self._copy_over()

    def _copy_over(self) -> None:
        """Write the file in place, where no other can take it.

        That can fail half way only where the process or the system ends meanwhile: the bytes
        are complete elsewhere, and the disk has given room before the first one changes.
        """
        size = os.fstat(self.descriptor).st_size
        out = system.open_descriptor(self._target, os.O_WRONLY)
        try:
            system.reserve(out, size)
            for at in range(0, size, _PIECE):
                piece = memoryview(os.pread(self.descriptor, _PIECE, at))
                while piece:
                    written = os.pwrite(out, piece, at)
                    at, piece = at + written, piece[written:]
            os.ftruncate(out, size)
            os.fsync(out)
        finally:
            os.close(out)
        self.abandon()

    def abandon(self) -> None:
        """Leave the old file as it is; nothing more after `commit`."""
        # A forked child has the same object, but the file is its parent's.
        if self._temporary and os.getpid() == self._process:
            with suppress(OSError):
                os.unlink(self._temporary)
        self._temporary = b""


def _status(name: bytes) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None


def _is_special(name: bytes, status: os.stat_result | None) -> bool:
    """Whether a name stands for no file on a disk, or for one that is open already."""
    if status is None:
        return False
    if not stat.S_ISREG(status.st_mode):
        return True
    for _ in range(_MOST_LINKS):
        if not os.path.islink(name):
            return False
        folder = os.path.dirname(name)
        if os.path.realpath(folder).startswith(b"/proc/"):
            return True
        name = os.path.join(folder, os.readlink(name))
    return False


def _elsewhere() -> int:
    """A file without a name, for what cannot lie beside the old one."""
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _resemble(descriptor: int, target: bytes, old: os.stat_result) -> None:
    """Give a file the owner, the permissions and the attributes of the one it replaces."""
    with suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        # Access control lists are among them: without those, the bits may allow more.
        with suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(descriptor, name, os.getxattr(target, name))
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
