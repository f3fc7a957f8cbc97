"""Reads Jupyter notebooks (`.ipynb`): cells of code and the outputs that are stored with them.

A notebook is JSON. The line of a line of code is that of the file where its text begins: Jupyter
writes each line of a cell on a line of its own. Of the outputs, text counts: what was printed, a
cell's value as text, and the name and message of an error; pictures do not.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from json import scanner
from typing import Any

from th_shell.docs.reading.comment_values import tell_values
from th_shell.docs.reading.examples import LUA, Block, Line, Role
from th_shell.docs.settings.settings import PageError
from th_shell.patterns import pattern

_HEADING = pattern(r"^#{1,6}[ \t]+(.*)$", re.M)
_SKIP_MARK = "<!-- th-docs: skip -->"  # at the end of the Markdown above a cell
#: As Jupyter's own tools name it, and nbval.
_SKIP_TAGS = frozenset(("skip-execution", "nbval-skip"))
#: Torch7's kernel of notebooks has this package without its being required.
_ITORCH = "itorch = setmetatable({}, {__index = function(_, k) return require('itorch')[k] end})"
_PICTURE = "image/"
#: The names of format 3 for kinds of outputs, as format 4 has them, and for pictures.
_OUTPUTS = {"pyout": "display_data", "pyerr": "error"}
_PICTURES = ("png", "jpeg", "svg")
#: Kinds of outputs that go on where the one before ends: Torch7's kernel cuts its results, too.
_CUT_ANYWHERE = ("stream", "execute_result")
#: Halves of characters, which JSON can write and UTF-8 cannot; and NUL, which a page has not.
_NO_TEXT = pattern(r"[\0\ud800-\udfff]")


def find(lines: Sequence[str]) -> Iterator[Block]:
    """Yield the cells of a notebook of format 3 or 4, each with its output. Raises PageError."""
    text = "\n".join(lines)
    try:
        notebook = _Decoder(text).decode(text)
        yield from _blocks(_cells(notebook), _language(notebook["metadata"]))
    except json.JSONDecodeError as error:
        raise PageError(f"not a notebook: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        raise PageError("not a notebook of format 3 or 4, with cells and their sources") from None


def with_kernel(blocks: Sequence[Block]) -> list[Block]:
    """Return a notebook's blocks; in Lua, below one with what its kernel gives them."""
    if not blocks or blocks[0].language != LUA:
        return list(blocks)
    first = blocks[0].lines[0].number
    return [Block(first, first, LUA, (Line(first, _ITORCH),), role=Role.SETUP), *blocks]


class _Text(str):
    """A string of a notebook; line: where it begins in the file."""

    line: int = 0


_read_string: Callable[[str, int, bool], tuple[str, int]] = vars(json.JSONDecoder())["parse_string"]


class _Decoder(json.JSONDecoder):
    """Reads JSON, of which it places the strings that are values."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._ends = [match.start() for match in re.finditer("\n", text)]
        self.parse_string = self._placed
        # That in C does not ask for `parse_string`.
        self.scan_once = scanner.py_make_scanner(self)  # type: ignore[attr-defined]

    def _placed(self, text: str, start: int, strict: bool) -> tuple[_Text, int]:
        value, end = _read_string(text, start, strict)
        placed = _Text(_NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", value))
        placed.line = bisect_right(self._ends, start) + 1
        return placed, end


def _language(metadata: dict[str, Any]) -> str:
    kernel, language = metadata.get("kernelspec", {}), metadata.get("language_info", {})
    name = kernel.get("language") or language.get("name") or metadata.get("language")
    is_python2 = (
        str(language.get("version", "")).startswith("2.") or kernel.get("name") == "python2"
    )
    return "python2" if is_python2 else str(name or "python").lower()


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cells of a notebook as format 4 has them."""
    if "worksheets" not in notebook:
        cells: list[dict[str, Any]] = notebook["cells"]
        return cells
    return [_upgraded(cell) for sheet in notebook["worksheets"] for cell in sheet["cells"]]


def _upgraded(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a cell of format 3 as format 4 has it."""
    if cell["cell_type"] == "heading":
        return {"cell_type": "markdown", "source": ["# ", *cell["source"]]}
    outputs = [
        {**output, "output_type": _OUTPUTS.get(output["output_type"], output["output_type"])}
        for output in cell.get("outputs", ())
    ]
    for output in outputs:
        if output["output_type"] == "display_data":
            pictures = {f"{_PICTURE}{kind}": output[kind] for kind in _PICTURES if kind in output}
            output["data"] = {"text/plain": output.get("text", []), **pictures}
    source = cell["input"] if cell["cell_type"] == "code" else cell["source"]
    return {**cell, "source": source, "outputs": outputs}


def _blocks(cells: list[dict[str, Any]], language: str) -> Iterator[Block]:
    """Yield the cells with code. Those of Lua that tell values in comments alone are no cells."""
    heading, skip = "", False
    for cell in cells:
        if cell["cell_type"] == "markdown":
            text = "".join(cell["source"])
            for title in _HEADING.findall(text):
                heading = title.rstrip("# ")
            skip = text.rstrip().endswith(_SKIP_MARK)
        elif cell["cell_type"] == "code":
            code = _lines(cell["source"])
            tags = frozenset(map(str, cell.get("metadata", {}).get("tags", ())))
            skip = skip or bool(_SKIP_TAGS & tags)
            if code:
                output = tuple(_outputs(cell.get("outputs", ())))
                last = max(line.number for line in (*code, *output))
                lines = tuple(code)
                place = (lines[0].number, last, language, lines, skip, heading)
                tells = not output and language == LUA and tell_values([x.text for x in code])
                yield Block(*place, output=None if tells else output, marks=tags)
            skip = False


def _outputs(outputs: list[dict[str, Any]]) -> list[Line]:
    """Return the lines of a cell's outputs. A printed text may begin in another one's last line."""
    lines: list[Line] = []
    before = ("", "\n")
    for output in outputs:
        added, kind = _output(output), output["output_type"]
        is_open = bool(added and lines) and before[0] == kind and before[1][-1:] != "\n"
        if is_open and (kind in _CUT_ANYWHERE or not added[0].text):
            lines[-1] = Line(lines[-1].number, lines[-1].text + added.pop(0).text)
        lines += added
        before = kind, "".join(output.get("text") or output.get("data", {}).get("text/plain", ()))
    return lines


def _output(output: dict[str, Any]) -> list[Line]:
    """Return the lines of text that a cell has put out at a time."""
    if output["output_type"] == "stream":
        return _lines(output["text"])
    if output["output_type"] == "error":
        message = f"{output['ename']}: {output['evalue']}" if output["evalue"] else output["ename"]
        return [Line(output["ename"].line, text) for text in message.split("\n")]
    data = output.get("data", {})
    is_picture = any(kind.startswith(_PICTURE) for kind in data)
    return [] if is_picture else _lines(data.get("text/plain", []))


def _lines(text: _Text | Sequence[_Text]) -> list[Line]:
    """Return the lines of one string or several, with their line numbers in the file."""
    parts: Sequence[_Text] = [text] if isinstance(text, _Text) else text
    numbered: list[Line] = []
    unfinished = False
    for part in parts:
        for line in part.splitlines(True):
            if unfinished:
                numbered[-1] = Line(numbered[-1].number, numbered[-1].text + line.rstrip("\n"))
            else:
                numbered.append(Line(part.line, line.rstrip("\n")))
            unfinished = not line.endswith("\n")
    return numbered
