"""The Python half of the package ``gnuplot``: plots by matplotlib, in files, windows and pictures.

Lua describes a figure by lines, each a word and what it says about the figure, with a tab between
them; a line `series` takes the next of the tensors that are passed along (`Series.data`).
"""

from __future__ import annotations

import atexit
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.io.replacement import replace_file
from th_shell.runtime.packages import optional
from th_shell.runtime.packages.gnuplot import pace
from th_shell.runtime.packages.gnuplot.plotter import (
    check_style,
    draw,
    figure_file,
    new_figure,
    read_description,
)

__all__ = ["functions"]

#: Backends of matplotlib that have no window.
_WITHOUT_WINDOW = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")
_DTYPE_OF_BYTES = next(c for c in TENSOR_CLASSES if c.dtype.name == "Byte")


def _save(
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

    {b"now": pace.now, b"soon": pace.soon, b"end": pace.at_the_end}[when](name, write)


def _picture(text: bytes, tensors: list[Tensor], width: float, height: float) -> Tensor:
    """Return a figure as an image of bytes, 3 x height x width."""
    agg = optional("matplotlib.backends.backend_agg", "matplotlib", "gnuplot")
    figure = new_figure(width, height)
    canvas = agg.FigureCanvasAgg(figure)
    draw(figure, read_description(text, tensors))
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3]
    return _DTYPE_OF_BYTES.of(np.array(pixels.transpose(2, 0, 1), order="C"))


def _window(text: bytes, tensors: list[Tensor], number: float) -> bool:
    """Show a figure in its window; False where there are no windows."""
    pyplot = optional("matplotlib.pyplot", "matplotlib", "gnuplot")
    try:
        if pyplot.get_backend().lower() in _WITHOUT_WINDOW:
            return False
        figure = pyplot.figure(int(number))
    except Exception:  # each window system has errors of its own
        return False
    atexit.register(_wait_for_windows)
    description = read_description(text, tensors)

    def show() -> None:
        figure.clear()
        draw(figure, description)
        figure.show()
        figure.canvas.flush_events()

    pace.soon(int(number), show)
    return True


def _wait_for_windows() -> None:
    """Let windows stay when the program has ended, as those of gnuplot do."""
    pace.draw_what_waits()
    pyplot = sys.modules["matplotlib.pyplot"]
    if pyplot.get_fignums():
        pyplot.show()
        pyplot.close("all")


def _close_window(number: float) -> None:
    pace.forget(int(number))
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close(int(number))


def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions by the names that Lua knows them under."""
    return {
        "check_style": check_style,
        "save": _save,
        "picture": _picture,
        "window": _window,
        "close_window": _close_window,
        "draw_what_waits": pace.draw_what_waits,
    }
