"""Writes failures as GitHub's workflow commands, which annotate the lines of a pull request.

GitHub shows few annotations of a step: failures with one cause are one annotation on each page. It
also obeys commands in what a step prints, even indented ones: the report, which has text of pages,
stands between commands that switch this off and on (`quoted_from`, `quoted_to`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from th_shell.docs.judging.verdicts import PageResult, Result
from th_shell.docs.reporting.causes import Cluster, clusters
from th_shell.docs.reporting.excerpts import first_line
from th_shell.docs.reporting.report import describe_failure


def commands(pages: Sequence[PageResult], clustered: bool = True) -> Iterator[str]:
    """A command for each failure, or, if clustered, for each cause on each page."""
    for page in pages:
        if page.problem:
            yield _command({"file": _file(page.page)}, page.problem)
        if clustered:
            yield from (_cluster(page, cluster) for cluster in clusters([page]))
        else:
            yield from (_single(page, result) for result in page.failures)


def quoted_from(token: str) -> str:
    """The command after which nothing is obeyed. token: what no page can foresee."""
    return f"::stop-commands::{token}"


def quoted_to(token: str) -> str:
    """The command that ends this."""
    return f"::{token}::"


def _cluster(page: PageResult, cluster: Cluster) -> str:
    (_, first), *others = cluster.members
    if not others:
        return _single(page, first)
    lines = ", ".join(str(result.example.line) for _, result in cluster.members)
    words = f"{len(cluster.members)} examples: {cluster.cause.words}\nlines {lines}\n\n"
    return _annotation(page, first, words + describe_failure(page, first))


def _single(page: PageResult, result: Result) -> str:
    return _annotation(page, result, describe_failure(page, result))


def _annotation(page: PageResult, result: Result, message: str) -> str:
    example = result.example
    where = {
        "file": _file(page.page),
        "line": str(example.line),
        "endLine": str(max(example.line, example.end)),
        "title": f"{result.verdict.value}: {first_line(example.source or example.expected, 80)}",
    }
    return _command(where, message.rstrip("\n"))


def _command(properties: dict[str, str], message: str) -> str:
    shown = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::error {shown}::{_data(message)}"


def _file(page: Path) -> str:
    """The path of a page from the top of the repository, where GitHub says where that is."""
    top = os.environ.get("GITHUB_WORKSPACE")
    absolute = os.path.abspath(page)
    if top and os.path.commonpath([top, absolute]) == os.path.abspath(top):
        return os.path.relpath(absolute, top)
    return str(page)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
