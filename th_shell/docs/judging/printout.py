"""Reads tensors back from their printed text.

A printed tensor is its numbers and a line with its class and sizes. The numbers may be scaled by a
factor, stand in groups of columns and, for more than two dimensions, under headings of slices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod

#: A printed number.
NUMBER = r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|[-+]?nan|[-+]?inf"

_SHAPE = re.compile(r"^\s*\[(torch\.\w+) of (?:size|dimension) (\d{1,18}(?:x\d{1,18})*)\]\s*$")
_SCALE = re.compile(rf"^\s*({NUMBER})\s*\*\s*$")
_COLUMNS = re.compile(r"^\s*Columns\s+(\d{1,18})\s+(?:to|and)\s+(\d+)\s*$")
_SLICE = re.compile(r"^\s*\((\d{1,18}(?:,\d{1,18})*)[,.]+\)\s*=\s*$")
_ROW = re.compile(rf"^\s*(?:{NUMBER})(?:\s+(?:{NUMBER}))*\s*$")


@dataclass(frozen=True)
class PrintedTensor:
    """A tensor as it was printed.

    values: in the order of a contiguous tensor. units: for each, one in its last place, 0 for a
    whole number. problem: how the numbers contradict the sizes, '' where they fit; then there are
    no values. count: how many numbers there are.
    """

    class_name: str
    sizes: tuple[int, ...]
    values: tuple[float, ...] = ()
    units: tuple[float, ...] = ()
    problem: str = ""
    count: int = 0


def printed_tensors(text: str) -> Iterator[PrintedTensor]:
    """The tensors in a text, in order; other lines are left out."""
    lines: list[str] = []
    for line in text.split("\n"):
        shape = _SHAPE.match(line)
        if not shape:
            lines.append(line)
            continue
        yield _read(shape[1], tuple(map(int, shape[2].split("x"))), lines)
        lines = []


def contradictions(text: str, printed: str) -> list[PrintedTensor]:
    """The tensors in a documented text whose numbers contradict their sizes.

    What the program prints does so, too, where a number stands before a tensor: `print(1, x)`. So
    what is like a tensor in the printed text is left out.
    """
    usual = {(t.sizes, t.count) for t in printed_tensors(printed) if t.problem}
    found = (tensor for tensor in printed_tensors(text) if tensor.problem)
    return [tensor for tensor in found if (tensor.sizes, tensor.count) not in usual]


def only_tensors(text: str) -> list[PrintedTensor]:
    """The tensors in a text that has nothing else; none where there is something else."""
    lines = text.split("\n")
    if not all(_belongs(line) or _SHAPE.match(line) for line in lines):
        return []
    return list(printed_tensors(text))


def only_rows(text: str) -> bool:
    """Whether a text is rows of numbers alone, as a tensor's, without the line of its sizes."""
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(_ROW.match(line) for line in lines)


def precision(number: str) -> float:
    """One unit in the last place of a printed number; 0 where it is whole."""
    digits, _, exponent = number.lower().partition("e")
    _, point, fraction = digits.partition(".")
    if not (point and fraction):
        return 0.0
    unit = float(f"0.{'1':0>{len(fraction)}}e{exponent or 0}")
    return unit if isfinite(unit) else 0.0


def _read(class_name: str, sizes: tuple[int, ...], lines: list[str]) -> PrintedTensor:
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    leading: tuple[int, ...] = ()
    scale, row, column = 1.0, 0, 0
    for line in _own_lines(lines):
        if match := _SCALE.match(line):
            scale = float(match[1])
        elif match := _COLUMNS.match(line):
            row, column = 0, int(match[1]) - 1
        elif match := _SLICE.match(line):
            leading = tuple(int(index) - 1 for index in match[1].split(","))
            row, column = 0, 0
        elif line.strip():
            words = line.split()
            for at, word in enumerate(words, column):
                place = (*leading, row, at)
                if len(sizes) == 1:
                    place = (row,) if len(words) == 1 and not leading else (row, at)
                found[place] = float(word) * scale, precision(word) * scale
            row += 1
    # The sizes may be those of far more elements than anyone has printed.
    if not found or len(found) != prod(sizes) or set(found) != set(product(*map(range, sizes))):
        shown = f"{len(found)} numbers for {prod(sizes)} elements"
        problem = shown if len(found) != prod(sizes) else "the numbers are in other rows"
        return PrintedTensor(class_name, sizes, problem=problem, count=len(found))
    ordered = [found[place] for place in sorted(found)]
    values, units = zip(*ordered, strict=True)
    return PrintedTensor(class_name, sizes, values, units, count=len(values))


def _own_lines(lines: list[str]) -> list[str]:
    """The last lines that can belong to a tensor: what stands before is other text."""
    start = len(lines)
    while start and _belongs(lines[start - 1]):
        start -= 1
    return lines[start:]


def _belongs(line: str) -> bool:
    patterns = (_SCALE, _COLUMNS, _SLICE, _ROW)
    return not line.strip() or any(pattern.match(line) for pattern in patterns)
