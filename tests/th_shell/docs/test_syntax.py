"""LuaJIT's word on pieces of text."""

import pytest

from th_shell.docs.syntax import State, Syntax


@pytest.fixture(scope="module")
def syntax() -> Syntax:
    return Syntax()


@pytest.mark.parametrize(
    ("text", "statement", "expression", "typed"),
    [
        ("x = 1", "complete", "wrong", "complete"),
        ("f(1)", "complete", "complete", "complete"),
        ("x", "incomplete", "complete", "complete"),
        ("= x", "wrong", "wrong", "complete"),
        ("= f(", "wrong", "wrong", "incomplete"),
        ("f();", "complete", "complete", "complete"),
        ("x = 1;", "complete", "wrong", "complete"),
        ("x:apply(function()", "incomplete", "incomplete", "incomplete"),
        ("{1,", "wrong", "incomplete", "incomplete"),
        ("x = 1 end", "wrong", "wrong", "wrong"),
        ("1 2", "wrong", "wrong", "wrong"),
        ("[torch.DoubleTensor of size 2]", "wrong", "wrong", "wrong"),
        ("-- words", "complete", "complete", "complete"),
        ("--[[ words", "incomplete", "incomplete", "incomplete"),
        ("", "complete", "wrong", "complete"),
    ],
)
def test_states(syntax: Syntax, text: str, statement: str, expression: str, typed: str) -> None:
    found = syntax.statement(text), syntax.expression(text), syntax.typed(text)
    assert found == (State(statement), State(expression), State(typed))


@pytest.mark.parametrize(
    ("text", "comment"),
    [("-- a", True), ("--[[ a\nb ]]", True), ("--[[ a ]] f()", False), ("x = 1 -- a", False)],
)
def test_comments(syntax: Syntax, text: str, comment: bool) -> None:
    assert syntax.is_comment(text) is comment
