"""`%save PAGE.md N-M`: writes inputs, with what they have printed, as a page of th-docs.

Where that was not kept, as in a notebook, the page documents what its inputs print when th-docs
runs them, in a process of its own; inputs that were not chosen are not in it. `--verify` runs the
page so, too, in the folder of the session, and says what is other than in the session.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import th_shell.docs.library as docs
from th_shell.entry import Entry
from th_shell.files import write_file
from th_shell.magics.session_contents import to_save
from th_shell.paragraphs import counted
from th_shell.runtime.shell import LuaError
from th_shell.session.commands import MagicError, errors_of
from th_shell.session.session import Session

_SUFFIXES = (".md", ".markdown")
#: Control sequences of a terminal.
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_FAILED = (docs.Verdict.ERROR, docs.Verdict.FRAGMENT)
#: The beginning of an input that makes locals, which the inputs of a page do not share.
_LOCAL = re.compile(r"\Alocal\s+(?=function\b|\w+(?:\s*,\s*\w+)*\s*=)")


def save(session: Session, text: str) -> None:
    """Write inputs, by default all that have raised no error, as a page."""
    words = text.split()
    is_verified = "--verify" in words
    rest = " ".join(word for word in words if word != "--verify")
    example = "page? As in: %save page.md 3-9"
    path, entries = to_save(session.log, rest, example, _SUFFIXES, "a page's name ends in .md")
    if not entries:
        raise MagicError("all inputs have raised errors")
    sources = [_LOCAL.sub("", entry.source.strip()) for entry in entries]
    kept = [shown for entry in entries if (shown := _shown(entry)) is not None]
    is_kept = len(kept) == len(entries)
    how = "with what they have printed" if is_kept else "run anew in a process of its own"
    with docs.Starter() as starter:
        # The page's own folder is an empty one.
        rules = docs.Configuration(prelude={docs.LUA: f"require('lfs').chdir[==[{os.getcwd()}]==]"})
        checker = docs.Checker(starter, docs.Compiler(), rules)
        results = [] if is_kept else _run(checker, path, sources)
        page = document(sources, kept if is_kept else [result.got for result in results])
        _read(checker, path, page, sources)
        with errors_of(str(path)):
            write_file(path, page.encode("utf-8", "surrogateescape"))
        session.write(f"{path}: {counted(len(sources), 'input')}, {how}\n")
        failed = [
            str(entry.number)
            for entry, result in zip(entries, results, strict=False)
            if result.verdict in _FAILED and not entry.error
        ]
        if failed:
            session.write(f"raised an error only in the page: {', '.join(failed)}\n")
        if is_verified or not is_kept:
            report = docs.TextReport(1).page(checker.check(path))
            session.write("".join(f"{line}\n" for line in report))


def _shown(entry: Entry) -> str | None:
    """Return what the prompt has shown of an input, without colours; None where it is not kept."""
    if entry.output is None:
        return None
    lines = [line.rpartition("\r")[2] for line in _CODES.sub("", entry.output).split("\n")]
    if isinstance(entry.error, LuaError):
        lines = ["\n".join(lines).rstrip("\n"), *entry.error.message.split("\n")]
    return "\n".join(lines)


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
