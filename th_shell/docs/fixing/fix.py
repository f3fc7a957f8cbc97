"""The command ``th-docs fix``: writes into pages what their examples print.

What differs gets the text that the program prints, where that is always the same; what a repair
has healed gets the repaired lines. Examples that have errata are left as they are, and
so is whatever depends on chance or raises an error: the page's author must look at these.

Before anything is replaced, the new page is read again. A printed text may look like a prompt, like
code or like a fence: in its place in the page it would be something else then than what an example
prints. What would not be read as it is meant is left as well.

The exit status is 0 if all that fails could be mended, or with --diff nothing fails; 1 if something
is left, or a page cannot be checked; 2 for a wrong command line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from th_shell.docs.checking import Assessment, Checker, assess_page
from th_shell.docs.command import run_options
from th_shell.docs.command.selection import NoPagesError, find_pages
from th_shell.docs.fixing.rewriting import rewritten
from th_shell.docs.judging.comparison import agrees
from th_shell.docs.judging.verdicts import Result, Verdict
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind, Line
from th_shell.docs.reading.page import Page, read_text
from th_shell.docs.reporting.reporter import write_text
from th_shell.docs.running.processes import Starter
from th_shell.docs.settings.placement import cut_with_settings
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
        checker = Checker(starter, Compiler(), run_options.said_by(options))
        mended = [_fixed(page, checker, options.diff) for page in pages]
    return 0 if all(mended) else 1


def _parser() -> run_options.Parser:
    parser = run_options.Parser(
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
    run_options.add_options(parser)
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


# -- what is to be changed


@dataclass(frozen=True)
class Change:
    """New lines of an example.

    index: that of the example. lines: the new lines, by the number of the line that they replace.
    printed: what the example prints, where the lines document this; None for a repair.
    """

    index: int
    lines: Mapping[int, Sequence[str]]
    printed: str | None = None


def reads_back(text: str, page: Page, changes: Sequence[Change]) -> str | None:
    """The text of a page with changes; None where it would not be read as it is meant."""
    new = _changed(text, page, _lines(changes))
    if new is None or not _are_outputs(page, changes):
        return None
    try:
        _, read = cut_with_settings(read_text(new, page.path.name), page.compiler)
    except PageError:
        return None
    return new if _shapes(read) == _shapes(page.edited(_lines(changes))) else None


def _lines(changes: Sequence[Change]) -> dict[int, Sequence[str]]:
    return {number: texts for change in changes for number, texts in change.lines.items()}


def _are_outputs(page: Page, changes: Sequence[Change]) -> bool:
    """Whether what documents an output does, and leaves the inputs as they are."""
    outputs = [change for change in changes if change.printed is not None]
    new = page.edited(_lines(outputs))
    if [(e.kind, e.source) for e in new] != [(e.kind, e.source) for e in page.examples]:
        return False
    return all(
        agrees(
            new[change.index].expected, change.printed or "", new[change.index].settings.tolerance
        )
        for change in outputs
    )


def _shapes(examples: Sequence[Example]) -> list[tuple[str, str]]:
    return [(example.source, example.expected) for example in examples]


# -- lines in their places


def _changed(text: str, page: Page, new: Mapping[int, Sequence[str]]) -> str | None:
    """A page with new lines, where all other characters stay; None where a line is not found."""
    known = {line.number: line for block in page.blocks for line in block.lines}
    lines = text.split("\n")
    for number in sorted(new, reverse=True):
        around = _around(lines[number - 1], known[number]) if new[number] else ("", "")
        if around is None:
            return None
        before, behind = around
        lines[number - 1 : number] = [f"{before}{own}{behind}" for own in new[number]]
    return "\n".join(lines)


def _around(old: str, line: Line) -> tuple[str, str] | None:
    """What stands around a line of a block in the page's line: margins, marks, the line's end."""
    at = old.replace("\N{NO-BREAK SPACE}", " ").rfind(line.text)
    return None if at < 0 or not line.text else (old[:at], old[at + len(line.text) :])


_REWRITTEN = (Verdict.DIFFERS, Verdict.DAMAGED)


@dataclass(frozen=True)
class Fix:
    """The fix of a page.

    text: that of the mended page. examples: how many examples were mended. left: the results that
    fail and stay as they are.
    """

    text: str
    examples: int
    left: Sequence[Result]


def find_fix(text: str, page: Page, assessment: Assessment) -> Fix:
    """The fix of a page with this text, from how its examples were judged."""
    failed = [
        (i, result)
        for i, result in enumerate(assessment.results)
        if result.failed and i not in assessment.errata
    ]
    changes = [change for i, _ in failed if (change := _change(i, page, assessment))]
    new = reads_back(text, page, changes)
    if new is None:
        kept: list[Change] = []
        for change in changes:
            if reads_back(text, page, [*kept, change]) is not None:
                kept.append(change)
        changes, new = kept, reads_back(text, page, kept)
    mended = {change.index for change in changes}
    left = [result for i, result in failed if i not in mended]
    return Fix(text if new is None else new, len(changes), left)


def _change(index: int, page: Page, assessment: Assessment) -> Change | None:
    if index in assessment.repairs:
        return Change(index, assessment.repairs[index].lines)
    result = assessment.results[index]
    if not _is_mendable(result) or _ends_script(index, assessment.results):
        return None
    lines = _new_lines(page, result)
    return Change(index, lines, result.got) if lines else None


def _is_mendable(result: Result) -> bool:
    is_text = all(char.isprintable() or char in "\t\n" for char in result.got)
    return result.verdict in _REWRITTEN and is_text and not result.by_chance


def _ends_script(index: int, results: Sequence[Result]) -> bool:
    """Whether a documented text may be what statements above print, too."""
    if index == 0 or results[index].example.kind is not Kind.BARE:
        return False
    above, own = results[index - 1], results[index].example
    is_one = above.example.kind is Kind.BARE and above.example.block == own.block
    return is_one and not above.example.expected and bool(above.got.strip())


def _new_lines(page: Page, result: Result) -> Mapping[int, Sequence[str]]:
    example = result.example
    first, last = example.documented or (0, -1)
    lines = (line for block in page.blocks for line in block.lines)  # it may be another block
    old = [line for line in lines if first <= line.number <= last]
    new = rewritten([line.text for line in old], result.got)
    for at, line in enumerate(old):
        if not line.text.strip() and any(new[at]):  # its margin in the page is unknown
            new[at - 1], new[at] = [*new[at - 1], *new[at]], []
    pairs = zip(old, new, strict=True)
    return {line.number: texts for line, texts in pairs if texts != [line.text]}
