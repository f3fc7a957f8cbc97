"""Expressions on a few tensors, and what PyTorch 2.15 gave for them: transcripts/*.txt.

A tensor is shown as its elements and strides, behind its type where that is not float32.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from tests.transcripts import programs
from th_shell.torch.tensors.tensor import Tensor

FOLDER = Path(__file__).parent / "transcripts"


def _names() -> dict[str, Any]:
    """The names that the expressions have."""
    x = torch.arange(12.0).view(3, 4)
    return {
        "torch": torch,
        "np": np,
        "L": lambda *elements: torch.tensor(elements),
        "F": torch.tensor,
        "x": x,
        "y": x.clone(),
        "w": x.to(torch.int32),
        "b": x > 5,
        "u": x.to(torch.uint8),
        "h": x.to(torch.float16),
        "l": x.to(torch.int64),
        "e": torch.zeros(0, 3),
        "z": torch.tensor(3.0),
        "v": torch.arange(4.0),
        "c": torch.arange(24).view(2, 3, 4),
    }


def _text(value: Any) -> str:
    if isinstance(value, Tensor):
        kind = "" if value.dtype is torch.float32 else f"{value.dtype.name} "
        return f"{kind}{value.tolist()} {value.stride()}"
    if isinstance(value, (tuple, list)) and not isinstance(value, torch.Size):
        return f"({', '.join(map(_text, value))})"
    return repr(value)


def described(program: str) -> str:
    """Return the text of the last expression's value behind statements, or of the error."""
    *statements, expression = program.split("\n")
    names = _names()
    try:
        exec("\n".join(statements), names)
        return _text(eval(expression, names))
    except Exception as error:
        shown = f"{type(error).__name__}: {error}"
        is_alone = error.__suppress_context__ or error.__context__ is None
        return shown if is_alone else f"{error.__context__!r}, and behind it {shown}"


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_values_strides_and_errors(path: Path) -> None:
    recorded = programs(path)
    answers = [(program, described(program)) for program, _ in recorded]
    assert [entry for entry in answers if entry not in recorded] == []
