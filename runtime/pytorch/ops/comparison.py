"""Comparisons and logic, element by element. PyTorch's documentation: torch, Comparison Ops."""

from __future__ import annotations

import numpy as np

from runtime.pytorch.base.dtypes import NUMPY_DTYPES, bool_
from runtime.pytorch.calls.table import op
from runtime.pytorch.compute import formulas
from runtime.pytorch.compute.elementwise import ALL, Pointwise, comparison
from runtime.pytorch.ops.pairs import binary
from runtime.pytorch.tensors.tensor import Tensor

_STORED = frozenset(kind.num for kind in NUMPY_DTYPES)

_UFUNCS = {
    "eq": ("equal", np.equal),
    "ne": ("not_equal", np.not_equal),
    "lt": ("less", np.less),
    "le": ("less_equal", np.less_equal),
    "gt": ("greater", np.greater),
    "ge": ("greater_equal", np.greater_equal),
}
#: The comparisons by the names of their operators.
COMPARISONS = {
    name: comparison(ufunc, f"{name}_cpu", _STORED if name in ("eq", "ne") else ALL)
    for name, (_, ufunc) in _UFUNCS.items()
}
for _short, (_long, _) in _UFUNCS.items():
    for _name in {_short, _long} - {"equal"}:
        binary(
            COMPARISONS[_short],
            f"{_name}(Tensor input, Tensor other)",
            f"{_name}(Tensor input, Number other)",
            doc=f"Whether {_long.replace('_', ' ')} is true of each pair of elements.",
        )


@op()
def equal(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes and equal elements."""
    a, b = input.array, other.array
    return a.shape == b.shape and bool((a == b).all())


# -- nearly the same


def _check_tolerances(input: Tensor, other: Tensor, rtol: float, atol: float) -> None:
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{input.dtype.scalar} did not match {other.dtype.scalar}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")


_TOLERANCES = "float rtol = 1e-05, float atol = 1e-08, bool equal_nan = False"


@op()
def isclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Whether elements differ by no more than atol + rtol * abs(other)."""
    _check_tolerances(input, other, rtol, atol)
    close = Pointwise(lambda a, b: formulas.isclose(a, b, rtol, atol, equal_nan), result=bool_)
    found: Tensor = close(input, other)
    return found


@op()
def allclose(
    input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> bool:
    """Whether all elements differ by no more than atol + rtol * abs(other)."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


# -- logic

for _name, _ufunc in (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_xor", np.logical_xor),
):
    binary(
        Pointwise(_ufunc, result=bool_, kernel=f"{_name}_cpu", takes=ALL),
        f"{_name}(Tensor input, Tensor other)",
        doc=f"The {_name.replace('_', ' ')} of two elements, of which 0 is false.",
    )
