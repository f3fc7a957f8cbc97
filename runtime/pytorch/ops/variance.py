"""Variances, standard deviations, covariances and correlations.

PyTorch's documentation: torch, Reduction Ops; cov and corrcoef.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.torch.base.dtypes import Category, bool_
from th_shell.torch.base.quiet import quietly
from th_shell.torch.base.require import require
from th_shell.torch.base.shapes import listed
from th_shell.torch.base.warn import warn
from th_shell.torch.calls.schema import OUT, Out
from th_shell.torch.calls.table import op
from th_shell.torch.compute.promotion import to_float
from th_shell.torch.compute.reductions import axes_of, give, spread, tidy
from th_shell.torch.ops.reduce import count_along
from th_shell.torch.tensors.tensor import Tensor, wrap
from th_shell.torch.tensors.writing import cast, check_cast

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


def _check_matrix(name: str, input: Tensor) -> None:
    if input.array.ndim > 2:
        raise RuntimeError(
            f"{name}(): expected input to have two or fewer dimensions but got an input with "
            f"{input.array.ndim} dimensions"
        )


@op("cov(Tensor input, *, int correction = 1, Tensor fweights = None, Tensor aweights = None)")
def cov(
    input: Tensor, *, correction: int = 1, fweights: Any = None, aweights: Any = None
) -> Tensor:
    """Return the covariances of variables, which are rows; columns are observations.

    fweights: how often each observation was made. aweights: its weight.
    """
    _check_matrix("cov", input)
    if input.dtype is bool_:
        raise NotImplementedError("cov(): bool dtype is not supported for input")
    rows = cast(input.array, to_float(input.dtype).numpy)
    kind = rows.dtype
    rows = np.atleast_2d(rows).astype(np.promote_types(kind, np.float32), copy=False)
    weights = _weights(rows.shape[1], fweights, aweights)
    with np.errstate(all="ignore"):
        covariances = _covariance(
            rows, weights, None if aweights is None else aweights.array, correction
        )
    return wrap(np.squeeze(covariances).astype(kind, copy=False))


def _weights(count: int, fweights: Tensor | None, aweights: Tensor | None) -> Array | None:
    """Return the product of both kinds of weights, or None. Raises RuntimeError."""
    weights: Array | None = None
    for name, tensor, category, text in (
        ("fweights", fweights, Category.INTEGER, "integral"),
        ("aweights", aweights, Category.FLOAT, "floating point"),
    ):
        if tensor is None:
            continue
        _check_weights(name, tensor, count, category, text)
        array = tensor.array.reshape(-1)
        weights = array if weights is None else weights * array
    if weights is not None and weights.size and not weights.sum():
        raise RuntimeError("cov(): weights sum to zero, can't be normalized")
    return weights


def _check_weights(name: str, weights: Tensor, count: int, category: Category, text: str) -> None:
    if weights.array.shape not in ((count,), () if count == 1 else (count,)):
        raise RuntimeError(
            f"cov(): expected {name} to have one dimension of {count} elements, one for each "
            f"observation, but got {listed(weights.array.shape)}"
        )
    if weights.dtype.category is not category:
        raise RuntimeError(
            f"cov(): expected {name} to have {text} dtype but got {name} with "
            f"{weights.dtype.scalar} dtype"
        )
    require(not (weights.array < 0).any(), "cov(): {} cannot be negative", name)


def _covariance(
    rows: Array, weights: Array | None, importances: Array | None, correction: int
) -> Array:
    """Return the covariances of rows. importances: the weights that are no counts."""
    total = rows.shape[1] if weights is None else weights.sum()
    weighted = rows if weights is None else rows * weights
    average = weighted.sum(1) / np.asarray(total, rows.dtype)
    free: Any = total - correction
    if weights is not None and importances is not None:
        free = total - correction * (weights * importances.reshape(-1)).sum() / total
    if free <= 0:
        warn(_NO_FREEDOM.format("cov", "number of observations"))
        free = 0
    apart = rows - average[:, None]
    weighted_distances = apart if weights is None else (apart * weights).astype(rows.dtype)
    covariances: Array = (apart @ weighted_distances.T) / np.asarray(free, rows.dtype)
    return covariances


@op()
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlations of variables, which are rows; columns are observations."""
    _check_matrix("corrcoef", input)
    covariances = cov(input).array
    with np.errstate(all="ignore"):
        if not covariances.ndim:
            return wrap(covariances / covariances)
        deviations = np.sqrt(np.diagonal(covariances))
        return wrap(np.clip(covariances / deviations[:, None] / deviations, -1, 1))
