"""``Replacement``: a file that is written whole, so that its name always has a good one.

The bytes go to a new file beside the old one, which takes the old one's place when all of them
are on the disk. Until then neither a full disk nor the end of the process touches the old one;
where the file system can, the new one has no name yet, and nothing is left of it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from runtime.core import system
from runtime.core.platform import DESCRIPTORS, is_of_system

__all__ = ["Replacement"]

_PIECE = 1 << 20  # bytes copied at a time
_LONGEST = 200  # bytes of a name that a temporary one repeats
_MOST_LINKS = 40
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW

_T = TypeVar("_T")


class Replacement:
    """What is to stand under a name.

    name: links are followed, and stay. descriptor: where the bytes go; closed by its user.
    Devices, pipes and open files (/dev/stdout) are written directly.
    """

    def __init__(self, name: bytes) -> None:
        """Begin. Raises OSError where the name could not be opened for writing."""
        self._temporary = b""
        self._is_beside = True
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
        # In the making, it is not shown to more people than the old one.
        mode = 0o666 if self._old is None else 0o600
        try:
            return _nameless(os.path.dirname(self._target), mode)
        except OSError:
            pass  # not every file system can do that; with a name, all can
        try:
            return self._name(lambda name: system.open_descriptor(name, _NEW, mode))
        except OSError as error:
            if self._old is None or error.errno not in _FORBIDDEN:
                raise
        self._is_beside = False
        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())

    def _name(self, make: Callable[[bytes], _T]) -> _T:
        """Call a function with a name beside the target that nothing has."""
        folder, base = os.path.split(self._target)
        while True:
            token = secrets.token_hex(6).encode()
            name = os.path.join(folder, b".%s.%s.tmp" % (base[:_LONGEST], token))
            try:
                made = make(name)
            except FileExistsError:
                continue
            self._temporary = name
            return made

    def commit(self) -> None:
        """Put all that was written under the name. Raises OSError; then the old file stays."""
        if not self._target:
            return
        os.fsync(self.descriptor)
        if self._is_beside and self._take_place():
            return
        self._copy_over()

    def _take_place(self) -> bool:
        if self._old is not None:
            _resemble(self.descriptor, self._target, self._old)
        if not self._temporary:
            try:
                self._link()
            except OSError:
                self._copy_beside()
        try:
            os.replace(self._temporary, self._target)
        except OSError:
            if self._old is None:
                raise
            return False  # mounted over, or somebody else's in a folder like /tmp
        self._temporary = b""
        return True

    def _link(self) -> None:
        """Give the file without a name one."""
        source, anchor = b"%s/%d" % (DESCRIPTORS, self.descriptor), self.descriptor
        # With a folder's descriptor, even one it has no use for, Python follows the link.
        self._name(lambda name: os.link(source, name, src_dir_fd=anchor))

    def _copy_beside(self) -> None:
        """The same where the system does not let descriptors be linked."""
        mode = stat.S_IMODE(os.fstat(self.descriptor).st_mode)
        out = self._name(lambda name: system.open_descriptor(name, _NEW, mode))
        try:
            if self._old is not None:
                _resemble(out, self._target, self._old)
            _copy(self.descriptor, out)
        finally:
            os.close(out)

    def _copy_over(self) -> None:
        """Write the file in place, where no other can take it.

        That can fail half way only where the process or the system ends meanwhile: the bytes
        are complete elsewhere, and the disk has given room before the first one changes.
        """
        out = system.open_descriptor(self._target, os.O_WRONLY)
        try:
            system.reserve(out, os.fstat(self.descriptor).st_size)
            _copy(self.descriptor, out)
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
        if is_of_system(os.path.realpath(folder)):
            return True
        name = os.path.join(folder, os.readlink(name))
    return False


def _nameless(folder: bytes, mode: int) -> int:
    """A file in a folder that goes with the process as long as it has no name."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir(DESCRIPTORS):
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
    return system.open_descriptor(folder, os.O_TMPFILE | os.O_RDWR, mode)


def _copy(source: int, out: int) -> None:
    """Make a file the same as another one, on the disk; Ctrl-C waits until it is."""
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
