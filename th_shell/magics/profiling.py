"""`%profile`: which lines of a program take the time of an input."""

from __future__ import annotations

import linecache
import re
from collections import Counter
from typing import TYPE_CHECKING

from th_shell.entry import lines_of
from th_shell.magics.errors import MagicError
from th_shell.visible import visible

if TYPE_CHECKING:
    from th_shell.session.session import Session

_LINES = 15  # that are shown
_TEXT = 60  # characters of a line's text
_UNKNOWN = "?"  # the place of what ran while no line did
_INPUT = re.compile(r"\[(\d+)\]\Z")


def profile(session: Session, text: str) -> None:
    """Run an input, and list the lines that have taken most of its processor time."""
    if not text:
        raise MagicError("what is to be run? As in: %profile train()")
    session.engine.start_samples()
    try:
        session.submit(text)
    finally:
        samples = session.engine.end_samples()
    session.write("".join(f"{line}\n" for line in _report(session, samples)))


def _report(session: Session, samples: list[tuple[str, str, int]]) -> list[str]:
    places: Counter[str] = Counter()
    states: Counter[str] = Counter()
    for place, state, count in samples:
        places[place] += count
        states[state] += count
    total = sum(places.values())
    if not total:
        return ["no sample: it takes a few milliseconds at most"]
    shown = sorted(places.most_common(_LINES), key=lambda one: one[0] == _UNKNOWN)
    width = max(len(place) for place, _ in shown)
    lines = [
        visible(f"{count / total:5.0%}  {place:{width}}  {_code(session, place)}".rstrip())
        for place, count in shown
    ]
    others = len(places) - _LINES
    lines += [f"       and {others} other lines"] * (others > 0)
    garbage = f", {states['G'] / total:.0%} of it collecting garbage" if states["G"] else ""
    return [*lines, f"{total:,} sample{'s' * (total != 1)}{garbage}"]


def _code(session: Session, place: str) -> str:
    """The text of a line: of a file, or of a numbered input."""
    chunk, _, number = place.rpartition(":")
    match = _INPUT.match(chunk)
    if match:
        own = (entry.source for entry in session.log if entry.number == int(match[1]))
        lines = lines_of(own)
        text = lines[int(number) - 1] if int(number) <= len(lines) else ""
    else:
        text = linecache.getline(chunk, int(number)) if number.isdecimal() else ""
    text = text.strip()
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"
