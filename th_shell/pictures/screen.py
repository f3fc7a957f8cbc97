"""What the terminal can show, as its environment tells.

The terminal itself is not asked: its answer would come in the keys that are being typed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Ink(Enum):
    """What characters are drawn with."""

    ASCII = "ASCII characters"
    SHADES = "shades of grey, by characters"
    COLOURS_256 = "256 colours"
    COLOURS = "all colours"


class Graphics(Enum):
    """How images are drawn."""

    CHARACTERS = "characters"
    KITTY = "the graphics protocol of kitty"
    SIXEL = "sixels"


class Screen(NamedTuple):
    """A terminal. columns, lines: its size in characters."""

    columns: int = 80
    lines: int = 24
    ink: Ink = Ink.SHADES
    graphics: Graphics = Graphics.CHARACTERS


_TRUE_COLOUR = ("truecolor", "24bit")
_COLOURED = ("xterm", "screen", "tmux", "rxvt", "alacritty", "foot", "konsole", "wezterm")
_KITTY_TERMS = ("xterm-kitty", "xterm-ghostty")
_KITTY_PROGRAMS = ("ghostty", "WezTerm")
_SIXEL_TERMS = ("foot", "mlterm", "yaft", "contour")
_SIXEL_PROGRAMS = ("mintty", "iTerm.app")
_MULTIPLEXERS = ("TMUX", "STY")  # these draw the screen themselves
_CHOICES = {graphics.name.lower(): graphics for graphics in Graphics}


def screen(environment: Mapping[str, str], descriptor: int = 1) -> Screen:
    """The screen behind a descriptor of the standard output.

    TH_GRAPHICS in the environment says how images are drawn: kitty, sixel or characters.
    """
    try:
        columns, lines = os.get_terminal_size(descriptor)
        is_terminal = os.isatty(descriptor)
    except OSError:
        return Screen(ink=_ink(environment, False))
    graphics = _graphics(environment) if is_terminal else Graphics.CHARACTERS
    return Screen(columns or 80, lines or 24, _ink(environment, is_terminal), graphics)


def _ink(environment: Mapping[str, str], is_terminal: bool) -> Ink:
    term = environment.get("TERM", "")
    if term == "dumb":
        return Ink.ASCII
    if not is_terminal or "NO_COLOR" in environment:
        return Ink.SHADES
    if environment.get("COLORTERM") in _TRUE_COLOUR:
        return Ink.COLOURS
    return Ink.COLOURS_256 if term.startswith(_COLOURED) or "256" in term else Ink.SHADES


def _graphics(environment: Mapping[str, str]) -> Graphics:
    choice = environment.get("TH_GRAPHICS", "")
    if choice in _CHOICES:
        return _CHOICES[choice]
    if any(name in environment for name in _MULTIPLEXERS):
        return Graphics.CHARACTERS
    term, program = environment.get("TERM", ""), environment.get("TERM_PROGRAM", "")
    if term in _KITTY_TERMS or program in _KITTY_PROGRAMS or "KITTY_WINDOW_ID" in environment:
        return Graphics.KITTY
    if term.startswith(_SIXEL_TERMS) or program in _SIXEL_PROGRAMS:
        return Graphics.SIXEL
    return Graphics.CHARACTERS
