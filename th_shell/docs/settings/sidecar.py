"""The sidecar file of a page, PAGE.th-docs: settings, errata and verdicts in TOML beside the page.

    rtol = 1e-3

    [[examples]]
    heading = "Random numbers"
    input = "x:sum()"
    xfail = "prints a digit too many"

    [[errata]]
    reason = "The colon of a method call became a dot."
    heading = "Sums"
    input = "x.nElement()"
    ordinal = 1
    documented = "e7f6c011"
    right = "x:nElement()"

    [verdicts]
    "Sums/1/x = torch.ones(2, 3)" = "ran"

The settings at its top hold for the whole page, those in a table of `examples` for examples that
have its heading, its input (the first line of it) and its ordinal: the number among the examples
with this heading and input, from 1. Any of the three may be left out.

Each table of `errata` is for one example that is wrong in the page, and says why. `documented`, a
hash of the text that the page documents, lets it find its example where headings or ordinals have
changed. It says what is right: what the example `prints`, of which only the layout counts if it is
`by_chance`, or the `right` input, which prints what the page documents.

`verdicts` has the verdicts that the page's examples have reached, by their identities.

Texts in this file have no bytes that are no UTF-8: such a byte is written as \\xNN.

The text of the file is edited by its tables: what keeps its value stays, byte for byte. A table's
text begins with the comments right above its header, and ends above those of the next.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.docs.reading.examples import Example, Identity, identities
from th_shell.docs.settings.options import (
    Option,
    read_flag,
    read_layer,
    read_options,
    read_positive_whole,
    read_string,
    read_text,
    read_toml,
    tables_in,
)
from th_shell.docs.settings.settings import Layer, SettingsError
from th_shell.files import read_file, write_file
from th_shell.patterns import pattern
from th_shell.toml import TOMLDecodeError, loads

_SUFFIX = ".th-docs"
_ERRATA, _VERDICTS = "errata", "verdicts"

#: The keys that name the examples of a table.
EXAMPLE_KEYS = (
    Option("heading", read_string),
    Option("input", read_text),
    Option("ordinal", read_positive_whole),
)
_WHICH = frozenset(option.name for option in EXAMPLE_KEYS)
#: The keys of a table of `errata`.
ERRATUM_KEYS = (
    *EXAMPLE_KEYS,
    Option("documented", read_text),
    Option("reason", read_text),
    Option("prints", read_string),
    Option("by_chance", read_flag),
    Option("right", read_text),
)


class Placed(NamedTuple):
    """A layer, and the examples that it holds for."""

    #: Layers with higher ranks stand over those with lower ones.
    rank: int
    layer: Layer
    #: The indices of the examples.
    examples: Sequence[int]
    #: The file and the line or table of the layer, for messages.
    place: str


class Erratum(NamedTuple):
    """A fault of a page in one example, and the right text."""

    #: Heading, input, ordinal and documented hash of the example, as far as they are set.
    place: Mapping[str, object]
    reason: str
    #: The text that the example prints; None where it is not set.
    prints: str | None = None
    #: True if the printed text depends on chance.
    by_chance: bool = False
    #: The right input; None where it is not set.
    right: str | None = None


class Sidecar(NamedTuple):
    """The file beside a page, which need not be there."""

    path: Path

    @staticmethod
    def of(page: Path, folder: Path | None = None, root: Path | None = None) -> Sidecar:
        """Return the sidecar file of a page.

        folder: where it is, if not beside the page: at the page's path below a root, which is the
        page's own folder if it is not given. One that is there at a longer end of the page's path
        is the page's, too: it was run together with pages of other folders then.
        """
        if folder is None:
            return Sidecar(page.with_name(f"{page.name}{_SUFFIX}"))
        parts = Path(os.path.abspath(f"{page}{_SUFFIX}")).parts
        least = len(parts) - len(Path(os.path.abspath(root or page.parent)).parts)
        ends = [folder.joinpath(*parts[-count:]) for count in range(least, len(parts))]
        return Sidecar(next((end for end in ends if end.exists()), ends[0]))

    def layers(self, examples: Sequence[Example]) -> list[Placed]:
        """Return the rules for the page and for single examples. Raises SettingsError."""
        tables = tables_in(self._tables(), "examples", str(self.path))
        names = identities(examples) if tables else []
        placed = [
            _entry(table, f"{self.path}: examples {at}", names)
            for at, table in enumerate(tables, 1)
        ]
        lists = ("examples", _ERRATA, _VERDICTS)
        values = {key: value for key, value in self._tables().items() if key not in lists}
        whole = read_layer(values, str(self.path))
        return [Placed(1, whole, range(len(examples)), str(self.path)), *placed]

    def errata(self) -> list[Erratum]:
        """Return the errata, in order. Raises SettingsError."""
        tables = enumerate(tables_in(self._tables(), "errata", str(self.path)), 1)
        return [_erratum(table, f"{self.path}: errata {at}") for at, table in tables]

    def verdicts(self) -> Mapping[str, object] | None:
        """Return the words for verdicts by the identities of examples; None if there are none."""
        words = self._tables().get("verdicts")
        if words is not None and not isinstance(words, Mapping):
            raise SettingsError(f"{self.path}: verdicts: not a table")
        return words

    def update(
        self,
        examples: Sequence[Example],
        errata: Mapping[int, Erratum],
        verdicts: Mapping[str, str],
    ) -> bool:
        """Write errata, by the indices of examples, and verdicts; tell whether errata have changed.

        What is not changed stays as it is written, with its comments. Raises SettingsError.
        """
        text = read_file(self.path).decode() if self.path.exists() else ""
        if text and not text.endswith("\n"):
            text += "\n"
        before = self.errata()
        after = self._edited(text, examples, errata, verdicts)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_file(self.path, after.encode())
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be written: {error.strerror}") from None
        return self.errata() != before

    def _edited(
        self,
        text: str,
        examples: Sequence[Example],
        errata: Mapping[int, Erratum],
        verdicts: Mapping[str, str],
    ) -> str:
        """Return the text of the file with other errata and verdicts."""
        tables = _table_texts(text)
        places = [at for at, table in enumerate(tables) if _table_name(table) == _ERRATA]
        before = self.errata()
        if len(places) != len(before):
            raise SettingsError(f"{self.path}: an erratum is no table below a line [[errata]]")
        old = find_errata(before, examples, self.path)
        for i, at in old.items():
            if i not in errata:
                comments = _below_rows(tables[places[at]])
                is_apart = not comments.strip() and tables[places[at] - 1][-2:] in ("", "\n\n")
                tables[places[at]] = "" if is_apart else comments
            elif errata[i] != before[at]:
                tables[places[at]] = _edited_table(tables[places[at]], _values(errata[i]))
        new = [
            _edited_table(f"[[{_ERRATA}]]\n", _values(errata[i]))
            for i in sorted(set(errata) - set(old))
        ]
        names = [*map(_table_name, tables), _VERDICTS]
        at = names.index(_VERDICTS)
        if self.verdicts() is None:
            tables.append(f"[{_VERDICTS}]\n")
        elif at == len(tables):
            raise SettingsError(f"{self.path}: verdicts are no table below a line [verdicts]")
        tables[at] = _edited_table(tables[at], verdicts)
        head, tail = "".join(tables[:at]), "".join(tables[at:])
        return _with_blank_lines([head, *new, tail])

    def _tables(self) -> dict[str, Any]:
        return read_toml(self.path) if self.path.exists() else {}


def _entry(table: Mapping[str, object], place: str, names: Sequence[Identity]) -> Placed:
    which = read_options({k: v for k, v in table.items() if k in _WHICH}, place, EXAMPLE_KEYS)
    if not which:
        raise SettingsError(f"{place}: neither 'heading' nor 'input' nor 'ordinal'")
    sought = _place(which).items()
    indices = [at for at, name in enumerate(names) if sought <= name._asdict().items()]
    if not indices:
        raise SettingsError(f"{place}: the page has no such example")
    values = {key: value for key, value in table.items() if key not in _WHICH}
    return Placed(4, read_layer(values, place), indices, place)


def _place(values: Mapping[str, object]) -> dict[str, object]:
    """Return the names of examples with single spaces, as identities have them."""
    return {k: " ".join(v.split()) if isinstance(v, str) else v for k, v in values.items()}


# -- errata


def _erratum(table: Mapping[str, object], place: str) -> Erratum:
    values = read_options(table, place, ERRATUM_KEYS)
    for key in ("reason", "input"):
        if key not in values:
            raise SettingsError(f"{place}: no '{key}'")
    which = {key: values.pop(key) for key in Identity._fields if key in values}
    return Erratum(_place(which), **values)


def find_errata(
    errata: Sequence[Erratum], examples: Sequence[Example], file: Path
) -> dict[int, int]:
    """Return the indices of errata by the indices of the examples that they are for.

    Raises SettingsError if the page has no example for an erratum, or an example has two.
    """
    names = identities(examples) if errata else []
    exact = {tuple(name): at for at, name in enumerate(names)}
    by_example: dict[int, int] = {}
    moved = []
    for at, erratum in enumerate(errata):
        index = exact.get(tuple(erratum.place.get(key) for key in Identity._fields))
        if index is None or index in by_example:
            moved.append(at)
        else:
            by_example[index] = at
    for at in moved:
        place = f"{file}: errata {at + 1}"
        by_example[_likeliest(errata[at].place, place, names, by_example)] = at
    return dict(sorted(by_example.items()))


def _likeliest(
    sought: Mapping[str, object], place: str, names: Sequence[Identity], taken: Container[int]
) -> int:
    """Return the index of the example with an erratum's input whose place is most like its own.

    taken: examples that have errata already.
    """
    named = [i for i, name in enumerate(names) if name.input == sought["input"]]
    free = [i for i in named if i not in taken]
    if not free:
        problem = "a second one for one example" if named else "the page has no such example"
        raise SettingsError(f"{place}: {problem}: {sought['input']}")

    def likeness(index: int) -> tuple[bool, bool, int]:
        name, ordinal = names[index], sought.get("ordinal", 1)
        is_under = sought.get("heading", name.heading) == name.heading
        steps = abs(ordinal - name.ordinal) if is_under and isinstance(ordinal, int) else 0
        return sought.get("documented") == name.documented, is_under, -steps

    return max(free, key=likeness)


def _values(erratum: Erratum) -> dict[str, object]:
    values = {"reason": erratum.reason, **erratum.place}
    values |= {"prints": erratum.prints, "by_chance": erratum.by_chance, "right": erratum.right}
    return {key: value for key, value in values.items() if value not in (None, False)}


# -- the text of a TOML file


#: Behind each end of a line.
_LINES = pattern(r"(?<=\n)")


def _table_texts(text: str) -> list[str]:
    """Return the texts of a file's tables, of which the first has no header."""
    texts, lines = list[str](), list[str]()
    for line in _LINES.split(text):
        if _is_header(line) and _is_whole(lines):
            above = len(lines)
            while above and lines[above - 1].startswith("#"):
                above -= 1
            texts.append("".join(lines[:above]))
            lines = lines[above:]
        lines.append(line)
    return [*texts, "".join(lines)]


