"""Writes results as text for people: failures, each cause once, and the counts of the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from th_shell.docs.judging.printout import without_colours
from th_shell.docs.judging.reasons import FOLLOWS, LACKS
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import PYTHON, Kind
from th_shell.docs.reporting.causes import Cluster, clusters
from th_shell.docs.reporting.excerpts import PLAIN, Style, diff_lines, excerpt, first_line
from th_shell.visible import visible

_PLACES = 20  # places of a cause that are listed at most
_NAMES = 3  # names without values that the summary lists
_CAUSES = 10  # causes that the summary lists at most

#: The summary's remarks on verdicts that are neither good nor a plain failure.
_MEANINGS = {
    Verdict.FRAGMENT: "not counted as failures: they use names that the page gives no value",
    Verdict.DEVICE: "not counted as failures: they need a device that is not there",
    Verdict.DAMAGED: "the text that the page documents contradicts itself",
    Verdict.HEALED: "they hold after one small repair of the page's text",
    Verdict.XFAIL: "not counted as failures: the page's settings expect them to fail",
}


class View(NamedTuple):
    """The choice of details in a report's text."""

    #: A line for every example.
    verbose: bool = False
    #: 'unified' for lines with '-' and '+', 'words' for words in [-...-] and {+...+}, 'none' for
    #: both texts whole.
    diff: str = "unified"
    #: Each cause once.
    clustered: bool = True
    #: The colours.
    style: Style = PLAIN


#: The view without options.
USUAL = View()


class TextReport:
    """The text of a run, page by page."""

    def __init__(self, view: View, total: int) -> None:
        """total: how many pages there will be."""
        self._view = view
        self._total = total
        self._pages: list[PageResult] = []
        self._shown: dict[tuple[object, ...], str] = {}  # the places by the causes

    def page(self, page: PageResult) -> Iterator[str]:
        """Yield a page's failures, then its counts; if verbose, first a line for each example."""
        self._pages.append(page)
        style = self._view.style
        if self._view.verbose:
            yield from (_example_line(page, result) for result in page.results)
        if self._view.clustered:
            for cluster in clusters([page]):
                yield self._cluster(page, cluster)
        else:
            for result in page.failures:
                yield describe_failure(page, result, self._view)
        if page.problem:
            yield f"{style.bad('FAIL')} {visible(f'{page.page}: {page.problem}')}"
        if self._total == 1:
            yield from _meanings([page])
        yield f"{style.strong(visible(str(page.page)))}: {_counts([page])}"

    def end(self) -> Iterator[str]:
        """Yield the summary of all pages: causes with several failures, verdicts, counts."""
        if min(self._total, len(self._pages)) == 0 or self._total == 1:
            return  # the page's own lines have said it
        if self._view.clustered:
            yield from _causes(self._pages)
        yield from _meanings(self._pages)
        count, total = len(self._pages), self._total
        yield f"{count if count == total else f'{count} of {total}'} pages: {_counts(self._pages)}"

    def _cluster(self, page: PageResult, cluster: Cluster) -> str:
        """Describe a page's failures of one cause, the first in detail if none was above."""
        (_, first), *later = cluster.members
        key, words = cluster.cause.key, cluster.cause.words
        lines = _lines(cluster)
        place = f"{_failure_at(page, first, self._view.style)}{first.verdict.value}"
        if key in self._shown:
            and_more = f" (lines {lines})" if later else ""
            return f"{place}{and_more}: {words} [as {self._shown[key]}]\n"
        self._shown[key] = _place(page, first)
        if not later:
            return describe_failure(page, first, self._view)
        heads = [f"{place}: {len(cluster.members)} examples: {words}", f"  lines: {lines}"]
        return "\n".join([*heads, *_details(first, self._view), ""])


def describe_failure(page: PageResult, result: Result, view: View = USUAL) -> str:
    """Return an example's position and input, and how what it has printed differs from the page."""
    return f"{_failure_at(page, result, view.style)}{describe(result, view)}"


def describe(result: Result, view: View = USUAL) -> str:
    """Return an example's verdict and input, and how what it has printed differs from the page."""
    note = f" ({first_line(result.note)})" if result.note else ""
    return "\n".join([f"{result.verdict.value}{note}", *_details(result, view), ""])


def tally(pages: Sequence[PageResult]) -> dict[str, int]:
    """Count the examples of each verdict, in the order of the verdicts."""
    counts = Counter(result.verdict for page in pages for result in page.results)
    return {verdict.value: counts[verdict] for verdict in Verdict if counts[verdict]}


# -- lines


