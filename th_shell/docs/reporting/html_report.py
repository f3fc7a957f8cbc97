"""Writes results as one HTML page: the lines of each documentation page beside the results.

The page needs nothing else: style and script are in it, and it may load nothing (its content
security policy says so). It can be read without the script, which filters by verdicts and words.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from th_shell.docs.judging.printout import without_colours
from th_shell.docs.judging.verdicts import PageResult, Result, Verdict
from th_shell.docs.reading.examples import Example
from th_shell.docs.reporting.causes import Cluster, clusters
from th_shell.docs.reporting.differences import Block, Piece, line_blocks, word_pieces
from th_shell.docs.reporting.excerpts import CHARACTERS, excerpt, page_lines, shortened
from th_shell.docs.reporting.report import tally
from th_shell.visible import encodable, visible

_PROSE = 12  # lines of prose between examples that are not folded
_MOST_PROSE = 1000  # lines of prose between two examples that the page has at most


def html_report(pages: Sequence[PageResult]) -> str:
    """The whole HTML page."""
    style, script = (_beside(name) for name in ("report.css", "report.js"))
    policy = f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'"
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>th-docs: results</title>",
            f"<style>{style}</style>",
            "</head>",
            "<body>",
            *_head(pages),
            "<main>",
            *(line for at, page in enumerate(pages) for line in _page(at, page)),
            '<p id="nothing" hidden>No example is like this.</p>',
            "</main>",
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def _beside(name: str) -> str:
    return (Path(__file__).parent / name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _shown(text: str) -> str:
    """A text as HTML, with control codes and bytes that are no UTF-8 written as digits."""
    return escape(encodable(visible(text)))


# -- the head: counts, filters, pages, causes


def _head(pages: Sequence[PageResult]) -> Iterator[str]:
    counts = tally(pages)
    checked = sum(page.checked for page in pages)
    yield "<header>"
    yield "<h1>th-docs</h1>"
    yield f"<p>Checked {checked} of {sum(counts.values())} examples in {len(pages)} pages.</p>"
    yield from _index(pages)
    yield from _causes(pages)
    yield "</header>"
    yield '<div id="filter" hidden>'
    for verdict, count in counts.items():
        yield (
            f'<button type="button" class="badge {verdict}" data-verdict="{verdict}" '
            f'aria-pressed="false">{verdict} {count}</button>'
        )
    yield '<input type="search" placeholder="Search" aria-label="Search examples">'
    yield "</div>"


def _index(pages: Sequence[PageResult]) -> Iterator[str]:
    yield "<nav><table>"
    for at, page in enumerate(pages):
        badges = " ".join(_badge(verdict, f"{n} {verdict}") for verdict, n in tally([page]).items())
        name = f'<a href="#page-{at}">{_shown(str(page.page))}</a>'
        if page.problem:
            badges = _badge("error", "not judged")
        yield f"<tr><td>{name}</td><td>{badges or _badge('ran', 'no examples')}</td></tr>"
    yield "</table></nav>"


def _causes(pages: Sequence[PageResult]) -> Iterator[str]:
    found = [cluster for cluster in clusters(pages) if len(cluster.members) > 1]
    if not found:
        return
    numbers = {page.page: at for at, page in enumerate(pages)}
    yield "<details open><summary>Failures with the same cause</summary><ul>"
    for cluster in sorted(found, key=lambda cluster: -len(cluster.members)):
        yield f"<li>{_cause(cluster, numbers)}</li>"
    yield "</ul></details>"


def _cause(cluster: Cluster, numbers: dict[Path, int]) -> str:
    places = " ".join(
        f'<a href="#{_anchor(numbers[path], result.example)}">'
        f"{_shown(path.name)}:{result.example.line}</a>"
        for path, result in cluster.members
    )
    verdict = cluster.cause.verdict.value
    badge = _badge(verdict, f"{len(cluster.members)} {verdict}")
    return f"{badge} {_shown(cluster.cause.words)}<br><small>{places}</small>"


def _badge(verdict: str, text: str) -> str:
    return f'<span class="badge {verdict}">{text}</span>'


def _anchor(page: int, example: Example) -> str:
    return f"page-{page}-line-{example.line}"


# -- a page


def _page(at: int, page: PageResult) -> Iterator[str]:
    yield f'<section id="page-{at}">'
    yield f"<h2>{_shown(str(page.page))}</h2>"
    if page.problem:
        yield f'<p class="problem">{_shown(page.problem)}</p>'
    lines = page_lines(page.page)
    done = 0
    for result in page.results:
        first, last = _range(result.example)
        yield from _prose(lines[done : first - 1], done + 1)
        yield from _row(at, result, lines)
        done = max(done, last)
    if page.results:
        yield from _prose(lines[done:], done + 1)
    yield "</section>"


def _range(example: Example) -> tuple[int, int]:
    """The first and the last line of an example."""
    return example.line, max(example.line, example.last, example.end)


def _prose(lines: Sequence[str], first: int) -> Iterator[str]:
    """Lines between examples; many of them are folded."""
    if not any(line.strip() for line in lines):
        return
    shown = _numbered(lines[:_MOST_PROSE], first)
    if len(lines) > _MOST_PROSE:
        shown += f'\n<span class="faint">... {len(lines) - _MOST_PROSE} more lines</span>'
    if len(lines) <= _PROSE:
        yield f'<div class="prose"><pre>{shown}</pre></div>'
        return
    summary = f"lines {first} to {first + len(lines) - 1}"
    yield f'<details class="prose"><summary>{summary}</summary><pre>{shown}</pre></details>'


def _row(page: int, result: Result, lines: Sequence[str]) -> Iterator[str]:
    verdict, example = result.verdict.value, result.example
    yield (
        f'<article id="{_anchor(page, example)}" class="row {verdict}" data-verdict="{verdict}">'
    )
    yield f"<pre>{_source(example, lines)}</pre>"
    yield "<div>"
    yield f"{_badge(verdict, verdict)} {_shown(result.note)}"
    yield from _result(result)
    yield "</div>"
    yield "</article>"


def _source(example: Example, lines: Sequence[str]) -> str:
    """The lines of the page; where its format has other lines, the example without them."""
    first, last = _range(example)
    own = lines[first - 1 : last]
    headline = (example.source or example.expected).split("\n")[0].strip()
    if own and headline in own[0].replace("\N{NO-BREAK SPACE}", " "):
        return _numbered(own, first)
    return _shown("\n".join([*excerpt(example.source), "", *excerpt(example.expected)]))


def _numbered(lines: Sequence[str], first: int) -> str:
    return "\n".join(
        f'<span class="number">{number}</span>{_shown(shortened(line))}'
        for number, line in enumerate(lines, first)
    )


# -- a result


def _result(result: Result) -> Iterator[str]:
    documented, printed = result.example.expected, result.got
    if result.repaired:
        yield "<h3>repair, with which it holds</h3>"
        yield f"<pre>{_diff(line_blocks(result.original, result.repaired, exact=True))}</pre>"
    if result.failed and documented and printed and result.verdict is not Verdict.ERROR:
        blocks = line_blocks(documented, printed)
        if not all(block.same for block in blocks):
            yield "<h3>difference</h3>"
            yield f"<pre>{_diff(blocks)}</pre>"
    if printed.strip():
        text = "\n".join(excerpt(without_colours(printed)))
        yield "<h3>printed</h3>"
        yield f"<pre>{_shown(text)}</pre>"


def _diff(blocks: Sequence[Block]) -> str:
    return "\n".join(line for block in blocks for line in _block(block))


def _block(block: Block) -> Iterator[str]:
    if block.same:
        yield from (f"  {_shown(shortened(line))}" for line in block.old)
        return
    if any(len(line) > CHARACTERS for line in block.old + block.new):
        yield from (f"<del>- {_shown(shortened(line))}</del>" for line in block.old)
        yield from (f"<ins>+ {_shown(shortened(line))}</ins>" for line in block.new)
        return
    pieces = word_pieces("\n".join(block.old), "\n".join(block.new))
    yield from _side("del", "-", [Piece(p.mark, p.text) for p in pieces if p.mark != "+"])
    yield from _side(
        "ins", "+", [Piece(p.mark, p.printed or p.text) for p in pieces if p.mark != "-"]
    )


def _side(tag: str, sign: str, pieces: Sequence[Piece]) -> Iterator[str]:
    """The lines of one side of a difference, with marks on the words that the other has not."""
    marked = "".join(
        "\n".join(_word(line, piece.mark) for line in piece.text.split("\n")) for piece in pieces
    )
    if marked:
        yield from (f"<{tag}>{sign} {line}</{tag}>" for line in marked.split("\n"))


def _word(text: str, mark: str) -> str:
    words = text.lstrip()
    shown = _shown(words)
    gap = _shown(text[: len(text) - len(words)])
    return f"{gap}<b>{shown}</b>" if mark != " " and words else gap + shown
