"""Signatures that implementations tell."""

from typing import Any

from th_shell.torch.calls.schema import (
    OUT,
    Number,
    TensorOrNumber,
    derive,
)
from th_shell.torch.tensors.tensor import Tensor


def signatures(implementation: Any, name: str = "", more: str = "") -> list[str]:
    return [f"{s.name}{s}" for s in derive(implementation, name, more)]


def test_parameters_and_defaults() -> None:
    def scale(input: Tensor, in_: int, *, factor: Number = 1.0) -> None: ...

    assert signatures(scale) == ["scale(Tensor input, int in, *, Number factor = 1)"]


def test_name_and_further_parameters() -> None:
    def scale(input: Tensor) -> None: ...

    assert signatures(scale, "double", OUT) == ["double(Tensor input, *, Tensor out = None)"]


def test_alternatives_make_a_signature_each() -> None:
    def put(input: Tensor, low: TensorOrNumber, high: TensorOrNumber = None) -> None: ...

    assert signatures(put) == [
        "put(Tensor input, Tensor low, Tensor high = None)",
        "put(Tensor input, Number low, Number high = None)",
    ]
