"""Functions of numpy.linalg that iterate, with PyTorch's error where they find nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


class LinAlgError(RuntimeError):
    """A matrix for which a function of torch.linalg has no result."""


LinAlgError.__name__ = "_LinAlgError"
LinAlgError.__module__ = "torch._C"

_FAILED = "The algorithm failed to converge because the input matrix"
_SINGULAR_VALUES = f"linalg.svd: {_FAILED} contained non-finite values."
_EIGENVALUES = f"linalg.eigh: {_FAILED} is ill-conditioned or has too many repeated eigenvalues."


def converged(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Call numpy's eigh or eigvalsh, or a function that needs singular values.

    Raises LinAlgError where the algorithm does not converge, as for elements that are nan.
    """
    try:
        return function(*args, **options)
    except np.linalg.LinAlgError:
        is_eigen = function in (np.linalg.eigh, np.linalg.eigvalsh)
        raise LinAlgError(_EIGENVALUES if is_eigen else _SINGULAR_VALUES) from None
