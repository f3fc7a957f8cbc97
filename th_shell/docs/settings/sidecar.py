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

`--update` keeps the settings at the beginning of the file byte for byte, and writes the errata and
verdicts below them anew.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Mapping, Sequence
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
from th_shell.toml import TOMLDecodeError, loads

_SUFFIX = ".th-docs"
_ERRATA, _VERDICTS = "errata", "verdicts"
#: The first header of errata or verdicts, which stand below the settings.
_OWN_TABLE = re.compile(rf"^(?:\[\[{_ERRATA}\]\]|\[{_VERDICTS}\])", re.M)

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

    def update(self, errata: Sequence[Erratum], verdicts: Mapping[str, str]) -> bool:
        """Write errata and verdicts; tell whether errata have changed. Raises SettingsError."""
        settings = self._text_of_settings()
        before = self.errata()
        tables = [f"[[{_ERRATA}]]\n{_rows(_values(erratum))}" for erratum in errata]
        text = "\n".join([*filter(None, [settings]), *tables, f"[{_VERDICTS}]\n{_rows(verdicts)}"])
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_file(self.path, text.encode())
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be written: {error.strerror}") from None
        return self.errata() != before

    def _text_of_settings(self) -> str:
        """Return the text above errata and verdicts. Raises SettingsError if it lacks settings."""
        text = read_file(self.path).decode() if self.path.exists() else ""
        above = _OWN_TABLE.split(text, maxsplit=1)[0].rstrip()
        wanted = {
            key: value for key, value in self._tables().items() if key not in (_ERRATA, _VERDICTS)
        }
        try:
            is_all = loads(above) == wanted
        except TOMLDecodeError:
            is_all = False
        if not is_all:
            raise SettingsError(f"{self.path}: {_ERRATA} and {_VERDICTS} are not its last tables")
        return f"{above}\n" if above else ""

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
    sought: Mapping[str, object],
    place: str,
    names: Sequence[Identity],
    taken: Container[int],
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


def _rows(values: Mapping[str, object]) -> str:
    """Return the rows of a table."""
    return "".join(f"{_row(key, value)}\n" for key, value in values.items())


def _row(key: str, value: object) -> str:
    key = key if re.fullmatch(r"[\w-]+", key, re.A) else _quoted(key)
    if isinstance(value, str) and "\n" in value:
        lines = "\n".join(_quoted(line)[1:-1] for line in value.split("\n"))
        return f'{key} = """\n{lines}"""'
    return f"{key} = {_quoted(value)}"


def _quoted(value: object) -> str:
    """Return a value as TOML has it, whose texts of one line are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
