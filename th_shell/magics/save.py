"""`%save PAGE.md N-M`: writes inputs as a page that th-docs verifies.

What the page documents is what its inputs print when th-docs runs them, in a process of its own:
so the page holds when it is written. Inputs that were not chosen, and that those in the page build
on, are hidden code in it. What only a prompt has is left out, or written otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import th_shell.docs.library as docs
from th_shell.entry import Entry
from th_shell.files import write_file
from th_shell.lua_source.parser import NotLuaError, parse, uses
from th_shell.magics.numbered_inputs import to_save
from th_shell.paragraphs import counted
from th_shell.pictures.prompt_functions import NAMES
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


def _write(session: Session, path: Path, asked: Sequence[Entry], without: Sequence[Entry]) -> None:
    left = {entry.number for entry in without}
    log = for_page([entry for entry in session.log if entry.number not in left])
    numbers = {entry.number for entry in asked}
    entries = [entry for entry in log if entry.number in numbers]
    hidden = hidden_before(log, entries)
    text = PageText(entries, hidden)
    with docs.Starter() as starter:
        checker = docs.Checker(starter, docs.Compiler(), docs.Configuration())
        printed = _run_page(checker, text)
        readable = _readable_outputs(checker, text, [result.got for result in printed])
        outputs = _outputs_that_hold(checker, text, readable)
        try:
            write_file(path, text.document(outputs).encode("utf-8", "surrogateescape"))
        except OSError as error:
            raise MagicError.of(str(path), error) from None
        session.write(f"{path}: {counted(len(asked), 'input')}, run anew in a process of its own\n")
        notes = {
            "left out, since they use what only a prompt has": without,
            "written for a page, whose inputs share no locals": [
                entry for entry in asked if entry not in entries
            ],
            "hidden, since these build on it": hidden,
            **_changed_inputs(entries, printed, readable, outputs),
        }
        session.write("".join(map(_note, notes, notes.values())))
        report = docs.TextReport(1).page(checker.check(path))
        session.write("".join(f"{line}\n" for line in report))


def _changed_inputs(
    entries: Sequence[Entry],
    printed: Sequence[docs.Result],
    readable: Sequence[str],
    outputs: Sequence[str],
) -> dict[str, list[Entry]]:
    """Return the inputs whose outputs are not those of the session, by what has become of these."""
    rows = list(zip(entries, printed, readable, outputs, strict=True))
    return {
        "raised an error only in the page": [
            entry
            for entry, result, *_ in rows
            if result.verdict is docs.Verdict.ERROR and not entry.error
        ],
        "without its output, which would be read as an input": [
            entry for entry, result, shown, _ in rows if result.got.strip() and not shown
        ],
        "without its output, which is long and depends on chance": [
            entry for entry, _, output, shown in rows if output and not shown
        ],
    }


def _note(words: str, entries: Sequence[Entry]) -> str:
    numbers = dict.fromkeys(str(entry.number) for entry in entries)
    return f"{words}: {', '.join(numbers)}\n" if numbers else ""


def _outputs_that_hold(checker: docs.Checker, text: PageText, outputs: Sequence[str]) -> list[str]:
    """Return the outputs without those that hold no more because they were cut."""
    if not any(map(is_cut, outputs)):
        return list(outputs)
    results = _run_page(checker, text, outputs)
    return [
        "" if result.failed and is_cut(output) else output
        for result, output in zip(results, outputs, strict=True)
    ]


def _run_page(
    checker: docs.Checker, text: PageText, outputs: Sequence[str] = ()
) -> list[docs.Result]:
    """Run the inputs of a page; return what they print, judged by outputs. Raises MagicError."""
    with _page_file(text.document(outputs)) as path:
        try:
            assessment = docs.assess_page(*checker.read(path))
        except docs.PageError as error:
            raise MagicError(f"th-docs cannot run it: {error}") from None
    results = [result for result in assessment.results if result.example.kind is not docs.Kind.TEXT]
    if len(results) != len(text.entries):
        raise MagicError("th-docs reads other inputs from such a page")
    return results


@contextmanager
def _page_file(document: str) -> Iterator[Path]:
    with TemporaryDirectory(prefix="th-") as folder:
        path = Path(folder) / "page.md"
        path.write_bytes(document.encode("utf-8", "surrogateescape"))
        yield path


def _readable_outputs(checker: docs.Checker, text: PageText, outputs: Sequence[str]) -> list[str]:
    """Return the outputs that th-docs reads from the page as they are meant; '' for the others."""
    if _reads_back(checker, text, text.document(outputs)):
        return list(outputs)
    readable = [""] * len(outputs)
    for i, output in enumerate(outputs):
        readable[i] = output
        if not _reads_back(checker, text, text.document(readable)):
            readable[i] = ""
    return readable


def _reads_back(checker: docs.Checker, text: PageText, document: str) -> bool:
    with _page_file(document) as path:
        try:
            examples = checker.read(path).page.examples
        except docs.PageError:
            return False
    return [example.source.strip() for example in examples] == text.sources()


# -- the text of the page


_LOCAL = re.compile(r"\Alocal\s+(?P<rest>(?P<names>\w+(?:\s*,\s*\w+)*)(?P<value>\s*=)?.*)", re.S)
_RESULT = re.compile(r"_(?:\d+|RESULTS)\Z", re.ASCII)


def of_prompt(log: Sequence[Entry]) -> list[Entry]:
    """Return the inputs that use what only a prompt has, and no program of the session has made."""
    defined = {name for entry in log for name in uses(entry.source).defined}
    of_prompts = frozenset({"who", *NAMES}) - defined
    return [
        entry
        for entry in log
        if any(name in of_prompts or _RESULT.match(name) for name in uses(entry.source).used)
    ]


def for_page(log: Sequence[Entry]) -> list[Entry]:
    """Return the inputs of a page: with globals for locals, and values in inputs of their own.

    Those that come from one input have its number.
    """
    return [
        entry._replace(source=source) for entry in log for source in _parts(entry.source.strip())
    ]


def _parts(source: str) -> list[str]:
    if _is_lua(source) or _is_lua(_as_value(source)):
        return [_global(source)]
    places = [match.end() for match in re.finditer(r"[;\n]", source.rstrip("; \n"))]
    for place in reversed(places):
        before, value = source[:place].rstrip("; \n"), source[place:].strip()
        if _is_lua(before) and _is_lua(_as_value(value)):
            return [_global(before), value]
    return [source]


def _as_value(source: str) -> str:
    return f"return {source.removeprefix('=').rstrip('; ')}"


def _is_lua(source: str) -> bool:
    try:
        parse(source)
    except NotLuaError:
        return False
    return True


def _global(source: str) -> str:
    """Return an input that makes globals of the locals that it begins with."""
    local = _LOCAL.match(source)
    if local is None:
        return source
    if local["value"] or local["names"] == "function":
        return local["rest"]
    return f"{local['names']} = nil{local['rest'].removeprefix(local['names'])}"


# -- the text

_MOST_LINES = 200  # of an output; of longer ones the ends are shown
_ENDS = 10
#: Functions that change how other inputs run, though these do not name them.
_CHANGES_ALL = ("manualSeed", "setdefaulttensortype", "require")
_COMMENT_END = "-->"
#: Globals that inputs share without building on one another.
_KNOWN = frozenset(
    "torch print string table math os io pairs ipairs paths sys type tostring tonumber".split()
)


def hidden_before(log: Sequence[Entry], entries: Sequence[Entry]) -> list[Entry]:
    """Return the inputs that were not chosen, and that chosen ones build on.

    From the last to the first input: one that mentions a name which is needed below, as it may
    change its value; and what changes how all others run.
    """
    chosen_numbers = {entry.number for entry in entries}
    needed: set[str] = set()
    hidden: list[Entry] = []
    for entry in reversed(log):
        names = uses(entry.source)
        if entry.number not in chosen_numbers:
            if entry.number > entries[-1].number or entry.error or not names.may_change:
                continue
            if not names.used & needed and not any(w in entry.source for w in _CHANGES_ALL):
                continue
            hidden.insert(0, entry)
        needed |= names.used - _KNOWN
    return hidden


class PageText:
    """A page of inputs, with other inputs hidden between them, in the order of their numbers."""

    def __init__(self, entries: Sequence[Entry], hidden: Sequence[Entry]) -> None:
        self.entries = entries
        self._hidden = hidden

    def sources(self) -> list[str]:
        """Return the inputs as th-docs reads them."""
        return [entry.source.strip() for entry in self.entries]

    def document(self, outputs: Sequence[str] = ()) -> str:
        """Return the text of the page, with outputs of its inputs."""
        shown = list(outputs) or [""] * len(self.entries)
        fence = _fence([*shown, *self.sources()])
        parts = ["# A session"]
        is_open, done = False, 0
        for entry, output in zip(self.entries, shown, strict=True):
            hidden = [
                entry_before
                for entry_before in self._hidden[done:]
                if entry_before.number < entry.number
            ]
            done += len(hidden)
            if hidden or not is_open:
                if is_open:
                    parts.append(fence)
                parts += [f"\n{_setup(entry_before)}" for entry_before in hidden]
                parts.append(f"\n{fence}lua")
                is_open = True
            parts.append(_input(entry.source))
            if output.strip():
                parts.append(_output(output))
        return "\n".join([*parts, f"{fence}\n"])


def is_cut(output: str) -> bool:
    """Tell whether a page shows only the ends of an output."""
    return output.rstrip().count("\n") >= _MOST_LINES


def _fence(texts: Sequence[str]) -> str:
    fence = "```"
    while any(fence in text for text in texts):
        fence += "`"
    return fence


def _setup(entry: Entry) -> str:
    source = entry.source.strip().removeprefix("local ")
    if not uses(entry.source).is_statement:
        source = f"local _ = {source.removeprefix('=')}"
    if _COMMENT_END in source:  # it would end the comment that hides it
        source = source.replace(_COMMENT_END, "-- >")
    return f"<!-- th-docs: setup\n{source}\n-->"


def _input(source: str) -> str:
    first, *more = source.strip().split("\n")
    return "\n".join([f"> {first}", *(f">> {line}" for line in more)])


def _output(text: str) -> str:
    lines = text.rstrip().expandtabs().split("\n")
    if len(lines) > _MOST_LINES:
        lines = [*lines[:_ENDS], "...", *lines[-_ENDS:]]
    return "\n".join(line.rstrip() for line in lines)
