"""The operations of torch, one module a section of the manual; importing adds their rows."""

from runtime.ops import (  # noqa: F401
    bits,
    blas,
    compare,
    construct,
    conv,
    generators,
    half,
    indexing,
    lapack_factor,
    lapack_solve,
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

__all__ = ["ROWS_ADDED"]

#: True once this package was imported.
ROWS_ADDED = True
