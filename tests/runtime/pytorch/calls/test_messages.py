"""Wrong arguments: what PyTorch 2.15 says of them. The answers were printed by it."""

import pytest

import th_shell.torch as torch
from tests.data_files import data

X = torch.ones(2, 3)

ANSWERS = data(__file__, "ANSWERS")


@pytest.mark.parametrize(("code", "message"), ANSWERS.items(), ids=ANSWERS)
def test_wrong_arguments(code: str, message: str) -> None:
    with pytest.raises(TypeError) as raised:
        eval(code)
    assert str(raised.value) == message


def test_arguments_are_taken_by_numpys_names() -> None:
    assert torch.sum(X, axis=0, keepdims=True).tolist() == [[2, 2, 2]]


def test_other_values_of_the_same_types_find_another_overload() -> None:
    """A list may be of ints or not: its type alone does not tell whether it fits."""
    assert torch.zeros([2]).tolist() == [0, 0]
    with pytest.raises(TypeError, match="found element of type float at pos 0"):
        torch.zeros([2.5])
    assert torch.zeros([1]).tolist() == [0]


@pytest.mark.parametrize(("name", "why"), data(__file__, "test_names_that_the_module_lacks"))
def test_names_that_the_module_lacks(name: str, why: str) -> None:
    with pytest.raises(AttributeError) as raised:
        getattr(torch, name)
    assert str(raised.value) == f"module 'torch' has no attribute '{name}'{why}"


@pytest.mark.parametrize(
    ("name", "why"), [("smm", " (sparse tensors are not provided here)"), ("foo", "")]
)
def test_names_that_tensors_lack(name: str, why: str) -> None:
    for owner, what in (X, "'Tensor' object"), (torch.Tensor, "type object 'Tensor'"):
        with pytest.raises(AttributeError) as raised:
            getattr(owner, name)
        assert str(raised.value) == f"{what} has no attribute '{name}'{why}"
    own = torch.zeros(1)
    setattr(own, name, 1)
    assert getattr(own, name) == 1 and name not in dir(X)


@pytest.mark.parametrize(
    ("code", "message"),
    data(__file__, "test_what_is_not_provided_says_so"),
)
def test_what_is_not_provided_says_so(code: str, message: str) -> None:
    with pytest.raises((NotImplementedError, TypeError), match=message):
        eval(code)


@pytest.mark.parametrize(
    ("expression", "message"), data(__file__, "test_more_than_there_is_memory_for")
)
def test_more_than_there_is_memory_for(expression: str, message: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        eval(expression)
    assert str(caught.value) == message
