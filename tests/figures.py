"""The figures that README tells, from the ledgers, lists and recordings in this folder.

`python -m tests.figures` writes them into README anew; `tests/test_readme.py` says when they are
not current.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from pathlib import Path

from tests.outside import programs, report
from tests.outside.sources import HERE
from tests.reference.suites import SUITES
from tests.transcripts import read

README = Path(__file__).parents[1] / "README.md"
_TABLE = re.compile(r"(?<=<!-- python -m tests\.figures -->\n\n).*?(?=\n\n[^|])", re.S)


def table() -> str:
    """Return the table of what works, without a date."""
    results = Counter(program.result.partition(":")[0] for program in programs.listed_programs())
    same = sum(count for result, count in results.items() if result.startswith("same"))
    pages = report.all_rates(HERE / "ledger")[-1]
    torch7, pytorch = _recorded("transcripts", "lua", "packages"), _recorded("pytorch")
    reach = sum(suite.reach for suite in SUITES if not suite.counts_programs)
    lines = [
        ("what", "figure"),
        ("---", "---"),
        (
            "[programs of others](th_shell/public_programs.md), run beside the real Torch7",
            f"{same} of {results.total()} print the same, {results['differs']} something else; "
            f"{results['C that is lost']} need C that is lost, "
            f"{results['the reference fails, too']} fail in Torch7, too",
        ),
        (
            "[examples in the documentation of others](th_shell/docs/public_documentation.md)",
            f"{pages.examples:,} on {pages.pages} pages, {pages.checked:,} of them compared: "
            f"{pages.red} fail, {pages.ours} of these by a mistake of ours",
        ),
        (
            "[small programs](tests/README.md#data) that must print what was recorded",
            f"{torch7:,} of the real Torch7, {pytorch:,} of PyTorch",
        ),
        (
            "[tests of Torch7's own suites](tests/reference/suites.py) that must pass",
            f"{reach} in {', '.join(suite.name for suite in SUITES if not suite.counts_programs)}",
        ),
    ]
    return "\n".join(f"| {what} | {figure} |" for what, figure in lines)


def _recorded(*folders: str) -> int:
    """Return how many programs are recorded in folders of tests/runtime."""
    runtime = README.parent / "tests/runtime"
    files = [path for folder in folders for path in (runtime / folder).rglob("*.txt")]
    kept = [path for path in files if path.parent.name in ("transcripts", "recorded")]
    return sum(entry.reason is None for path in kept for entry in read(path))


def shown() -> str:
    """Return the table that README has."""
    found = _TABLE.search(README.read_text("utf-8"))
    return found[0] if found else ""


def write() -> None:
    """Write the table into README, and its date where a figure has changed."""
    text = README.read_text("utf-8")
    if shown() != table():
        text = _TABLE.sub(lambda _: table(), text)
        text = re.sub(r"(?<=Figures of )[\d-]+", date.today().isoformat(), text)
        README.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
