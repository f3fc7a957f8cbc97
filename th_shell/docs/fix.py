"""The command ``th-docs fix``: writes into pages what their examples print.

An output is written anew where a run always prints the same text, whatever the seed, the clock, the
memory and the order of fields; never an error in place of another text, nor what a line of the
shell prints. Inputs stay as they are, and so do the examples that have errata.

A change is only one if it holds: the page with it is read and run again. A printed text may look
like a prompt, like code or like a fence: in its place in the page it would be something else then
than what an example prints. So all inputs must be the ones of the page, each changed output must
pass, and no other example may do worse than before.

The exit status is 0 if all that fails could be mended, or with --diff nothing fails; 1 if something
is left, or a page cannot be checked; 2 for a wrong command line.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import combinations
from pathlib import Path

from th_shell.docs.checking import Assessment, Checker, assess_page, held, own_faults
from th_shell.docs.command_lines import parser_of, rules_of
from th_shell.docs.judging.agreement import comparison
from th_shell.docs.judging.missing_outputs import LEFT_OUT
from th_shell.docs.judging.printout import ANYTHING
from th_shell.docs.judging.python_output import comparable, comparable_outcome
from th_shell.docs.judging.verdicts import Result, Verdict, judge
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import LUA, PYTHON, Kind, Line
from th_shell.docs.reading.lua_names import strings
from th_shell.docs.reading.page import text_of
from th_shell.docs.reporting.report import write_text
from th_shell.docs.rewriting import rewritten
from th_shell.docs.running.configured import with_imports
from th_shell.docs.running.evaluation import Outcome, Plan, Runner
from th_shell.docs.running.processes import Starter
from th_shell.docs.selection import NoPagesError, find_pages
from th_shell.docs.settings.settings import PageError
from th_shell.files import write_file
from th_shell.patterns import pattern
from th_shell.visible import visible_line

#: Pages whose lines are not those that examples are read from.
_NOT_WRITTEN = frozenset((".html", ".htm", ".ipynb", ".py"))


def main(words: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    parser = parser_of("th-docs fix")
    options = parser.parse_args(words)
    try:
        pages = find_pages(options.words)
    except NoPagesError as error:
        parser.error(str(error))
    with Starter() as starter:
        checker = Checker(starter, Compiler(), rules_of(options))
        mended = [_mend(page, checker, options.diff) for page in pages]
    return 0 if all(mended) else 1


def _mend(path: Path, checker: Checker, only_show: bool) -> bool:
    """Mend a page; tell whether nothing is left that fails."""
    try:
        if path.suffix.lower() in _NOT_WRITTEN:
            raise PageError(f"pages of this format are not written: {path.suffix}")
        with own_faults():
            correction = Correction(path, checker)
        changes, new = correction.changes, correction.changed(correction.changes)
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
    for result in correction.left:
        headline = result.example.source.split("\n")[0]
        _say(f"{path}:{result.example.line}: left: {result.verdict.value}: {headline}")
    verb = "to mend" if only_show else "mended"
    _say(f"{path}: {len(changes)} {verb}, {len(correction.left)} left")
    if correction.problem:
        _say(f"{path}: left: {correction.problem}")
    return not (correction.left or correction.problem or only_show and changes)


def _show(path: Path, old: str, new: str) -> None:
    name = str(path)
    before, after = (text.replace("\r\n", "\n").removesuffix("\n") for text in (old, new))
    for line in unified_diff(before.split("\n"), after.split("\n"), name, name, lineterm=""):
        _say(line)


def _say(line: str) -> None:
    write_text(f"{visible_line(line)}\n", 1)


# -- finding the changes

_REWRITTEN = (Verdict.DIFFERS, Verdict.DAMAGED, Verdict.ERROR)
#: Of further runs, which differ in all that runs may differ in.
_PLANS = [Plan(n, fill=0x11 * n, clock=n * 10_000_019, engine=n) for n in (2, 3, 4, 5)]
#: A time zone that nobody lives in: what is printed in it does not depend on that of a machine.
_ZONE = "XYZ-5:41"
#: The name of a file, which another machine may have.
_FILE = pattern(r"\S*\w\.[a-z][a-z\d]{0,3}")
#: The most lines of which each two are tried in the other order.
_FEW_LINES = 12
#: An error of Python whose last line has been lost.
_CUT = pattern(r"\s*Traceback \(most recent call last\):\n\s*\.\.\.\s*")
#: Without a seed, Lua's own random numbers would be the same each time, and yet depend on chance.
_SEEDED = "math.randomseed(271828) "


@dataclass(frozen=True)
class Change:
    """New lines in the documented text of an example."""

    #: The index of the example.
    index: int
    #: Lines by the number of the line that they replace.
    lines: Mapping[int, Sequence[str]]


class Correction:
    """The changes with which a page documents what its examples print.

    text: the page's. changes: those which hold, in order. left: the results that fail with them.
    problem: what is wrong with the page as a whole.
    """

    def __init__(self, path: Path, checker: Checker) -> None:
        """Read and run a page. Raises PageError."""
        self._path = path
        self._checker = checker
        self._page, runner = checker.read(path)
        self.text = self._page.text
        self._lines = self.text.split("\n")
        self._read = {line.number: line for block in self._page.blocks for line in block.all_lines}
        self._assessment = assess_page(self._page, runner)
        printed = _always_printed(self._assessment, runner) if self._failed() else []
        candidates = (self._change(i, printed[i]) or self._in_order(i) for i in self._failed())
        self.changes = self._holding([change for change in candidates if change])
        mended = {change.index for change in self.changes}
        judged = held(self._page, self._assessment)
        self.problem = judged.problem
        self.left = [
            result for i, result in enumerate(judged.results) if result.failed and i not in mended
        ]

    def changed(self, changes: Sequence[Change]) -> str:
        """Return the page's text with changes; all other characters stay."""
        new = {number: texts for change in changes for number, texts in change.lines.items()}
        lines = list(self._lines)
        for number in sorted(new, reverse=True):
            before, behind = _around(lines[number - 1], self._read[number]) or ("", "")
            lines[number - 1 : number] = [f"{before}{text}{behind}" for text in new[number]]
        return "\n".join(lines)

    def _holding(self, changes: Sequence[Change], held: Sequence[Change] = ()) -> list[Change]:
        """Return as many of some changes as the page holds with, found by halves.

        held: changes that the page has besides.
        """
        if not changes or self._hold([*held, *changes]):
            return list(changes)
        if len(changes) == 1:
            return []
        half = len(changes) // 2
        first = self._holding(changes[:half], held)
        return first + self._holding(changes[half:], [*held, *first])

    def _failed(self) -> list[int]:
        results = enumerate(self._assessment.results)
        return [i for i, result in results if result.failed and i not in self._assessment.errata]

    def _hold(self, changes: Sequence[Change]) -> bool:
        try:
            with own_faults():
                page, runner = self._checker.read(self._path, self.changed(changes))
                old, new = self._page.examples, page.examples
                if [(e.kind, e.source) for e in new] != [(e.kind, e.source) for e in old]:
                    return False
                results = assess_page(page, runner).results
        except PageError:
            return False
        changed = {change.index for change in changes}
        pairs = zip(self._assessment.results, results, strict=True)
        return all(
            now.verdict is Verdict.PASS if i in changed else _is_as_good(before, now)
            for i, (before, now) in enumerate(pairs)
        )

    def _change(self, index: int, printed: str | None) -> Change | None:
        result = self._assessment.results[index]
        example = result.example
        lacks_lines = result.verdict is Verdict.HEALED and result.repaired.startswith(
            result.original
        )
        is_wrong = result.verdict in _REWRITTEN or lacks_lines
        if printed is None or not is_wrong or self._ends_script(index):
            return None
        if "Tensor of size" in self.text and "Tensor of dimension" not in self.text:
            printed = printed.replace("of dimension", "of size")
        if example.language == PYTHON and example.kind is Kind.PROMPT:
            blank = [line or "<BLANKLINE>" for line in printed.removesuffix("\n").split("\n")]
            printed = "\n".join(blank)
        if result.note == LEFT_OUT:
            return self._put_in(index, printed)
        first, last = example.documented or (0, -1)
        old = self._documented(index)
        texts = [line.text.split() for line in old]
        if texts != [text.split() for text in example.expected.split("\n")]:
            return None
        if result.verdict is Verdict.ERROR and example.language == PYTHON:
            old = old[-1:]  # of an error, the last line counts
            if old[0].text.strip() == "...":  # which has been lost
                margin = self._read[first].text.partition("Traceback")[0]
                return Change(index, self._filled({old[0].number: [old[0].text, margin + printed]}))
        is_known = all(_around(self._lines[line.number - 1], line) for line in old)
        if not is_known:
            return None
        is_same = comparison(example)
        new = rewritten(
            [line.text for line in old],
            printed,
            lambda shown, output: is_same(shown.replace("...", ANYTHING), output),
        )
        pairs = zip(old, new or (), strict=bool(new))
        changed = {line.number: texts for line, texts in pairs if texts != [line.text]}
        start = first if example.apart else example.last
        is_torn = not self._read.keys() >= set(range(start, last))  # by a page break
        is_guess = any(self._has_lost(self._read[n], changed[n], is_torn) for n in changed)
        return Change(index, self._filled(changed)) if changed and not is_guess else None

    def _documented(self, index: int) -> list[Line]:
        first, last = self._page.examples[index].documented or (0, -1)
        return [line for number, line in self._read.items() if first <= number <= last]

    def _in_order(self, index: int) -> Change | None:
        """Return the change that drops a line which stands twice, or swaps two, if that is all."""
        example, lines = self._page.examples[index], self._documented(index)
        texts, outcomes = [line.text for line in lines], [self._assessment.outcomes[index]]
        if len(lines) > _FEW_LINES or "--" in "".join(texts):
            return None
        for i, k in combinations(range(len(lines)), 2):
            is_twin, new = texts[i] == texts[k], texts.copy()
            new[i], new[k] = texts[k], texts[i]
            shown = replace(example, expected="\n".join(new[:k] + new[k + is_twin :]))
            if not judge([comparable(shown)], outcomes)[0].failed:
                twin = {lines[k].number: ()}
                return Change(
                    index, twin if is_twin else {lines[n].number: [new[n]] for n in (i, k)}
                )
        return None

    def _put_in(self, index: int, printed: str) -> Change | None:
        """Return the change that puts a printed text below an input, if the page can show it."""
        example = self._assessment.results[index].example
        number, line = example.last, self._read[example.last].text
        shown = [text.rstrip() for text in printed.rstrip().split("\n")]
        if "\t" in "\n".join(shown) or example.language == PYTHON and not all(shown):
            return None
        margin = line[: len(line) - len(line.lstrip())]
        return Change(index, self._filled({number: [line, *(margin + text for text in shown)]}))

    def _has_lost(self, line: Line, texts: Sequence[str], is_torn: bool) -> bool:
        """Return whether blanks beside a line may have been words or lines of the new texts."""
        old, new = line.text.split(), " ".join(texts).split()
        is_moved = old and new and line.text.partition(old[0])[0] != texts[0].partition(new[0])[0]
        return bool(is_torn and (len(texts) > 1 or not old or is_moved))

    def _filled(self, new: dict[int, list[str]]) -> dict[int, list[str]]:
        """Return new lines; a blank line that is the place of one that is put in goes."""
        for number in [number for number, texts in new.items() if len(texts) > 1]:
            for beside in (number - 1, number + 1):
                if beside in self._read and beside not in new and self._is_hole(beside):
                    new[beside] = []
        return new

    def _is_hole(self, number: int) -> bool:
        """Return whether a line is blank, and what is below other outputs is not."""
        below = [e.documented[1] + 1 for e in self._page.examples if e.documented and not e.apart]
        others = [self._lines[n - 1].strip() for n in below if n != number and n in self._read]
        text = self._lines[number - 1].rstrip("\r")
        return not text.strip() and bool(text or others and all(others))

    def _ends_script(self, index: int) -> bool:
        """Return whether a documented text may be what statements above print, too."""
        example = self._page.examples[index]
        for i in range(index - 1, -1, -1):
            above = self._page.examples[i]
            is_script = above.kind is example.kind is Kind.BARE and above.block == example.block
            if not is_script or above.expected:
                return False
            if self._assessment.outcomes[i][0].printed.strip():
                return True
        return False


