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


@pytest.mark.parametrize("row", [row for _, row in ALL], ids=NAMES)
def test_implementation_takes_the_parameters_that_its_row_names(row: Row) -> None:
    parameters = inspect.signature(row.implementation).parameters
    skip = 1 if row.is_method else 0
    takes = list(parameters.values())[skip:]
    names = [p.name for p in takes]
    wanted = [
        p.name
        for p in row.schema.parameters
        if p.name in names or (p.name != "out" and p.name not in OPTIONS)
    ]
    positional = [p.name for p in row.schema.positional]
    assert [n for n in names if n in wanted][: len(positional)] == positional
    assert set(wanted) <= set(names)


@pytest.mark.parametrize("row", [row for _, row in ALL], ids=NAMES)
def test_defaults_are_those_that_the_row_tells(row: Row) -> None:
    parameters = inspect.signature(row.implementation).parameters
    for parameter in row.schema.parameters:
        found = parameters.get(parameter.name)
        if found is None or parameter.default is None:
            continue
        assert found.default is not inspect.Parameter.empty, parameter.name
        told = _value(parameter.default)
        # None in a signature often stands for another value; and so does a format of memory.
        if told is not None and found.default is not None:
            assert found.default == told, parameter.name


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
