"""The submodules of torch: what they have, and the errors of what they have not."""

from __future__ import annotations

import pytest

import th_shell.torch as torch

ABSENT = "this module is not provided here"
POLYNOMIALS = (
    "orthogonal polynomials are not provided here: scipy.special has eval_legendre and others"
)


@pytest.mark.parametrize(
    ("module", "name", "why"),
    [
        ("utils", "data", "networks and their training are not provided here"),
        ("backends", "cudnn", ABSENT),
        ("special", "legendre_polynomial_p", POLYNOMIALS),
        ("special", "chebyshev_polynomial_t", POLYNOMIALS),
        ("special", "shifted_chebyshev_polynomial_w", POLYNOMIALS),
        *((module, "no_such", "") for module in "backends cuda linalg random utils".split()),
        *((module, "no_such", "") for module in "return_types special version".split()),
        ("backends.mps", "no_such", ""),
        ("utils.dlpack", "no_such", ""),
    ],
)
def test_a_missing_name(module: str, name: str, why: str) -> None:
    owner = torch
    for part in module.split("."):
        owner = getattr(owner, part)
    with pytest.raises(AttributeError) as caught:
        getattr(owner, name)
    told = f"module 'torch.{module}' has no attribute '{name}'"
    assert str(caught.value) == told + (f" ({why})" if why else "")


def test_no_fourier_transforms() -> None:
    with pytest.raises(AttributeError) as caught:
        torch.fft.fftfreq(3)
    why = "complex numbers are not provided here"
    assert str(caught.value) == f"module 'torch' has no attribute 'fft' ({why})"


def test_no_gpu() -> None:
    mps = torch.backends.mps
    assert [torch.cuda.is_available(), mps.is_available(), mps.is_built()] == [False] * 3
    with pytest.raises(AttributeError) as caught:
        torch.mps  # noqa: B018
    assert str(caught.value) == f"module 'torch' has no attribute 'mps' ({ABSENT})"