def _is_as_good(before: Result, now: Result) -> bool:
    is_kept = before.example.expected == now.example.expected
    return is_kept and now.failed <= before.failed and now.checked >= before.checked


def _around(old: str, line: Line) -> tuple[str, str] | None:
    """Return the text around a block's line in the page's line; None if it is not in there."""
    at = old.replace("\N{NO-BREAK SPACE}", " ").rfind(line.text)
    return None if at < 0 else (old[:at], old[at + len(line.text) :])


def _always_printed(assessment: Assessment, runner: Runner) -> list[str | None]:
    """Return the text that each example prints in all runs; None where runs differ."""
    examples = [result.example for result in assessment.results]
    runner = with_imports(runner, examples)
    preludes = {**runner.preludes, LUA: _SEEDED + runner.preludes.get(LUA, "")}
    sources = {i: e.right for i, e in assessment.errata.items() if e.right is not None}
    engines = {
        name: replace(engine, environment={"TZ": _ZONE, **engine.environment})
        for name, engine in runner.engines.items()
    }
    runs = replace(runner, preludes=preludes, engines=engines).evaluate(
        examples, [replace(plan, sources=sources) for plan in _PLANS]
    )
    return [
        outcomes[0].output
        if _is_settled(result, [*judged, *outcomes])
        else _always_raised(result, [*judged, *outcomes])
        for result, judged, outcomes in zip(
            assessment.results, assessment.outcomes, runs, strict=True
        )
    ]


