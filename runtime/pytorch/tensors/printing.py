"""The text of tensors and storages, as PyTorch prints them.

All elements of one tensor get one form, which depends on those that are printed: whole numbers
with a point and nothing after it, or a fixed number of digits, or exponents. Of a tensor of many
elements the ends of each dimension are printed. Behind the elements stands what they do not tell:
the sizes, where there are no elements, and the element type, unless it is a usual one. Programs
set the options of all that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import floor, inf, isfinite

import numpy as np

from th_shell.runtime.core.dtypes import Array


@dataclass
class PrintOptions:
    """The options, with PyTorch's defaults."""

    #: Digits after the point.
    precision: int = 4
    #: A tensor of more elements is printed in part.
    threshold: float = 1000
    #: The number of elements that are then printed at both ends of each dimension.
    edgeitems: int = 3
    #: Characters of a line.
    linewidth: int = 80
    #: Numbers have exponents; None decides by the numbers.
    sci_mode: bool | None = None


OPTIONS = PrintOptions()

_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=inf),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set those options that are given, after those of a profile ('default', 'short', 'full').

    PyTorch: sci_mode is set in any case; other profiles' names change nothing; values are not
    checked before something is printed with them.
    """
    options = dict(_PROFILES[profile].__dict__) if profile in _PROFILES else {}
    single = {"precision": precision, "threshold": threshold}
    single |= {"edgeitems": edgeitems, "linewidth": linewidth}
    options |= {name: value for name, value in single.items() if value is not None}
    vars(OPTIONS).update(options, sci_mode=sci_mode)


_USUAL_TYPES = ("torch.int64", "torch.bool")  # programs write their numbers without a type
_SPREAD = 1000  # where the largest number is more times the smallest one: exponents
_MAX_FIXED, _MIN_FIXED = 1e8, 1e-4  # numbers beyond these have exponents


def tensor_text(array: Array, dtype: object, default: object) -> str:
    """Return the text of a tensor.

    dtype, default: its element type, and the one that is not printed, whose texts count.
    """
    indent = len("tensor(")
    elements = elements_text(array, indent) if array.size else "[]"
    suffixes = _size_suffix(array) + _dtype_suffix(array, str(dtype), str(default))
    return _with_suffixes(f"tensor({elements}", suffixes, indent)


def scalar_format(tensor: object, array: Array, spec: str) -> str:
    """Return format(tensor, spec): of a tensor without dimensions its number's text."""
    return format(array.item(), spec) if array.ndim == 0 else object.__format__(tensor, spec)


def storage_text(elements: Array, name: str) -> str:
    """Return the text of a storage, one element a line, all of them.

    name: its class and what is known of it, such as 'torch.storage.UntypedStorage(device=cpu)'.
    """
    lines = "\n ".join(map(str, elements.tolist()))
    return f" {lines}\n[{name} of size {elements.size}]"


def elements_text(array: Array, indent: int) -> str:
    """Return the elements in brackets. indent: spaces before lines after the first."""
    edge = OPTIONS.edgeitems
    in_part = array.size > OPTIONS.threshold and array.ndim > 0
    if in_part and not edge:
        return "[...]"
    cuts = [in_part and size > 2 * edge for size in array.shape]
    shown = _ends(array, cuts, edge)
    texts, width = _aligned(shown)
    if not array.ndim:
        return texts[0]
    return _Block(shown.shape, cuts, indent, width).text(0, iter(texts))


def _ends(array: Array, cuts: Sequence[bool], edge: int) -> Array:
    """Return the elements at both ends of the dimensions that are cut."""
    for axis, cut in enumerate(cuts):
        if cut:
            before = (slice(None),) * axis
            first, last = before + (slice(edge),), before + (slice(-edge, None),)
            array = np.concatenate((array[first], array[last]), axis)
    return array


