"""The operations of torch, one module for each section of the manual.

Importing a module adds its rows to the table of operations. The first line of an
implementation's docstring is shown by the shell's help. In these docstrings `r` is the
destination: it is resized to the result's sizes unless the docstring says otherwise, and may be
one of the sources (with indices and masks, `_overlapping.py` tells what that means). Dimensions are
counted from 0 in parameters and from 1 in messages. Where a tensor has no such dimension, or the
sizes of operands do not fit together, ArgError or TorchError is raised with the reference's
message.
"""

from th_shell.runtime.ops import (  # noqa: F401
    construct,
    conv,
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
    views,
)
from th_shell.runtime.ops.linalg import blas, lapack  # noqa: F401

__all__ = ["ROWS_ADDED"]

#: True once this package was imported.
ROWS_ADDED = True
