"""Marks the examples in the HTML that a program makes of a page, and tells which of them fail.

Sphinx (`sphinx_extension`) and MkDocs (`mkdocs_plugin`) build pages; the page's own file is
checked. A block of code in the HTML is known by its text: it has the lines of a block's inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from itertools import groupby
from typing import NamedTuple

from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reporting.excerpts import first_line, page_lines
from th_shell.docs.reporting.report import describe

_CODE = re.compile(r"<pre\b.*?</pre>", re.S)
_MARKUP = re.compile(r'<span class="linenos">.*?</span>|<[^>]*>')
_NOTEBOOK = ".ipynb"
_FLAGS = re.compile(r"\s*#\s*doctest:.*")  # Sphinx does not show them


def failures_of(page: PageResult) -> Iterator[tuple[int, str]]:
    """What is wrong with a page, as a report has it, with the line of the page, from 1."""
    if page.problem:
        yield 1, page.problem
    for result in page.failures:
        yield result.example.line, describe(result).rstrip("\n")


class _Judged(NamedTuple):
    """An example's result, and its place in the list of verdicts."""

    result: Result
    number: int
    inputs: Sequence[str]

    @property
    def name(self) -> str:
        """The word for its verdict."""
        return self.result.verdict.value


def marked(html: str, page: PageResult) -> str:
    """The HTML of a page with its verdicts at the end, to which marks above blocks of code lead."""
    results = [one for one in page.results if one.verdict is not Verdict.TEXT]
    if not results:
        return html
    lines = page_lines(page.page) if page.page.suffix.lower() != _NOTEBOOK else []
    judged = [_Judged(one, at, _inputs(one, lines)) for at, one in enumerate(results, 1)]
    by_block = groupby(judged, lambda one: one.result.example.block)
    blocks = [list(block) for _, block in by_block]  # those that are still to be found

    def with_mark(code: re.Match[str]) -> str:
        shown = [_bare(line) for line in unescape(_MARKUP.sub("", code[0])).split("\n")]
        at = next((at for at, block in enumerate(blocks) if _is_shown(block, shown)), None)
        if at is None:
            return code[0]
        mark = _mark(blocks[at])
        del blocks[: at + 1]
        return mark + code[0]

    return _CODE.sub(with_mark, html) + _verdicts(judged)


def _inputs(result: Result, lines: Sequence[str]) -> list[str]:
    """The lines of an example's input as a built page shows them: with the prompts of its page.

    lines: those of the page; none where its file has them in another form.
    """
    example = result.example
    shown = lines[example.line - 1 : example.last] or example.source.split("\n")
    return [_bare(line) for line in shown]


def _bare(line: str) -> str:
    return " ".join(_FLAGS.sub("", line).split())


def _is_shown(block: Sequence[_Judged], shown: Sequence[str]) -> bool:
    """Whether some lines have those of all inputs of a block, in their order."""
    rest = iter(shown)
    return all(line in rest for one in block for line in one.inputs)


def _mark(block: Sequence[_Judged]) -> str:
    """Links to verdicts: one for examples that follow one another and have the same."""
    links = []
    for name, some in groupby(block, lambda one: one.name):
        first, *others = some
        count = f"{len(others) + 1} " if others else ""
        links.append(f'<a class="th-docs-{name}" href="#th-docs-{first.number}">{count}{name}</a>')
    return f'<p class="th-docs">{" ".join(links)}</p>'


def _verdicts(judged: Sequence[_Judged]) -> str:
    rows = "".join(map(_row, judged))
    return f'<section id="th-docs-verdicts"><h2>Verdicts</h2><ul>{rows}</ul></section>'


def _row(one: _Judged) -> str:
    result = one.result
    note = f" ({first_line(result.note)})" if result.note else ""
    told = f"<pre>{escape(describe(result))}</pre>" if result.failed else escape(one.name + note)
    source = f"<code>{escape(first_line(result.example.source))}</code>"
    words = f"line {result.example.line}: {source}: {told}"
    return f'<li id="th-docs-{one.number}" class="th-docs-{one.name}">{words}</li>'
