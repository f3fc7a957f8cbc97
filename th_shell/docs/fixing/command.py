"""The command ``th-docs fix``: writes into pages what their examples print.

The exit status is 0 if all that fails could be mended, or with --diff nothing fails; 1 if something
is left, or a page cannot be checked; 2 for a wrong command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from pathlib import Path

from th_shell.docs.checking import Checker
from th_shell.docs.command.run_options import (
    Parser,
    add_judging_options,
    add_running_options,
    said_by,
)
from th_shell.docs.command.selection import NoPagesError, find_pages
from th_shell.docs.fixing.fix import Fix, find_fix
from th_shell.docs.judging.pages import assess_page
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reporting.reporter import write_text
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import PageError
from th_shell.files import read_file, write_file
from th_shell.visible import visible

#: Pages whose lines are not those that examples are read from.
_NOT_WRITTEN = frozenset((".html", ".htm", ".ipynb"))


def main(words: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(words)
    try:
        pages = find_pages(options.words)
    except NoPagesError as error:
        parser.error(str(error))
    with Starter() as starter:
        checker = Checker(starter, Compiler(), said_by(options))
        mended = [_fixed(page, checker, options.diff) for page in pages]
    return 0 if all(mended) else 1


def _parser() -> Parser:
    parser = Parser(
        prog="th-docs fix",
        usage="%(prog)s [OPTION...] PAGE...",
        description="Write what examples print into their pages, in place of documented texts that "
        "differ, and repair inputs where a small repair makes them hold. What depends on chance, "
        "raises an error or has an erratum stays as it is.",
    )
    parser.add_argument("words", nargs="+", metavar="PAGE", help="a page, a folder, a pattern")
    parser.add_argument(
        "--diff", action="store_true", help="only show what would be changed, and change nothing"
    )
    add_running_options(parser)
    add_judging_options(parser)
    return parser


def _fixed(path: Path, checker: Checker, only_show: bool) -> bool:
    """Mend a page; whether nothing is left that fails."""
    if path.suffix.lower() in _NOT_WRITTEN:
        return _says(path, f"pages of this format are not written: {path.suffix}")
    try:
        read = checker.read(path)
        old = read_file(path).decode("utf-8", "surrogateescape")
        fix = find_fix(old, read.page, assess_page(*read))
        if only_show:
            _show(path, old, fix.text)
        elif fix.text != old:
            write_file(path, fix.text.encode("utf-8", "surrogateescape"))
    except PageError as error:
        return _says(path, str(error))
    except OSError as error:
        return _says(path, f"cannot be written: {error.strerror}")
    return _report(path, fix, only_show)


def _report(path: Path, fix: Fix, only_show: bool) -> bool:
    for result in fix.left:
        headline = result.example.source.split("\n")[0]
        _say(f"{path}:{result.example.line}: left: {result.verdict.value}: {headline}")
    verb = "to mend" if only_show else "mended"
    _say(f"{path}: {fix.examples} {verb}, {len(fix.left)} left")
    return not fix.left and not (only_show and fix.examples)


def _show(path: Path, old: str, new: str) -> None:
    name = str(path)
    for line in unified_diff(old.splitlines(), new.splitlines(), name, name, lineterm=""):
        _say(line)


def _says(path: Path, problem: str) -> bool:
    _say(f"{path}: {problem}")
    return False


def _say(line: str) -> None:
    write_text(f"{visible(line)}\n", 1)
