"""``? name`` at the prompt: the help text on a name.

For an operation of torch, it lists the operation's call forms, in the notation of error messages,
each with the first line of the implementation's docstring. For any other name, it has the Lua type
and the names that can follow it.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Mapping
from difflib import get_close_matches

from runtime import ALL, DOUBLE, TABLE, Row

__all__ = ["OVERVIEW", "about"]

OVERVIEW = """\
th runs Lua, line by line, with torch in it. At the prompt:

  1 + 2                   prints the value (also = 1 + 2); with ; at the end it does not
  x = torch.randn(2, 3)   defines a global; locals end with their input
  _LAST, _RESULTS         the last value printed; all of them
  ? torch.sum             the call forms of a function; ? torch lists names
  $ ls -l                 a command of the system's shell; _LAST is its output
  Tab                     completes names, methods after ':', files inside quotes
  Up, Ctrl-R              former inputs
  Ctrl-C                  drops the line, or stops what runs
  exit, Ctrl-D            leave

An input that is not complete goes on in the next line, at the prompt '..>'.
"""

Names = Callable[[str], Mapping[str, str]]

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*$", re.ASCII)
_LEGEND = "[x] may be left out, *x* is the destination; of a method, the first one is its object.\n"


def about(name: str, names: Names) -> str:
    """The help text on a name, which may have a path before it.

    names: a function that gives the names that may follow a dotted path, with their Lua types.
    """
    name = re.sub(r"\s*\(\s*\)\s*;?$", "", name.strip())
    if not _PATH.match(name):
        return "? takes a name, as in: ? torch.randn\n"
    path, _, last = name.replace(":", ".").rpartition(".")
    around = names(path)
    kind = around.get(last)
    rows = _rows(last) if _is_of_torch(path, around) and kind in ("function", None) else []
    if rows:
        return "\n".join(map(_section, rows)) + _LEGEND
    if kind is None:
        return _unknown(name, last)
    return _described(name, kind, names(name.replace(":", ".")))


def _is_of_torch(path: str, around: Mapping[str, str]) -> bool:
    # string.rep, say, is not of torch, even if an operation has the same name.
    return path in ("", "torch") or not around or "__typename" in around


def _rows(name: str) -> list[list[Row]]:
    if "_" in name:
        return []
    # The rows that only HalfTensor has are left out.
    found = [TABLE.get(key, []) for key in (name, f"Storage.{name}")]
    sections = [[row for row in rows if any(t in ALL for t in row.types)] for rows in found]
    return [rows for rows in sections if rows]


def _section(rows: list[Row]) -> str:
    """The forms of one operation; once, if method and function have the same ones."""
    if all(row.method == row.function for row in rows):
        return _forms(rows, ("function", "method"))
    spaces = [s for s in ("function", "method") if any(row.form(s) for row in rows)]
    return "".join(_forms(rows, (space,)) for space in spaces)


def _forms(rows: list[Row], spaces: tuple[str, ...]) -> str:
    owner, _, name = rows[0].name.rpartition(".")
    calls = {"function": f"torch.{name}(...)", "method": f"{'s' if owner else 'x'}:{name}(...)"}
    lines = [", ".join(calls[space] for space in spaces)]
    for row in rows:
        form = row.form(spaces[0])
        if form is not None:
            doc = (row.implementation.__doc__ or "").partition("\n")[0]
            lines += [f"    {_text(form, row)}"] + [f"        {doc}"] * bool(doc)
    return "\n".join(lines) + "\n"


def _text(form: str, row: Row) -> str:
    """A form as error messages print it for one element type, with the types if not all have it."""
    dtype = DOUBLE if DOUBLE in row.types else row.types[0]
    form = re.sub(r"<[^>]*>|=[^\s\]>*]+", "", form)
    form = re.sub(r"\bT\b", f"{dtype.name}Tensor", form)
    form = re.sub(r"\b(?:acc)?real\b", dtype.real, form)
    form = " ".join(form.split())
    if all(some in row.types for some in ALL):
        return form
    return f"{form}   ({', '.join(some.name for some in row.types)})"


def _described(name: str, kind: str, inner: Mapping[str, str]) -> str:
    if kind == "function":
        return f"{name}: a function of Lua, without call forms of its own\n"
    public = [n for n in sorted(inner, key=str.lower) if not n.startswith("_")]
    text = f"{name}: {kind}" + (", and after it:" if public else "")
    listed = textwrap.fill(" ".join(public), 78, initial_indent="  ", subsequent_indent="  ")
    return text + "\n" + (listed + "\n" if public else "")


def _unknown(name: str, last: str) -> str:
    close = get_close_matches(last, [n for n in TABLE if "." not in n and "_" not in n])
    hint = f"; there is {', '.join(close)}" if close else ""
    return f"nothing is known about {name}{hint}\n"