def _aligned(shown: Array) -> tuple[list[str], int]:
    """Return the numbers' texts, and the width that all have but a few.

    PyTorch: zeros, infinities and nans do not count for the width; they may be wider.
    """
    values = shown.ravel().tolist()
    if shown.dtype.kind == "f":
        texts = list(map(_number_format(shown.ravel()), values))
        pairs = zip(texts, values, strict=True)
        counted = [text for text, value in pairs if value and isfinite(value)]
    else:
        counted = texts = list(map(str, values))
    width = max(map(len, counted), default=1)
    return [text.rjust(width) for text in texts], width


def _number_format(values: Array) -> Callable[[float], str]:
    """Return the format of floating-point numbers that are printed together."""
    counted = values[np.isfinite(values) & (values != 0)]
    if counted.size and _have_exponents(np.abs(counted)):
        return f"{{:.{OPTIONS.precision}e}}".format
    if (np.ceil(counted) == counted).all():
        return _whole_number
    return f"{{:.{OPTIONS.precision}f}}".format


def _have_exponents(sizes: Array) -> bool:
    if OPTIONS.sci_mode is not None:
        return OPTIONS.sci_mode
    smallest, largest = float(sizes.min()), float(sizes.max())
    beyond = largest > _MAX_FIXED or smallest < _MIN_FIXED
    return beyond or largest / smallest > _SPREAD


def _whole_number(value: float) -> str:
    return f"{value:.0f}." if isfinite(value) else f"{value:.0f}"


@dataclass(frozen=True)
class _Block:
    """Puts texts, in the order of the elements, into brackets and lines."""

    #: The sizes of the part that is shown.
    shape: tuple[int, ...]
    #: Whether the middle of each dimension is left out.
    cuts: Sequence[bool]
    #: Spaces before the bracket.
    indent: int
    #: Characters of one text.
    width: int

    def text(self, axis: int, texts: Iterator[str]) -> str:
        """Return the text of the next elements, within one index of the outer dimensions."""
        size, below = self.shape[axis], len(self.shape) - 1 - axis
        if not below:
            return self._row(list(islice(texts, size)))
        parts = [self.text(axis + 1, texts) for _ in range(size)]
        if self.cuts[axis]:
            parts.insert(len(parts) // 2, "...")
        return self._bracketed(parts, axis, "," + "\n" * below)

    def _row(self, texts: list[str]) -> str:
        axis = len(self.shape) - 1
        if self.cuts[axis]:
            texts.insert(len(texts) // 2, " ...")
        room = OPTIONS.linewidth - self.indent - axis
        count = max(1, floor(room / (self.width + len(", "))))
        lines = [", ".join(texts[i : i + count]) for i in range(0, len(texts), count)]
        return self._bracketed(lines, axis, ",\n")

    def _bracketed(self, parts: list[str], axis: int, separator: str) -> str:
        return "[" + (separator + " " * (self.indent + axis + 1)).join(parts) + "]"


def _size_suffix(array: Array) -> list[str]:
    """Return the sizes, unless the elements tell them, or the lack of any."""
    is_told = array.ndim == 1 if not array.size else OPTIONS.edgeitems
    return [] if is_told else [f"size={array.shape}"]


def _dtype_suffix(array: Array, dtype: str, default: str) -> list[str]:
    """Return the element type, unless it is the default one, or a usual one that elements show."""
    is_told = dtype == default or (array.size and dtype in _USUAL_TYPES)
    return [] if is_told else [f"dtype={dtype}"]


def _with_suffixes(text: str, suffixes: Sequence[str], indent: int) -> str:
    """Return the suffixes behind the text, each on the line before it if there is room.

    PyTorch: the first line counts two characters too many.
    """
    column = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if column + len(suffix) + 2 > OPTIONS.linewidth:
            text += ",\n" + " " * indent + suffix
            column = indent + len(suffix)
        else:
            text += ", " + suffix
            column += len(suffix) + 2
    return text + ")"
