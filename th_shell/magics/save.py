"""`%save PAGE.md N-M`: writes inputs as a page that th-docs verifies.

What the page documents is what its inputs print when th-docs runs them, in a process of its own:
so the page holds when it is written. Inputs that were not chosen are not in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import th_shell.docs.library as docs
from th_shell.files import write_file
from th_shell.magics.session_contents import to_save
from th_shell.paragraphs import counted
from th_shell.session.commands import MagicError
from th_shell.session.session import Session

_SUFFIXES = (".md", ".markdown")
_FAILED = (docs.Verdict.ERROR, docs.Verdict.FRAGMENT)
#: The beginning of an input that makes locals, which the inputs of a page do not share.
_LOCAL = re.compile(r"\Alocal\s+(?=function\b|\w+(?:\s*,\s*\w+)*\s*=)")


def save(session: Session, text: str) -> None:
    """Write inputs, by default all that have raised no error, as a page, and check it."""
    example = "page? As in: %save page.md 3-9"
    path, entries = to_save(session.log, text, example, _SUFFIXES, "a page's name ends in .md")
    if not entries:
        raise MagicError("all inputs have raised errors")
    sources = [_LOCAL.sub("", entry.source.strip()) for entry in entries]
    with docs.Starter() as starter:
        checker = docs.Checker(starter, docs.Compiler(), docs.Configuration())
        results = _run(checker, path, sources)
        page = document(sources, [result.got for result in results])
        _read(checker, path, page, sources)
        try:
            write_file(path, page.encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise MagicError.of(str(path), error) from None
        inputs = counted(len(sources), "input")
        session.write(f"{path}: {inputs}, run anew in a process of its own\n")
        failed = [
            str(entry.number)
            for entry, result in zip(entries, results, strict=True)
            if result.verdict in _FAILED and not entry.error
        ]
        if failed:
            session.write(f"raised an error only in the page: {', '.join(failed)}\n")
        report = docs.TextReport(1).page(checker.check(path))
        session.write("".join(f"{line}\n" for line in report))


def _run(checker: docs.Checker, path: Path, sources: Sequence[str]) -> Sequence[docs.Result]:
    """Run the inputs of a page; return what they print. Raises MagicError."""
    page = _read(checker, path, document(sources, [""] * len(sources)), sources)
    try:
        return docs.assess_page(*page).results
    except docs.PageError as error:
        raise MagicError(f"th-docs cannot run it: {error}") from None


def _read(checker: docs.Checker, path: Path, text: str, sources: Sequence[str]) -> docs.ReadPage:
    """Read a text as the page of a file. Raises MagicError where it has other inputs than these."""
    try:
        page = checker.read(path, text)
    except docs.PageError as error:
        raise MagicError(f"th-docs cannot read it: {error}") from None
    if [example.source.strip() for example in page.page.examples] != list(sources):
        raise MagicError("th-docs would read other inputs from such a page")
    return page


def document(sources: Sequence[str], outputs: Sequence[str]) -> str:
    """Return the text of a page of inputs with their outputs."""
    fence = "```"
    while any(fence in text for text in (*sources, *outputs)):
        fence += "`"
    lines = ["# A session", "", f"{fence}lua"]
    for source, output in zip(sources, outputs, strict=True):
        first, *more = source.split("\n")
        lines += [f"> {first}", *(f">> {line}" for line in more)]
        lines += [
            line.rstrip() for line in output.rstrip().expandtabs().split("\n") if output.strip()
        ]
    return "\n".join([*lines, f"{fence}\n"])
