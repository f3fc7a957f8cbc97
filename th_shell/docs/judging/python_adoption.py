"""Reads a tensor, an array or a number from the text that a page of Python shows for it.

Python shows them as code: `tensor([[1., 2.]], dtype=torch.float64)`, `array([1, 2])`, `0.25`; what
numpy prints, `[1 2]`, has no commas. The numbers go into the printed object, wherever the program
has it; of a number, into its variable.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from th_shell.docs.judging.printout import NUMBER, precision
from th_shell.docs.reading.python_syntax import shown_name

_NUMBER = re.compile(NUMBER)
#: What PyTorch prints of a tensor's history is no code.
_HISTORY = re.compile(r",\s*grad_fn=<\w+>")
_BETWEEN = re.compile(r"(?<=[\w.\]])\s+(?=[-+\w.\[])")
_KINDS = ("array", "tensor")
#: numpy prints so many digits behind the point as one of the numbers has, and eight at most.
_OF_NUMPY, _NUMPY_UNIT = _KINDS[0], 1.01e-8

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


@dataclass(frozen=True)
class PrintedArray:
    """A tensor or an array as it was printed.

    values: in the order of a contiguous one. units: for each, one in its last place, 0 for a whole
    number.
    """

    sizes: tuple[int, ...]
    values: tuple[float, ...]
    units: tuple[float, ...]


def printed_array(text: str) -> PrintedArray | None:
    """The array of numbers that a text shows, and nothing else; None where it does not."""
    text = _as_code(text)
    kind, content = _array(text)
    sizes = _sizes(content) if content else None
    words = _NUMBER.findall(ast.get_source_segment(text, content) or "") if content else []
    if sizes is None or not words or len(words) != prod(sizes):
        return None
    units = tuple(map(precision, words))
    if kind == _OF_NUMPY and not any(0 < unit <= _NUMPY_UNIT for unit in units):
        units = (0.0,) * len(words)
    return PrintedArray(sizes, tuple(map(float, words)), units)


def has_uneven_rows(text: str) -> bool:
    """Whether a text shows a tensor or an array, and nothing else, whose rows differ in length."""
    _, content = _array(_as_code(text))
    return content is not None and _sizes(content) is None


def code_for_array(source: str, values: Sequence[float], sizes: tuple[int, ...]) -> str:
    """Code that copies numbers into what an input has shown."""
    value = shown_name(source) or "__import__('builtins')._"
    numbers = f"[{', '.join(f'float({str(value)!r})' for value in values)}]"
    return f"exec({_COPY!r}, {{'value': {value}, 'numbers': {numbers}, 'sizes': {sizes!r}}})"


def code_for_number(name: str, value: float, is_whole: bool) -> str:
    """Code that gives a variable a number."""
    return f"{name} = {int(value)}" if is_whole else f"{name} = float({str(value)!r})"


def _as_code(text: str) -> str:
    """A printed tensor or array as Python shows it."""
    text = _HISTORY.sub("", text.strip())
    is_printed = text.startswith("[") and "," not in text
    return f"{_OF_NUMPY}({_BETWEEN.sub(', ', text)})" if is_printed else text


def _array(text: str) -> tuple[str, ast.expr | None]:
    """What a text shows, of `_KINDS`, and its content; '' and None where it is none."""
    call = _parsed(text)
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or not call.args:
        return "", None
    return (call.func.id, call.args[0]) if call.func.id in _KINDS else ("", None)


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _sizes(value: ast.expr) -> tuple[int, ...] | None:
    """The sizes of nested lists; None where they are no array."""
    if not isinstance(value, ast.List):
        return ()
    inner = {_sizes(element) for element in value.elts}
    if len(inner) > 1 or None in inner:
        return None
    below = inner.pop() if inner else ()
    assert below is not None
    return (len(value.elts), *below)
