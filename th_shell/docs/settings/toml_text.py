"""Edits the text of a TOML file by its tables: what keeps its value stays, byte for byte.

A table's text begins with the comments right above its header, and ends above those of the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from th_shell.toml import TOMLDecodeError, loads

#: Behind each end of a line.
_LINES = re.compile(r"(?<=\n)")


def tables(text: str) -> list[str]:
    """Return the texts of a file's tables, of which the first has no header."""
    found, lines = list[str](), list[str]()
    for line in _LINES.split(text):
        if _is_header(line) and _is_whole(lines):
            above = len(lines)
            while above and lines[above - 1].startswith("#"):
                above -= 1
            found.append("".join(lines[:above]))
            lines = lines[above:]
        lines.append(line)
    return [*found, "".join(lines)]


def name(table: str) -> str:
    """Return the name in the header of a table; '' for none."""
    first = next(
        filter(None, map(str.strip, re.sub(r"(?m)^[^\S\n]*#.*", "", table).split("\n"))), ""
    )
    return next(iter(loads(first))) if _is_header(first) else ""


def edited(table: str, values: Mapping[str, object]) -> str:
    """Return a table with these values: rows of others are gone, new ones stand in their order."""
    statements = list(_statements(table))
    old = {key: value for _, said in statements for key, value in said.items()}
    new: dict[str, str] = {}  # rows behind that of a key, or behind the header
    place = ""
    for key, value in values.items():
        if key in old:
            place = key
        else:
            new[place] = new.get(place, "") + f"{_row(key, value)}\n"
    found = ""
    for statement, said in statements:
        for key in said:
            if key not in values:
                statement = ""
            elif values[key] != said[key]:
                statement = _row(key, values[key]) + _remark(statement)
            statement += new.get(key, "")
        found += statement + (new.get("", "") if _is_header(statement) else "")
    return found


def without_rows(table: str) -> str:
    """Return what stands behind the last row of a table: comments of what is below."""
    statements = list(_statements(table))
    last = max(at for at, (text, said) in enumerate(statements) if said or _is_header(text))
    return "".join(text for text, _ in statements[last + 1 :])


def joined(texts: Sequence[str]) -> str:
    """Return texts with a blank line between them."""
    found = ""
    for text in filter(None, texts):
        found += "\n"[: bool(found) and not found.endswith("\n\n")] + text
    return found


def _statements(table: str) -> Iterator[tuple[str, dict[str, object]]]:
    """The lines of a table, together where a value has several, and what each row says."""
    lines = list[str]()
    for line in _LINES.split(table):
        lines.append(line)
        if _is_whole(lines):
            text = "".join(lines)
            yield text, {} if _is_header(text) else loads(text)
            lines = []


def _is_header(line: str) -> bool:
    return line.lstrip().startswith("[")


def _is_whole(lines: Sequence[str]) -> bool:
    """Whether no value of several lines is open, in which a line like a header could stand."""
    try:
        loads("".join(lines))
    except TOMLDecodeError:
        return False
    return True


def _remark(row: str) -> str:
    """Return what stands behind the value of a row: a comment, and the end of the line."""
    ends = (match.start() for match in re.finditer(r"(?<![ \t])[ \t]*(?:#|\r?\n\Z)", row))
    return next(row[end:] for end in ends if _is_whole([row[:end]]))


def _row(key: str, value: object) -> str:
    key = key if re.fullmatch(r"[\w-]+", key, re.A) else _quoted(key)
    if isinstance(value, str) and "\n" in value:
        lines = "\n".join(_quoted(line)[1:-1] for line in value.split("\n"))
        return f'{key} = """\n{lines}"""'
    return f"{key} = {_quoted(value)}"


def _quoted(value: object) -> str:
    """A value as TOML has it, whose texts of one line are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
