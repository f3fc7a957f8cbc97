"""The debugger at a prompt: what may be typed behind `debug>`.

Each command is a step of the dialogue with the engine (see runtime/engine/debugging.py).
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from th_shell.debugging.frames import Frame, Variable, read_frames, read_variables
from th_shell.entry import Entry
from th_shell.paragraphs import two_columns
from th_shell.runtime.shell import Dialogue, Stop
from th_shell.visible import visible

PROMPT = "debug> "
_AROUND = 5  # lines that `list` shows before and behind the present one
_ENOUGH = 40  # frames that `where` shows

_STEPS = ("step", "next", "finish", "continue")
_ROWS = (
    ("where", "the calls that have led here"),
    ("up, down", "look at the frame that has called this one, and back"),
    ("who", "the variables of the frame"),
    ("list", "the lines of the source around this one"),
    ("x:size(), y = 1", "the values of expressions, statements: in the frame"),
)
_LIVE_ROWS = (
    ("step", "goes on to the next line; Enter does it again"),
    ("next", "the same, but over the calls in this line"),
    ("finish", "goes on until the frame returns"),
    ("continue", "goes on to the next breakpoint"),
    ("watch x.y", "stops where the value changes; watch alone: nothing is watched"),
    ("break file.lua:12 if i > 3", "stops at a line; break alone: lists; break -c 1: removes"),
    ("quit", "ends the program"),
)
#: Short names, where no variable of the frame has them.
_SHORT = {word[0]: word for word in ("where", "up", "down", "list", *_STEPS, "quit")}
_SHORT["bt"] = "where"

#: A part of the dialogue; what it returns is how the program goes on, or None.
_Step = Generator[tuple[Any, ...], list[Any], "tuple[Any, ...] | None"]


class Console:
    """Asks a person what to look at, and how the program goes on.

    read: shows a question, and returns the answer; raises EOFError and KeyboardInterrupt. inputs:
    returns those of the session.
    """

    def __init__(
        self, read: Callable[[str], str], inputs: Callable[[], Sequence[Entry]] = list
    ) -> None:
        self._read = read
        self._inputs = inputs
        self.breakpoints = Breakpoints()
        self._frames: list[Frame] = []
        self._at = 0  # the index of the frame that is looked at
        self._is_live = False
        self._last = ""  # the step that Enter repeats

    def __call__(self, stop: Stop) -> Dialogue:
        """Return the dialogue where a program has stopped."""
        self._is_live = True
        if stop.detail:
            yield ("write", f"{visible(stop.detail)}\n")
        yield from self._talk()

    def examine(self) -> Dialogue:
        """Return the dialogue about the frames of an error."""
        self._is_live = False
        yield from self._talk()

    def _talk(self) -> Dialogue:
        self._frames = read_frames((yield ("frames",)))
        self._at = 0
        if not self._frames:
            yield ("write", "no line of the program is there\n")
        else:
            yield from self._show_place()
        while self._frames:
            try:
                text = self._read(PROMPT).strip().removeprefix("%")
            except KeyboardInterrupt:
                continue
            except EOFError:
                break
            request = yield from self._do(text or self._last)
            if request is not None:
                yield request
                break

    def _do(self, text: str) -> _Step:
        """Do what was typed."""
        self._last = ""
        word, _, arguments = text.partition(" ")
        if word in _SHORT and not arguments and not (yield from self._is_variable(word)):
            meant = _SHORT[word]
            word = meant if self._is_live or meant not in _STEPS else word
        if word in ("quit", "exit") and not arguments:
            return ("go", "quit", 1)
        if self._is_live and word in _STEPS and not arguments:
            self._last = word if word in ("step", "next") else ""
            return ("go", word, self._frame.number)
        takes_text = word in ("watch", "break")
        if not self._is_live and (takes_text or word in _STEPS and not arguments):
            yield ("write", f"{word}: the program has ended\n")
        elif word in _COMMANDS and (not arguments or takes_text):
            yield from _COMMANDS[word](self, arguments.strip())
        elif text:
            yield from self._evaluate("show", text)
        return None

    @property
    def _frame(self) -> Frame:
        return self._frames[self._at]

    def _variables(self) -> Generator[tuple[Any, ...], list[Any], list[Variable]]:
        return read_variables((yield ("variables", self._frame.number)))

    def _is_variable(self, name: str) -> Generator[tuple[Any, ...], list[Any], bool]:
        return any(variable.name == name for variable in (yield from self._variables()))

    def _evaluate(self, verb: str, code: str) -> Dialogue:
        """Show the value of an expression, or watch it."""
        ok, *answer = yield (verb, self._frame.number, code)
        if not ok:
            yield ("write", f"{visible(str(answer[0]))}\n")

    def _show_place(self) -> Dialogue:
        frame = self._frame
        lines = frame.lines(self._inputs())
        text = f"{frame.chunk}:{frame.line} in {frame.name}\n"
        if 0 < frame.line <= len(lines):
            text += f"{frame.line:5}  {lines[frame.line - 1]}\n"
        yield ("write", visible(text))

    def _where(self, _: str) -> Dialogue:
        for index, frame in enumerate(self._frames[:_ENOUGH]):
            mark = "->" if index == self._at else "  "
            line = f"{mark} {index:2}  {frame.chunk}:{frame.line} in {frame.name}\n"
            yield ("write", visible(line))
        if len(self._frames) > _ENOUGH:
            yield ("write", f"       and {len(self._frames) - _ENOUGH} more, or others\n")

    def _go(self, by: int) -> Dialogue:
        if not 0 <= self._at + by < len(self._frames):
            yield ("write", f"this is the {'outer' if by > 0 else 'inner'}most frame\n")
            return
        self._at += by
        yield from self._show_place()

    def _who(self, _: str) -> Dialogue:
        variables = sorted(
            (yield from self._variables()), key=lambda variable: (variable.kind, variable.name)
        )
        if not variables:
            yield ("write", "no variables\n")
        width = max((len(variable.name) for variable in variables), default=0)
        for variable in variables:
            text = f"{variable.kind:8} {variable.name:{width}}  {variable.text}\n"
            yield ("write", visible(text))

    def _list(self, _: str) -> Dialogue:
        lines, at = self._frame.lines(self._inputs()), self._frame.line
        if not lines:
            yield ("write", f"the source of {visible(self._frame.chunk)} cannot be read\n")
        for number in range(max(at - _AROUND, 1), min(at + _AROUND, len(lines)) + 1):
            mark = "->" if number == at else "  "
            yield ("write", visible(f"{mark} {number:4}  {lines[number - 1]}\n"))

    def _watch(self, code: str) -> Dialogue:
        if code:
            yield from self._evaluate("watch", code)
        else:
            yield ("unwatch",)

    def _break(self, text: str) -> Dialogue:
        shown = yield from self.breakpoints.command(text)
        yield ("write", visible(shown))

    def _help(self, _: str) -> Dialogue:
        rows = (*_ROWS, *_LIVE_ROWS) if self._is_live else (*_ROWS, ("quit", "leaves"))
        yield ("write", two_columns(rows))


_COMMANDS: dict[str, Callable[[Console, str], Dialogue]] = {
    "where": Console._where,
    "up": lambda console, _: console._go(1),
    "down": lambda console, _: console._go(-1),
    "who": Console._who,
    "list": Console._list,
    "watch": Console._watch,
    "break": Console._break,
    "help": Console._help,
    "?": Console._help,
}


# -- breakpoints: `file.lua:12 if i > 3`, and their list


_WORDS = re.compile(r"(?P<file>.+):(?P<line>\d+)(?:\s+if\s+(?P<condition>.+))?", re.DOTALL)
_USAGE = "break takes a file and a line, as in file.lua:12, or file.lua:12 if i > 3\n"


class Breakpoint(NamedTuple):
    """A place where the program stops, where the condition holds; '': always."""

    file: str
    line: int
    condition: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}{' if ' * bool(self.condition)}{self.condition}"


def _remark(asked: Breakpoint) -> str:
    """Return the remark on a breakpoint whose line has no code that is known."""
    if asked.file.startswith("["):  # of an input
        return ""
    if os.path.isfile(asked.file):
        return f"; line {asked.line} has no code"
    return "; no such file is here: others of its name stop"


class Breakpoints:
    """The breakpoints of a session, by their numbers."""

    def __init__(self) -> None:
        self._all: dict[int, Breakpoint] = {}
        self._next = 1

    def command(self, text: str) -> Generator[tuple[Any, ...], list[Any], str]:
        """Do what is typed behind the command; asks the engine, and returns what to tell."""
        if not text:
            return (
                "".join(f"{n}  {breakpoint}\n" for n, breakpoint in self._all.items())
                or "no breakpoints\n"
            )
        word, _, number = text.partition(" ")
        if word == "-c":
            return (yield from self._clear(number.strip()))
        match = _WORDS.fullmatch(text)
        if match is None:
            return _USAGE
        asked = Breakpoint(match["file"], int(match["line"]), (match["condition"] or "").strip())
        return (yield from self._add(asked))

    def _clear(self, number: str) -> Generator[tuple[Any, ...], list[Any], str]:
        if number.isdecimal() and int(number) in self._all:
            del self._all[int(number)]
        elif not number:
            self._all.clear()
        else:
            return f"there is no breakpoint {number}\n"
        yield ("breakpoints", *self._fields())
        return ""

    def _add(self, asked: Breakpoint) -> Generator[tuple[Any, ...], list[Any], str]:
        self._all[self._next] = asked
        *_, actual = yield ("breakpoints", *self._fields())
        if isinstance(actual, str):
            del self._all[self._next]
            yield ("breakpoints", *self._fields())
            return f"{actual}\n"
        remark = "" if actual == asked.line else _remark(asked)
        if actual:
            asked = self._all[self._next] = asked._replace(line=int(actual))
        self._next += 1
        return f"{self._next - 1}  {asked}{remark}\n"

    def _fields(self) -> list[Any]:
        return [field for breakpoint in self._all.values() for field in breakpoint]
