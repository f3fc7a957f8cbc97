"""Shows parts of long texts: few lines, short lines, control codes written as digits, and diffs.

Examples may print megabytes, in one line or in many. A report shows their beginning and says how
much there is; the results in JSON have all of it. A documented text and the printed one are shown
as a diff by lines, on a terminal in colours.

The convention of https://no-color.org holds: with NO_COLOR in the environment there are no colours.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partialmethod
from itertools import zip_longest
from pathlib import Path

from th_shell.docs.reporting.differences import Block, line_blocks
from th_shell.files import read_file
from th_shell.visible import visible


@dataclass(frozen=True)
class Style:
    """Marks parts of a text by colours, or leaves them as they are."""

    coloured: bool = False

    def _in(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.coloured and text else text

    #: Marks faults: the word FAIL, a documented line that was not printed.
    bad = partialmethod(_in, code="31")
    #: Marks a printed line that is not documented.
    good = partialmethod(_in, code="32")
    #: Marks a place.
    strong = partialmethod(_in, code="1")
    #: Marks text that is less important than the text around it.
    faint = partialmethod(_in, code="2")


PLAIN = Style()


def style_for(descriptor: int) -> Style:
    """Return the style of text on a file descriptor."""
    is_dumb = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return Style(not is_dumb and os.isatty(descriptor))


#: Lines of an input or output that a report shows at most.
LINES = 40

#: Characters of a line that a report shows at most.
CHARACTERS = 400


def page_lines(path: Path) -> list[str]:
    """Return the lines of a page; none if it cannot be read."""
    try:
        return read_file(path).decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return []


def excerpt(text: str) -> list[str]:
    """Return the lines of a text, as far as they are shown."""
    text = text.strip("\n")
    return limited(
        [shortened(line) for line in text.split("\n", LINES)[:LINES]], text.count("\n") + 1
    )


def limited(lines: Sequence[str], count: int) -> list[str]:
    """Return the first of some lines, with words on the others. count: how many there are."""
    more = [f"... {count - LINES} more lines"] if count > LINES else []
    return [*lines[:LINES], *more]


def first_line(text: str, characters: int = CHARACTERS) -> str:
    """Return the first line of a text, as far as it is shown."""
    return shortened(text.split("\n", 1)[0], characters)


def shortened(line: str, characters: int = CHARACTERS, start: int = 0) -> str:
    """Return a line from a character on, as far as it is shown, with words on what is left out."""
    shown = visible(line[start : start + characters].expandtabs())
    more = len(line) - start - characters
    before = f"[{start} characters ...] " if start else ""
    return before + shown + (f" [... {more} more characters]" if more > 0 else "")


_CONTEXT = 3  # lines around a difference that are shown
_NEAR = 40  # characters before a difference that are shown of a long line


def diff_lines(documented: str, printed: str, style: Style, exact: bool = False) -> list[str]:
    """Return a diff of two texts; none if they differ in nothing that counts.

    exact: whether everything counts.
    """
    blocks = line_blocks(documented, printed, exact)
    if all(block.same for block in blocks):
        return []
    lines: list[str] = []
    for at, block in enumerate(blocks):
        if block.same:
            lines += _context(block.old, at > 0, at < len(blocks) - 1, style)
        else:
            lines += _by_lines(block, style)
    return limited(lines, len(lines))


def _context(lines: Sequence[str], after: bool, before: bool, style: Style) -> list[str]:
    """Return the lines next to differences.

    after, before: whether a difference stands above the lines, below them.
    """
    head, tail = _CONTEXT * after, _CONTEXT * before
    hidden = len(lines) - head - tail
    shown = [f"  {shortened(line)}".rstrip() for line in lines]
    if hidden > 1:
        shown[head : head + hidden] = [style.faint(f"[{hidden} lines agree]")]
    return shown


def _by_lines(block: Block, style: Style) -> Iterator[str]:
    starts = [_start(*pair) for pair in zip_longest(block.old, block.new, fillvalue="")]
    for line, start in zip(block.old, starts, strict=False):
        yield style.bad(f"- {shortened(line, start=start)}".rstrip())
    for line, start in zip(block.new, starts, strict=False):
        yield style.good(f"+ {shortened(line, start=start)}".rstrip())


def _start(old: str, new: str) -> int:
    """Return the index of the character with which an excerpt of two long lines begins."""
    if max(len(old), len(new)) <= CHARACTERS:
        return 0
    same = len(os.path.commonprefix([old, new]))
    return max(0, same - _NEAR) if same > CHARACTERS // 2 else 0
