"""Writes code that gives a page's variables the random values that the page documents.

An example that prints random numbers documents some that no run prints again. The page computes its
further results from these numbers. So they are copied into the printed value, and all that follows
is compared exactly.

A cell of Python may print random numbers, and then results of them. Behind the print, code is put
into the cell that gives the variable the documented numbers, so that the rest of the cell can be
compared with the page, too.

Python shows a tensor, an array or a number as code: `tensor([[1., 2.]], dtype=torch.float64)`,
`array([1, 2])`, `0.25`; numpy's own printing, `[1 2]`, has no commas. The numbers are copied into
the printed object itself, whichever names it has; a plain number is assigned to its variable.
"""

import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import prod
from typing import NamedTuple

from th_shell.docs.judging.printout import NUMBER, PrintedTensor, precision, printed_tensors, same
from th_shell.docs.reading.examples import PYTHON, Example, Kind
from th_shell.docs.reading.prose import open_brackets
from th_shell.patterns import pattern
from th_shell.python_syntax import expression, shown_name, statements

_NAME = pattern(r"=?\s*([A-Za-z_]\w*)\s*(?:;\s*)?")
_ALONE = pattern(rf"\s*({NUMBER})\s*")
#: Expressions for the numbers that have no literals in Lua.
_NO_LITERALS = {"nan": "(0 / 0)", "inf": "(1 / 0)", "-inf": "(-1 / 0)"}
#: A literal that looks rounded: as many digits as tensors are printed with, or more.
_ROUNDED = pattern(r"(?<![\w.])\d+\.\d{4,}(?![\w.])")


def code_to_adopt(example: Example, vary: bool = False) -> str:
    """Return code that gives the value that an example has printed the documented numbers.

    Returns '' where there is no such code: it takes one tensor, or one number that a variable has.
    vary: change each number by up to half a unit in its last place.
    """
    if number := _ALONE.fullmatch(example.expected):
        (value,) = _all_varied([float(number[1])], [precision(number[1])], vary)
        return _code_for_number(example, number[1], value)
    if example.language == PYTHON:
        array = printed_array(example.expected)
        values = _all_varied(array.values, array.units, vary) if array else []
        return _code_for_array(example.source, values, array.sizes) if array else ""
    tensors = list(printed_tensors(example.expected))
    if len(tensors) != 1 or tensors[0].problem or not tensors[0].class_name.endswith("Tensor"):
        return ""
    (tensor,) = tensors
    written = ", ".join(map(_literal, _all_varied(tensor.values, tensor.units, vary)))
    sizes = ", ".join(map(str, tensor.sizes))
    shown = "x".join(map(str, tensor.sizes))
    return (
        f"if torch.typename(_LAST) == '{tensor.class_name}' and "
        f"table.concat(_LAST:size():totable(), 'x') == '{shown}' then "
        f"_LAST:copy(torch.DoubleTensor({{{written}}}):view({sizes})) end"
    )


def _code_for_number(example: Example, shown: str, value: float) -> str:
    """Return code that assigns a number to the variable that an input shows; '' if none."""
    if example.language == PYTHON:
        name, is_whole = shown_name(example.source), shown.lstrip("+-").isdigit()
        code = str(int(value)) if is_whole else f"float({str(value)!r})"
    else:
        match = _NAME.fullmatch(example.source)
        name, code = match[1] if match else "", _literal(value)
    return f"{name} = {code}" if name else ""


def _all_varied(values: Sequence[float], units: Sequence[float], vary: bool) -> list[float]:
    """Return numbers, changed within their rounding if vary is true."""
    chance = random.Random(1)
    pairs = zip(values, units, strict=True)
    return [_varied(value, unit, chance, vary) for value, unit in pairs]


def vary_literals(source: str) -> str:
    """Change the rounded literals of an input by up to half a unit in their last places."""
    chance = random.Random(source.encode("utf-8", "surrogateescape"))

    def varied(match: re.Match[str]) -> str:
        return _literal(_varied(float(match[0]), precision(match[0]), chance, True))

    return _ROUNDED.sub(varied, source)


def _varied(value: float, unit: float, chance: random.Random, vary: bool) -> float:
    # A change near 0 would not tell how far what follows may be off.
    """Return a number, changed by a quarter to half a unit if vary is true."""
    return value + chance.choice((-1, 1)) * chance.uniform(0.25, 0.5) * unit if vary else value


def _literal(value: float) -> str:
    """Return a number as an expression of Lua."""
    return _NO_LITERALS.get(repr(value), repr(value))


class _Print(NamedTuple):
    """A statement that shows a value."""

    #: The variable that it shows, or ''.
    name: str
    #: The line in which it ends, from 1.
    line: int


