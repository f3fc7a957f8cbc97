"""Results that several processes share: each is computed by one of them, and read by the others.

The results are files of a folder. Who computes one holds a lock on it; the lock is gone when that
process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

_T = TypeVar("_T")


def shared_result(folder: Path, wanted: str, jobs: Mapping[str, Callable[[], _T]]) -> _T:
    """The result of one of some jobs, by its name.

    While another process computes it, this one computes those that nobody has computed yet.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (wanted, *jobs):
        file = _file(folder, name)
        if name != wanted and file.exists():
            continue
        with _locked(file, wait=False) as is_ours:
            if is_ours:
                result = _read_or_compute(file, jobs[name])
                if name == wanted:
                    return result
        if _file(folder, wanted).exists():
            break
    file = _file(folder, wanted)
    with _locked(file, wait=True):
        return _read_or_compute(file, jobs[wanted])


def _file(folder: Path, name: str) -> Path:
    return folder / hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()


@contextmanager
def _locked(file: Path, wait: bool) -> Iterator[bool]:
    """Hold the lock of a result within the block; whether it is held: always, if to wait for it."""
    descriptor = os.open(f"{file}.lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        held = False
        with suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            held = True
        yield held
    finally:
        os.close(descriptor)


def _read_or_compute(file: Path, job: Callable[[], _T]) -> _T:
    if file.exists():
        with file.open("rb") as stream:
            found: _T = pickle.load(stream)
        return found
    result = job()
    new = file.with_suffix(".new")
    new.write_bytes(pickle.dumps(result))
    new.replace(file)  # who sees the file sees all of it
    return result
