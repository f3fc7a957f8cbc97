"""Says which names of an API, documented functions and anchors of pages have a checked example.

A name has an example if the input of one uses it as `torch.name`, `x:name` or `name(…)`. It is
checked, too, if a checked example below it in the same block shows what it has changed. An anchor,
`<a name="…">`, has the examples below it, until the next anchor; anchors with nothing but headings
and blank lines between them have the same ones.

A page documents a function where a heading has its name before a bracket, `lume.round(x)`, or a
directive such as `.. function::`.
"""

from __future__ import annotations

import re
from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import TextWrapper
from typing import NamedTuple

from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.names import bound_names, called_names, read_names
from th_shell.docs.reporting.excerpts import page_lines
from th_shell.files import read_file
from th_shell.visible import visible

_ANCHOR = re.compile(
    r"<a\s[^<>]*?\b(?:name|id)\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)'|([^\s\"'<>]+))", re.I
)
_NOTHING = re.compile(r"^\s*(?:(?:#.*|=+|-+)\s*)?$")
_TAG = re.compile(r"</?a\b[^<>]*>", re.I)
_RECEIVER = re.compile(r"\b([A-Za-z_]\w*)\s*:\s*[A-Za-z_]")
_FUNCTION = re.compile(
    r"^(?:#{1,6}[^(]*?(?P<heading>(?<![\w.:])[A-Za-z_][\w.:]*)\("
    r"|\s*\.\. (?:\w+:)?(?:auto)?(?:function|method|classmethod|staticmethod):: +(?P<name>[\w.:]+))"
)
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_WRAPPER = TextWrapper(98, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)


class Covered(NamedTuple):
    """Names by their examples."""

    #: Names with an example that is compared with the page.
    checked: tuple[str, ...]
    #: Names whose examples only run.
    ran: tuple[str, ...]
    #: Names without an example.
    none: tuple[str, ...]

    @property
    def total(self) -> int:
        """The number of names."""
        return len(self.checked) + len(self.ran) + len(self.none)


class Coverage(NamedTuple):
    """The names, functions and anchors, by page, that examples of some pages cover."""

    names: Covered
    functions: Covered
    anchors: Mapping[Path, Covered]


def torch_names() -> list[str]:
    """Return the public operations of torch, without those that only other operations call."""
    from th_shell.runtime.shell import (
        ALL,
        TABLE,
    )  # late: they load numpy, which only the runs of pages need

    public = (
        name.rpartition(".")[2]
        for name, rows in TABLE.items()
        if "_" not in name and any(kind in ALL for row in rows for kind in row.types)
    )
    return sorted(set(public))


def read_api(path: Path) -> list[str]:
    """Return the names in a file, one in each line; '#' begins a comment. Raises OSError."""
    lines = read_file(path).decode("utf-8", "surrogateescape").split("\n")
    names = (line.partition("#")[0].strip() for line in lines)
    return sorted({name for name in names if name})


def documented(pages: Sequence[PageResult]) -> list[str]:
    """Return the functions that pages document, in order."""
    functions: dict[str, None] = {}
    for page in pages:
        is_code = False
        for line in page_lines(page.page):
            is_code ^= bool(_FENCE.match(line))
            match = None if is_code else _FUNCTION.match(line)
            if match:
                functions[match["heading"] or match["name"]] = None
    return list(functions)


def measure(
    pages: Sequence[PageResult], api: Collection[str], functions: Collection[str] = ()
) -> Coverage:
    """Return the names, functions and anchors that examples cover.

    functions: those that the pages document.
    """
    uses = defaultdict[str, list[bool]](list)
    for page in pages:
        for result, checked in _examples(page.results):
            for name in called_names(result.example.language, result.example.source):
                uses[name].append(checked)
    anchors = {page.page: _covered(_anchored(page)) for page in pages}
    return Coverage(
        _covered({name: uses[name] for name in api}),
        _covered({name: uses[re.split("[.:]", name)[-1]] for name in functions}),
        {page: covered for page, covered in anchors.items() if covered.total},
    )


def coverage_lines(coverage: Coverage, api: str) -> Iterator[str]:
    """Yield the lines of a report on coverage. api: the title of the names."""
    anchored = {f"{page}: anchors": anchors for page, anchors in coverage.anchors.items()}
    rows = {api: coverage.names, "documented functions": coverage.functions, **anchored}
    for title, covered in rows.items():
        if covered.total:
            checked = len(covered.checked)
            yield f"{visible(title)}: {checked} of {covered.total} have a checked example"
            yield from _listed("only run", covered.ran)
            yield from _listed("no example", covered.none)
    if len(coverage.anchors) > 1:
        every = coverage.anchors.values()
        total, checked = sum(a.total for a in every), sum(len(a.checked) for a in every)
        yield f"{len(every)} pages: anchors: {checked} of {total} have a checked example"


def _examples(results: Sequence[Result]) -> Iterator[tuple[Result, bool]]:
    """Yield the examples that were run, from the last one; whether what they do is checked."""
    block, shown = -1, set[str]()
    for result in reversed(results):
        source, language = result.example.source, result.example.language
        if result.example.block != block:
            block, shown = result.example.block, set()
        if result.checked:
            shown |= read_names(language, source)
        if result.verdict not in (Verdict.SKIPPED, Verdict.TEXT):
            changed = bound_names(language, source) | set(_RECEIVER.findall(source))
            yield result, result.checked or bool(changed & shown)


def _covered(checks: Mapping[str, Sequence[bool]]) -> Covered:
    """Names by whether each of their examples is checked."""
    return Covered(
        checked=tuple(name for name, examples in checks.items() if any(examples)),
        ran=tuple(name for name, examples in checks.items() if examples and not any(examples)),
        none=tuple(name for name, examples in checks.items() if not examples),
    )


def _listed(title: str, names: Sequence[str]) -> list[str]:
    shown = " ".join(map(visible, names))
    return _WRAPPER.wrap(f"  {title}: {shown}") if names else []


# -- anchors


def _anchored(page: PageResult) -> dict[str, list[bool]]:
    """For each anchor of a page, whether each example under it is checked."""
    groups = list(_groups(page.page))
    starts = [start for start, _ in groups]
    checks: dict[str, list[bool]] = {name: [] for _, names in groups for name in names}
    for result, checked in _examples(page.results):
        at = bisect(starts, result.example.line)
        for name in groups[at - 1][1] if at else ():
            checks[name].append(checked)
    return checks


def _groups(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the anchors of a page that stand together, with the line of the first one."""
    start, names = 0, list[str]()
    is_near = False
    for number, line in enumerate(page_lines(path), 1):
        anchors = ["".join(match) for match in _ANCHOR.findall(line)]
        if anchors and not is_near:
            if names:
                yield start, names
            start, names = number, []
        names += anchors
        text = _TAG.sub("", line) if anchors else line
        is_near = bool(_NOTHING.match(text)) and (is_near or bool(anchors))
    if names:
        yield start, names
