"""``SavedFile``: the file that torch.save writes, which replaces an older one only as a whole."""

from __future__ import annotations

import os

from runtime.core.errors import TorchError
from runtime.io.diskfile import DiskFile
from runtime.io.replacement import Replacement

__all__ = ["SavedFile"]


class SavedFile(DiskFile):
    """A file to be written from its beginning to its end.

    It takes the place of what has its name when it is closed after `complete`; where it is
    closed before, or where something could not be written, what was there stays.
    """

    def __init__(self, name: bytes) -> None:
        """Begin a file. Raises TorchError."""
        self._is_complete = False
        self._error: OSError | None = None
        super().__init__(name, "w")

    def _open(self, name: bytes, mode: str) -> int:
        try:
            self._replacement = Replacement(name)
        except OSError:
            self.window.opened = 0
            raise TorchError(self._cannot_open()) from None
        return self._replacement.descriptor

    def _write_out(self, data: memoryview) -> tuple[int, OSError | None]:
        done, error = super()._write_out(data)
        self._error = self._error or error
        return done, error

    def complete(self) -> None:
        """Say that all was written."""
        self.check_open()
        self._is_complete = True

    def close(self) -> None:
        """Take the name, or give up. Raises TorchError where bytes could not be written."""
        self.check_open()
        try:
            self._drain()
            if self._is_complete:
                self._commit()
        finally:
            self._replacement.abandon()
            super().close()

    def _commit(self) -> None:
        # Not a matter of `quiet`: nobody else would ever hear that nothing was saved.
        try:
            if self._error is not None:
                raise self._error
            self._replacement.commit()
        except OSError as error:
            raise TorchError(f"write error: {os.strerror(error.errno or 0)}") from None

    def leave(self) -> None:
        self._replacement.abandon()
