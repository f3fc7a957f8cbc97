"""Matrices for which the algorithms find nothing."""

import re
from collections.abc import Callable
from typing import Any

import pytest

import th_shell.torch as torch

_SVD = (
    "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite "
    "values."
)
_EIGH = (
    "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or "
    "has too many repeated eigenvalues."
)
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "svd": (torch.linalg.svd, _SVD),
    "svdvals": (torch.linalg.svdvals, _SVD),
    "pinv": (torch.linalg.pinv, _SVD),
    "nuc": (lambda x: torch.linalg.matrix_norm(x, "nuc"), _SVD),
    "eigh": (torch.linalg.eigh, _EIGH),
    "eigvalsh": (torch.linalg.eigvalsh, _EIGH),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_elements_that_are_nan(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(torch.linalg.LinAlgError, match=f"^{re.escape(message)}"):
        call(torch.full((3, 3), float("nan")))
