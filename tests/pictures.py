"""The pictures of README: what a terminal shows of a session and of a page's report, as SVG.

`python -m tests.pictures` draws them anew; `tests/test_pictures.py` says which are not current.
Times do not count: what a machine takes is no part of a picture.
"""

import os
import re
import sys
from collections.abc import Iterator, Mapping
from html import escape
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pyte

from tests.data_files import data
from tests.th_shell.terminals import Terminal

TOP = Path(__file__).parents[1]
COLUMNS, LINES = 78, 200
_INPUTS = tuple(data(__file__, "_INPUTS"))
_PAGE = data(__file__, "_PAGE")
_TIME = re.compile(r"\[\d+\.\d+s\]|\d+\.\d+ ?s\b")


class Style(NamedTuple):
    """How a character looks. ink: a colour, as SVG has it."""

    ink: str
    bold: bool


def _command(module: str) -> list[str]:
    return [sys.executable, "-m", module]


def _environment(home: str) -> Mapping[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "LANG") if key in os.environ}
    return {
        **kept,
        "PYTHONPATH": str(TOP),
        "HOME": home,
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
    }


def session() -> str:
    """The picture of a session at the prompt."""
    terminal = Terminal(COLUMNS)
    with TemporaryDirectory() as home:
        with terminal.running(_command("th_shell"), env=_environment(home), cwd=home) as program:
            for text in _INPUTS:
                terminal.until(b"th> ")
                terminal.press(text.encode())
                terminal.until(text.encode()[-1:])
                terminal.press(b"\r")
                terminal.until(b"\r\n")
            terminal.until(b"th> ")
            terminal.press(b"\x04")
            program.wait(60)
    terminal.close()
    return drawn(terminal.raw)


def report() -> str:
    """The picture of what th-docs says of a page."""
    terminal = Terminal(COLUMNS)
    with TemporaryDirectory() as home:
        Path(home, "sums.md").write_text(_PAGE)
        words = [*_command("th_shell.docs"), "sums.md"]
        with terminal.running(words, env=_environment(home), cwd=home) as program:
            program.wait(60)
            os.write(terminal.theirs, b"\x04")
            terminal.until(b"\x04")
    terminal.close()
    return drawn(b"\x1b[32m$\x1b[0m th-docs sums.md\r\n" + terminal.raw)


#: Where the pictures are.
PICTURES = {"th_shell/terminal/session.svg": session, "th_shell/docs/report.svg": report}


# -- SVG

_WIDTH, _HEIGHT, _MARGIN = 8.4, 18, 12  # pixels: of a character, and around the text
_PAPER, _INK = "#1c1f26", "#d8dee9"
_COLOURS = data(__file__, "_COLOURS")


def drawn(output: bytes) -> str:
    """The picture of what a terminal shows that was sent some bytes."""
    screen = pyte.Screen(COLUMNS, LINES)
    pyte.ByteStream(screen).feed(output)
    shown = list(screen.display)
    last = max((at for at, line in enumerate(shown) if line.strip() not in ("", "th>")), default=0)
    width, height = COLUMNS * _WIDTH + 2 * _MARGIN, (last + 1) * _HEIGHT + 2 * _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
        f' width="{width:g}" height="{height:g}" font-family="ui-monospace, Menlo, Consolas,'
        f' monospace" font-size="14" fill="{_INK}">',
        f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>',
    ]
    for at in range(last + 1):
        parts += _line(screen, at, shown[at])
    return "\n".join([*parts, "</svg>", ""])


def _line(screen: pyte.Screen, at: int, text: str) -> Iterator[str]:
    text = _TIME.sub(lambda found: " " * len(found[0]), text).rstrip()
    styles = [_style(screen.buffer[at][column]) for column in range(len(text))]
    y = _MARGIN + at * _HEIGHT + 14
    for style, group in groupby(range(len(text)), key=styles.__getitem__):
        found = list(group)
        part = text[found[0] : found[-1] + 1]
        if part.strip():
            x = _MARGIN + found[0] * _WIDTH
            look = f' fill="{style.ink}"' * (style.ink != _INK) + ' font-weight="bold"' * style.bold
            length = f' textLength="{len(part) * _WIDTH:g}"'
            yield (
                f'<text x="{x:g}" y="{y}" xml:space="preserve"{length}{look}>{escape(part)}</text>'
            )


def _style(cell: pyte.screens.Char) -> Style:
    ink = _COLOURS.get(cell.fg) or (_INK if cell.fg == "default" else f"#{cell.fg}")
    return Style(ink, cell.bold)


if __name__ == "__main__":
    for place, picture in PICTURES.items():
        (TOP / place).write_text(picture(), "utf-8")