def _example_line(page: PageResult, result: Result) -> str:
    note = f"  [{first_line(result.note)}]" if result.note else ""
    source = first_line(_input(result))
    return f"{_place(page, result)}: {result.verdict.value:8} {source}{note}"


def _failure_at(page: PageResult, result: Result, style: Style) -> str:
    return f"{style.bad('FAIL')} {style.strong(_place(page, result))}: "


def _place(page: PageResult, result: Result) -> str:
    return visible(f"{page.page}:{result.example.line}")


def _lines(cluster: Cluster) -> str:
    numbers = [str(result.example.line) for _, result in cluster.members]
    more = [f"and {len(numbers) - _PLACES} more"] if len(numbers) > _PLACES else []
    return ", ".join(numbers[:_PLACES] + more)


def _counts(pages: Sequence[PageResult]) -> str:
    counts = tally(pages)
    total = sum(counts.values()) - counts.get(Verdict.TEXT.value, 0)
    checked = sum(page.checked for page in pages)
    unread = sum(page.unread for page in pages)
    left = f"; {unread} block{'s'[: unread != 1]} in other languages" if unread else ""
    if lost := sum(bool(page.problem and not page.results) for page in pages):
        if lost == len(pages):
            return "not checked"
        left += f"; {lost} page{'s'[: lost != 1]} not checked"
    if not total:
        return f"no examples{left}"
    shown = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"checked {checked} of {total} example{'s'[: total != 1]}: {shown}{left}"


def _causes(pages: Sequence[PageResult]) -> Iterator[str]:
    """Yield the causes of failures in several pages, the most frequent ones first."""
    shared = [cluster for cluster in clusters(pages) if cluster.pages > 1]
    shared.sort(key=lambda cluster: -len(cluster.members))
    for cluster in shared[:_CAUSES]:
        count, words = len(cluster.members), cluster.cause.words
        yield f"{count} examples in {cluster.pages} pages: {cluster.cause.verdict.value}: {words}"
    if len(shared) > _CAUSES:
        yield f"{len(shared) - _CAUSES} more causes are in several pages"


def _meanings(pages: Sequence[PageResult]) -> Iterator[str]:
    counts = tally(pages)
    for verdict, meaning in _MEANINGS.items():
        if verdict.value in counts:
            yield f"{counts[verdict.value]} {verdict.value}: {meaning}"
    yield from _roots(pages)


def _roots(pages: Sequence[PageResult]) -> Iterator[str]:
    """Yield the names that are missing most, and the failures from which others follow."""
    missing, follow = Counter[str](), Counter[tuple[Path, int]]()
    for page in pages:
        lacking: dict[int, list[str]] = {}  # names, by the lines of the examples that lack them
        for result in page.results:
            _, lacks, text = result.note.rpartition(LACKS)
            line = result.example.line
            if lacks:
                lacking[line] = text.split(", ")
            elif result.note.startswith(FOLLOWS):
                line = int(result.note.rpartition(" ")[2])
                follow[page.page, line] += line not in lacking
            missing.update(lacking.get(line, ()) if result.verdict is Verdict.FRAGMENT else ())
    for name, count in missing.most_common(_NAMES):
        if count > 1:
            yield f"{count} examples need {name}, which nothing defines: a --prelude can"
    for (path, line), count in follow.most_common(_CAUSES):
        if count:
            examples = "example follows" if count == 1 else "examples follow"
            yield visible(f"{count} {examples} from {path}:{line}")


# -- the details of a failure


def _input(result: Result) -> str:
    prompt = ">>> " if result.example.language == PYTHON else "> "
    prefix = {Kind.PROMPT: prompt, Kind.SHELL: "$ "}.get(result.example.kind, "")
    return prefix + result.example.source


def _details(result: Result, view: View) -> Iterator[str]:
    yield from _section("input", excerpt(_input(result)))
    if result.repaired:
        yield from _repair(result, view)
        return
    documented, printed = result.example.expected, result.got
    diff: list[str] = []
    if documented and printed and result.verdict is not Verdict.ERROR and view.diff != "none":
        diff = diff_lines(documented, printed, view.diff, view.style)
    if diff:
        signs = "[-page-] {+program+}" if view.diff == "words" else "- page, + program"
        yield from _section(f"difference ({signs})", diff)
        return
    yield from _section("expected", excerpt(documented or "(nothing documented)"))
    yield from _section("got", excerpt(without_colours(printed) or "(nothing)"))


def _repair(result: Result, view: View) -> Iterator[str]:
    kind = "unified" if view.diff == "none" else view.diff
    diff = diff_lines(result.original, result.repaired, kind, view.style, exact=True)
    yield from _section("repair, with which it holds", diff)


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield f"  {title}:"
    yield from (f"    {line}" if line else "" for line in lines)
