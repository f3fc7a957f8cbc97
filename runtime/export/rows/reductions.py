"""Sums, means and extrema along a dimension."""

from __future__ import annotations

from th_shell.runtime.export.graph import Value
from th_shell.runtime.export.modules import Module, row
from th_shell.runtime.export.operators.layers import shifted
from th_shell.runtime.export.operators.reducing import argmax, reduce

_KINDS = {"nn.Max": "Max", "nn.Min": "Min"}


@row("nn.Sum", "nn.Mean")
def _sum(m: Module, x: Value) -> Value:
    dim = m.dim(x, "dimension", "nInputDims")
    mean = bool(m.get("sizeAverage", m.kind == "nn.Mean"))
    keep = m.get("squeeze") is False or x.rank == 1
    return reduce(x, "Mean" if mean else "Sum", dim, keep)


@row("nn.ArgMax")
def _arg_max(m: Module, x: Value) -> Value:
    """Of dpnn: where the largest element is, from 1."""
    dims = m.get("nInputDim")
    dim = m.whole("dim", 1) - 1 + int(bool(dims) and x.rank > int(dims))
    return shifted(argmax(x, dim), 1)


@row(*_KINDS)
def _extremum(m: Module, x: Value) -> Value:
    return reduce(x, _KINDS[m.kind], m.dim(x, "dimension", "nInputDims"), x.rank == 1)
