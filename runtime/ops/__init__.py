"""The operations of torch, one module a section of the manual; importing adds their rows."""

from runtime.ops import (  # noqa: F401
    bits,
    compare,
    construct,
    conv,
    generators,
    half,
    indexing,
    operators,
    order,
    pointwise,
    random,
    reduce,
    sampling,
    storages,
    structure,
    text,
    unary,
    views,
)
from runtime.ops.linalg import blas, factor, solve  # noqa: F401

__all__ = ["ROWS_ADDED"]

#: True once this package was imported.
ROWS_ADDED = True
