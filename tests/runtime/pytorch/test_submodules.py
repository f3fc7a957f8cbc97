"""The submodules of torch: what they have, and the errors of what they have not."""

import pytest

import th_shell.torch as torch

ABSENT = "this module is not provided here"


@pytest.mark.parametrize(
    ("module", "name", "why"),
    [
        ("utils", "data", "networks and their training are not provided here"),
        ("backends", "cudnn", ABSENT),
        *((module, "no_such", "") for module in "backends cuda linalg random utils".split()),
        ("utils", "dlpack", "DLPack is not provided here: numpy() and from_numpy() share memory"),
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
