"""``MemoryFile``: a file in a CharStorage, whose last element is a zero byte behind the file's end.

The file and the program share the storage: what is written to the file changes it, and the
program may change and resize it between any two calls.
"""

from __future__ import annotations

from th_shell.runtime.core.dtypes import CHAR
from th_shell.runtime.core.errors import ArgError, TorchError
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.io.file import UNBOUNDED, File

_MODES = ("r", "w", "rw")


class MemoryFile(File):
    """A file in memory.

    Manual: MemoryFile.
    """

    typename = "torch.MemoryFile"

    def __init__(self, storage: Storage | None, mode: str) -> None:
        """Open the bytes of a storage that ends with a zero byte, or of a new one.

        mode: 'r', 'w' or 'rw'. Raises ArgError for another mode or storage.
        """
        if storage is not None and (not storage.size or storage.data[-1] != 0):
            raise ArgError(1, "provided CharStorage must be terminated by 0")
        if mode not in _MODES:
            raise ArgError(2, "file mode should be 'r','w' or 'rw'")
        if storage is None:
            storage = STORAGE_CLASSES[CHAR.index].new(1)
            storage.data[0] = 0
        super().__init__(storage, mode)
        self._is_borrowed = False
        self.window.stop = storage.size - 1
        self.window.room = UNBOUNDED if self.window.writable else 0

    @classmethod
    def over(cls, storage: Storage, size: int) -> MemoryFile:
        """Return a file for reading a storage's first ``size`` bytes; no zero byte need follow.

        The method `storage` gives a copy: the program does not get this storage.
        """
        file = cls(None, "r")
        file.look_at(storage)
        file._is_borrowed = True
        file.window.stop = size
        return file

    def _settle(self) -> tuple[int, int]:
        """Return the position and the file's size, reduced where the storage has become smaller."""
        window = self.window
        # A storage that is written ends with a zero byte; one for reading need not (see `over`).
        limit = max(self.memory.size - (1 if window.writable else 0), 0)
        window.stop = min(window.stop, limit)
        window.at = min(window.at, window.stop)
        return int(window.at), int(window.stop)

    def fill(self, need: int) -> int:
        self.check_readable()
        at, size = self._settle()
        return size - at

    def remaining(self) -> int | None:
        return self.fill(0)

    def take(self, out: memoryview, unit: int) -> int:
        at, size = self._settle()
        count = min(len(out), size - at)
        count -= count % unit
        out[:count] = self.bytes()[at : at + count]
        self.window.at = at + count
        return count

    def put(self, data: memoryview) -> int:
        if not len(data):
            return 0
        at, size = self._settle()
        end = at + len(data)
        self._grow(end)
        self.bytes()[at:end] = data
        self.window.at = end
        if end > size:
            self.window.stop = end
            self.memory.data[end] = 0
        return len(data)

    def _grow(self, size: int) -> None:
        """Enlarge the storage, by half at least, to ``size`` bytes and the zero byte."""
        present = self.memory.size
        if size >= present:
            missing = size - present + 1
            half = present // 2
            self.memory.resize(present + (half if half > missing else missing))

    def seek(self, position: int) -> None:
        _, size = self._settle()
        if 0 <= position <= size:
            self.window.at = position
            return
        self.window.failed = 1
        if not self.window.quiet:
            raise TorchError(f"unable to seek at position {position}")

    def seek_end(self) -> None:
        self.window.at = self._settle()[1]

    def position(self) -> int:
        return self._settle()[0]

    def _copy(self, size: int) -> None:
        """Replace a borrowed storage by a copy, which the program may keep and change."""
        storage = STORAGE_CLASSES[CHAR.index].new(size + 1)
        storage.data[:size] = self.memory.data[:size]
        storage.data[size] = 0
        self.look_at(storage)
        self._is_borrowed = False

    def storage(self) -> Storage:
        """Return the storage, resized to the file's bytes and the zero byte."""
        size = self._settle()[1] if self._is_borrowed else int(self.window.stop)
        if self._is_borrowed:
            self._copy(size)
        if self.memory.size != size + 1:
            self.memory.resize(size + 1)
            self.memory.data[size] = 0
        return self.memory
