"""Programs answer as PyTorch did: values, types, layouts and the texts of errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import runtime.pytorch as torch
from tests.runtime.pytorch.answers import FOLDER, answer, programs

#: numpy 1 prints its numbers without their type, and takes its booleans for whole numbers.
IS_NUMPY_1 = np.__version__.startswith("1.")
NUMPY_2 = {"new_tensors": ["torch.tensor((71, np.bool_(True)))"], "protocols": ["np.dot"]}

FILES = sorted(FOLDER.glob("*.txt"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_programs_answer_as_pytorch_did(path: Path) -> None:
    found = [
        (program, expected, answer(program, {"torch": torch, "np": np}))
        for program, expected in programs(path)
    ]
    apart = tuple(NUMPY_2.get(path.stem, [])) if IS_NUMPY_1 else ()
    differ = [entry for entry in found if entry[1] != entry[2]]
    assert [entry for entry in differ if not entry[0].startswith(apart or "\0")] == []
    assert len(found) > 50
