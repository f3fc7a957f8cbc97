"""The function `show` of the prompt and of notebooks: draws an image of a tensor.

It is a global there alone: a program for Torch7 may use the name for its own, and what it does as a
script must not depend on it. A program or session that assigns to the name has its own from then
on.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from th_shell.files import write_file

if TYPE_CHECKING:
    from th_shell.images import Image
    from th_shell.runtime.shell import Engine

NAME = "show"


def install(engine: Engine) -> None:
    """Define the function in an engine; the package image shows its pictures by it, too."""
    engine.define(NAME, _show)
    engine.show_pictures_by(_show)


_display: Callable[[Image], None] | None = None


def set_display(display: Callable[[Image], None] | None) -> None:
    """Let a function show images, such as that of a notebook; None: the terminal does.

    What was printed before has been written out when it is called.
    """
    global _display
    _display = display


def _show(*args: Any) -> str | None:
    """Show an image, or write it to a file; return what is to be printed. Raises ValueError."""
    is_file = len(args) == 2 and isinstance(args[1], str)
    if not (args and hasattr(args[0], "shape")) or len(args) > (2 if is_file else 1):
        raise ValueError("is called as show(x) or show(x, 'file.png')")
    from th_shell.images import Image, screen  # late: they need numpy

    image = Image(args[0])
    if is_file:
        _write(image, args[1])
    elif _display is not None:
        _display(image)
    else:
        return image.to_text(screen(os.environ))
    return None


def _write(image: Image, file: str) -> None:
    if not file.endswith(".png"):
        raise ValueError(f"{file}: the name of a picture's file ends in .png")
    data = image.to_png()
    try:
        write_file(Path(file).expanduser(), data)
    except OSError as error:
        raise ValueError(f"{file}: {error.strerror}") from None