def _table_name(table: str) -> str:
    """Return the name in the header of a table; '' for none."""
    first = next(
        filter(None, map(str.strip, re.sub(r"(?m)^[^\S\n]*#.*", "", table).split("\n"))), ""
    )
    return next(iter(loads(first))) if _is_header(first) else ""


def _edited_table(table: str, values: Mapping[str, object]) -> str:
    """Return a table with these values: rows of others are gone, new ones stand in their order."""
    statements = list(_statements(table))
    old = {key: value for _, row_values in statements for key, value in row_values.items()}
    new: dict[str, str] = {}  # rows behind that of a key, or behind the header
    place = ""
    for key, value in values.items():
        if key in old:
            place = key
        else:
            new[place] = new.get(place, "") + f"{_row(key, value)}\n"
    new_text = ""
    for statement, row_values in statements:
        for key in row_values:
            if key not in values:
                statement = ""
            elif values[key] != row_values[key]:
                statement = _row(key, values[key]) + _remark(statement)
            statement += new.get(key, "")
        new_text += statement + (new.get("", "") if _is_header(statement) else "")
    return new_text


def _below_rows(table: str) -> str:
    """Return what stands behind the last row of a table: comments of what is below."""
    statements = list(_statements(table))
    last = max(
        at for at, (text, row_values) in enumerate(statements) if row_values or _is_header(text)
    )
    return "".join(text for text, _ in statements[last + 1 :])


def _with_blank_lines(texts: Sequence[str]) -> str:
    """Return texts with a blank line between them."""
    joined = ""
    for part in filter(None, texts):
        is_apart = not joined or joined.endswith("\n\n")
        joined += part if is_apart else f"\n{part}"
    return joined


def _statements(table: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the lines of a table, together where a value has several, and what each row says."""
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
    """Return whether lines of TOML are complete: no value of several lines is open."""
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
    """Return a value as TOML has it, whose texts of one line are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
