"""Operations as PyTorch 2.15 has them: tests/data/pytorch has a file for modules of ops.

They are transcripts (tests/transcripts.py) of expressions, with the warnings behind `W:`.
"""

import warnings
from pathlib import Path
from typing import Any

import pytest

import th_shell.torch as torch
from tests.transcripts import programs
from th_shell.torch import ops

FOLDER = Path(__file__).parents[3] / "data" / "pytorch"


def operands() -> dict[str, Any]:
    nan = float("nan")
    i = torch.tensor([[3, 1, 3], [2, 2, 2]])
    return {
        "torch": torch,
        "nan": nan,
        "x": torch.tensor([[1.0, 3.0, 3.0], [2.0, nan, 0.0]]),
        "i": i,
        "f": i.float(),
        "d": i.double(),
        "h": i.half(),
        "u": i.to(torch.uint8),
        "b": torch.tensor([[True, False]]),
        "e": torch.ones(0, 3),
        "s": torch.tensor(3.0),
        "v": torch.tensor([3.0, 1.0, 2.0]),
    }


def shown(program: str) -> str:
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            text = repr(eval(program, operands()))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    more = [f"\n  W: {w.category.__name__}: {w.message}" for w in given]
    return (text + "".join(more)).rstrip()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_operations_do_as_pytorch(path: Path) -> None:
    recorded = programs(path)
    found = [(program, shown(program)) for program, _ in recorded]
    assert [fact for fact in found if fact not in recorded] == []


def test_each_file_is_of_a_module() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} <= set(dir(ops))
