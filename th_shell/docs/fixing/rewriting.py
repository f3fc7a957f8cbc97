"""Writes a documented text anew, with what an example prints, in the way the page writes it.

A line that agrees with what is printed stays as it is. In a line of which only numbers are wrong,
only these are replaced, with as many digits as the page shows. Other lines are taken over with the
page's margin and spacing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from th_shell.docs.judging.comparison import agrees
from th_shell.docs.judging.printout import is_number, precision
from th_shell.docs.reporting.differences import agreeing

_WORD = re.compile(r"\S+")


def rewritten(documented: Sequence[str], printed: str) -> list[list[str]]:
    """For each documented line, the lines that take its place: itself where it is right."""
    wanted = [line.rstrip() for line in printed.expandtabs().strip("\n").split("\n")]
    wanted = _in_the_way_of(documented, wanted)
    new: list[list[str]] = [[] for _ in documented]
    if not documented:
        return new
    last = 0
    for old, text in _paired(documented, wanted):
        if old is None:
            new[last].append(text or "")
        elif text is not None:
            new[old].append(_line(documented[old], text))
        last = last if old is None else old
    return new


def _paired(
    documented: Sequence[str], wanted: Sequence[str]
) -> Iterator[tuple[int | None, str | None]]:
    """Documented lines, by index, with the printed ones in their places; None for none."""
    at, used = 0, 0
    for old, new in [*agreeing(documented, wanted), (len(documented), len(wanted))]:
        missing, added = list(range(at, old)), list(wanted[used:new])
        for i in range(max(len(missing), len(added))):
            yield (
                missing[i] if i < len(missing) else None,
                added[i] if i < len(added) else None,
            )
        if old < len(documented):
            yield old, wanted[new]
        at, used = old + 1, new + 1


def _line(old: str, new: str) -> str:
    """A documented line with the words of a printed one."""
    if agrees(old, new):
        return old
    words, found = new.split(), list(_WORD.finditer(old))
    if len(words) != len(found):
        return new
    pieces, end = [], 0
    for match, word in zip(found, words, strict=True):
        text = _word(match[0], word)
        gap = old[end : match.start()]
        more = len(text) - len(match[0])
        if more > 0 and len(gap) > more:  # the columns stay where they are
            gap = gap[more:]
        pieces.append(gap + (text if more >= 0 else " " * -more + text))
        end = match.end()
    return "".join(pieces) + old[end:]


def _word(old: str, new: str) -> str:
    if old == new or not (is_number(old) and is_number(new)):
        return new
    if agrees(old, new):
        return old
    if 0 < precision(new) < precision(old) and "e" not in (old + new).lower():
        return f"{float(new):.{len(old.partition('.')[2])}f}"
    return new


def _in_the_way_of(documented: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """Printed lines with the margin of documented ones, and one space where these have one."""
    shown = [line for line in documented if line.strip()]
    if shown and not any("  " in line.strip() for line in shown):
        wanted = [_with_margin(line, " ".join(line.split())) for line in wanted]
    margins = [
        min((_margin(line) for line in lines if line.strip()), default=0)
        for lines in (shown, wanted)
    ]
    change = margins[0] - margins[1]
    return [" " * change + line if change > 0 else line[-change:] for line in wanted]


def _with_margin(line: str, text: str) -> str:
    return line[: _margin(line)] + text


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())
