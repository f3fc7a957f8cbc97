"""Modules of Python: the examples in docstrings, as the standard library's doctest reads them.

These are the docstrings of the module, and of its classes and functions but for those within
functions; also what is assigned to `__doc__`, and the texts of the table `__test__`. Each has a
namespace of its own, which begins with that of the module: see `in_module`.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from doctest import DocTestParser
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.reading.examples import Block, Line, ModuleName, numbered
from th_shell.docs.settings.settings import PageError

_PACKAGE = "__init__.py"
#: The statements whose parts are of the module or the class that they stand in.
_BRANCHING = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.ClassDef, *_FUNCTIONS)


class _Docstring(NamedTuple):
    """A docstring: the name of what it describes, its first line, and its text."""

    name: str
    line: int
    text: str


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the examples of each docstring as a block. Raises PageError."""
    try:
        module = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise PageError(f"not a module of Python: {error}") from None
    for docstring in sorted(_docstrings(module, ""), key=lambda docstring: docstring.line):
        try:
            inside = _lines(docstring)
        except ValueError as error:
            raise PageError(f"line {docstring.line}: {error}") from None
        if inside:
            place = inside[0].number - 1, inside[-1].number + 1
            name = docstring.name
            yield Block(*place, "python", tuple(inside), heading=name, group=name)


def _docstrings(node: ast.AST, name: str) -> Iterator[_Docstring]:
    """Yield the docstrings of what has one and of what is in it."""
    body: Sequence[ast.AST] = getattr(node, "body", ())
    if isinstance(node, (ast.Module, *_DOCUMENTED)) and body and isinstance(body[0], ast.Expr):
        yield from _texts(name, body[0].value)
    if isinstance(node, _FUNCTIONS):
        return
    for part in ast.iter_child_nodes(node):
        if isinstance(part, _DOCUMENTED):
            yield from _docstrings(part, f"{name}.{part.name}" if name else part.name)
        elif isinstance(part, _BRANCHING):
            yield from _docstrings(part, name)
        elif isinstance(part, ast.Assign):
            yield from _assigned(part)


def _texts(name: str, value: ast.AST) -> Iterator[_Docstring]:
    """Yield an expression as a docstring if it is a text."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield _Docstring(name, value.lineno, value.value)


def _assigned(assignment: ast.Assign) -> Iterator[_Docstring]:
    """Yield what is assigned to a name's `__doc__`, and the texts in the table `__test__`."""
    target, value = assignment.targets[0], assignment.value
    if isinstance(target, ast.Attribute) and target.attr == "__doc__":
        yield from _texts(ast.unparse(target.value), value)
    elif isinstance(target, ast.Name) and target.id == "__test__" and isinstance(value, ast.Dict):
        for key, text in zip(value.keys, value.values, strict=True):
            yield from _texts(ast.unparse(key) if key else "", text)


def _lines(docstring: _Docstring) -> list[Line]:
    """Return the lines of inputs and outputs, without margins. Raises ValueError."""
    lines = numbered(docstring.text.expandtabs().split("\n"), docstring.line)
    inside: list[Line] = []
    for example in DocTestParser().get_examples(docstring.text):
        below = lines[example.lineno + 1 :]
        more = takewhile(lambda line: line.text.lstrip().startswith("..."), below)
        height = 1 + len(list(more)) + example.want.count("\n")
        part = lines[example.lineno : example.lineno + height]
        inside += [Line(line.number, line.text[example.indent :]) for line in part]
    return inside


def in_module(blocks: Sequence[Block], path: Path) -> list[Block]:
    """Return the blocks of a module's page, which run in the namespace of that module."""
    folder, names = path.resolve().parent, [] if path.name == _PACKAGE else [path.stem]
    while (folder / _PACKAGE).exists():
        folder, names = folder.parent, [folder.name, *names]
    return [replace(block, module=ModuleName(str(folder), ".".join(names))) for block in blocks]
