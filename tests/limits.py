"""The limits of the code: sizes at which one way to compute gives place to another.

They are read from the sources, where constants have names such as MAX_ROWS, LARGE or FEW: so a new
limit is known here without anyone remembering it.
"""

import ast
import operator
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

RUNTIME = Path(__file__).parent.parent / "runtime"

_NAME = re.compile(r"_?(?:MAX|MIN|MOST|FEW|LARGE|SMALL|MANY|PIECE|ROOM|LIMIT|SUMS|CHUNK)[A-Z_]*")
_NUMBER = r"[\d_]+(?:\s*(?:\*\*|\*|\^|<<)\s*[\d_]+)?"
# Names and values of one statement: `local MAX_SORTED, WIDTH = 2048, size`, `{ MAX = 16000 }`.
_ASSIGNMENT = re.compile(
    r"(?:^|[\s{])([\w, ]*\w)\s*(?::\s*\w+\s*)?=(?!=)[ \t]*([^\n]+)", re.MULTILINE
)
_LEAST, _MOST = 8, 200_000  # below, every test has such sizes; beyond, tensors would take too long


@cache
def limits() -> dict[str, int]:
    """The limits from 8 to 200,000 by module and name: 'compute/thread_pool.py LARGE'."""
    return {name: value for name, value in _constants().items() if _LEAST <= value <= _MOST}


@cache
def _constants() -> dict[str, int]:
    return dict(_read_constants())


def _read_constants() -> Iterator[tuple[str, int]]:
    for path in sorted([*RUNTIME.rglob("*.py"), *RUNTIME.rglob("*.lua")]):
        for names, values in _ASSIGNMENT.findall(path.read_text().replace("{", "\n")):
            names = names.removeprefix("local ")
            for name, value in zip(names.split(","), values.split(","), strict=False):
                number = re.match(rf"\s*({_NUMBER})\s*(?:$|[}}#)]|--)", value)
                if _NAME.fullmatch(name.strip()) and number:
                    yield f"{path.relative_to(RUNTIME)} {name.strip()}", _value(number[1])


def _value(text: str) -> int:
    """The value of a product or power of two whole numbers."""
    words = re.split(r"\s*(\*\*|\*|<<)\s*", text.replace("^", "**"))
    numbers = [int(ast.literal_eval(word)) for word in words[::2]]
    if len(numbers) == 1:
        return numbers[0]
    operators = {"*": operator.mul, "**": operator.pow, "<<": operator.lshift}
    return int(operators[words[1]](*numbers))


class Limits:
    """Limits of loaded Python modules, which a test may set."""

    def __init__(self, *rooms: str) -> None:
        """rooms: of modules, such as 'ops'."""
        self._known: dict[tuple[object, str], int] = {}
        constants = {
            (name.split()[1], size) for name, size in _constants().items() if size >= _LEAST
        }
        for name, module in list(sys.modules.items()):
            if name.startswith(tuple(f"runtime.{room}." for room in rooms)):
                for constant, size in constants:
                    if getattr(module, constant, None) == size:
                        self._known[module, constant] = size

    def set(self, size: int | None) -> None:
        """Set all; None: to what they are."""
        for (module, constant), own in self._known.items():
            setattr(module, constant, own if size is None else size)
