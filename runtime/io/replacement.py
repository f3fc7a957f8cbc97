"""``Replacement``: writes a file that takes the place of an older one only when it is complete.

The bytes are written to a new file in the same folder, which replaces the old one when all of
them are on the disk. Until then, neither a full disk nor the end of the process changes the old
file.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from th_shell.runtime.core import system
from th_shell.runtime.core.platform import is_of_system

_PIECE = 1 << 20  # bytes copied or written at a time: Ctrl-C comes in between
_MAX_BASE = 200  # bytes of the file's name that the name of a temporary file begins with
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)

_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


class Replacement:
    """A new file that is to replace the one of a name.

    name: a symbolic link is followed, and remains. descriptor: where the bytes are to be written;
    the caller closes it. Devices, pipes and files that are open already (/dev/stdout) are not
    replaced: the descriptor writes to them directly. The end of a context replaces the old file,
    unless an error was raised there, and closes the descriptor.
    """

    def __init__(self, name: bytes) -> None:
        """Create the new file. Raises OSError if the name could not be opened for writing."""
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
            # Raises OSError: a file that the user may not write must not be replaced either.
            os.close(system.open_descriptor(self._target, os.O_WRONLY | os.O_NONBLOCK))
        self.descriptor = self._create()

    def _create(self) -> int:
        # While it is written, no user may read it who may not read the old file.
        mode = 0o666 if self._old is None else 0o600
        folder, base = os.path.split(self._target)
        token = os.urandom(6).hex().encode()
        temporary = os.path.join(folder, b".%s.%s.tmp" % (base[:_MAX_BASE], token))
        try:
            descriptor = system.open_descriptor(temporary, _NEW_FILE, mode)
            self._temporary = temporary
            return descriptor
        except OSError as error:
            if self._old is None or error.errno not in _FORBIDDEN:
                raise
        # The folder must not be written, but the old file may be: `_copy_over` writes it in place.
        import tempfile  # late: few files are written so

        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())

    def __enter__(self) -> Replacement:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.abandon()
            os.close(self.descriptor)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Write all of some bytes. Raises OSError."""
        view, done = memoryview(data), 0
        while done < len(view):
            done += os.write(self.descriptor, view[done : done + _PIECE])

    def commit(self) -> None:
        """Replace the old file by the new one. Raises OSError; the old file is then unchanged."""
        if not self._target:
            return
        os.fsync(self.descriptor)
        if self._temporary and self._rename():
            return
        self._copy_over()

    def _rename(self) -> bool:
        """Give the new file the old one's name; False where the system does not allow that."""
        if self._old is not None:
            try:
                _copy_attributes(self.descriptor, self._target, self._old)
            except PermissionError:  # a program that may write files, but not say who else may
                return False
        try:
            os.replace(self._temporary, self._target)
        except OSError:
            if self._old is None:
                raise
            # The old file is a mount point, or another user's in a folder like /tmp.
            return False
        self._temporary = b""
        return True

    def _copy_over(self) -> None:
        """Copy the new file's bytes into the old one, where it cannot be replaced.

        Room on the disk is reserved before the first byte changes. So the old file remains
        half written only if the process or the system ends in the middle.
        """
        out = system.open_descriptor(self._target, os.O_WRONLY)
        try:
            system.reserve(out, os.fstat(self.descriptor).st_size)
            _copy(self.descriptor, out)
        finally:
            os.close(out)
        self.abandon()

    def abandon(self) -> None:
        """Remove the new file and leave the old one as it is; after `commit`, do nothing."""
        # A forked child process has a copy of this object, but the file is the parent's.
        if self._temporary and os.getpid() == self._process:
            with suppress(OSError):
                os.unlink(self._temporary)
        self._temporary = b""


def replace_file(name: bytes, data: bytes) -> None:
    """Replace the file of a name by one of some bytes. Raises OSError: the old one is kept."""
    with Replacement(name) as replacement:
        replacement.write(data)


def _status(name: bytes) -> os.stat_result | None:
    try:
        return os.stat(name)
    except FileNotFoundError:
        return None


def _is_special(name: bytes, status: os.stat_result | None) -> bool:
    """Tell whether a name is that of no file on a disk, or of one that is open already."""
    if status is None:
        return False
    if not stat.S_ISREG(status.st_mode):
        return True
    while os.path.islink(name):  # links that lead in a circle have no status
        folder = os.path.dirname(name)
        if is_of_system(os.path.realpath(folder)):
            return True
        name = os.path.join(folder, os.readlink(name))
    return False


def _copy(source: int, out: int) -> None:
    """Copy a file's bytes to another one, on the disk; Ctrl-C is raised when that is done."""
    size, at = os.fstat(source).st_size, 0
    interrupt: KeyboardInterrupt | None = None
    while at < size:
        try:
            at += os.pwrite(out, os.pread(source, _PIECE, at), at)
        except KeyboardInterrupt as error:
            interrupt = error
    os.ftruncate(out, size)
    os.fsync(out)
    if interrupt is not None:
        raise interrupt


def _copy_attributes(descriptor: int, target: bytes, old: os.stat_result) -> None:
    """Give a file the owner, the permissions and the attributes of the one it replaces."""
    with suppress(OSError):
        os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "listxattr"):
        # Access control lists are among these; without them, the permissions may allow more.
        with suppress(OSError):
            for name in os.listxattr(target):
                os.setxattr(descriptor, name, os.getxattr(target, name))
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
