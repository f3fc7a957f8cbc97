"""torch.save: writes a value to a file, as PyTorch does since 1.6."""

from __future__ import annotations

import os
import pickle
from typing import IO, Any

from th_shell.runtime.io.replacement import Replacement
from th_shell.torch.files.archive import write_archive


def save(
    obj: Any,
    f: str | os.PathLike[str] | IO[bytes],
    pickle_module: Any = pickle,
    pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write an object with its tensors to a file, which `load`, and PyTorch, can read.

    f: a path, whose file is replaced when the new one is complete, or a binary file object. What
    shares memory does so in the file. Raises OSError where the file cannot be written, and
    RuntimeError for tensors of several types that share memory.
    """
    if pickle_module is not pickle:
        raise NotImplementedError(
            "torch.save writes with Python's pickle alone: leave pickle_module out"
        )
    if not _use_new_zipfile_serialization:
        raise NotImplementedError(
            "torch.save writes zip files alone, which PyTorch reads since 1.6"
        )
    if isinstance(f, (str, os.PathLike)):
        with Replacement(os.fsencode(f)) as replacement:
            with open(replacement.descriptor, "r+b", closefd=False) as file:
                write_archive(file, obj, pickle_protocol)
    elif hasattr(f, "write"):
        write_archive(f, obj, pickle_protocol)
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )
