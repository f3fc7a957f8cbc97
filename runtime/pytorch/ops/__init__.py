"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import (
    creation,
    distinct,
    extremes,
    geometry,
    histograms,
    interchange,
    norms,
    order,
    pointwise,
    quantile,
    reduce,
    running,
    search,
    softmax,
    spread,
    text,
)

__all__ = [
    "creation",
    "distinct",
    "extremes",
    "geometry",
    "histograms",
    "interchange",
    "norms",
    "order",
    "pointwise",
    "quantile",
    "reduce",
    "running",
    "search",
    "softmax",
    "spread",
    "text",
]
