"""Takes documented values over within a cell that shows several.

A cell may print random numbers, and then what it has computed of them. Behind the print, code is
put into the cell that gives the variable the documented numbers: so what follows in the same cell
can be compared with the page, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from th_shell.docs.judging.adoption import adopting_code
from th_shell.docs.judging.tokens import same
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.languages import PYTHON
from th_shell.docs.reading.python_syntax import shown_name, statements

_OPENED, _CLOSED = "([{", ")]}"


class _Print(NamedTuple):
    """A statement that shows something. name: of a variable, or ''. line: where it ends, from 1."""

    name: str
    line: int


def adopting_cell(example: Example, outputs: Sequence[str], vary: bool = False) -> str:
    """The source of a cell with code behind each print of what depends on chance.

    Returns '' where there is nothing to put in. outputs: what runs have printed that differ in what
    depends on chance. vary: see `adopting_code`.
    """
    if example.language != PYTHON or example.kind is not Kind.CELL:
        return ""
    prints = list(_prints(example.source))
    documented, *runs = (shown_texts(text) for text in (example.expected, *outputs))
    if len(prints) < 2 or any(len(texts) != len(prints) for texts in (documented, *runs)):
        return ""
    added: dict[int, str] = {}
    for one, expected, *printed in zip(prints[:-1], documented, *runs, strict=False):
        if one.name and not all(same(printed[0], text) for text in printed):
            shown = replace(example, source=one.name, expected=expected)
            added[one.line] = adopting_code(shown, vary)
    return _with_lines(example.source, added) if any(added.values()) else ""


def shown_texts(text: str) -> list[str]:
    """The texts that several statements have printed: each a line, or lines within brackets."""
    found: list[str] = []
    opened = 0
    for line in text.split("\n"):
        if opened > 0:
            found[-1] += "\n" + line
        elif line.strip():
            found.append(line)
        opened += sum(map(line.count, _OPENED)) - sum(map(line.count, _CLOSED))
    return found


def _prints(source: str) -> Iterator[_Print]:
    """The statements of a cell that show something; none where others may print, too."""
    body = statements(source)
    ends = [node.end_lineno or 0 for node in body]
    for number, node in enumerate(body):
        text = ast.get_source_segment(source, node) or ""
        is_last = number == len(body) - 1
        if isinstance(node, ast.Expr) and (is_last or text.startswith("print(")):
            own_line = is_last or body[number + 1].lineno > ends[number]
            yield _Print(shown_name(text) if own_line else "", ends[number])


def _with_lines(source: str, added: dict[int, str]) -> str:
    """A source with further lines behind some of its own, by their numbers."""
    found = []
    for at, line in enumerate(source.split("\n"), 1):
        found += [line, added[at]] if added.get(at) else [line]
    return "\n".join(found)
