"""The Python half of the package ``gnuplot``: plots by matplotlib, in files and pictures.

Lua describes a figure by lines, each a word and what it says about the figure, with a tab between
them; a line `series` takes the next of the tensors that are passed along (`Series.data`).

Programs may change a figure with each step of a long loop. Drawing takes much longer than a step
does, and nobody looks at each state. So once drawing has taken some time, changes of files that
were drawn before wait: drawing may go on for a tenth of the time since then. What waits is drawn
before a command is started, which may look at files, and at the end of the program. In the
reference, too, figures are late: gnuplot is a process of its own, which draws them in turn.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import numpy as np

from th_shell.runtime.core import process
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.io.replacement import replace_file
from th_shell.runtime.packages import optional
from th_shell.runtime.packages.gnuplot.plotter import (
    check_style,
    draw,
    figure_file,
    new_figure,
    read_description,
)

__all__ = ["check_style", "draw_what_waits", "file", "picture", "save"]

_DTYPE_OF_BYTES = next(c for c in TENSOR_CLASSES if c.dtype.name == "Byte")

Drawing = Callable[[], None]

_FREE = 1.0  # seconds of drawing before changes wait
_SHARE = 0.1  # of the time that passes

_drawn: set[bytes] = set()  # the names of files
_waiting: dict[bytes, tuple[int, Drawing]] = {}  # with the process that they wait in
_debt = 0.0  # seconds of drawing that are not worked off yet, as of the last drawing
_last = 0.0  # when that was


def _debt_now() -> float:
    return max(0.0, _debt - _SHARE * (time.monotonic() - _last))


def now(name: bytes, drawing: Drawing) -> None:
    """Draw at once, instead of what waits."""
    global _debt, _last
    start = time.monotonic()
    try:
        drawing()
    finally:
        _waiting.pop(name, None)
        _drawn.add(name)
        _debt, _last = _debt_now() + time.monotonic() - start, time.monotonic()


def soon(name: bytes, drawing: Drawing) -> None:
    """Draw at once what was never drawn, and all if drawing has not taken much time lately."""
    if name not in _drawn or _debt_now() < _FREE:
        now(name, drawing)
    else:
        at_the_end(name, drawing)


def at_the_end(name: bytes, drawing: Drawing) -> None:
    """Draw at the end of the program, unless the figure is drawn before then."""
    _waiting[name] = (os.getpid(), drawing)


def draw_what_waits() -> None:
    """Draw what waits in this process; errors are told, since no program can catch them."""
    while _waiting:
        _, (process, drawing) = _waiting.popitem()
        try:
            if process == os.getpid():
                drawing()
        except TorchError as error:
            print(error, file=sys.stderr)


process.at_the_end(draw_what_waits)


def save(
    text: bytes,
    tensors: list[Tensor],
    name: bytes,
    kind: bytes,
    width: float,
    height: float,
    when: bytes,
) -> None:
    """Write a figure to a file, png, svg, eps or pdf: now, soon, or at the end of the program.

    The name of a file that is not written now must be absolute.
    """
    description = read_description(text, tensors)

    def write() -> None:
        data = figure_file(description, width, height, kind.decode())
        try:
            replace_file(name, data)
        except OSError as error:
            raise TorchError(f"cannot save to {name.decode()}: {error.strerror}") from error

    {b"now": now, b"soon": soon, b"end": at_the_end}[when](name, write)


def picture(text: bytes, tensors: list[Tensor], width: float, height: float) -> Tensor:
    """Return a figure as an image of bytes, 3 x height x width."""
    agg = optional("matplotlib.backends.backend_agg", "matplotlib", "gnuplot")
    figure = new_figure(width, height)
    canvas = agg.FigureCanvasAgg(figure)
    draw(figure, read_description(text, tensors))
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    return _DTYPE_OF_BYTES.of(np.array(pixels.transpose(2, 0, 1), order="C"))


def file(text: bytes, tensors: list[Tensor], kind: bytes, width: float, height: float) -> bytes:
    """Return the file of a figure."""
    return figure_file(read_description(text, tensors), width, height, kind.decode())