def _is_settled(result: Result, outcomes: Sequence[Outcome]) -> bool:
    """Return whether all runs print a text, which can be compared with the page as it is.

    Where an input prints and has a value, the page may leave out the latter.
    """
    example, text, printed = result.example, outcomes[-1].output, outcomes[-1].printed
    if example.kind is Kind.SHELL or example.settings.filters:
        return False
    if printed.strip() and printed != text or _is_of_machine(example.source, text):
        return False
    is_text = text.strip() and all(char.isprintable() or char in "\t\n" for char in text)
    is_plain = comparable_outcome(example, outcomes[-1]).output == text
    return bool(is_text and is_plain) and all(
        run.output == text and run.error is None and run.undefined == frozenset() and not run.lost
        for run in outcomes
    )


def _always_raised(result: Result, outcomes: Sequence[Outcome]) -> str | None:
    """Return the message that all runs raise and the page shows nearly so; None for others."""
    example, texts = result.example, [run.error or "" for run in outcomes]
    if example.language == PYTHON:  # the lines above tell of the run
        texts = [text.rstrip().rpartition("\n")[2] for text in texts]
    text = texts[-1]
    is_cut = _CUT.fullmatch(example.expected) is not None
    words = set(text.split())
    is_near = is_cut or 2 * len(words & set(example.expected.split())) >= len(words) > 0
    is_same = len(set(texts)) == 1 and all(
        run.error is not None and run.undefined == frozenset() and not run.lost for run in outcomes
    )
    return text if is_near and is_same and not _is_of_machine(example.source, text) else None


def _is_of_machine(source: str, text: str) -> bool:
    """Return whether a printed text has names of folders here, or may depend on files."""
    places = os.path.expanduser("~"), os.getcwd(), sys.prefix
    is_here = any(len(place) > 1 and place in text for place in places)
    return is_here or any(map(_FILE.fullmatch, strings(source)))
