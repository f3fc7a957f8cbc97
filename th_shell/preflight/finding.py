"""Findings in a program: a place, the thing, why it is wrong, and what to do.

Rules find them, and LuaJIT's compiler. That stops at the first error: so its line is replaced by
one that opens and closes the same blocks, and the rest is compiled again, as long as no further
error can come from the replacement.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from th_shell.nearest import nearest
from th_shell.paragraphs import MOST_LINES
from th_shell.preflight import syntax_tree as tree
from th_shell.runtime.shell import Engine, LuaSyntaxError, tokens


@dataclass(frozen=True)
class Lack:
    """Why something is not here, and what to do about it."""

    why: str
    advice: str


@dataclass(frozen=True)
class RuleFinding:
    """A rule's finding at an expression."""

    node: tree.Node
    #: The subject and the piece of code, as a `Finding` has them.
    subject: str
    what: str
    lack: Lack


@dataclass(frozen=True)
class Finding:
    """A place in a file at which something is wrong."""

    path: Path
    #: From 1.
    line: int
    #: From 1, in characters.
    column: int
    #: The thing it is about, by which findings are counted together.
    subject: str
    #: The piece of code.
    what: str
    lack: Lack
    #: The condition of the innermost branch that it stands in, or ''.
    condition: str = ""
    #: The length of the text there, in characters.
    length: int = 1

    @property
    def message(self) -> str:
        """The finding in one sentence."""
        return f"{self.what}: {self.lack.why}; {self.lack.advice}"


#: The subject of luacheck's findings, and its command.
LUACHECK = "luacheck"
#: The subjects of findings that do no harm when the program runs.
NOTES = frozenset(["unused", "redefined", "unreachable", LUACHECK])


#: The words before the name that is meant, at the end of an advice.
CORRECTION = "there is "


def no_such(why: str, name: str, names: Iterable[str]) -> Lack:
    """Return a name that is not there, with one that may be meant."""
    close = nearest(name, [candidate for candidate in names if not candidate.startswith("_")])
    return Lack(why, f"{CORRECTION}{close[0]}" if close else "define it, or leave it out")


# -- syntax errors

_PLACE = re.compile(r"^.*?:(\d+): ", re.DOTALL)
#: Messages about a line other than the one that was wrong.
_ELSEWHERE = re.compile(r"'(?:end|<eof>)' expected|near '<eof>'|\(to close|label|outside a|vararg")
_WRONG = Lack("LuaJIT does not compile it", "correct it")

#: Signs of Lua 5.3 and 5.4, with what stands for them in LuaJIT.
_SIGNS = {
    "//": "use math.floor(a / b)",
    "&": "use bit.band",
    "|": "use bit.bor",
    "~": "use bit.bxor or bit.bnot",
    "<<": "use bit.lshift",
    ">>": "use bit.rshift",
}
_ATTRIBUTE = re.compile(r"\blocal\s+\w+\s*<\s*(?:const|close)\s*>")


def syntax_errors(code: bytes, engine: Engine) -> Iterator[tuple[int, str]]:
    """Yield the lines, from 1, and messages of a source's errors."""
    lines, last = code.split(b"\n"), 0
    for _ in range(MOST_LINES):
        try:
            engine.compile(b"\n".join(lines), b"=lua")
            return
        except LuaSyntaxError as error:
            place = _PLACE.match(error.message)
            line = int(place[1]) if place else 1
            message = _PLACE.sub("", error.message, count=1)
        if last and (line <= last or _ELSEWHERE.search(message)):
            return
        yield line, message
        same = _same_blocks(lines[line - 1].decode("utf-8", "replace"))
        if same is None or line <= last:
            return
        lines[line - 1], last = same.encode(), line


def _same_blocks(line: str) -> str | None:
    """Return a line that opens and closes the blocks that another does; None where that is hard."""
    code = [token for token in tokens(line) if token.kind not in ("comment", "string")]
    words = [token.text for token in code]
    if words[:1] == ["elseif"] and words[-1] == "then":
        return "elseif true then"
    if {"repeat", "until", "else", "elseif", "["} & set(words) or any(t.is_open for t in code):
        return None
    if any(words.count(a) != words.count(b) for a, b in (("(", ")"), ("{", "}"), ("if", "then"))):
        return None
    if words.count("for") + words.count("while") > words.count("do"):
        return None
    opened = sum(map(words.count, ("function", "then", "do"))) - words.count("end")
    return "do end " + ("while true do " * opened if opened > 0 else "end " * -opened)


def syntax_error(path: Path, source: str, line: int, message: str) -> Finding:
    """Return a syntax error, at what LuaJIT stumbles over."""
    lines = source.split("\n")
    text = lines[line - 1] if line <= len(lines) else ""
    near = message.partition(" near '")[2].removesuffix("'")
    at = text.rfind(near) if near else -1
    length = len(near) if at >= 0 else max(len(text.strip()), 1)
    column = (at if at >= 0 else len(text) - len(text.lstrip())) + 1
    what = f"syntax error: {message}"
    return Finding(path, line, column, "syntax", what, _dialect(text, near), "", length)


_CONDITION = re.compile(r"\s*(?:if|elseif|while|until)\b")


def _dialect(text: str, near: str) -> Lack:
    """Return what to do about a line that is wrong near a sign."""
    if near == "=" and _CONDITION.match(text):
        return Lack("= gives a value, and == compares", "there is ==")
    if _ATTRIBUTE.search(text):
        return Lack("attributes of locals are Lua 5.4's", "leave them out")
    for token in tokens(text):
        if token.kind == "sign" and token.text in _SIGNS:
            return Lack(f"{token.text} is an operator of Lua 5.3", _SIGNS[token.text])
    return _WRONG
