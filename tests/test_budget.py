"""The lines of code of the product stay within the budget that pyproject.toml states."""

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from th_shell.docs.settings.options import read_toml

TOP = Path(__file__).parents[1]
_NO_CODE = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}


def python_lines(text: str) -> int:
    """Count the lines of Python that have code: neither comments nor docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    lines = {
        line
        for token in tokens
        if token.type not in _NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - set(docstring_lines(ast.parse(text))))


def docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Go through the numbers of the lines that docstrings have."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node) is not None:
                first = node.body[0]
                yield from range(first.lineno, (first.end_lineno or first.lineno) + 1)


def lua_lines(text: str) -> int:
    """Count the lines of Lua that have code."""
    text = re.sub(r"--\[(=*)\[.*?\]\1\]", "", text, flags=re.DOTALL)
    lines = map(str.strip, text.splitlines())
    return sum(1 for line in lines if line and not line.startswith("--"))


@pytest.mark.thorough
def test_the_lines_of_code_are_within_the_budget() -> None:
    budget = read_toml(TOP / "pyproject.toml")["tool"]["th-shell"]["lines-of-code"]
    files = [p for room in ("runtime", "th_shell") for p in (TOP / room).rglob("*.[pl][yu]*")]
    count = sum(
        (python_lines if path.suffix == ".py" else lua_lines)(path.read_text())
        for path in files
        if path.suffix in (".py", ".lua")
    )
    assert count <= budget, "take away as much as you add, or say in pyproject.toml why not"


def test_what_counts_as_code() -> None:
    assert python_lines('"""Text."""\n\n# remark\nx = """a\nb"""\n') == 2
    assert lua_lines("-- remark\nlocal x = 1 -- one\n\n--[[ more\nremarks ]]\n") == 1
