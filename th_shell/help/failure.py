"""An error with what is known of the place where it was raised; and what hints ask of it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from th_shell.entry import Entry, source_lines
from th_shell.lines import lua_lines
from th_shell.runtime.shell import KEYWORDS, Engine, Facts, LuaError
from th_shell.tokens import without_texts

#: A name with the path before it.
PATH = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"

_POSITION = re.compile(r"(?P<chunk>stdin|\[\d+\]|[^\n:]+\.\w+):(?P<line>\d+): ")
_FRAME = re.compile(r"\t\[C\]: in function '([^'\n]*)'")
_DECLARED = re.compile(
    r"\blocal\s+(?:function\s+)?([\w\s,]+)"
    r"|\bfunction\b[^(\n]{0,200}\(([^()]*)\)"
    r"|\bfor\s+([\w\s,]{1,200}?)(?:=|\bin\b)"
)


@dataclass(frozen=True)
class Failure:
    """An error of an input, with the line it is about."""

    #: The message without its position.
    text: str
    #: The library's function that has raised it; '' where none has.
    function: str
    #: The line of the source that it is about, with blanks in place of comments and of texts in
    #: quotes; '' where that is not known.
    code: str
    engine: Engine
    #: Names that are local variables somewhere in that source; their values are not known.
    locals: frozenset[str] = frozenset()

    def is_local(self, path: str) -> bool:
        """Tell whether a path begins with a name that is a local variable."""
        return path.partition(".")[0] in self.locals

    def facts(self, path: str) -> Facts:
        """Return the facts on the value that a path leads to; empty where there is none."""
        return {} if self.is_local(path) else self.engine.variables.inspect(path)

    def tensors(self) -> dict[str, Facts]:
        """Return the variables in the line that are tensors, in the order of the line."""
        all_facts = {path: self.facts(path) for path in self.paths()}
        return {
            path: facts for path, facts in all_facts.items() if facts.get("category") == "tensor"
        }

    def paths(self) -> list[str]:
        """Return the variables in the line, with fields behind them: each once."""
        names = re.findall(rf"(?<![\w.:])({PATH})", self.code, re.ASCII)
        return list(dict.fromkeys(name for name in names if name not in KEYWORDS))


#: A function that returns the hint for an error, or '' where the cause is not certain.
Rule = Callable[[Failure], str]
#: The same, from an error and what a pattern has matched in its text.
Hint = Callable[[Failure, re.Match[str]], str]


def on(text: str, raised: bool = False) -> Callable[[Hint], Rule]:
    """Return a decorator that makes a rule of a `Hint`, for errors whose text a pattern matches.

    text: the pattern, from the beginning of the text on. raised: only errors that a function of a
    library has raised.
    """
    pattern = re.compile(text)

    def rule_of(hint: Hint) -> Rule:
        def rule(failure: Failure) -> str:
            match = pattern.match(failure.text)
            return hint(failure, match) if match and (failure.function or not raised) else ""

        return rule

    return rule_of


class Place(NamedTuple):
    """The place that a message names."""

    chunk: str
    number: int
    #: The source; [] where it is not known.
    lines: list[str]

    @property
    def line(self) -> str:
        """Return the source line; '' where it is not known."""
        return self.lines[self.number - 1] if 0 < self.number <= len(self.lines) else ""


def place_of(error: LuaError, log: Sequence[Entry]) -> Place | None:
    """Return the place that a message names; None where it names none."""
    position = _POSITION.match(error.message)
    if position is None:
        return None
    return Place(position["chunk"], int(position["line"]), _lines_of(position["chunk"], error, log))


def _lines_of(chunk: str, error: LuaError, log: Sequence[Entry]) -> list[str]:
    if chunk == "stdin":
        # Functions of former inputs have the same chunk name.
        first = re.search(r"^\t(?!\[C\])(.*)$", error.traceback, re.MULTILINE)
        ours = first is None or first[1].endswith("in main chunk")
        return lua_lines(log[-1].source.rstrip()) if ours and log else []
    return source_lines(chunk, log)


def failure_of(error: LuaError, place: Place, engine: Engine) -> Failure:
    """Return an error of the last input, as hints look at it.

    Functions of libraries raise such errors in the name of others.
    """
    position = _POSITION.match(error.message)
    text = error.message[position.end() :] if position else error.message
    frame = _FRAME.match(error.traceback.removeprefix("stack traceback:\n"))
    source = without_texts("\n".join(place.lines))
    function = frame[1] if frame else ""
    return Failure(text, function, without_texts(place.line), engine, _locals(source))


def _locals(source: str) -> frozenset[str]:
    """Return the names that a source declares as locals, parameters or variables of loops."""
    declared = " ".join(map(" ".join, _DECLARED.findall(source)))
    return frozenset(re.findall(r"[A-Za-z_]\w*", declared))
