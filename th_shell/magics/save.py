"""`%save PAGE.md N-M`: writes inputs as a page that th-docs verifies.

What the page documents is what its inputs print when th-docs runs them, in a process of its own:
so the page holds when it is written. Inputs that were not chosen, and that those in the page build
on, are hidden code in it. What only a prompt has is left out, or written otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import th_shell.docs.library as docs
from th_shell.entry import Entry
from th_shell.files import write_file
from th_shell.magics.numbered_inputs import to_save
from th_shell.magics.page_text import PageText, for_page, hidden_before, is_cut, of_prompt
from th_shell.paragraphs import counted
from th_shell.session.commands import MagicError
from th_shell.session.session import Session

_SUFFIXES = (".md", ".markdown")


def save(session: Session, text: str) -> None:
    """Write inputs, by default all that have raised no error, as a page, and check it."""
    example = "page? As in: %save page.md 3-9"
    path, entries = to_save(session.log, text, example, _SUFFIXES, "a page's name ends in .md")
    if not entries:
        raise MagicError("all inputs have raised errors")
    without = [entry for entry in of_prompt(session.log) if entry in entries]
    entries = [entry for entry in entries if entry not in without]
    if not entries:
        raise MagicError("these inputs use what only a prompt has")
    _write(session, path, entries, without)


def _write(session: Session, path: Path, given: Sequence[Entry], without: Sequence[Entry]) -> None:
    left = {entry.number for entry in without}
    log = for_page([entry for entry in session.log if entry.number not in left])
    numbers = {entry.number for entry in given}
    entries = [entry for entry in log if entry.number in numbers]
    hidden = hidden_before(log, entries)
    text = PageText(entries, hidden)
    with docs.Starter() as starter:
        checker = docs.Checker(starter, docs.Compiler(), docs.Configuration())
        printed = _printed(checker, text)
        readable = _readable(checker, text, [one.got for one in printed])
        kept = _holding(checker, text, readable)
        try:
            write_file(path, text.document(kept).encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise MagicError.of(str(path), error) from None
        session.write(f"{path}: {counted(len(given), 'input')}, run anew in a process of its own\n")
        told = {
            "left out, since they use what only a prompt has": without,
            "written for a page, whose inputs share no locals": [
                entry for entry in given if entry not in entries
            ],
            "hidden, since these build on it": hidden,
            **_changed(entries, printed, readable, kept),
        }
        session.write("".join(map(_told, told, told.values())))
        report = docs.TextReport(docs.View(), 1).page(checker.check(path))
        session.write("".join(f"{line}\n" for line in report))


def _changed(
    entries: Sequence[Entry],
    printed: Sequence[docs.Result],
    readable: Sequence[str],
    kept: Sequence[str],
) -> dict[str, list[Entry]]:
    """The inputs whose outputs are not those of the session, by what has become of these."""
    rows = list(zip(entries, printed, readable, kept, strict=True))
    return {
        "raised an error only in the page": [
            entry
            for entry, one, *_ in rows
            if one.verdict is docs.Verdict.ERROR and not entry.error
        ],
        "without its output, which would be read as an input": [
            entry for entry, one, shown, _ in rows if one.got.strip() and not shown
        ],
        "without its output, which is long and depends on chance": [
            entry for entry, _, output, shown in rows if output and not shown
        ],
    }


def _told(words: str, entries: Sequence[Entry]) -> str:
    numbers = dict.fromkeys(str(entry.number) for entry in entries)
    return f"{words}: {', '.join(numbers)}\n" if numbers else ""


def _holding(checker: docs.Checker, text: PageText, outputs: Sequence[str]) -> list[str]:
    """The outputs without those that hold no more because they were cut."""
    if not any(map(is_cut, outputs)):
        return list(outputs)
    results = _printed(checker, text, outputs)
    return [
        "" if one.failed and is_cut(output) else output
        for one, output in zip(results, outputs, strict=True)
    ]


def _printed(
    checker: docs.Checker, text: PageText, outputs: Sequence[str] = ()
) -> list[docs.Result]:
    """What the inputs of a page print, judged by outputs. Raises MagicError."""
    with TemporaryDirectory(prefix="th-") as folder:
        path = Path(folder) / "page.md"
        path.write_bytes(text.document(outputs).encode("utf-8", "surrogateescape"))
        try:
            assessment = docs.assess_page(*checker.read(path))
        except docs.PageError as error:
            raise MagicError(f"th-docs cannot run it: {error}") from None
    results = [one for one in assessment.results if one.example.kind is not docs.Kind.TEXT]
    if len(results) != len(text.entries):
        raise MagicError("th-docs reads other inputs from such a page")
    return results


def _readable(checker: docs.Checker, text: PageText, outputs: Sequence[str]) -> list[str]:
    """The outputs that th-docs reads from the page as they are meant; '' for the others."""
    if _reads_back(checker, text, text.document(outputs)):
        return list(outputs)
    kept = [""] * len(outputs)
    for i, output in enumerate(outputs):
        kept[i] = output
        if not _reads_back(checker, text, text.document(kept)):
            kept[i] = ""
    return kept


def _reads_back(checker: docs.Checker, text: PageText, document: str) -> bool:
    with TemporaryDirectory(prefix="th-") as folder:
        path = Path(folder) / "page.md"
        path.write_bytes(document.encode("utf-8", "surrogateescape"))
        try:
            examples = checker.read(path).page.examples
        except docs.PageError:
            return False
    return [example.source.strip() for example in examples] == text.sources()