def cell_to_adopt(example: Example, outputs: Sequence[str], vary: bool = False) -> str:
    """Return the source of a cell with adopting code behind each print of a random value.

    Returns '' where no code is to be added. outputs: texts of runs, which differ where they depend
    on chance. vary: see `code_to_adopt`.
    """
    if example.language != PYTHON or example.kind is not Kind.CELL:
        return ""
    prints = list(_prints(example.source))
    documented, *runs = (shown_texts(text) for text in (example.expected, *outputs))
    if len(prints) < 2 or any(len(texts) != len(prints) for texts in (documented, *runs)):
        return ""
    added: dict[int, str] = {}
    for statement, expected, *printed in zip(prints[:-1], documented, *runs, strict=False):
        if statement.name and not all(same(printed[0], text) for text in printed):
            shown = replace(example, source=statement.name, expected=expected)
            added[statement.line] = code_to_adopt(shown, vary)
    return _with_lines(example.source, added) if any(added.values()) else ""


def shown_texts(text: str) -> list[str]:
    """Split a text into those of its statements: each a line, or lines within brackets."""
    texts: list[str] = []
    opened = 0
    for line in text.split("\n"):
        if opened > 0:
            texts[-1] += "\n" + line
        elif line.strip():
            texts.append(line)
        opened += open_brackets(line)
    return texts


def _prints(source: str) -> Iterator[_Print]:
    """Yield the statements of a cell that show a value; none where others may print, too."""
    body = statements(source)
    ends = [node.end_lineno or 0 for node in body]
    for number, node in enumerate(body):
        text = ast.get_source_segment(source, node) or ""
        is_last = number == len(body) - 1
        if isinstance(node, ast.Expr) and (is_last or text.startswith("print(")):
            own_line = is_last or body[number + 1].lineno > ends[number]
            yield _Print(shown_name(text) if own_line else "", ends[number])


def _with_lines(source: str, added: dict[int, str]) -> str:
    """Return a source with further lines behind some of its own, by line number from 1."""
    lines = enumerate(source.split("\n"), 1)
    return "\n".join(f"{line}\n{added[at]}" if added.get(at) else line for at, line in lines)


_NUMBER = pattern(NUMBER)
#: The part of a printed tensor that names its history, which is no code.
_HISTORY = pattern(r",\s*grad_fn=<\w+>")
_BETWEEN = pattern(r"(?<=[\w.\]])\s+(?=[-+\w.\[])")
#: numpy prints so many digits behind the point as one of the numbers has, and eight at most.
_OF_NUMPY, _NUMPY_UNIT = "array", 1.01e-8

#: Copies numbers into a tensor of torch or an array of numpy that has these sizes.
_COPY = """\
def copy(value, numbers, sizes):
    import sys
    if tuple(getattr(value, 'shape', ())) != sizes:
        return
    if hasattr(value, 'copy_'):
        torch = sys.modules['torch']
        made = torch.tensor(numbers, dtype=torch.float64).reshape(sizes)
        value.detach().copy_(made)
    elif type(value).__module__ == 'numpy':
        import numpy
        value[...] = numpy.reshape(numbers, sizes)
try:
    copy(value, numbers, sizes)
except Exception:
    pass
"""


def printed_array(text: str) -> PrintedTensor | None:
    """Return the array of numbers that a whole text shows; None for other texts."""
    text = _as_code(text)
    kind, content = _array(text)
    sizes = _sizes(content) if content else None
    words = _NUMBER.findall(ast.get_source_segment(text, content) or "") if content else []
    if sizes is None or not words or len(words) != prod(sizes):
        return None
    units = tuple(map(precision, words))
    if kind == _OF_NUMPY and not any(0 < unit <= _NUMPY_UNIT for unit in units):
        units = (0.0,) * len(words)
    return PrintedTensor(kind, sizes, tuple(map(float, words)), units, count=len(words))


def has_uneven_rows(text: str) -> bool:
    """Tell whether a whole text shows a tensor or an array whose rows differ in length."""
    _, content = _array(_as_code(text))
    return content is not None and _sizes(content) is None


def _code_for_array(source: str, values: Sequence[float], sizes: tuple[int, ...]) -> str:
    """Return code that copies numbers into the value that an input has shown."""
    value = shown_name(source) or "__import__('builtins')._"
    numbers = f"[{', '.join(f'float({str(value)!r})' for value in values)}]"
    return f"exec({_COPY!r}, {{'value': {value}, 'numbers': {numbers}, 'sizes': {sizes!r}}})"


def _as_code(text: str) -> str:
    """Return a printed tensor or array as an expression of Python."""
    text = _HISTORY.sub("", text.strip())
    is_printed = text.startswith("[") and "," not in text
    return f"{_OF_NUMPY}({_BETWEEN.sub(', ', text)})" if is_printed else text


def _array(text: str) -> tuple[str, ast.expr | None]:
    """Return the name, `array` or `tensor`, of a shown value, and its content; or '' and None."""
    match expression(text):
        case ast.Call(ast.Name("array" | "tensor" as kind), [content, *_]):
            return kind, content
    return "", None


def _sizes(value: ast.expr) -> tuple[int, ...] | None:
    """Return the sizes of nested lists; None where they are no array."""
    if not isinstance(value, ast.List):
        return ()
    inner = {_sizes(element) for element in value.elts}
    below = inner.pop() if inner else ()
    return None if inner or below is None else (len(value.elts), *below)
