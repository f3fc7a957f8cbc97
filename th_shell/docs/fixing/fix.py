"""The command ``th-docs fix``: writes into pages what their examples print.

`correcting` finds the changes. With --interactive, each change is asked for, and
the pages are written when all questions are answered.

The exit status is 0 if all that fails could be mended, or with --diff nothing fails; 1 if something
is left, or a page cannot be checked; 2 for a wrong command line.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from difflib import unified_diff
from pathlib import Path

from th_shell.docs.checking import Checker, own_faults
from th_shell.docs.command.command_lines import parser_of, rules_of
from th_shell.docs.command.selection import NoPagesError, find_pages
from th_shell.docs.fixing.correcting import Change, Correction
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import text_of
from th_shell.docs.reporting.reporter import write_text
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.settings import PageError
from th_shell.files import write_file
from th_shell.visible import visible_line

#: Pages whose lines are not those that examples are read from.
_NOT_WRITTEN = frozenset((".html", ".htm", ".ipynb"))

#: A page, what is to be changed in it or why it cannot be mended, and the changes that are made.
_Fix = tuple[Path, Correction | str, Sequence[Change]]


def main(words: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    parser = parser_of("th-docs fix")
    options = parser.parse_args(words)
    if options.interactive and not sys.stdin.isatty():
        parser.error("--interactive: the standard input is no terminal")
    try:
        pages = find_pages(options.words)
    except NoPagesError as error:
        parser.error(str(error))
    with Starter() as starter:
        checker = Checker(starter, Compiler(), rules_of(options))
        asking = _Asking() if options.interactive else None
        fixes: Iterable[_Fix] = (_find(page, checker, asking) for page in pages)
        if asking:
            fixes = list(fixes)  # nothing is written before the last answer
        mended = [_finish(*fix, options.diff) for fix in fixes]
    return 0 if all(mended) else 1


def _find(path: Path, checker: Checker, asking: _Asking | None) -> _Fix:
    """Return a page with the changes that shall be made, or why there can be none."""
    if path.suffix.lower() in _NOT_WRITTEN:
        return path, f"pages of this format are not written: {path.suffix}", ()
    try:
        with own_faults():
            correction = Correction(path, checker)
    except PageError as error:
        return path, str(error), ()
    return path, correction, asking.chosen(path, correction) if asking else correction.changes


def _finish(
    path: Path, correction: Correction | str, changes: Sequence[Change], only_show: bool
) -> bool:
    """Mend a page; whether nothing is left that fails."""
    try:
        if isinstance(correction, str):
            raise PageError(correction)
        new, left = correction.changed(changes), correction.left(changes)
        if only_show:
            _show(path, correction.text, new)
        elif changes:
            if text_of(path) != correction.text:
                raise PageError("it has been changed meanwhile, and is left as it is")
            write_file(path, new.encode("utf-8", "surrogateescape"))
    except (OSError, PageError) as error:
        why = f"cannot be written: {error.strerror}" if isinstance(error, OSError) else error
        _say(f"{path}: {why}")
        return False
    for result in left:
        headline = result.example.source.split("\n")[0]
        _say(f"{path}:{result.example.line}: left: {result.verdict.value}: {headline}")
    verb = "to mend" if only_show else "mended"
    _say(f"{path}: {len(changes)} {verb}, {len(left)} left")
    return not (left or only_show and changes)


def _show(path: Path, old: str, new: str) -> None:
    name = str(path)
    before, after = (text.replace("\r\n", "\n").removesuffix("\n") for text in (old, new))
    for line in unified_diff(before.split("\n"), after.split("\n"), name, name, lineterm=""):
        _say(line)


def _say(line: str) -> None:
    write_text(f"{visible_line(line)}\n", 1)


class _Asking:
    """Asks at the terminal which changes are made."""

    def __init__(self) -> None:
        self._to_all = ""  # the answer to all further questions

    def chosen(self, path: Path, correction: Correction) -> list[Change]:
        """Return the changes of a page that shall be made."""
        chosen = [
            change for change in correction.changes if self._is_wanted(path, correction, change)
        ]
        return chosen if chosen == correction.changes else correction.holding(chosen)

    def _is_wanted(self, path: Path, correction: Correction, change: Change) -> bool:
        answer = self._to_all
        if not answer:
            _show(path, correction.text, correction.changed([change]))
        while answer not in ("y", "n", "a", "q"):
            write_text("Make this change? (y, n, a: and all that follow, q: no more) ", 1)
            answer = (sys.stdin.readline() or "q").strip().lower()  # the end of the input
        self._to_all = answer if answer in ("a", "q") else ""
        return answer in ("a", "y")
