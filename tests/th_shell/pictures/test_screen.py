"""What a terminal can show, by its environment."""

from __future__ import annotations

import os
import pty

import pytest

from th_shell.pictures.display import Ink, Screen, screen


@pytest.mark.parametrize(
    ("environment", "ink"),
    [
        ({"TERM": "xterm-256color"}, Ink.COLOURS_256),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, Ink.COLOURS),
        ({"TERM": "xterm", "COLORTERM": "24bit", "NO_COLOR": "1"}, Ink.SHADES),
        ({"TERM": "dumb", "COLORTERM": "truecolor"}, Ink.ASCII),
        ({"TERM": "linux"}, Ink.SHADES),
        ({"TERM": "xterm-kitty"}, Ink.COLOURS_256),
    ],
)
def test_terminals(environment: dict[str, str], ink: Ink) -> None:
    leader, follower = pty.openpty()
    try:
        os.set_blocking(leader, False)
        assert screen(environment, follower) == Screen(80, 24, ink)
        with pytest.raises(BlockingIOError):
            os.read(leader, 1)  # the terminal was not asked anything
    finally:
        os.close(leader)
        os.close(follower)


def test_what_is_no_terminal() -> None:
    reader, writer = os.pipe()
    try:
        environment = {"TERM": "xterm-kitty", "COLORTERM": "truecolor"}
        assert screen(environment, writer) == Screen(80, 24, Ink.SHADES)
    finally:
        os.close(reader)
        os.close(writer)
