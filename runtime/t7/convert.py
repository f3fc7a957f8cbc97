"""Converts files of Torch7: what ``th --convert`` does."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.essence import chosen, left_out
from th_shell.runtime.t7.files import Format, Path, load, save
from th_shell.runtime.t7.npz import write_npz
from th_shell.runtime.t7.outline import outline_text
from th_shell.runtime.t7.values import T7Error

#: The kinds of files that there are to convert to.
TARGETS = (".npz", ".json", ".t7")


def convert(
    source: Path,
    target: Path,
    format: Format = "binary",
    progress: Callable[[int], object] = lambda count: None,
    everything: bool = False,
) -> int:
    """Convert a file of Torch7 to what the end of the target's name says; returns `left_out`.

    .npz: the arrays of `write_npz`. .json: the structure, of `outline`. .t7: a file of Torch7 in
    a format of `save`. The target is replaced when the new file is complete.
    progress: gets the number of bytes of elements that were just written.
    everything: whether .npz and .json tell of modules also what `essence` leaves out: gradients,
    results, room to compute in, an optimizer's state; .npz then numbers and strings, too.

    Raises OSError, T7Error, and ValueError for another name.
    """
    ending = os.path.splitext(os.fsdecode(target))[1]
    if ending not in TARGETS:
        raise ValueError(f"the name of the new file ends with one of {', '.join(TARGETS)}")
    try:
        return _convert(source, target, ending, format, progress, everything)
    except T7Error:
        raise
    except TorchError as error:  # where the file has changed meanwhile, or there is no memory
        raise T7Error(str(error)) from None


def _convert(
    source: Path,
    target: Path,
    ending: str,
    format: Format,
    progress: Callable[[int], object],
    everything: bool,
) -> int:
    value = load(source)
    with Replacement(os.fsencode(target)) as replacement:
        with open(replacement.descriptor, "wb", closefd=False) as file:
            if ending == ".t7":
                counted: Any = _Counted(file, progress)
                save(counted, value, format)
                return 0
            structure, values = chosen(value, everything)
            if ending == ".npz":
                write_npz(file, values, progress)
            else:
                text = outline_text(structure)
                file.write(text.encode("utf-8", "surrogateescape") + b"\n")
    return left_out(value, structure)


class _Counted:
    """A file that tells how many bytes are written to it."""

    def __init__(self, file: IO[bytes], progress: Callable[[int], object]) -> None:
        self._file = file
        self._progress = progress

    def write(self, data: Any) -> None:
        self._file.write(data)
        self._progress(len(data))
