"""torch.finfo and torch.iinfo: the limits of the element types, which numpy knows."""

from __future__ import annotations

import numpy as np

from th_shell.torch.base.dtypes import Category, default_dtype, dtype


class finfo:  # noqa: N801 (PyTorch's name)
    """The limits of a floating-point type; by default of the default type.

    max, min: the largest finite number and its negative. eps: from 1 to the next number.
    smallest_normal, tiny: the smallest positive number with full precision. resolution: of as
    many decimals as are certain.
    """

    __module__ = "torch"

    def __init__(self, type: dtype | None = None) -> None:
        """Make the limits of a type. Raises TypeError for types of other numbers."""
        kind = type or default_dtype()
        if not kind.is_floating_point:
            what = "a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            raise TypeError(f"torch.finfo() requires {what}")
        limits = np.finfo(kind.numpy)
        self.bits, self.dtype = 8 * kind.itemsize, kind.name
        self.max, self.min, self.eps = float(limits.max), float(limits.min), float(limits.eps)
        self.smallest_normal = self.tiny = float(limits.tiny)
        self.resolution = 10.0**-limits.precision

    def __repr__(self) -> str:
        names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
        numbers = ", ".join(f"{name}={getattr(self, name):g}" for name in names)
        return f"finfo({numbers}, dtype={self.dtype})"


class iinfo:  # noqa: N801 (PyTorch's name)
    """The limits of a type of whole numbers: max and min."""

    __module__ = "torch"

    def __init__(self, type: dtype) -> None:
        """Make the limits of a type. Raises TypeError for types of other numbers."""
        if type.category is not Category.INTEGER:
            what = "an integer input type. Use torch.finfo to handle 'torch.iinfo'"
            raise TypeError(f"torch.iinfo() requires {what}")
        limits = np.iinfo(type.numpy)
        self.bits, self.dtype = limits.bits, type.name
        self.max, self.min = int(limits.max), int(limits.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
