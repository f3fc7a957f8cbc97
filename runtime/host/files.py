"""The Python functions that Lua calls for files (see ``runtime/lua/files/files.lua``).

Lua passes a file as its Python object. As in ``host/numpy_functions.py``, `guarded` returns an
exception as bytes. Ctrl-C may end these functions, as reading from a pipe or a terminal may wait
for ever.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from operator import methodcaller
from typing import Any

from th_shell.runtime.calls.results import class_id
from th_shell.runtime.core.dtypes import CHAR
from th_shell.runtime.core.encoding import printable
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.process import leave
from th_shell.runtime.core.storage import STORAGE_CLASSES, Storage
from th_shell.runtime.core.tensor import Tensor, fits_storage
from th_shell.runtime.host.lua_calls import guarded
from th_shell.runtime.io.diskfile import DiskFile, SavedFile
from th_shell.runtime.io.file import File
from th_shell.runtime.io.memoryfile import MemoryFile
from th_shell.runtime.io.pipefile import PipeFile
from th_shell.runtime.io.replacement import replace_file

# Methods of open files that Lua calls as they are.
_METHODS = "seek_end position synchronize close complete check_open stop_buffering".split()
_OPENERS = {b"torch.DiskFile": DiskFile, b"torch.PipeFile": PipeFile}


def _with_window(file: File) -> tuple[File, int]:
    """Return a file and the address of its window."""
    return file, file.address


def _replace(name: bytes, data: bytes) -> None:
    try:
        replace_file(name, data)
    except OSError as error:
        raise TorchError(f"{printable(name)}: {error.strerror}") from None


def _over_bytes(address: int, size: int) -> tuple[File, int]:
    """Return a file over a Lua string and the zero byte behind it; Lua keeps the string."""
    storage = STORAGE_CLASSES[CHAR.index].at_address(address, size + 1)
    return _with_window(MemoryFile.over(storage, size))


def _put(file: File, address: int, size: int) -> int:
    file.check_writable()
    if not size:
        return 0
    return file.put(memoryview((ctypes.c_char * size).from_address(address)).cast("B"))


def _remaining(file: File) -> int:
    remaining = file.remaining()
    return -1 if remaining is None else remaining


def _explanation(name: bytes, mode: bytes) -> bytes:
    from th_shell.runtime.io.foreign_files import explanation_of_file  # which few need

    return b"\1" + explanation_of_file(name, mode.decode()).encode()


def _for_open_file(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that raises an ArgError for a closed file."""

    def call(file: File, *args: Any) -> Any:
        file.check_open()
        return function(file, *args)

    return call


def _storage(file: MemoryFile) -> tuple[Storage, int]:
    storage = file.storage()
    return storage, class_id(type(storage))


def _restore(tensor: Tensor, storage: Storage | None, offset: int, *geometry: int) -> bool:
    """Give a tensor the geometry that was read from a file; False if it does not fit the storage.

    geometry: the sizes, then the strides.
    """
    if not all(isinstance(number, int) for number in (offset, *geometry)):
        return False  # lupa gives numbers beyond 64 bits as float
    n = len(geometry) // 2
    sizes, strides = tuple(geometry[:n]), tuple(geometry[n:])
    if not isinstance(storage, tensor.storage_class):
        storage = None
    if n and (storage is None or not fits_storage(storage, offset, sizes, strides)):
        return False
    tensor.set(storage, max(offset, 0), sizes, strides)
    return True


def host_functions() -> dict[bytes, Callable[..., Any]]:
    """Return the functions by the names that Lua knows them under."""
    functions: dict[str, Callable[..., Any]] = {
        "file_open": lambda kind, name, mode, quiet: _with_window(
            _OPENERS[kind](name, mode.decode("latin-1"), quiet)
        ),
        "file_open_saved": lambda name: _with_window(SavedFile(name)),
        "file_replace": _replace,
        "file_open_memory": lambda storage, mode: _with_window(
            MemoryFile(storage, mode.decode("latin-1"))
        ),
        "file_over_memory": lambda storage: _with_window(MemoryFile.over(storage, storage.size)),
        "file_over_bytes": _over_bytes,
        "file_fill": lambda file, need: file.fill(need),
        "file_remaining": _remaining,
        "file_read": lambda file, storage, start, stop: file.read(
            storage.data[start:stop], storage.dtype
        ),
        "file_read_sized": lambda file, storage, count: file.read_sized(storage, count),
        "file_write": lambda file, storage, start, stop: file.write(
            storage.data[start:stop], storage.dtype
        ),
        "file_put": _put,
        "file_seek": _for_open_file(
            lambda file, position: file.seek(min(int(position), sys.maxsize))
        ),
        "file_storage": _for_open_file(_storage),
        **{f"file_{name}": _for_open_file(methodcaller(name)) for name in _METHODS},
        "file_flush_all": leave,
        "file_explanation": _explanation,
        "tensor_restore": _restore,
    }
    return {name.encode(): guarded(f, interruptible=True) for name, f in functions.items()}
