"""The types in which operands meet, each pair as PyTorch 2.15 told it in `tables`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from tests.data_files import data
from th_shell.torch.base.dtypes import DTYPES, dtype
from th_shell.torch.tensors.tensor import Tensor, wrap

TABLES = Path(__file__).parent / "tables"
TYPES = {kind.name: kind for kind in DTYPES}


def _lines(name: str) -> list[list[str]]:
    lines = (TABLES / name).read_text(encoding="utf-8").splitlines()
    return [line.split(" ") for line in lines if not line.startswith("#")]


def _pairs() -> list[tuple[dtype, dtype, str]]:
    header, *rows = _lines("promoted_types.txt")
    return [
        (TYPES[row[0]], TYPES[second], found)
        for row in rows
        for second, found in zip(header[1:], row[1:], strict=True)
    ]


def test_promoted_types() -> None:
    differing = [
        (first, second, expected)
        for first, second, expected in _pairs()
        if torch.promote_types(first, second).name != expected
    ]
    assert differing == []


def _operand(kind: str, ndim: str) -> Any:
    if ndim == "-":
        return {"True": True, "2": 2, "2.5": 2.5}[kind]
    return wrap(np.ones((1,) * int(ndim), TYPES[kind].numpy))


@pytest.fixture(scope="module")
def operands() -> list[tuple[Any, Any, str]]:
    return [
        (_operand(a, i), _operand(b, j), found) for a, i, b, j, found in _lines("result_types.txt")
    ]


def _result(function: Any, a: Any, b: Any) -> str:
    found = function(a, b)
    kind = found.dtype if isinstance(found, Tensor) else found
    return str(kind).removeprefix("torch.")


@pytest.mark.parametrize("swapped", [False, True])
def test_result_types(operands: list[tuple[Any, Any, str]], swapped: bool) -> None:
    pairs = [(b, a, found) if swapped else (a, b, found) for a, b, found in operands]
    assert [found for _, _, found in pairs] == [
        _result(torch.result_type, a, b) for a, b, _ in pairs
    ]


#: What becomes of the type in which the operands meet: by default nothing.
RULES = data(__file__, "RULES")


@pytest.mark.parametrize("name", RULES)
def test_values_have_the_type_in_which_operands_meet(
    operands: list[tuple[Any, Any, str]], name: str
) -> None:
    function = getattr(torch, name)
    tensors = [x for x in operands if isinstance(x[1], Tensor)]
    for a, b, met in tensors:
        assert _result(function, a, b) == _by_rule(RULES[name], met)


def _by_rule(rule: str, met: str) -> str:
    if met == "-" or rule == "same":
        return met
    if rule == "bool":
        return "bool"
    return met if TYPES[met].is_floating_point else "float32"


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_in_place_keeps_the_type_or_is_an_error(
    operands: list[tuple[Any, Any, str]], name: str
) -> None:
    for a, b, met in operands:
        if met == "-" or a.dtype.name.startswith("uint") or "bool" in (a.dtype.name, met):
            continue
        result = TYPES[_by_rule("float" if name == "div" else "same", met)]
        target = a.clone()
        if result.category > a.dtype.category or (name == "sub" and _is_bool(b)):
            with pytest.raises((RuntimeError, NotImplementedError)):
                getattr(target, f"{name}_")(b)
            assert target.tolist() == a.tolist()
        elif target.dim() or not isinstance(b, Tensor) or not b.dim():
            assert getattr(target, f"{name}_")(b).dtype is a.dtype


def _is_bool(value: Any) -> bool:
    return value is True or (isinstance(value, Tensor) and value.dtype.name == "bool")


def test_ints_that_no_type_has() -> None:
    with pytest.raises(OverflowError, match="^int too big to convert$"):
        torch.ones(2) + 2**70


def test_default_type_changes_results() -> None:
    whole = torch.ones(2, dtype=torch.int64)
    assert (whole + 1.5).dtype is torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert (whole + 1.5).dtype is torch.float64
        assert (whole / 2).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)
    assert (whole + 1.5).dtype is torch.float32
