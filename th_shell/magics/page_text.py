"""The text of a page that is made from inputs of a session, where each is a chunk of its own.

A page has neither locals that outlive their input, nor values behind statements, nor what only a
prompt has: the values of former inputs by their numbers, `who` and pictures.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from th_shell.entry import Entry
from th_shell.pictures.door import NAMES
from th_shell.preflight.parser import NotLuaError, parse
from th_shell.preflight.uses import uses

_LOCAL = re.compile(r"\Alocal\s+(?P<rest>(?P<names>\w+(?:\s*,\s*\w+)*)(?P<value>\s*=)?.*)", re.S)
_RESULT = re.compile(r"_(?:\d+|RESULTS)\Z", re.ASCII)


def of_prompt(log: Sequence[Entry]) -> list[Entry]:
    """The inputs that use what only a prompt has, and no program of the session has made."""
    made = {name for entry in log for name in uses(entry.source).defined}
    known = frozenset({"who", *NAMES}) - made
    return [
        entry
        for entry in log
        if any(name in known or _RESULT.match(name) for name in uses(entry.source).used)
    ]


def for_page(log: Sequence[Entry]) -> list[Entry]:
    """The inputs as a page has them: with globals for locals, and values in an input of their own.

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
    """An input that makes globals of the locals that it begins with."""
    found = _LOCAL.match(source)
    if found is None:
        return source
    if found["value"] or found["names"] == "function":
        return found["rest"]
    return f"{found['names']} = nil{found['rest'].removeprefix(found['names'])}"


# -- the text

_MOST_LINES = 200  # of an output; of longer ones the ends are shown
_ENDS = 10
#: What changes how other inputs run, though these do not name it.
_CHANGES_ALL = ("manualSeed", "setdefaulttensortype", "require")
_COMMENT_END = "-->"
#: Globals that inputs share without building on one another.
_KNOWN = frozenset(
    "torch print string table math os io pairs ipairs paths sys type tostring tonumber".split()
)


def hidden_before(log: Sequence[Entry], entries: Sequence[Entry]) -> list[Entry]:
    """The inputs that were not chosen, and that chosen ones build on.

    From the last to the first input: one that mentions a name which is needed below, as it may
    change its value; and what changes how all others run.
    """
    own = {entry.number for entry in entries}
    needed: set[str] = set()
    hidden: list[Entry] = []
    for entry in reversed(log):
        names = uses(entry.source)
        if entry.number not in own:
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
        """The inputs as th-docs reads them."""
        return [entry.source.strip() for entry in self.entries]

    def document(self, outputs: Sequence[str] = ()) -> str:
        """The text of the page, with outputs of its inputs."""
        shown = list(outputs) or [""] * len(self.entries)
        fence = _fence([*shown, *self.sources()])
        parts = ["# A session"]
        is_open, done = False, 0
        for entry, output in zip(self.entries, shown, strict=True):
            hidden = [one for one in self._hidden[done:] if one.number < entry.number]
            done += len(hidden)
            if hidden or not is_open:
                parts += [fence] * is_open
                parts += [f"\n{_setup(one)}" for one in hidden]
                parts.append(f"\n{fence}lua")
                is_open = True
            parts.append(_input(entry.source))
            parts += [_output(output)] * bool(output.strip())
        return "\n".join([*parts, f"{fence}\n"])


def is_cut(output: str) -> bool:
    """Whether a page shows only the ends of an output."""
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
