"""What a terminal can show, by its environment."""

from __future__ import annotations

import os
import pty

import pytest

from th_shell.pictures.display import Graphics, Ink, Screen, screen


@pytest.mark.parametrize(
    ("environment", "ink", "graphics"),
    [
        ({"TERM": "xterm-256color"}, Ink.COLOURS_256, Graphics.CHARACTERS),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, Ink.COLOURS, Graphics.CHARACTERS),
        ({"TERM": "xterm", "COLORTERM": "24bit", "NO_COLOR": "1"}, Ink.SHADES, Graphics.CHARACTERS),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Ink.ASCII, Graphics.CHARACTERS),
        ({"TERM": "linux"}, Ink.SHADES, Graphics.CHARACTERS),
        ({"TERM": "xterm-kitty"}, Ink.COLOURS_256, Graphics.KITTY),
        ({"TERM": "xterm", "TERM_PROGRAM": "WezTerm"}, Ink.COLOURS_256, Graphics.KITTY),
        ({"TERM": "xterm-kitty", "TMUX": "x"}, Ink.COLOURS_256, Graphics.CHARACTERS),
        ({"TERM": "foot"}, Ink.COLOURS_256, Graphics.SIXEL),
        ({"TERM": "xterm", "TH_GRAPHICS": "sixel"}, Ink.COLOURS_256, Graphics.SIXEL),
        (
            {"TERM": "xterm-kitty", "TH_GRAPHICS": "characters"},
            Ink.COLOURS_256,
            Graphics.CHARACTERS,
        ),
    ],
)
def test_terminals(environment: dict[str, str], ink: Ink, graphics: Graphics) -> None:
    leader, follower = pty.openpty()
    try:
        os.set_blocking(leader, False)
        assert screen(environment, follower) == Screen(80, 24, ink, graphics)
        with pytest.raises(BlockingIOError):
            os.read(leader, 1)  # the terminal was not asked anything
    finally:
        os.close(leader)
        os.close(follower)


def test_what_is_no_terminal() -> None:
    reader, writer = os.pipe()
    try:
        environment = {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}
        assert screen(environment, writer) == Screen(80, 24, Ink.SHADES, Graphics.CHARACTERS)
    finally:
        os.close(reader)
        os.close(writer)
