"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import (
    conversion,
    creation,
    data,
    geometry,
    legacy_types,
    pointwise,
    ranges,
    scalars,
)

__all__ = [
    "conversion",
    "creation",
    "data",
    "geometry",
    "legacy_types",
    "pointwise",
    "ranges",
    "scalars",
]
