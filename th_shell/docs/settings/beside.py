"""The file beside a page, PAGE.th-docs: what is said of a page in TOML, and not in the page.

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

What stands at its top is said of the whole page, each table of `examples` of those that have its
heading, its input (the first line of it) and its ordinal: the number among the examples with this
heading and input, from 1. Any of the three may be left out.

Each table of `errata` is for one example that is wrong in the page, and says why. `documented`, a
hash of the text that the page documents, lets it find its example where headings or ordinals have
changed. It says what is right: what the example `prints`, of which only the layout counts if it is
`by_chance`, or the `right` input, which prints what the page documents.

`verdicts` is what the page's examples have reached, by their identities.

Texts in this file have no bytes that are no UTF-8: such a byte is written as \\xNN.
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from th_shell.docs.reading.examples import Example, Identity, identities
from th_shell.docs.settings import toml_text
from th_shell.docs.settings.options import Option, read_layer, read_options, read_toml, tables_in
from th_shell.docs.settings.setting_readers import flag, positive_whole, string, text
from th_shell.docs.settings.settings import Layer, SettingsError
from th_shell.files import read_file, write_file

_SUFFIX = ".th-docs"
_ERRATA, _VERDICTS = "errata", "verdicts"

#: What names the examples that a table is for.
EXAMPLE_KEYS = (Option("heading", string), Option("input", text), Option("ordinal", positive_whole))
_WHICH = frozenset(option.name for option in EXAMPLE_KEYS)
#: What a table of `errata` says.
ERRATUM_KEYS = (
    *EXAMPLE_KEYS,
    Option("documented", text),
    Option("reason", text),
    Option("prints", string),
    Option("by_chance", flag),
    Option("right", text),
)


class Placed(NamedTuple):
    """A layer, and the indices of the examples that it holds for.

    rank: how special it is; layers with higher ranks stand over those with lower ones. place: where
    this is said.
    """

    rank: int
    layer: Layer
    examples: Sequence[int]
    place: str


class Erratum(NamedTuple):
    """What is wrong in a page.

    place: of the example, as far as it is said. prints: what the example prints; right: the right
    input; None where it is not said. by_chance: whether what it prints depends on chance.
    """

    place: Mapping[str, object]
    reason: str
    prints: str | None = None
    by_chance: bool = False
    right: str | None = None


class Beside(NamedTuple):
    """The file beside a page, which need not be there."""

    path: Path

    @staticmethod
    def of(page: Path, folder: Path | None = None, root: Path | None = None) -> Beside:
        """Return that of a page.

        folder: where it is, if not beside the page: at the page's path below a root, which is the
        page's own folder if it is not given. One that is there at a longer end of the page's path
        is the page's, too: it was run together with pages of other folders then.
        """
        if folder is None:
            return Beside(page.with_name(f"{page.name}{_SUFFIX}"))
        parts = Path(os.path.abspath(f"{page}{_SUFFIX}")).parts
        least = len(parts) - len(Path(os.path.abspath(root or page.parent)).parts)
        ends = [folder.joinpath(*parts[-count:]) for count in range(least, len(parts))]
        return Beside(next((end for end in ends if end.exists()), ends[0]))

    def layers(self, examples: Sequence[Example]) -> list[Placed]:
        """What is said of the page, and of some of its examples. Raises SettingsError."""
        tables = tables_in(self._tables(), "examples", str(self.path))
        known = identities(examples) if tables else []
        found = [
            _entry(one, f"{self.path}: examples {at}", known) for at, one in enumerate(tables, 1)
        ]
        others = ("examples", "errata", "verdicts")
        said = {key: value for key, value in self._tables().items() if key not in others}
        whole = read_layer(said, str(self.path))
        return [Placed(1, whole, range(len(examples)), str(self.path)), *found]

    def errata(self) -> list[Erratum]:
        """The errata, in order. Raises SettingsError."""
        tables = enumerate(tables_in(self._tables(), "errata", str(self.path)), 1)
        return [_erratum(one, f"{self.path}: errata {at}") for at, one in tables]

    def verdicts(self) -> Mapping[str, object] | None:
        """The words for verdicts by the identities of examples; None if there are none."""
        found = self._tables().get("verdicts")
        if found is not None and not isinstance(found, Mapping):
            raise SettingsError(f"{self.path}: verdicts: not a table")
        return found

    def update(
        self,
        examples: Sequence[Example],
        errata: Mapping[int, Erratum],
        verdicts: Mapping[str, str],
    ) -> bool:
        """Write errata, by the indices of examples, and verdicts; whether errata have changed.

        What is not changed stays as it is written, with its comments. Raises SettingsError.
        """
        text = read_file(self.path).decode() if self.path.exists() else ""
        known = self.errata()
        after = self._edited(
            text + "\n"[: bool(text) and text[-1] != "\n"], examples, errata, verdicts
        )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_file(self.path, after.encode())
        except OSError as error:
            raise SettingsError(f"{self.path} cannot be written: {error.strerror}") from None
        return self.errata() != known

    def _edited(
        self,
        text: str,
        examples: Sequence[Example],
        errata: Mapping[int, Erratum],
        verdicts: Mapping[str, str],
    ) -> str:
        """Return the text of the file with other errata and verdicts."""
        tables = toml_text.tables(text)
        own = [at for at, table in enumerate(tables) if toml_text.name(table) == _ERRATA]
        known = self.errata()
        if len(own) != len(known):
            raise SettingsError(f"{self.path}: an erratum is no table below a line [[errata]]")
        old = find_errata(known, examples, self.path)
        for i, at in old.items():
            if i not in errata:
                rest = toml_text.without_rows(tables[own[at]])
                is_apart = not rest.strip() and tables[own[at] - 1][-2:] in ("", "\n\n")
                tables[own[at]] = "" if is_apart else rest
            elif errata[i] != known[at]:
                tables[own[at]] = toml_text.edited(tables[own[at]], _values(errata[i]))
        new = [
            toml_text.edited(f"[[{_ERRATA}]]\n", _values(errata[i]))
            for i in sorted(set(errata) - set(old))
        ]
        names = [*map(toml_text.name, tables), _VERDICTS]
        at = names.index(_VERDICTS)
        if self.verdicts() is None:
            tables.append(f"[{_VERDICTS}]\n")
        elif at == len(tables):
            raise SettingsError(f"{self.path}: verdicts are no table below a line [verdicts]")
        tables[at] = toml_text.edited(tables[at], verdicts)
        head, tail = "".join(tables[:at]), "".join(tables[at:])
        return toml_text.joined([head, *new, tail])

    def _tables(self) -> dict[str, Any]:
        return read_toml(self.path) if self.path.exists() else {}


def _entry(table: Mapping[str, object], place: str, known: Sequence[Identity]) -> Placed:
    which = read_options({k: v for k, v in table.items() if k in _WHICH}, place, EXAMPLE_KEYS)
    if not which:
        raise SettingsError(f"{place}: neither 'heading' nor 'input' nor 'ordinal'")
    wanted = _place(which).items()
    found = [at for at, one in enumerate(known) if wanted <= one._asdict().items()]
    if not found:
        raise SettingsError(f"{place}: the page has no such example")
    said = {key: value for key, value in table.items() if key not in _WHICH}
    return Placed(4, read_layer(said, place), found, place)


def _place(said: Mapping[str, object]) -> dict[str, object]:
    """What names examples, with the spaces that identities have."""
    return {k: " ".join(v.split()) if isinstance(v, str) else v for k, v in said.items()}


# -- errata


def _erratum(table: Mapping[str, object], place: str) -> Erratum:
    said = read_options(table, place, ERRATUM_KEYS)
    for key in ("reason", "input"):
        if key not in said:
            raise SettingsError(f"{place}: no '{key}'")
    which = {key: said.pop(key) for key in Identity._fields if key in said}
    return Erratum(_place(which), **said)


def find_errata(
    errata: Sequence[Erratum], examples: Sequence[Example], file: Path
) -> dict[int, int]:
    """Which of the errata are for which examples, by the indices of these.

    Raises SettingsError if the page has no example for an erratum, or an example has two.
    """
    known = identities(examples) if errata else []
    exact = {tuple(one): at for at, one in enumerate(known)}
    found: dict[int, int] = {}
    moved = []
    for at, erratum in enumerate(errata):
        index = exact.get(tuple(erratum.place.get(key) for key in Identity._fields))
        if index is None or index in found:
            moved.append(at)
        else:
            found[index] = at
    for at in moved:
        place = f"{file}: errata {at + 1}"
        found[_likeliest(errata[at].place, place, known, found)] = at
    return dict(sorted(found.items()))


def _likeliest(
    said: Mapping[str, object], place: str, known: Sequence[Identity], taken: Container[int]
) -> int:
    """The example that an erratum is for: of those with its input, the one most like its place.

    taken: examples that have errata already.
    """
    named = [i for i, one in enumerate(known) if one.input == said["input"]]
    free = [i for i in named if i not in taken]
    if not free:
        problem = "a second one for one example" if named else "the page has no such example"
        raise SettingsError(f"{place}: {problem}: {said['input']}")

    def likeness(index: int) -> tuple[bool, bool, int]:
        one, ordinal = known[index], said.get("ordinal", 1)
        is_under = said.get("heading", one.heading) == one.heading
        steps = abs(ordinal - one.ordinal) if is_under and isinstance(ordinal, int) else 0
        return said.get("documented") == one.documented, is_under, -steps

    return max(free, key=likeness)


def _values(erratum: Erratum) -> dict[str, object]:
    said = {"reason": erratum.reason, **erratum.place}
    said |= {"prints": erratum.prints, "by_chance": erratum.by_chance, "right": erratum.right}
    return {key: one for key, one in said.items() if one not in (None, False)}
