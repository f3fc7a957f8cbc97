"""The command `scripts/check --outside`: runs pages and programs of other projects.

scripts/check --outside FOLDER [--only WORD] [--update] [--torch7 TH]

FOLDER holds bare copies of public repositories (OWNER+NAME.git); what it lacks is cloned, and the
packages that the pages need are installed in it. Each page of `pages.tsv` runs in the sandbox of
th-docs, and what became of its examples is compared with the ledger. Shown are the changes, the
rates by project, and the time. The exit status is 1 where something changed for the worse: a new
red, an example that is lost, or one that is no longer checked. --update writes the ledger anew,
which keeps the reasons of reds, and the page with the rates. Then come the programs of
`programs.tsv`: status 1, too, where one that gave what Torch7 gives no longer does.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.outside import ledger, programs, report
from tests.outside.ledger import Row
from tests.outside.sources import HERE, Folder, Page, Source, listed_pages

_TH_DOCS = HERE.parents[1] / "scripts" / "th-docs"
_LEDGER = HERE / "ledger"
#: An example of a stranger's page may take so many seconds.
_SECONDS = 20


def main(argv: Sequence[str] | None = None) -> int:
    """Run scripts/check --outside; return the exit status."""
    options = _parsed(argv)
    folder = Folder(options.folder.resolve())
    began = time.monotonic()
    for problem in folder.install_lua():
        print(problem)
    folder.install_python()
    pages = defaultdict[Source, list[Page]](list)
    for page in listed_pages():
        if options.only in f"{page.source.repository}/{page.path}":
            pages[page.source].append(page)
    worse = 0
    for source, listed in pages.items():
        worse += _compare(folder, source, listed, options.update)
    if options.update:
        report.PAGE.write_text(report.text(_LEDGER))
    worse += programs.compare(folder, options.only, options.update, options.torch7)
    if pages:
        print(report.summary(_LEDGER, [source.name for source in pages]))
    print(f"{time.monotonic() - began:.0f} s, {worse} changes for the worse")
    return 1 if worse and not options.update else 0


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/check --outside",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--only", default="", metavar="WORD", help="what has it in its name")
    parser.add_argument("--update", action="store_true", help="write the ledger anew")
    parser.add_argument("--torch7", default="", metavar="TH", help="the real one: it runs, too")
    options = parser.parse_args(argv)
    if not options.folder.is_dir():
        parser.error(f"there is no folder {options.folder}")
    return options


def _compare(folder: Folder, source: Source, pages: Sequence[Page], update: bool) -> int:
    """Run the pages of a source, print the changes; return how many are for the worse."""
    path = _LEDGER / f"{source.name}.tsv"
    before = ledger.read(path)
    names = {page.path for page in pages}
    try:
        run = list(_run(folder, source, pages))
    except (OSError, ValueError, subprocess.CalledProcessError) as error:
        print(f"{source.repository}: {error}")
        return 1
    listed = {page.path for page in listed_pages() if page.source == source}
    others = [row for row in before if row.page in listed - names]
    now = ledger.with_reasons(run, before)
    found = list(ledger.changes([row for row in before if row.page in names], now))
    for change in found:
        print(f"{source.repository}: {change}", flush=True)
    if update:
        ledger.write(path, sorted([*others, *now], key=lambda row: (row.page, row.line)))
    return sum(change.is_worse for change in found)


def _run(folder: Folder, source: Source, pages: Sequence[Page]) -> Iterator[Row]:
    """Run the pages of a source; yield their examples. Raises OSError and ValueError."""
    tree = folder.tree(source)
    groups = defaultdict[tuple[str, str, str], list[str]](list)
    for page in pages:
        groups[page.modules, page.prelude, page.options].append(page.path)
    results = folder.results
    (results / "none").mkdir(exist_ok=True)  # the pages have no files beside them
    for number, ((modules, prelude, options), paths) in enumerate(groups.items(), 1):
        target = results / f"{source.name}-{number}.json"
        target.unlink(missing_ok=True)
        command: list[str | Path] = [_TH_DOCS, "--json", target, "--timeout", str(_SECONDS)]
        command += ["--allow-empty", "--errata", results / "none", "--sandbox"]
        command += ["--engine", f"python: {folder.python}", "--sandbox-read", folder.path]
        environment = folder.environment()
        if modules:
            module_path = tree / modules
            command += ["--lua-path", f"{module_path}/?.lua;{module_path}/?/init.lua"]
            environment["PYTHONPATH"] = str(module_path)
        if prelude:
            is_python = prelude.startswith(("import ", "from "))
            code = target.with_suffix(".py" if is_python else ".lua")
            code.write_text(prelude)
            command += ["--prelude", code]
        run = subprocess.run(
            [*command, *shlex.split(options), *paths],
            cwd=tree,
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
        )
        target.with_suffix(".txt").write_text(run.stdout + run.stderr)
        if run.returncode not in (0, 1, 5):
            raise ValueError(run.stderr.strip() or f"th-docs ended with {run.returncode}")
        for page in json.loads(target.read_text())["pages"]:
            if page["problem"]:
                print(f"{source.repository}: {page['page']}: {page['problem']}")
            yield from ledger.examples(page)


if __name__ == "__main__":
    sys.exit(main())
