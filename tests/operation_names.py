"""The names of all operations, as Lua knows them at its start, when no operation is loaded yet.

They stand in ``lua/tensor/operations.lua``, where they are written from the table of operations by

    .venv/bin/python -m tests.operation_names

It is part of the sources rather than made at the first start: so it can be read-only and needs no
trust, and ``tests/runtime/host/test_listing.py`` says where it is not up to date.
"""

import re
from pathlib import Path
from textwrap import wrap

from tests.formula_checks import check_formulas
from th_shell.runtime.calls.table import TABLE
from th_shell.runtime.compute import formulas
from th_shell.runtime.ops import ROWS_ADDED

#: The file.
PATH = Path(__file__).parents[1] / "runtime" / "lua" / "tensor" / "operations.lua"

_WIDTH = 100  # of a line


def listing() -> str:
    """The file's text with the names of all operations in place of those that it has.

    Raises ValueError where an operation's formula does not suit it.
    """
    assert ROWS_ADDED
    check_formulas()
    alike: dict[str, list[str]] = {}
    for name in filter(_where, TABLE):
        alike.setdefault(f"{_where(name)}{_mark(name)}: ", []).append(name)
    lines = [
        f"{start}{line}\n"
        for start, names in alike.items()
        for line in wrap(" ".join(names), _WIDTH - len(start))
    ]
    head, begin, rest = PATH.read_text().partition("[[\n")
    return head + begin + "".join(lines) + rest[rest.index("]]") :]


def _where(name: str) -> str:
    rows = TABLE[name]
    indices = {dtype.index for row in rows if row.method is not None for dtype in row.types}
    is_function = "." not in name and any(row.function is not None for row in rows)
    return "t" * is_function + "".join(map(str, sorted(indices)))


def _mark(name: str) -> str:
    rows = TABLE[name]
    small = "+" if any(row.small for row in rows) else ""
    if formulas.has_formula(name):
        return "*" + small
    typed = any(row.method or re.search(r"\b(T|real)\b", row.function or "") for row in rows)
    return small if typed else "!"


if __name__ == "__main__":
    PATH.write_text(listing())
