"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import (
    creation,
    geometry,
    interchange,
    pointwise,
    random,
    random_in_place,
    sampling,
    text,
)

__all__ = [
    "creation",
    "geometry",
    "interchange",
    "pointwise",
    "random",
    "random_in_place",
    "sampling",
    "text",
]
