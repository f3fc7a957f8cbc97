"""The operations, a module for each section of PyTorch's documentation.

Importing one registers its operations in the table.
"""

from runtime.pytorch.ops import creation, geometry, pointwise

__all__ = ["creation", "geometry", "pointwise"]
