"""Pictures: what makes PNG files of pixels, and where pictures go.

They go into a file, to a host that shows them itself, or to the terminal. The libraries that they
need th itself does without.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from enum import Enum
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from th_shell.files import write_file
from th_shell.pictures.pixels import Array


def load(module: str, what: str) -> Any:
    """Return a module. Raises ValueError with what is to be installed where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("PIL", "pillow")
        raise ValueError(f"{what} needs {package}: pip install 'th-shell[pictures]'") from None


# -- PNG files of pixels


def png(image: Array) -> bytes:
    """Return the file of an image H x W x 3 of bytes. Raises ValueError where pillow is missing."""
    module = load("PIL.Image", "a PNG file")
    file = BytesIO()
    module.fromarray(image).save(file, "PNG")
    return file.getvalue()


# -- where pictures go


class Picture(Protocol):
    """An image or a plot."""

    def to_png(self, least: int = 1) -> bytes:
        """Return a PNG file; least: pixels that the longer side of an image is to have, about."""

    def to_text(self, screen: Screen) -> str:
        """Return the characters and codes that a terminal draws; they end with a newline."""


_display: Callable[[Picture], None] | None = None


def set_display(display: Callable[[Picture], None] | None) -> None:
    """Let a function show pictures, such as that of a notebook; None: the terminal does.

    What was printed before has been written out when it is called.
    """
    global _display
    _display = display


def present(picture: Picture, file: str | None) -> str | None:
    """Show a picture, or write it to a file; return what is to be printed. Raises ValueError."""
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


# -- the terminal


class Ink(Enum):
    """The characters and colours that are drawn with."""

    ASCII = "ASCII characters"
    SHADES = "shades of grey, by characters"
    COLOURS_256 = "256 colours"
    COLOURS = "all colours"


class Screen(NamedTuple):
    """A terminal."""

    #: Its size in characters.
    columns: int = 80
    lines: int = 24
    ink: Ink = Ink.SHADES


_TRUE_COLOUR = ("truecolor", "24bit")
_COLOURED = ("xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "konsole", "wezterm")


def screen(environment: Mapping[str, str], descriptor: int = 1) -> Screen:
    """Return the screen behind a descriptor of the standard output, as the environment tells.

    The terminal itself is not asked: its answer would come in the keys that are being typed.
    """
    try:
        columns, lines = os.get_terminal_size(descriptor)
        is_terminal = os.isatty(descriptor)
    except OSError:
        return Screen(ink=_ink(environment, False))
    return Screen(columns or 80, lines or 24, _ink(environment, is_terminal))


def _ink(environment: Mapping[str, str], is_terminal: bool) -> Ink:
    term = environment.get("TERM", "")
    if term == "dumb":
        return Ink.ASCII
    if not is_terminal or "NO_COLOR" in environment:
        return Ink.SHADES
    if environment.get("COLORTERM") in _TRUE_COLOUR:
        return Ink.COLOURS
    return Ink.COLOURS_256 if term.startswith(_COLOURED) or "256" in term else Ink.SHADES
