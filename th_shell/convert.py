"""``th --convert``: writes what a file of Torch7 holds as another file. No Lua runs."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from th_shell.visible import UsageError, complain, read_words

_FAILURE = 1
_FORMATS = ("binary", "ascii", "b32")
_LARGE = 50_000_000  # bytes of a file from which on a terminal shows how far it is
_PAUSE = 0.1  # seconds between two looks at that


def run(words: Sequence[str]) -> int:
    """Run it; returns the exit status. words: those behind --convert. Raises UsageError."""
    source, target, format = _read(words)
    try:
        from runtime import T7Error, convert
    except ImportError as error:
        return _fail(str(error))
    progress = _Progress(source, target.endswith(".t7") and format == "ascii")
    try:
        convert(source, target, format, progress)
    except T7Error as error:
        return _fail(str(error), progress)
    except OSError as error:
        name = error.filename if isinstance(error.filename, str) else target
        return _fail(f"{name}: {error.strerror or error}", progress)
    except MemoryError:
        return _fail("not enough memory", progress)
    progress.end()
    return 0


def _read(words: Sequence[str]) -> tuple[str, str, Any]:
    """The two files, and the format of the second."""
    formats = f"{', '.join(_FORMATS[:-1])} or {_FORMATS[-1]}"
    files, said = read_words("convert", words, {"--format": formats})
    format = said.get("--format", _FORMATS[0])
    if format not in _FORMATS:
        raise UsageError(f"--format needs {formats}")
    if len(files) != 2:
        raise UsageError("--convert needs a .t7 file, and the name of the new file")
    if not files[1].endswith((".npz", ".json", ".t7")):
        raise UsageError("--convert: the name of the new file ends with .npz, .json or .t7")
    return files[0], files[1], format


def _fail(message: str, progress: _Progress | None = None) -> int:
    if progress is not None:
        progress.end()
    complain(message)
    return _FAILURE


class _Progress:
    """How many megabytes are written: one line of a terminal, where the file is large."""

    def __init__(self, source: str, longer: bool) -> None:
        """longer: whether the new file's size is not known from the old one's."""
        size = os.path.getsize(source) if os.path.isfile(source) else 0
        self._shown = sys.stderr.isatty() and size >= _LARGE
        self._of = "" if longer else f" of {size / 1e6:.0f}"
        self._done = 0
        self._next = 0.0

    def __call__(self, count: int) -> None:
        """So many bytes were written just now."""
        self._done += count
        now = time.monotonic()
        if self._shown and now >= self._next:
            self._next = now + _PAUSE
            self._print(f"th: {self._done / 1e6:.0f}{self._of} MB")

    def end(self) -> None:
        """Remove the line."""
        if self._shown and self._next:
            self._print("")

    def _print(self, text: str) -> None:
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
