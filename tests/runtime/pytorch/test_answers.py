"""Programs answer as PyTorch did: values, types, layouts and the texts of errors."""

from pathlib import Path

import numpy as np
import pytest

import th_shell.torch as torch
from tests.transcripts import programs, python_answer

#: A program whose answer depends on numpy: older ones take their booleans for whole numbers.
OLD_NUMPY = "torch.tensor((71, np.bool_(True)))" if hasattr(np.bool_, "__index__") else None

FILES = sorted((Path(__file__).parent / "recorded").glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_programs_answer_as_pytorch_did(path: Path) -> None:
    found = [
        (program, expected, python_answer(program, {"torch": torch, "np": np}))
        for program, expected in programs(path)
        if program != OLD_NUMPY
    ]
    assert [entry for entry in found if entry[1] != entry[2]] == []
    assert len(found) > 40
