"""The rows of operations: their signatures are those of the implementations."""

import ast
import gc
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

import th_shell.torch as torch
from th_shell.torch.base.device import OPTIONS
from th_shell.torch.calls.schema import parse
from th_shell.torch.calls.table import _MOST_PLANS, FUNCTIONS, ROWS, Row

ROWS_BY_NAME = {f"{name}{row.schema}": row for name, rows in ROWS.items() for row in rows}


def parameters_of(row: Row) -> list[inspect.Parameter]:
    """The parameters of a row's implementation, without self."""
    found = inspect.signature(row.implementation).parameters.values()
    return list(found)[1 if row.is_method else 0 :]


def takes_its_parameters(row: Row) -> bool:
    takes = parameters_of(row)
    if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in takes):
        return True  # it hands all arguments on
    named = {p.name for p in takes}
    return len(takes) >= len(row.schema.positional) and all(
        p.python_name in named
        for p in row.schema.parameters
        if p.keyword_only and p.name not in {"out", *OPTIONS}
    )


def has_its_defaults(row: Row) -> bool:
    for told, found in zip(row.schema.positional, parameters_of(row), strict=False):
        if found.kind is found.VAR_POSITIONAL:
            break  # it hands the others on
        if told.default is None:
            continue
        value = _value(told.default)
        # None in a signature often stands for another value.
        if value is not None and found.default is not None and found.default != value:
            return False
    return True


#: Parameters that change no result on a processor: PyTorch, too, looks at them elsewhere alone.
#: What is sorted or selected is always in order, and equal elements in theirs.
WITHOUT_EFFECT = {"input", "non_blocking", "sparse_grad", "implicit", "force", "sorted", "stable"}
#: What raises an error whatever it is given.
REFUSED = {"backward", "cuda", "linalg_eig", "linalg_eigvals"}


def uses_its_parameters(row: Row) -> bool:
    if row.schema.name in REFUSED:
        return True
    function = inspect.unwrap(row.implementation)
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return set(inspect.signature(function).parameters) <= used | WITHOUT_EFFECT


@pytest.mark.thorough
@pytest.mark.parametrize(
    "holds",
    [
        takes_its_parameters,
        has_its_defaults,
        uses_its_parameters,
        lambda row: bool((row.implementation.__doc__ or "").strip()),
    ],
    ids=["parameters", "defaults", "uses", "docstring"],
)
def test_implementations_are_as_their_rows_say(holds: Callable[[Row], bool]) -> None:
    assert [name for name, row in ROWS_BY_NAME.items() if not holds(row)] == []


@pytest.mark.parametrize(
    "call",
    [
        lambda x: torch.fmod(input=x, other=x),
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


@pytest.mark.thorough
def test_types_that_a_program_makes_again_and_again_are_not_kept() -> None:
    tensor, last = torch.ones(2), None
    for _ in range(2 * _MOST_PLANS):
        last = type("Last", (int,), {})
        tensor.sum(last(0))
    gc.collect()
    assert sum(kind.__name__ == "Last" for kind in int.__subclasses__()) <= _MOST_PLANS
