"""Writes files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from runtime import Replacement

__all__ = ["write_all", "write_file"]


def write_file(path: Path, data: bytes) -> None:
    """Replace a file when its new content is complete. Raises OSError: the old file is kept."""
    file = Replacement(os.fsencode(path))
    try:
        write_all(file.descriptor, data)
        file.commit()
    finally:
        file.abandon()
        os.close(file.descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of some bytes. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]
