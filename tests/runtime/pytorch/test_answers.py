"""Programs answer as PyTorch did: values, types, layouts and the texts of errors."""

from __future__ import annotations

import numpy as np
import pytest

import runtime.pytorch as torch
from tests.runtime.pytorch.answers import FOLDER, answer, programs

CASES = [
    pytest.param(program, expected, id=f"{path.stem}-{number}")
    for path in sorted(FOLDER.glob("*.txt"))
    for number, (program, expected) in enumerate(programs(path))
]


@pytest.mark.parametrize("program, expected", CASES)
def test_program_answers_as_pytorch_did(program: str, expected: str) -> None:
    assert answer(program, {"torch": torch, "np": np}) == expected
