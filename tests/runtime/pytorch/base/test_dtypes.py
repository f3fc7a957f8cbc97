"""torch.finfo and torch.iinfo tell what PyTorch 2.15 does."""

import pytest

import th_shell.torch as torch


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        (
            torch.finfo(torch.float16),
            "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
            "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)",
        ),
        (
            torch.finfo(),
            "finfo(resolution=1e-06, min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, "
            "smallest_normal=1.17549e-38, tiny=1.17549e-38, dtype=float32)",
        ),
        (torch.iinfo(torch.uint8), "iinfo(min=0, max=255, dtype=uint8)"),
        (torch.iinfo(torch.int64), "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"),
    ],
)
def test_text(limits: object, text: str) -> None:
    assert repr(limits) == text


def test_types_of_other_numbers() -> None:
    with pytest.raises(TypeError, match=r"Use torch.iinfo to handle 'torch.finfo'$"):
        torch.finfo(torch.int32)
    with pytest.raises(TypeError, match=r"Use torch.finfo to handle 'torch.iinfo'$"):
        torch.iinfo(torch.float32)
