"""Splits the text of a notebook into cells: `In [1]:`, the code, and what stands under it.

The code stands behind `In [1]:` and the marks `...:` of further lines, as IPython prints it. Where
a page shows a notebook, it stands below `In [1]:` instead, and its output in further paragraphs
without a mark, or with `Out[1]:` before it. Then the parser of Python decides which paragraphs are
code: an expression of names without a value, such as `tensor([1., 2.])`, is output. So is one that
may be a printed value, `torch.Size([2])`, under code whose value is shown.
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from th_shell import python_syntax
from th_shell.docs.reading.examples import Line
from th_shell.docs.reading.prose import output_of, words_in
from th_shell.patterns import pattern
from th_shell.syntax import Syntax

#: The mark before the code of a cell.
CELL = pattern(r"^\s*In ?\[(?P<number>[\d ]*)\]:(?: (?P<input>.*)|\s*)$")

#: The beginning of code that may go on behind a blank line: of a function, a loop, an assignment.
_BEGINS = pattern(
    r"@\w|(?:async )?def \w|class \w|for .+ in |(?:if|while|with|try)\b.*:"
    r"|[\w.\[\], ]+ ?(?:[-+*/|&%]|//|\*\*)?=(?!=)"
)
_MORE = pattern(r"^\s*\.{3,}:(?: (?P<input>.*)|\s*)$")
_OUT = pattern(r"^\s*Out ?\[(?P<number>[\d ]*)\]:\s?(?P<text>.*)$")


class Cell(NamedTuple):
    """A cell of a notebook: its code, and the text under it without `Out[1]:`."""

    #: The line of `In [1]:`.
    start: int
    #: The number in the brackets, '' where there is none.
    number: str
    #: The lines of code, without marks.
    code: tuple[Line, ...]
    #: The lines of output.
    output: tuple[Line, ...]


def cells(lines: Sequence[Line], with_prose: bool) -> list[Cell]:
    """Return the cells in lines of a page.

    with_prose: whether the author's text may stand between them, so that not all is output.
    """
    all_cells: list[Cell] = []
    reader = _Reader(with_prose)
    marks = [at for at, line in enumerate(lines) if CELL.match(line.text)]
    for at, end in zip(marks, [*marks[1:], len(lines)], strict=True):
        # A session, too, ends a cell of a page that has both.
        prompts = (
            i for i in range(at, end) if with_prose and python_syntax.PROMPT.match(lines[i].text)
        )
        all_cells.append(reader.read(lines[at], lines[at + 1 : next(prompts, end)]))
    return _with_late_outputs(all_cells)


class _Reader:
    """Reads one cell after the other."""

    def __init__(self, with_prose: bool) -> None:
        self._with_prose = with_prose
        self._words: set[str] = set()  # in the code of all cells so far
        self._names = set(python_syntax.BUILTINS)
        self._variables: set[str] = set()

    def read(self, mark: Line, below: Sequence[Line]) -> Cell:
        match = CELL.match(mark.text)
        assert match
        if match["input"]:
            code, used = _typed(Line(mark.number, match["input"]), below)
        else:
            code, used = self._paragraphs(below)
        source = python_syntax.without_magics("\n".join(line.text for line in code))
        self._words |= words_in(source)
        self._names |= python_syntax.bound_names(source)
        self._variables |= python_syntax.variables(source)
        output = below[used:]
        if self._with_prose and python_syntax.only_defines(source):
            output = ()
        elif self._with_prose:
            texts = [_OUT.sub(r"\g<text>", line.text) for line in output]
            output = output[: output_of(texts, self._words, paragraphs=True)]
        return Cell(mark.number, match["number"].strip(), tuple(code), tuple(output))

    def _paragraphs(self, below: Sequence[Line]) -> tuple[list[Line], int]:
        """Return the paragraphs that are code, and how many lines they take."""
        source, used = "", 0
        for start, end in _paragraphs(below):
            text = "\n".join(line.text for line in below[start:end])
            if not self._is_code(source, text):
                break
            source, used = f"{source}\n\n{text}" if source else text, end
        return list(below[:used]), used

    def _is_code(self, above: str, text: str) -> bool:
        if not above:
            return True
        above = python_syntax.without_magics(above)
        state = python_syntax.syntax(above)
        if state is Syntax.INCOMPLETE or text[0].isspace():
            return python_syntax.syntax(f"{above}\n\n{text}") is not Syntax.WRONG
        body = python_syntax.statements(python_syntax.without_magics(text))
        if _BEGINS.match(text) and python_syntax.syntax(text) is Syntax.INCOMPLETE:
            return True
        if not body or not all(isinstance(node, ast.Expr) for node in body):
            return any(not _may_be_printed(node) for node in body)
        names = python_syntax.read_names(text)
        if not names or not names <= self._names | python_syntax.bound_names(above):
            return False
        shown = python_syntax.shown_name(above)
        of_program = (
            self._variables | python_syntax.variables(above) | python_syntax.FUNCTIONS
        ) - {shown}
        if names & of_program:
            return True
        return not (all(map(_may_be_printed, body)) and python_syntax.ends_with_value(above))


def _typed(first: Line, below: Sequence[Line]) -> tuple[list[Line], int]:
    """Return the code of a cell that IPython has printed, and the number of lines used below."""
    code = [first]
    for line in below:
        more = _MORE.match(line.text)
        if not more:
            break
        code.append(Line(line.number, more["input"] or ""))
    return code, len(code) - 1


def _paragraphs(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    for is_text, group in groupby(enumerate(lines, 1), lambda pair: bool(pair[1].text.strip())):
        if is_text:
            places = [at for at, _ in group]
            yield places[0] - 1, places[-1]


def _may_be_printed(statement: ast.stmt) -> bool:
    """Return whether a line may be output that only looks like code: a value, or `name: value`."""
    if isinstance(statement, ast.AnnAssign):
        return statement.value is None
    return isinstance(statement, ast.Expr) and _is_printed_value(statement.value)


#: The expressions that printed values look like, beside names.
_PRINTED = (ast.Call, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.UnaryOp, ast.Constant)


def _is_printed_value(value: ast.AST) -> bool:
    """Return whether an expression may be a printed value: literals, or an object of such."""
    if isinstance(value, ast.Name):
        return value.id in python_syntax.CLASSES
    called, inside = getattr(value, "func", None), ast.iter_child_nodes(value)
    values = (
        node for node in inside if isinstance(node, ast.expr | ast.keyword) and node != called
    )
    is_one = isinstance(value, (*_PRINTED, ast.keyword)) and all(map(_is_printed_value, values))
    return is_one or isinstance(value, ast.Attribute)


def _with_late_outputs(all_cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells, to each of which belong the outputs that have its number."""
    at_number = {cell.number: at for at, cell in enumerate(all_cells) if cell.number}
    outputs: list[list[Line]] = [[] for _ in all_cells]
    for at, cell in enumerate(all_cells):
        owner = at
        for line in cell.output:
            out = _OUT.match(line.text)
            if out:
                owner = at_number.get(out["number"].strip(), at)
                line = Line(line.number, out["text"])
            outputs[owner].append(line)
    pairs = zip(all_cells, outputs, strict=True)
    return [cell._replace(output=tuple(output)) for cell, output in pairs]
