"""Pictures: what makes PNG files of pixels, and where pictures go.

They go into a file, to a host that shows them itself, or to the terminal. The libraries that they
need th itself does without.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

from th_shell.files import write_file
from th_shell.pictures.pixels import Array
from th_shell.pictures.screen import Screen, screen


def load(module: str, what: str) -> Any:
    """A module. Raises ValueError with what is to be installed where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("PIL", "pillow")
        raise ValueError(f"{what} needs {package}: pip install 'th-shell[pictures]'") from None


# -- PNG files of pixels


def png(image: Array) -> bytes:
    """The file of an image H x W x 3 of bytes. Raises ValueError where pillow is missing."""
    module = load("PIL.Image", "a PNG file")
    file = BytesIO()
    module.fromarray(image).save(file, "PNG")
    return file.getvalue()


# -- where pictures go


class Picture(Protocol):
    """An image or a plot."""

    def to_png(self, least: int = 1) -> bytes:
        """A PNG file; least: pixels that the longer side of an image is to have, about."""

    def to_text(self, screen: Screen) -> str:
        """What a terminal draws; it ends with a newline."""


_display: Callable[[Picture], None] | None = None


def set_display(display: Callable[[Picture], None] | None) -> None:
    """Let a function show pictures, such as that of a notebook; None: the terminal does.

    What was printed before has been written out when it is called.
    """
    global _display
    _display = display


def present(picture: Picture, file: str | None) -> str | None:
    """Show a picture, or write it to a file; returns what is to be printed. Raises ValueError."""
    if file is not None:
        _write(picture, file)
    elif _display is not None:
        _display(picture)
    else:
        return picture.to_text(screen(os.environ))
    return None


def _write(picture: Picture, file: str) -> None:
    if not file.endswith(".png"):
        raise ValueError(f"{file}: the name of a picture's file ends in .png")
    data = picture.to_png()
    try:
        write_file(Path(file).expanduser(), data)
    except OSError as error:
        raise ValueError(f"{file}: {error.strerror}") from None
