"""th_shell/docs/compiler.py: what LuaJIT says of a text."""

import pytest

from tests.data_files import data
from th_shell.docs.reading.compiler import Compiler
from th_shell.syntax import Syntax


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler()


@pytest.mark.parametrize(
    ("text", "statement", "expression", "typed"),
    data(__file__, "test_states"),
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
