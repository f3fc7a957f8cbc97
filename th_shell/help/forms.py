"""The call forms of torch's operations, from the table of operations.

They have the notation of error messages; each is followed by the first sentence of the
implementation's docstring.
"""

from __future__ import annotations

import re

from th_shell.call_forms import without_types
from th_shell.runtime.shell import ALL, DOUBLE, TABLE, Row

LEGEND = "[x] may be left out, *x* is the destination; of a method, the first one is its object.\n"

#: What a docstring tells those who read the implementation.
_INTERNAL = re.compile(r"; see [\w/]+\.\w+(?: \([^;]*\))?| \(see (?:(?! \(see ).)*?\)| Raises .*")


def call_forms(name: str, owner: str = "") -> list[str]:
    """The forms of an operation, in a section for each way in which it can be called.

    owner: 'torch' for the function, 'Tensor' or 'Storage' for the method, '' for all.
    """
    if "_" in name:
        return []
    keys = {"": (name, f"Storage.{name}"), "Storage": (f"Storage.{name}",)}.get(owner, (name,))
    spaces = {"torch": ("function",), "Tensor": ("method",)}.get(owner, ("function", "method"))
    # The rows that only HalfTensor has are left out.
    found = [[row for row in TABLE.get(key, []) if _is_public(row)] for key in keys]
    return [text for rows in found for text in _section(rows, spaces)]


def _is_public(row: Row) -> bool:
    return any(dtype in ALL for dtype in row.types)


def _section(rows: list[Row], spaces: tuple[str, ...]) -> list[str]:
    """The forms of one operation; once, if method and function have the same ones."""
    if all(row.method == row.function for row in rows) and len(spaces) > 1:
        return [_forms(rows, spaces)] if rows else []
    return [_forms(rows, (space,)) for space in spaces if any(row.form(space) for row in rows)]


def _forms(rows: list[Row], spaces: tuple[str, ...]) -> str:
    owner, _, name = rows[0].name.rpartition(".")
    calls = {"function": f"torch.{name}(...)", "method": f"{'s' if owner else 'x'}:{name}(...)"}
    lines = [", ".join(calls[space] for space in spaces)]
    for row in rows:
        form = row.form(spaces[0])
        if form is not None:
            doc = _first_sentence(row)
            lines += [f"    {_text(form, row)}"] + [f"        {doc}"] * bool(doc)
    return "\n".join(lines) + "\n"


def _first_sentence(row: Row) -> str:
    return _INTERNAL.sub("", (row.implementation.__doc__ or "").partition("\n")[0])


def _text(form: str, row: Row) -> str:
    """A form as error messages print it for one element type, with the types if not all have it."""
    dtype = DOUBLE if DOUBLE in row.types else row.types[0]
    form = without_types(form, f"{dtype.name}Tensor", dtype.real)
    if all(some in row.types for some in ALL):
        return form
    return f"{form}   ({', '.join(some.name for some in row.types)})"
