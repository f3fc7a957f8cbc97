"""The pictures of README: what a terminal shows of a session and of a page's report, as SVG.

`python -m tests.pictures` draws them anew; `tests/test_pictures.py` says which are not current.
The session is recorded while it is typed, in the format of asciinema, and its picture shows it at
the recording's pace. Times that programs print do not count: they are no part of a picture.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
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
_NEVER = b"\0"  # to wait for: so that a time goes by
_TIME = re.compile(r"\[\d+\.\d+s\]|\d+\.\d+ ?s\b")


class Part(NamedTuple):
    """What a terminal was sent at a time, in seconds."""

    seconds: float
    sent: bytes


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


def session() -> list[Part]:
    """What the terminal was sent in a session at the prompt, with the seconds since its start."""
    terminal = Terminal(COLUMNS)
    with TemporaryDirectory() as home:
        with terminal.running(_command("th_shell"), env=_environment(home), cwd=home) as program:
            for text in _INPUTS:
                terminal.until(b"th> ")
                terminal.shows(_NEVER, 0.4)
                for key in text:
                    terminal.press(key.encode())
                    terminal.shows(_NEVER, 0.04)
                terminal.forget()
                terminal.press(b"\r")
                terminal.until(b"\r\n")
            terminal.until(b"th> ")
            terminal.press(b"\x04")
            program.wait(60)
    terminal.close()
    start = terminal.parts[0][0]
    return [Part(round(seconds - start, 2), sent) for seconds, sent in terminal.parts]


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
    return drawn([Part(0, b"\x1b[32m$\x1b[0m th-docs sums.md\r\n" + terminal.raw)])


#: Where the pictures are, and the recording of the session.
SESSION, REPORT = "th_shell/terminal/session.svg", "th_shell/docs/report.svg"
RECORDING = TOP / SESSION.replace(".svg", ".cast")


def write(path: Path, parts: Sequence[Part]) -> None:
    """Write a recording in the format of asciinema, version 2."""
    size = {"version": 2, "width": COLUMNS, "height": 40}
    events = [(seconds, "o", sent.decode()) for seconds, sent in parts]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in (size, *events)), "utf-8")


def read(path: Path) -> list[Part]:
    """Read a recording."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [Part(seconds, sent.encode()) for seconds, _, sent in lines[1:]]


# -- SVG

_WIDTH, _HEIGHT, _MARGIN = 8.4, 18, 12  # pixels: of a character, and around the text
_PAPER, _INK = "#1c1f26", "#d8dee9"
_COLOURS = data(__file__, "_COLOURS")


_LATER = """<style>text{animation:later .01s both}@keyframes later{from{visibility:hidden}}
@media(prefers-reduced-motion:reduce){text{animation:none}}</style>"""


class Run(NamedTuple):
    """Characters of one look that follow one another: their line and column, from 0."""

    line: int
    column: int
    text: str
    style: Style


def drawn(parts: Sequence[Part]) -> str:
    """The picture of what a terminal shows that was sent some bytes, each at its time."""
    screen = pyte.Screen(COLUMNS, LINES)
    stream = pyte.ByteStream(screen)
    shown = list[tuple[float, list[str]]]()
    for seconds, sent in parts:
        stream.feed(sent)
        shown.append((seconds, list(screen.display)))
    last = _runs(screen)
    width = COLUMNS * _WIDTH + 2 * _MARGIN
    height = (last[-1].line + 1) * _HEIGHT + 2 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}"'
            f' width="{width:g}" height="{height:g}" font-family="ui-monospace, Menlo, Consolas,'
            f' monospace" font-size="14" fill="{_INK}">',
            *[_LATER] * (len(parts) > 1),
            f'<rect width="100%" height="100%" rx="8" fill="{_PAPER}"/>',
            *(_text(run, _time(run, shown)) for run in last),
            "</svg>",
            "",
        ]
    )


def _time(run: Run, shown: Sequence[tuple[float, Sequence[str]]]) -> float:
    """From when on a text stands where it does, in seconds; 0 where it always does."""
    text = shown[-1][1][run.line][run.column :][: len(run.text)]
    absent = [
        at
        for at, (_, lines) in enumerate(shown)
        if text != lines[run.line][run.column :][: len(text)]
    ]
    return shown[absent[-1] + 1][0] if absent else 0


def _runs(screen: pyte.Screen) -> list[Run]:
    found = list[Run]()
    for at, line in enumerate(screen.display):
        text = _TIME.sub(lambda time: " " * len(time[0]), line).rstrip()
        styles = [_style(screen.buffer[at][column]) for column in range(len(text))]
        for style, group in groupby(range(len(text)), key=styles.__getitem__):
            first, *others = group
            part = text[first : first + len(others) + 1]
            found += [Run(at, first, part, style)] * bool(part.strip())
    # At the last prompt nothing is typed.
    return found[:-1] if found[-1:] and found[-1].text.strip() == "th>" else found


def _text(run: Run, seconds: float) -> str:
    x, y = _MARGIN + run.column * _WIDTH, _MARGIN + run.line * _HEIGHT + 14
    look = f' fill="{run.style.ink}"' * (run.style.ink != _INK)
    look += ' font-weight="bold"' * run.style.bold
    look += f' style="animation-delay:{seconds:g}s"' * bool(seconds)
    length = f' textLength="{len(run.text) * _WIDTH:g}"'
    return f'<text x="{x:g}" y="{y}" xml:space="preserve"{length}{look}>{escape(run.text)}</text>'


def _style(cell: pyte.screens.Char) -> Style:
    ink = _COLOURS.get(cell.fg) or (_INK if cell.fg == "default" else f"#{cell.fg}")
    return Style(ink, cell.bold)


if __name__ == "__main__":
    write(RECORDING, session())
    (TOP / SESSION).write_text(drawn(read(RECORDING)), "utf-8")
    (TOP / REPORT).write_text(report(), "utf-8")
