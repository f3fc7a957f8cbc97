"""The text of tensors and storages is PyTorch's, letter by letter."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest
from numpy import arange, array, ones, random, zeros

from tests.transcripts import programs
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.tensors.printing import (
    scalar_format,
    set_printoptions,
    storage_text,
    tensor_text,
)

FLOAT, DOUBLE, HALF = "torch.float32", "torch.float64", "torch.float16"


@pytest.fixture(autouse=True)
def default_options() -> Iterator[None]:
    yield
    set_printoptions(profile="default")


def text_of(values: Array, default: str = FLOAT) -> str:
    return tensor_text(values, f"torch.{values.dtype}", default)


def show(values: Array, **options: Any) -> str:
    set_printoptions(**options)
    return text_of(values)


@pytest.mark.parametrize(("program", "text"), programs(Path(__file__).parent / "printed.txt"))
def test_text(program: str, text: str) -> None:
    assert eval(program, {**vars(numpy), "show": show}) == text


@pytest.mark.parametrize(
    ("values", "default", "text"),
    [
        (array([1.5]), DOUBLE, "tensor([1.5000])"),
        (array([1.5], "f4"), DOUBLE, "tensor([1.5000], dtype=torch.float32)"),
        (array([1.5], "f4"), HALF, "tensor([1.5000], dtype=torch.float32)"),
        (array([], "f4"), DOUBLE, "tensor([], dtype=torch.float32)"),
        (array([]), DOUBLE, "tensor([])"),
        (array([1, 2]), DOUBLE, "tensor([1, 2])"),
        (array([], "i8"), DOUBLE, "tensor([], dtype=torch.int64)"),
    ],
)
def test_default_type_is_not_told(values: Array, default: str, text: str) -> None:
    assert text_of(values, default) == text


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (zeros((1, 0)), "tensor([], size=(1, 0), dtype=torch.float64)"),
        (
            zeros(12),
            "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.], dtype=torch.float64)",
        ),
        (
            zeros(18),
            "tensor([0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0., 0.],\n"
            "       dtype=torch.float64)",
        ),
    ],
)
def test_suffixes(values: Array, text: str) -> None:
    assert text_of(values) == text


def test_full_profile_prints_all_elements() -> None:
    set_printoptions(profile="full")
    lines = text_of(arange(3000).reshape(-1, 10)).splitlines()
    assert len(lines) == 300
    assert lines[-1] == "        [2990, 2991, 2992, 2993, 2994, 2995, 2996, 2997, 2998, 2999]])"


def test_middle_of_a_large_tensor_is_not_read() -> None:
    values = ones((1000, 1000), "f4")
    values[5:-5] = values[:, 5:-5] = random.default_rng(0).random() * 1e30
    row = "[1., 1., 1.,  ..., 1., 1., 1.]"
    rows = ",\n        ".join([row] * 3 + ["..."] + [row] * 3)
    assert text_of(values) == f"tensor([{rows}])"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"threshold": "a"}, TypeError, "'>' not supported between instances of 'int' and 'str'"),
        ({"linewidth": "a"}, TypeError, "unsupported operand type(s) for -: 'str' and 'int'"),
        ({"precision": -1}, ValueError, "Format specifier missing precision"),
    ],
)
def test_wrong_options_are_errors_when_printing(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    set_printoptions(**options)
    with pytest.raises(error) as raised:
        text_of(array([1.5], "f4"))
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("values", "name", "text"),
    [
        (
            array([0.1, 1.0, -0.0], "f4"),
            "torch.storage.TypedStorage(dtype=torch.float32, device=cpu)",
            " 0.10000000149011612\n 1.0\n -0.0\n"
            "[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 3]",
        ),
        (
            array([True]),
            "torch.storage.TypedStorage(dtype=torch.bool, device=cpu)",
            " True\n[torch.storage.TypedStorage(dtype=torch.bool, device=cpu) of size 1]",
        ),
        (
            array([], "u1"),
            "torch.storage.UntypedStorage(device=cpu)",
            " \n[torch.storage.UntypedStorage(device=cpu) of size 0]",
        ),
    ],
)
def test_storage(values: Array, name: str, text: str) -> None:
    assert storage_text(values, name) == text


def test_storages_are_printed_whole() -> None:
    text = storage_text(zeros(2400, "u1"), "torch.storage.UntypedStorage(device=cpu)")
    assert text.splitlines() == [
        *[" 0"] * 2400,
        "[torch.storage.UntypedStorage(device=cpu) of size 2400]",
    ]


@pytest.mark.parametrize(
    ("value", "spec", "text"),
    [
        (array(3.14159, "f4"), ".3f", "3.142"),
        (array(0.1, "f4"), "", "0.10000000149011612"),
        (array(3), "d", "3"),
        (array(True), "", "True"),
    ],
)
def test_format_of_a_number(value: Array, spec: str, text: str) -> None:
    assert scalar_format(value, value, spec) == text


def test_format_of_several_numbers() -> None:
    class Tensor:
        def __str__(self) -> str:
            return "its text"

    assert scalar_format(Tensor(), zeros(2), "") == "its text"
    with pytest.raises(TypeError) as raised:
        scalar_format(Tensor(), zeros(2), ".3f")
    assert str(raised.value) == "unsupported format string passed to Tensor.__format__"
