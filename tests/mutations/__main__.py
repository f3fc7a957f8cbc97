"""The command `scripts/mutations`: changes pages in many ways, and counts what th-docs notices.

scripts/mutations [COUNT] [PAGE…] [--seed N] [--errata FOLDER] [--only pass|layout|erratum] [--show]
    [--doctest]
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from difflib import ndiff
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from tests.mutations.trial import Ending, Mutation, Trial
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.processes import Starter
from th_shell.runtime.shell import PROCESSORS

_TOP = Path(__file__).parents[2]
_SEEDS = _TOP.parent / "shared" / "seeds"
_ERRATA = _TOP / "tests" / "th_shell" / "docs" / "errata"


class Ended(NamedTuple):
    """A change of a page, what has become of it, and whether doctest notices it, if asked."""

    trial: Trial
    mutation: Mutation
    ending: Ending
    by_doctest: bool | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Run scripts/mutations; returns the exit status."""
    options = _parsed(argv)
    start = time.monotonic()
    with Starter() as starter:
        compiler = Compiler()
        trials = [Trial(page, starter, compiler, _errata(page, options)) for page in options.pages]
        chance = random.Random(options.seed)
        found = measured(trials, options.count, chance, options.only, options.doctest)
    if options.show:
        _show(found)
    for rows in _ROWS:
        _print_table(found, rows)
    if options.doctest:
        _print_comparison(found)
    print(f"{len(found)} changes in {time.monotonic() - start:.0f} s")
    return 0


def measured(
    trials: Sequence[Trial],
    count: int,
    chance: random.Random,
    only: str = "",
    with_doctest: bool = False,
) -> list[Ended]:
    """The endings of so many changes, in the pages in turn, each by how many of its examples hold.

    only: the verdict of the examples to change, '' for all.
    """
    total = sum(trial.holding for trial in trials)
    jobs = []
    for trial in trials:
        share = -(-count * trial.holding // total)
        wanted = (m for m in trial.mutations(chance) if only in ("", m.was.value))
        groups = trial.together(list(islice(wanted, share)))
        jobs += [(trial, group) for group in groups]

    def ended(job: tuple[Trial, list[Mutation]]) -> list[Ended]:
        trial, group = job
        others = trial.doctested(group) if with_doctest else [None] * len(group)
        pairs = zip(group, trial.endings(group), others, strict=True)
        return [Ended(trial, *one) for one in pairs]

    with ThreadPoolExecutor(PROCESSORS) as pool:
        return [one for group in pool.map(ended, jobs) for one in group]


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutations", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="[COUNT] [PAGE…]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--errata", type=Path, metavar="FOLDER", help="where the files beside the pages are"
    )
    parser.add_argument("--only", choices=["pass", "layout", "erratum"], default="")
    parser.add_argument("--show", action="store_true", help="show the changes that escape")
    parser.add_argument("--doctest", action="store_true", help="compare with Python's doctest")
    options = parser.parse_intermixed_args(argv)
    words = list(options.words)
    options.count = int(words.pop(0)) if words and words[0].isdigit() else 1000
    options.pages = [Path(word) for word in words] or _default_pages()
    missing = [str(page) for page in options.pages if not page.is_file()]
    if missing:
        parser.error(f"there is no page {missing[0]}")
    return options


def _default_pages() -> list[Path]:
    seeds = [page for name in ("000", "001", "004") for page in _SEEDS.glob(f"{name}_*.txt")]
    return [*sorted((_TOP / "tests" / "docs").glob("*.md")), *seeds]


def _errata(page: Path, options: argparse.Namespace) -> Path | None:
    if options.errata:
        return Path(options.errata)
    return _ERRATA if (_ERRATA / f"{page.name}.th-docs").exists() else None


#: What the rows of the tables are.
_ROWS: Sequence[Callable[[Mutation], str]] = (
    lambda mutation: f"{mutation.was.value}, {mutation.form}",
    lambda mutation: f"{mutation.was.value}, {mutation.kind}",
    lambda mutation: f"{mutation.was.value}, all",
)


def _show(found: Iterable[Ended]) -> None:
    for trial, mutation, ending, by_doctest in found:
        if ending in (Ending.ESCAPED, Ending.FELL, Ending.TOLD):
            where = f"{trial.path.name}:{trial.examples[mutation.index].line}"
            what = f"{mutation.was.value}, {mutation.form}, {mutation.kind}"
            more = ", not for doctest" if by_doctest else ""
            print(f"-- {where}: {what}: {ending.value}{more}\n{_difference(mutation)}")


def _difference(mutation: Mutation) -> str:
    olds, news = mutation.before.split("\n"), mutation.after.split("\n")
    return "\n".join(line for line in ndiff(olds, news) if line[0] in "-+")


def _print_table(found: Iterable[Ended], rows: Callable[[Mutation], str]) -> None:
    """Prints a table of what has become of changes. rows: names the row of a change."""
    counts = Counter((rows(one.mutation), one.ending) for one in found)
    heads = [ending.value for ending in Ending]
    print(f"{'':34}{'count':>7}" + "".join(f"{head:>12}" for head in heads) + f"{'noticed':>9}")
    for row in sorted({row for row, _ in counts}):
        _print_row(row, [counts[row, ending] for ending in Ending])


def _print_row(name: str, counts: Sequence[int]) -> None:
    tolerated, caught, told, *_ = counts
    outside = sum(counts) - tolerated
    rate = f"{100 * (caught + told) / outside:8.1f}%" if outside else ""
    print(f"{name:34}{sum(counts):7}" + "".join(f"{count:12}" for count in counts) + rate)


def _print_comparison(found: Iterable[Ended]) -> None:
    """Prints how many of the changes in what doctest can read are noticed, by it and by th-docs."""
    read = [one for one in found if one.by_doctest is not None]
    print(f"{'in pages of Python':34}{'count':>7}{'th-docs':>12}{'doctest':>12}")
    for kind in [*sorted({one.mutation.kind for one in read}), "all"]:
        own = [one for one in read if kind in (one.mutation.kind, "all")]
        here = sum(one.ending in (Ending.CAUGHT, Ending.TOLD) for one in own)
        there = sum(bool(one.by_doctest) for one in own)
        print(f"{kind:34}{len(own):7}{here:12}{there:12}")


if __name__ == "__main__":
    sys.exit(main())
