"""Compares printed tables by their contents, in any of the notations of Lua, th and Torch7.

Pages show tables as Lua code, `{10, 20}`, also with strings that have no quotes, `{jan, smit}`. th
and Torch7 print a field in each line, `1 : 10`, and other programs print code with fields in
another order. All of these are read into the same values. Tables that stand among other lines are
compared line by line, with their fields in order.
"""

from collections.abc import Callable, Iterator, Sequence

from th_shell.docs.judging.printout import is_number
from th_shell.patterns import pattern

_STRING = r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
_MARKS = r"{}\[\]=,;:\"'"
_ITEM = rf"(?:{_STRING}|[^\s{_MARKS}](?:[^\n{_MARKS}]*[^\s{_MARKS}])?)"
_TOKEN = pattern(
    rf"\s*(?:(?P<open>{{)|(?P<close>}})|(?P<mark>[,;])|\[\s*(?P<bracketed>{_ITEM})\s*\]\s*="
    rf"|(?P<key>{_ITEM})\s*[=:]|(?P<value>{_ITEM}))"
)
#: An object that a table holds: its address is no value of a key `function`.
_OBJECT = pattern(r"\b(function|table|userdata|thread): (?:builtin#\d+|(?:0x)?[0-9A-Fa-f]{8,16}\b)")
_FIELD = pattern(r"\s*(?P<key>\S.*?)[:=](?!\S)")  # of a table in lines
#: The first line of a printed collection of tds.
_COLLECTION = pattern(r"tds\.\w+\[\d+\]\{")
_ESCAPE = pattern(r"\\(.)")
_DEEPEST = 50  # tables in tables
_LONGEST = 20_000  # characters of a text


class _Word(str):
    """A number, or a word without quotes."""


#: A string, or another word; or the fields of a table by their keys.
_Value = str | dict[str, "_Value"]


def same_tables(expected: str, got: str, equal: Callable[[str, str], bool]) -> bool:
    """Tell whether two texts are one table each, with the same fields in any order.

    equal: compares words that are no strings, such as numbers. Strings must have the same
    characters; where the page has no quotes, the printed string need not have any.
    """

    def agree(documented: _Value, printed: _Value) -> bool:
        if isinstance(documented, _Word) and isinstance(printed, _Word):
            return equal(documented, printed)
        return documented == printed

    return _agree(_tables(expected, got), agree)


def like_tables(expected: str, first: str, second: str) -> bool:
    """Tell whether texts are tables with equal fields, except numbers in which two runs differ."""
    return _agree(_tables(expected, first, second), _like)


def _like(*values: _Value) -> bool:
    """Tell whether a documented value fits those of two runs: equal, or numbers that differ."""
    documented, first, second = values
    if first == second:
        return documented == first
    return all(isinstance(value, _Word) and is_number(value) for value in values)


def _tables(*texts: str) -> list[_Value]:
    """Return the tables that texts are; an empty list where one of them is something else."""
    if "{" not in texts[0] or max(map(len, texts)) > _LONGEST:
        return []
    marked = (_OBJECT.sub(r"\1@", text) for text in texts)
    values = [value for value in map(_read, marked) if value is not None]
    return values if len(values) == len(texts) else []


def _agree(values: Sequence[_Value], equal: Callable[..., bool]) -> bool:
    """Tell whether values, at least one, are equal, or tables with equal fields."""
    tables = [value for value in values if isinstance(value, dict)]
    if not tables or len(tables) < len(values):
        return bool(values) and equal(*values)
    return all(table.keys() == tables[0].keys() for table in tables) and all(
        _agree([table[key] for table in tables], equal) for key in tables[0]
    )


def in_order(text: str) -> list[str]:
    """Return the lines of a text, where a table in lines is one, its fields sorted by their keys.

    A line without a key belongs to the field above it, as does a table to its own.
    """
    lines: list[str] = []
    opened: list[list[list[str]]] = []  # of each table that is open the fields, as their lines
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("}") and opened:
            fields = sorted(opened.pop(), key=_key)
            (opened[-1][-1] if opened else lines)[-1] += "\n".join(["", *sum(fields, []), line])
        elif opened:
            if _FIELD.match(line) or not opened[-1]:
                opened[-1].append([])
            opened[-1][-1].append(line)
        else:
            lines.append(line)
        if bare == "{" or bare.endswith("{") and (opened or _COLLECTION.fullmatch(bare)):
            opened.append([])
    return text.split("\n") if opened else lines


def _key(lines: Sequence[str]) -> str:
    """Return the key with which the lines of a field begin."""
    field = _FIELD.match(lines[0])
    return field["key"].rstrip() if field else ""


class _NoTableError(Exception):
    """A text is not one table."""


def _read(text: str) -> _Value | None:
    """Return the table that a text is; None where it is something else."""
    tokens = _tokens(text.strip())
    try:
        is_table = next(tokens, ("", ""))[0] == "open"
        value = _table(tokens, 0) if is_table else None
        return None if next(tokens, None) else value
    except _NoTableError:
        return None


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kinds and the texts of the tokens of a table. Raises _NoTableError."""
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if not token or not token.lastgroup:
            raise _NoTableError
        at = token.end()
        yield token.lastgroup, token[token.lastgroup].strip()


def _table(tokens: Iterator[tuple[str, str]], depth: int) -> dict[str, _Value]:
    """Read the fields up to the closing brace. depth: how many tables are around this one."""
    fields: dict[str, _Value] = {}
    key: str | None = None
    number, may_end = 0, False
    for kind, text in tokens:
        if kind == "close" and key is None:
            return fields
        if kind == "mark" and may_end:  # th writes none behind a field
            may_end = False
        elif kind in ("key", "bracketed") and key is None:
            key, may_end = _item(text), False
        elif kind in ("open", "value") and depth <= _DEEPEST:
            value = _table(tokens, depth + 1) if kind == "open" else _item(text)
            number += 1 if key is None else 0
            name = str(number) if key is None else key
            if name in fields:
                raise _NoTableError
            fields[name] = value
            key, may_end = None, True
        else:
            break
    raise _NoTableError


def _item(text: str) -> str:
    """Return a string without its quotes, or another word as a _Word."""
    return _ESCAPE.sub(r"\1", text[1:-1]) if text[0] in "\"'" else _Word(text)
