"""Variances, standard deviations, covariances and correlations.

PyTorch's documentation: torch, Reduction Ops; cov and corrcoef.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.schema import OUT, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.reductions import axes_of, give, spread, tidy
from th_shell.torch.ops.reduce import count_along
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import check_cast

_FACTOR = "reduction factor (input numel divided by output numel)"
_NO_FREEDOM = "{}(): degrees of freedom is <= 0. Correction should be strictly less than the {}."


def _variance(name: str, array: Array, axes: Any, correction: Any) -> tuple[Array, Array]:
    """Return variances and averages, at least in the precision of float64; the axes are kept."""
    count = array.size if axes is None else count_along(array, axes)
    average, squares = spread(array, axes) or _spread_of_few(array, axes, count)
    free = count - (1 if correction is None else correction)
    if free <= 0 or not array.size:
        warn(_NO_FREEDOM.format(name, _FACTOR))
        free = max(free, 0) if count else 0
    return quietly.run(np.true_divide, squares, float(free)), average


def _spread_of_few(array: Array, axes: Any, count: int) -> tuple[Array, Array]:
    """Return averages and sums of squared distances from them, as float64, with the axes kept."""
    run, add = quietly.run, np.add.reduce
    wide = array.astype(np.float64, copy=False)
    average = run(np.true_divide, run(add, wide, axes, None, None, True), count)
    apart = run(np.subtract, wide, average)
    return average, run(add, run(np.multiply, apart, apart), axes, None, None, True)


def _check_type(name: str, input: Tensor) -> None:
    if input.array.dtype.kind != "f":
        who = name if name.endswith("_mean") else "std and var"
        raise NotImplementedError(f"{who} only support floating point and complex dtypes")


def _spread(
    name: str, input: Tensor, dim: Any, keepdim: bool, correction: Any = None, out: Out = None
) -> Any:
    """Return variances or standard deviations, and averages where the name ends with _mean."""
    _check_type(name, input)
    array = input.array
    kind = array.dtype
    if out is not None:
        check_cast(input.dtype, out.dtype)
        kind = out.array.dtype
    axes = axes_of(dim, array.ndim)
    spreads, average = _variance(name, array, axes, correction)
    if name.startswith("std"):
        spreads = np.sqrt(spreads)
    parts = [spreads, average] if name.endswith("_mean") else [spreads]
    results = [tidy((x if keepdim else x.squeeze(axes)).astype(kind, copy=False)) for x in parts]
    return tuple(map(wrap, results)) if len(results) > 1 else give(results[0], out)


def _register(name: str, what: str, out: str, method: bool | None) -> None:
    """Register a function by each way to say how many degrees of freedom there are."""
    rows = (
        f"tuple of ints[1]? dim, bool unbiased = True, bool keepdim = False{out and ', *'}{out}",
        f"tuple of ints[1] dim = None, *, Number correction = None, bool keepdim = False{out}",
        "bool unbiased = True",
    )

    @op(*[f"{name}(Tensor input, {row})" for row in rows], method=method)
    def compute(
        input: Tensor, dim: Any = None, unbiased: bool = True, keepdim: bool = False, **options: Any
    ) -> Any:
        if isinstance(dim, bool):  # of the row that has no dim
            dim, unbiased = None, dim
        if not unbiased:
            options["correction"] = 0
        return _spread(name, input, dim, keepdim, **options)

    compute.__doc__ = f"The {what} along dimensions, or of all elements."


for _name, _what in (("var", "variances"), ("std", "standard deviations")):
    _register(_name, _what, f", {OUT}", method=None)
    _register(f"{_name}_mean", f"{_what} and averages", "", method=False)


# -- covariances
