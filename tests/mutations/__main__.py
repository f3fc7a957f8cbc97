"""The command `scripts/mutations`: changes pages in many ways, and counts what th-docs notices.

scripts/mutations [COUNT] [PAGE…] [--seed N] [--errata FOLDER] [--only pass|layout|erratum] [--show]
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from runtime import PROCESSORS
from tests.mutations.trial import Ending, Mutation, Remembering, Trial
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.running.processes import Starter

_TOP = Path(__file__).parents[2]
_SEEDS = _TOP.parent / "shared" / "seeds"
_ERRATA = _TOP / "tests" / "th_shell" / "docs" / "errata"

#: A change of a page, and what has become of it.
_Ended = tuple[Trial, Mutation, Ending]


def main(argv: Sequence[str] | None = None) -> int:
    """Run scripts/mutations; returns the exit status."""
    options = _parsed(argv)
    start = time.monotonic()
    with Starter() as starter:
        runner, compiler = Remembering(starter), Compiler()
        trials = [Trial(page, runner, compiler, _errata(page, options)) for page in options.pages]
        found = measured(trials, options.count, random.Random(options.seed), options.only)
    if options.show:
        _show(found)
    _print_table(found)
    print(f"{len(found)} changes in {time.monotonic() - start:.0f} s")
    return 0


def measured(
    trials: Sequence[Trial], count: int, chance: random.Random, only: str = ""
) -> list[_Ended]:
    """The endings of so many changes, in the pages in turn, each with as many as it has examples.

    only: the verdict of the examples to change, '' for all.
    """
    total = sum(len(trial.examples) for trial in trials)
    jobs = []
    for trial in trials:
        share = -(-count * len(trial.examples) // total)
        wanted = (m for m in trial.mutations(chance) if only in ("", m.was.value))
        groups = trial.together(list(islice(wanted, share)))
        jobs += [(trial, group) for group in groups]
    with ThreadPoolExecutor(PROCESSORS) as pool:
        endings = list(pool.map(lambda job: job[0].endings(job[1]), jobs))
    return [
        (trial, mutation, ending)
        for (trial, group), found in zip(jobs, endings, strict=True)
        for mutation, ending in zip(group, found, strict=True)
    ]


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/mutations", description=__doc__)
    parser.add_argument("words", nargs="*", metavar="[COUNT] [PAGE…]")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--errata", type=Path, metavar="FOLDER", help="where the files beside the pages are"
    )
    parser.add_argument("--only", choices=["pass", "layout", "erratum"], default="")
    parser.add_argument("--show", action="store_true", help="show the changes that escape")
    options = parser.parse_args(argv)
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


def _show(found: Iterable[_Ended]) -> None:
    for trial, mutation, ending in found:
        if ending is Ending.ESCAPED:
            where = f"{trial.page.name}:{mutation.before.line}"
            print(f"-- {where}: {mutation.was.value}, {mutation.kind}: {ending.value}")
            print(_difference(mutation))


def _difference(mutation: Mutation) -> str:
    before, after = mutation.before, mutation.after
    olds = f"{before.source}\n{before.expected}".split("\n")
    news = f"{after.source}\n{after.expected}".split("\n")
    gone = [f"- {line}" for line in olds if olds.count(line) > news.count(line)]
    return "\n".join(
        [*gone, *(f"+ {line}" for line in news if news.count(line) > olds.count(line))]
    )


def _print_table(found: Iterable[_Ended]) -> None:
    counts = Counter(((m.was.value, m.kind), ending) for _, m, ending in found)
    rows = sorted({row for row, _ in counts})
    heads = [ending.value for ending in Ending]
    print(f"{'':28}{'count':>8}" + "".join(f"{head:>18}" for head in heads) + f"{'rate':>9}")
    for verdict in sorted({row[0] for row in rows}):
        own = [row for row in rows if row[0] == verdict]
        for row in own:
            _print_row(f"{row[0]}, {row[1]}", [counts[row, ending] for ending in Ending])
        if len(own) > 1:
            sums = [sum(counts[row, ending] for row in own) for ending in Ending]
            _print_row(f"{verdict}, all", sums)


def _print_row(name: str, counts: Sequence[int]) -> None:
    tolerated, caught, told, *_ = counts
    outside = sum(counts) - tolerated
    rate = f"{100 * (caught + told) / outside:8.1f}%" if outside else ""
    print(f"{name:28}{sum(counts):8}" + "".join(f"{count:18}" for count in counts) + rate)


if __name__ == "__main__":
    sys.exit(main())
