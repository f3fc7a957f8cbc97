"""th_shell/docs/compiler.py: what LuaJIT says of a text."""

import pytest

from th_shell.docs.reading.compiler import Compiler
from th_shell.syntax import Syntax


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler()


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
def test_states(compiler: Compiler, text: str, statement: str, expression: str, typed: str) -> None:
    found = compiler.statement(text), compiler.expression(text), compiler.typed(text)
    assert found == (Syntax(statement), Syntax(expression), Syntax(typed))


@pytest.mark.parametrize(
    ("text", "comment"),
    [("-- a", True), ("--[[ a\nb ]]", True), ("--[[ a ]] f()", False), ("x = 1 -- a", False)],
)
def test_comments(compiler: Compiler, text: str, comment: bool) -> None:
    assert compiler.is_comment(text) is comment
