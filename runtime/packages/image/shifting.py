"""Cutting, moving and mirroring images: pixels change their places, and not their values."""

from __future__ import annotations

import numpy as np

from th_shell.runtime.calls.arguments import Call
from th_shell.runtime.core.errors import TorchError
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.packages.image.planes import FLOAT, check_depths, pair, planes, put


def _crop(call: Call) -> None:
    source, target = pair(call, "rotate")
    x, y = call.long(3), call.long(4)
    height, width = target.sizes[-2:]
    if x < 0 or y < 0 or x + width > source.sizes[-1] or y + height > source.sizes[-2]:
        raise TorchError("image.crop: crop goes outside bounds of src")
    if target.ndim == 3:
        check_depths("crop", source, target)
    # Torch7: of several planes that go to one, the last one stays; doubles lose precision.
    put(target, planes(source)[-len(planes(target)) :, y : y + height, x : x + width].astype(FLOAT))


def _translate(call: Call) -> None:
    source, target = pair(call, "rotate")
    x, y = call.long(3), call.long(4)
    check_depths("translate", source, target)
    rows = _overlap(y, source.sizes[-2], target.sizes[-2])
    columns = _overlap(x, source.sizes[-1], target.sizes[-1])
    if rows and columns:
        moved = planes(source)[:, rows[0], columns[0]].copy()
        planes(target)[:, rows[1], columns[1]] = moved


def _overlap(shift: int, old: int, new: int) -> tuple[slice, slice] | None:
    """The positions that stay inside when they are moved: before and after."""
    first, last = max(shift, 0), min(old + shift, new)
    return (slice(first - shift, last - shift), slice(first, last)) if first < last else None


def _mirror(call: Call, name: str, dimension: int) -> None:
    target, source = call.tensor(1), call.tensor(2)
    if target.ndim != 3:
        raise TorchError(f"image.{name}: expected 3 dimensions for src and dst")
    _check_sizes(name, source, target)
    target.array[...] = np.flip(source.array, dimension).copy()


def _check_sizes(name: str, source: Tensor, target: Tensor) -> None:
    if source.sizes != target.sizes:
        raise TorchError(f"image.{name}: src and dst are not the same size")


def _flip(call: Call) -> None:
    target, source, dimension = call.tensor(1), call.tensor(2), call.long(3)
    if target.ndim != 5 or source.ndim != 5:
        raise TorchError("image.flip: expected 5 dimensions for src and dst")
    if not 1 <= dimension <= 5:
        raise TorchError("image.flip: flip_dim out of bounds")
    if target.array.ctypes.data == source.array.ctypes.data:
        raise TorchError("image.flip: in-place flip not supported")
    _check_sizes("flip", source, target)
    target.array[...] = np.flip(source.array, dimension - 1).copy()


FUNCTIONS = {
    "cropNoScale": _crop,
    "translate": _translate,
    "hflip": lambda call: _mirror(call, "hflip", 2),
    "vflip": lambda call: _mirror(call, "vflip", 1),
    "flip": _flip,
}
