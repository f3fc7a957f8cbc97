"""How tensors are printed, as torch.set_printoptions sets it for the whole process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from math import inf
from typing import Any


@dataclass
class PrintOptions:
    """The options, with PyTorch's defaults.

    precision: digits after the point. threshold: a tensor of more elements is printed in part.
    edgeitems: how many elements are then printed at both ends of each dimension.
    linewidth: characters. sci_mode: whether numbers have exponents; None decides by the numbers.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


OPTIONS = PrintOptions()

_SINGLE = ("precision", "threshold", "edgeitems", "linewidth")
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
    given = dict(_PROFILES[profile].__dict__) if profile in _PROFILES else {}
    single = (precision, threshold, edgeitems, linewidth)
    for name, value in zip(_SINGLE, single, strict=True):
        if value is not None:
            given[name] = value
    for name, value in {**given, "sci_mode": sci_mode}.items():
        setattr(OPTIONS, name, value)


def get_printoptions() -> dict[str, Any]:
    """The options by their names, as set_printoptions takes them."""
    return asdict(OPTIONS)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Print with these options within a `with` block."""
    former = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**former)
