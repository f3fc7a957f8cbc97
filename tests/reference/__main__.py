"""The command `scripts/check --reference`: runs the suites of Torch7 and its packages.

scripts/check --reference FOLDER [--seed N]

FOLDER has unchanged checkouts, by these names: torch7, nn, nngraph, torchnet, rnn, dpnn, totem, tds
and threads, and beside them what their suites need: argcheck, graph, moses (1.6.1), optim,
penlight and torchx. Nothing is fetched; what is not there does not run, and is told. The exit
status is 1 where fewer tests pass than must.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.reference.running import Checkouts
from tests.reference.suites import SUITES, Suite

_DOCS = Path(__file__).parents[1] / "docs"
_PAGES = (_DOCS / "models.md", _DOCS / "python_programs.md")  # which need nn
_NN_ALONE = Suite("pages", 0, (), needs=("nn", "moses"))


def main(argv: Sequence[str] | None = None, suites: Sequence[Suite] = SUITES) -> int:
    """Run scripts/check --reference; returns the exit status."""
    options = _parsed(argv)
    with tempfile.TemporaryDirectory(prefix="th-reference-") as work:
        checkouts = Checkouts(options.folder, Path(work))
        wrong = checkouts.install(s for s in suites if not checkouts.missing(s))
        if wrong:
            print(wrong)
        print(f"{'suite':12}{'passed':>8}{'of':>6}{'to reach':>10}{'seconds':>9}")
        short = [s for s in suites if not _run(s, checkouts, options.seed)]
        if suites is SUITES and not set(checkouts.missing(_NN_ALONE)) - {_NN_ALONE.name}:
            told = {page: checkouts.run_page(page) for page in _PAGES}
            for page, wrong in told.items():
                print(f"{page.name}: {wrong or 'passes'}")
            short += [_NN_ALONE] * any(told.values())
    if short:
        print(f"short: {', '.join(suite.name for suite in short)}")
    return 1 if short else 0


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/check --reference",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--seed", type=int, default=1, help="of random numbers (1)")
    options = parser.parse_args(argv)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    return options


def _run(suite: Suite, checkouts: Checkouts, seed: int) -> bool:
    """Run a suite, if it is there, and print its line; returns whether that may be so."""
    missing = checkouts.missing(suite)
    if missing:
        needed = "" if suite.name in missing else f": it needs {', '.join(missing)}"
        print(f"{suite.name:12} missing{needed}", flush=True)
        return True
    outcome = checkouts.run(suite, seed)
    print(
        f"{suite.name:12}{outcome.passed:8}{outcome.total:6}{suite.reach:10}{outcome.seconds:9.0f}",
        flush=True,
    )
    done = outcome.passed >= suite.reach and not outcome.crashed
    if not done:
        print("\n".join(outcome.failures), flush=True)
    return done


if __name__ == "__main__":
    sys.exit(main())
