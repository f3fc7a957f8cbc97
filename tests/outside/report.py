"""The rates by project that the ledger gives, and the page that tells them."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tests.outside import ledger
from tests.outside.sources import HERE, rows

#: The page with the rates.
PAGE = HERE.parents[1] / "th_shell" / "docs" / "public_documentation.md"
_INTRODUCTION = HERE / "introduction.md"


@dataclass(frozen=True)
class Rates:
    """How many examples of a project are what."""

    name: str
    pages: int
    examples: int
    checked: int
    red: int
    #: Reds by which the page is wrong, the environment lacks something, what follows from another.
    page_wrong: int
    environment: int
    follows: int
    #: Reds by which th-docs is wrong.
    ours: int
    #: Reds that nobody has judged.
    open: int


def rates(name: str, examples: Sequence[ledger.Row]) -> Rates:
    """Return the rates of a project's examples."""
    reds = [row for row in examples if row.is_red]
    by_reason = [row.reason.partition(" ")[0] for row in reds]
    return Rates(
        name.replace("+", "/"),
        len({row.page for row in examples}),
        len(examples),
        sum(row.is_red or row.verdict in ledger.CHECKED_GREEN for row in examples),
        len(reds),
        *(by_reason.count(reason) for reason in ("page", "environment", "follows", "ours", "")),
    )


def _total(all_rates: Sequence[Rates]) -> Rates:
    numbers = zip(*(list(vars(row).values())[1:] for row in all_rates), strict=True)
    return Rates("all", *map(sum, numbers))


def all_rates(folder: Path, names: Iterable[str] | None = None) -> list[Rates]:
    """Return the rates of the projects in a folder of ledgers, and of all of them."""
    files = sorted(folder.glob("*.tsv"), key=lambda path: path.name.lower())
    wanted = None if names is None else set(names)
    projects = [
        rates(path.stem, ledger.read(path))
        for path in files
        if wanted is None or path.stem in wanted
    ]
    return [*projects, _total(projects)] if projects else []


def summary(folder: Path, names: Iterable[str]) -> str:
    """Return a table of rates for the terminal."""
    titles = [field.name.replace("_wrong", "") for field in fields(Rates)]
    table = [titles, *(list(map(str, astuple(row))) for row in all_rates(folder, names))]
    return "\n".join(
        f"{name:32}" + "".join(f" {number:>11}" for number in numbers) for name, *numbers in table
    )


def text(folder: Path) -> str:
    """Return the text of the page with the rates."""
    commits = {row["repository"]: row["commit"] for row in rows("pages.tsv")}
    lines = [
        "| project | commit | pages | examples | checked | red "
        "| page wrong | environment | follows | ours |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in all_rates(folder):
        commit = commits.get(row.name, "")[:8]
        numbers = astuple(row)[1:-1]
        lines.append(f"| {row.name} | {commit} | {' | '.join(map(str, numbers))} |")
    return f"{_INTRODUCTION.read_text()}\n" + "\n".join(lines) + "\n"
