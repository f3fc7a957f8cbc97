"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import creation, geometry, interchange, pointwise, reduce, text

__all__ = ["creation", "geometry", "interchange", "pointwise", "reduce", "text"]
