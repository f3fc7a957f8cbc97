"""Shows a documented text and the printed one as a diff: by lines, or by words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from th_shell.docs.reporting.differences import Block, line_blocks, word_pieces
from th_shell.docs.reporting.excerpts import CHARACTERS, limited, shortened
from th_shell.docs.reporting.styles import Style
from th_shell.visible import visible

#: The kinds of diffs: lines with '-' and '+', words in [-...-] and {+...+}, or both texts whole.
DIFFS = ("unified", "words", "none")

_CONTEXT = 3  # lines around a difference that are shown
_NEAR = 40  # characters before a difference that are shown of a long line


def diff_lines(
    documented: str, printed: str, kind: str, style: Style, exact: bool = False
) -> list[str]:
    """A diff of two texts; none if they differ in nothing that counts.

    kind: 'unified' or 'words'. exact: whether everything counts.
    """
    blocks = line_blocks(documented, printed, exact)
    if all(block.same for block in blocks):
        return []
    lines: list[str] = []
    for at, block in enumerate(blocks):
        if block.same:
            lines += _context(block.old, at > 0, at < len(blocks) - 1, style)
        else:
            lines += _by_words(block, style) if kind == "words" else _by_lines(block, style)
    return limited(lines, len(lines))


def _context(lines: Sequence[str], after: bool, before: bool, style: Style) -> Iterator[str]:
    """The lines next to differences. after, before: whether one stands above, below the lines."""
    head, tail = _CONTEXT * after, _CONTEXT * before
    hidden = len(lines) - head - tail
    if hidden <= 1:
        head, tail, hidden = len(lines), 0, 0
    yield from (f"  {shortened(line)}".rstrip() for line in lines[:head])
    if hidden:
        yield style.faint(f"[{hidden} lines agree]")
    yield from (f"  {shortened(line)}".rstrip() for line in lines[len(lines) - tail :])


def _by_lines(block: Block, style: Style) -> Iterator[str]:
    starts = [_start(*pair) for pair in zip(block.old, block.new, strict=False)]
    starts += [0] * (max(len(block.old), len(block.new)) - len(starts))
    for line, start in zip(block.old, starts, strict=False):
        yield style.bad(f"- {shortened(line, start=start)}".rstrip())
    for line, start in zip(block.new, starts, strict=False):
        yield style.good(f"+ {shortened(line, start=start)}".rstrip())


def _start(old: str, new: str) -> int:
    """Where to begin with lines of which only the ends differ."""
    if max(len(old), len(new)) <= CHARACTERS:
        return 0
    low, high = 0, min(len(old), len(new))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if old[:middle] == new[:middle] else (low, middle - 1)
    return max(0, low - _NEAR) if low > CHARACTERS // 2 else 0


def _by_words(block: Block, style: Style) -> list[str]:
    if any(len(line) > CHARACTERS for line in block.old + block.new):
        return list(_by_lines(block, style))
    text = ""
    for piece in word_pieces("\n".join(block.old), "\n".join(block.new)):
        words = piece.text.lstrip()
        gap = piece.text[: len(piece.text) - len(words)]
        text += gap + _marked(piece.mark, words, style)
    return [f"  {line}".rstrip() for line in text.split("\n")]


def _marked(mark: str, words: str, style: Style) -> str:
    shown = visible(words.expandtabs())
    if mark == "-":
        return style.bad(f"[-{shown}-]")
    return style.good(f"{{+{shown}+}}") if mark == "+" else shown
