"""The rows of operations: their signatures are those of the implementations."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import pytest

import runtime.pytorch as torch
from runtime.pytorch.options import OPTIONS
from runtime.pytorch.schema import parse
from runtime.pytorch.table import FUNCTIONS, ROWS, Row

ALL = [(name, row) for name, rows in ROWS.items() for row in rows]
NAMES = [f"{name}{row.schema}" for name, row in ALL]


def parameters_of(row: Row) -> list[inspect.Parameter]:
    """The parameters of a row's implementation, without self."""
    found = inspect.signature(row.implementation).parameters.values()
    return list(found)[1 if row.is_method else 0 :]


@pytest.mark.parametrize("row", [row for _, row in ALL], ids=NAMES)
def test_implementation_takes_the_parameters_of_its_row(row: Row) -> None:
    takes = parameters_of(row)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in takes):
        return  # it hands all arguments on
    assert len(takes) >= len(row.schema.positional)
    named = {p.name for p in takes}
    for parameter in row.schema.parameters:
        if parameter.keyword_only and parameter.name not in {"out", *OPTIONS}:
            assert parameter.python_name in named


@pytest.mark.parametrize("row", [row for _, row in ALL], ids=NAMES)
def test_defaults_are_those_that_the_row_tells(row: Row) -> None:
    for told, found in zip(row.schema.positional, parameters_of(row), strict=False):
        if told.default is None:
            continue
        assert found.default is not inspect.Parameter.empty, told.name
        value = _value(told.default)
        # None in a signature often stands for another value, and a format of memory for None.
        if value is not None and found.default is not None:
            assert found.default == value, told.name


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.xlogy(input=x, other=x),
        lambda x: x.transpose_(dim0=0, dim1=1),
        lambda x: torch.add(x, other=x, alpha=2),
        lambda x: x.sum(axis=0),
    ],
)
def test_arguments_are_given_by_the_names_of_the_signature(call: Any) -> None:
    assert isinstance(call(torch.ones(2, 3)), torch.Tensor)


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return getattr(torch, text.rpartition(".")[2], text)


@pytest.mark.parametrize("row", [row for _, row in ALL], ids=NAMES)
def test_implementations_say_what_they_do(row: Row) -> None:
    assert (row.implementation.__doc__ or "").strip()


def test_docstring_has_all_signatures() -> None:
    text = FUNCTIONS["max"].__doc__ or ""
    assert text.splitlines()[:3] == [
        "max(Tensor input, *, Tensor out = None)",
        "max(Tensor input, Tensor other, *, Tensor out = None)",
        "max(Tensor input, int dim, bool keepdim = False, *, tuple of Tensors out = None)",
    ]


def test_signature_is_printed_as_it_was_read() -> None:
    text = "add(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"
    schema = parse(text)
    assert schema.name + str(schema) == text
    assert [p.name for p in schema.positional] == ["input", "other"]


def test_marks_of_a_signature_are_not_printed() -> None:
    schema = parse("sum(Tensor input, tuple of ints[1]? dim, bool keepdim = False)")
    assert str(schema) == "(Tensor input, tuple of ints dim, bool keepdim = False)"
    assert schema.by_name["dim"].single
    assert schema.by_name["dim"].nullable


@pytest.mark.parametrize("text", ["add", "add(Tensor)", "add(Tensor input"])
def test_text_that_is_no_signature(text: str) -> None:
    with pytest.raises(ValueError, match="not a "):
        parse(text)
