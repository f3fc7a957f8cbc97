"""``SavedFile``: the file that torch.save writes; it replaces an older one only when complete."""

from __future__ import annotations

import os

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.io.diskfile import DiskFile
from th_shell.runtime.io.replacement import Replacement


class SavedFile(DiskFile):
    """A file to be written from its beginning to its end.

    It replaces the file of its name when it is closed after `complete` was called. If it is closed
    before, or if bytes could not be written, the older file remains.
    """

    def __init__(self, name: bytes) -> None:
        """Create the file. Raises TorchError where the name cannot be written."""
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
        """Declare that the file is complete: closing it will replace the older one."""
        self._is_complete = True

    def close(self) -> None:
        """Replace the older file, or remove this one. Raises TorchError if a write has failed."""
        try:
            self._drain()
            if self._is_complete:
                self._commit()
        finally:
            self._replacement.abandon()
            super().close()

    def _commit(self) -> None:
        # Raised even if the file is quiet: nothing else tells the program that it was not saved.
        try:
            if self._error is not None:
                raise self._error
            self._replacement.commit()
        except OSError as error:
            raise TorchError(f"write error: {os.strerror(error.errno or 0)}") from None

    def leave(self) -> None:
        self.window.quiet = 1
        self._replacement.abandon()
