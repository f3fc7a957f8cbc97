"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import (
    creation,
    embedding,
    gathering,
    geometry,
    indexing,
    interchange,
    joining,
    layout,
    parts,
    pointwise,
    rearranging,
    scattering,
    text,
    transposing,
    views,
)

__all__ = [
    "creation",
    "embedding",
    "gathering",
    "geometry",
    "indexing",
    "interchange",
    "joining",
    "layout",
    "parts",
    "pointwise",
    "rearranging",
    "scattering",
    "text",
    "transposing",
    "views",
]
