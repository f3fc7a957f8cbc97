"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import (
    creation,
    factors,
    geometry,
    interchange,
    pointwise,
    products,
    random,
    random_in_place,
    reduce,
    sampling,
    text,
)

__all__ = [
    "creation",
    "factors",
    "geometry",
    "interchange",
    "pointwise",
    "products",
    "random",
    "random_in_place",
    "reduce",
    "sampling",
    "text",
]
