"""Marks the examples in the HTML that a program makes of a page, and tells which of them fail.

Sphinx (`sphinx_extension`) and MkDocs (`mkdocs_plugin`) build pages; the page's own file is
checked. A block of code in the HTML is known by its text: it has the lines of a block's inputs.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape, unescape
from itertools import groupby

from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import Example
from th_shell.docs.reporting.excerpts import first_line, page_lines
from th_shell.docs.reporting.report import describe
from th_shell.patterns import pattern

_CODE = pattern(r"<pre\b[^<]*(?:<(?!/?pre\b)[^<]*)*</pre>")
_MARKUP = pattern(r'<span class="linenos">[^<]*</span>|<[^<>]*>')
_FLAGS = pattern(r"(?<!\s)\s*#\s*doctest:.*")  # Sphinx does not show them


def failures_of(page: PageResult) -> Iterator[tuple[int, str]]:
    """Yield the problems of a page as a report has them, each behind its line, from 1."""
    if page.problem:
        yield 1, page.problem
    for result in page.failures:
        yield result.example.line, describe(result).rstrip("\n")


def marked(html: str, page: PageResult) -> str:
    """Return the HTML of a page with its verdicts at the end, and links to these above code."""
    lines = page_lines(page.page) if page.page.suffix.lower() != ".ipynb" else []
    shown = [result for result in page.results if result.verdict is not Verdict.TEXT]
    results = {f"th-docs-{at}": result for at, result in enumerate(shown, 1)}  # by their places
    by_block = groupby(results.items(), lambda item: item[1].example.block)
    blocks = [dict(block) for _, block in by_block]  # those that are still to be found

    def with_mark(code: re.Match[str]) -> str:
        texts = [_bare(line) for line in unescape(_MARKUP.sub("", code[0])).split("\n")]
        for at, block in enumerate(blocks):
            unmatched = iter(texts)
            inputs = [line for shown in block.values() for line in _input(shown.example, lines)]
            if all(line in unmatched for line in inputs):
                del blocks[: at + 1]
                return _mark(block) + code[0]
        return code[0]

    rows = "".join(_row(place, result) for place, result in results.items())
    verdicts = f'<section id="th-docs-verdicts"><h2>Verdicts</h2><ul>{rows}</ul></section>'
    return _CODE.sub(with_mark, html) + verdicts if rows else html


def _input(example: Example, lines: Sequence[str]) -> list[str]:
    """Return the lines of an input as a built page shows them: with the prompts of its page.

    lines: those of the page; none where its file has them in another form.
    """
    shown = lines[example.line - 1 : example.last] or example.source.split("\n")
    return [_bare(line) for line in shown]


def _bare(line: str) -> str:
    return " ".join(_FLAGS.sub("", line).split())


def _mark(block: Mapping[str, Result]) -> str:
    """Links to verdicts: one for examples that follow one another and have the same."""
    links = []
    for name, some in groupby(block, lambda place: block[place].verdict.value):
        first, *later = some
        count = f"{len(later) + 1} " if later else ""
        links.append(f'<a class="th-docs-{name}" href="#{first}">{count}{name}</a>')
    return f'<p class="th-docs">{" ".join(links)}</p>'


def _row(place: str, result: Result) -> str:
    name = result.verdict.value
    note = f" ({first_line(result.note)})" if result.note else ""
    text = f"<pre>{escape(describe(result))}</pre>" if result.failed else escape(name + note)
    source = f"<code>{escape(first_line(result.example.source))}</code>"
    return (
        f'<li id="{place}" class="th-docs-{name}">line {result.example.line}: {source}: {text}</li>'
    )
