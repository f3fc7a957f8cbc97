"""The debugger at a prompt: `debug>` and what may be typed there, and `%debug` and `%break`.

Each command is a step of the dialogue with the engine (see runtime/engine/debugging.py).
"""

import signal
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from th_shell.debugging.frames import Breakpoints, Frame, Variable, read_frames, read_variables
from th_shell.entry import Entry
from th_shell.paragraphs import two_columns
from th_shell.runtime.shell import Dialogue, Stop
from th_shell.session.commands import MagicError
from th_shell.session.conversation import Asking
from th_shell.session.interrupt import Watch, handled
from th_shell.session.session import Session
from th_shell.visible import visible

PROMPT = "debug> "
_AROUND = 5  # lines that `list` shows before and behind the present one
_ENOUGH = 40  # frames that `where` shows

_STEPS = ("step", "next", "finish", "continue")
_ROWS = (
    ("where", "the calls that have led here"),
    ("up, down", "look at the frame that has called this one, and back"),
    ("who", "the variables of the frame"),
    ("list, source", "the lines of the source around this one; all of them"),
    ("? torch.sort", "help, as at the prompt; %history and other commands, too"),
    ("x:size(), y = 1", "the values of expressions, statements: in the frame"),
)
_LIVE_ROWS = (
    ("step", "goes on to the next line; Enter does it again"),
    ("next", "the same, but over the calls in this line"),
    ("finish", "goes on until the frame returns"),
    ("continue", "goes on to the next breakpoint"),
    ("watch x.y", "stops where the value changes; watch alone: nothing is watched"),
    ("break file.lua:12 if i > 3", "stops at a line; break alone: lists these lines"),
    ("break -c 1, break -c all", "removes one of these lines, or all"),
    ("quit", "ends the program"),
)
#: Short names, where no variable of the frame has them.
_SHORT = {word[0]: word for word in ("where", "up", "down", "list", *_STEPS, "quit")}
_SHORT |= {"bt": "where", "args": "who", "ll": "source"}  # as pdb's

#: A part of the dialogue; what it returns is how the program goes on, or None.
_Step = Generator[tuple[Any, ...], list[Any], "tuple[Any, ...] | None"]


class Console:
    """Asks a person what to look at, and how the program goes on.

    inputs: returns those of the session. command: runs a command of the session, such as '? x'.
    """

    def __init__(
        self,
        read: Asking,
        inputs: Callable[[], Sequence[Entry]] = list,
        command: Callable[[str], object] | None = None,
    ) -> None:
        self._read = read
        self._inputs = inputs
        self._command = command
        self.breakpoints = Breakpoints()
        self._frames: list[Frame] = []
        self._at = 0  # the index of the frame that is looked at
        self._is_live = False
        self._last = ""  # the step that Enter repeats

    def __call__(self, stop: Stop) -> Dialogue:
        """Return the dialogue where a program has stopped."""
        self._is_live = True
        if stop.reason == "long":
            yield ("write", visible(f"{stop.detail} runs; Ctrl-C stops there\n"))
            yield ("go", "on", 1)
            return
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
            names = [variable.name for variable in (yield from self._variables())]
            try:
                text = self._read(PROMPT, [*names, *_WORDS]).strip()
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
        word, _, arguments = text.removeprefix("%").partition(" ")
        is_of_session = word not in _WORDS if text[:1] == "%" else text[:1] == "?" != text
        if self._command and is_of_session:
            self._command(text)
            return None
        if word == "p" and arguments and not (yield from self._is_variable(word)):
            word = text = arguments
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
        elif verb == "watch":
            yield ("write", visible(f"watching {code}: {answer[0]}\n"))

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

    def _list(self, around: int | None = _AROUND) -> Dialogue:
        """Show lines of the source, by default as many around the present one."""
        lines, at = self._frame.lines(self._inputs()), self._frame.line
        if not lines:
            yield ("write", f"the source of {visible(self._frame.chunk)} cannot be read\n")
        around = len(lines) if around is None else around
        for number in range(max(at - around, 1), min(at + around, len(lines)) + 1):
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
    "list": lambda console, _: console._list(),
    "source": lambda console, _: console._list(None),
    "watch": Console._watch,
    "break": Console._break,
    "help": Console._help,
    "?": Console._help,
}
#: The words that Tab completes.
_WORDS = frozenset((*_COMMANDS, *_STEPS, "quit"))


# -- the debugger of a session


def debug(session: Session, text: str) -> None:
    """Look into the last error: `-c` lets go of it."""
    if text == "-c":
        session.engine.debugging.forget_frames()
        return
    if text:
        raise MagicError("it takes nothing; %run -d runs a file line by line")
    if not session.engine.debugging.request("frames"):
        raise MagicError("no frames of an error are kept")
    with session.stoppable():
        session.engine.debugging.examine(console_of(session).examine())


def set_break(session: Session, text: str) -> None:
    """Let programs stop at a line of a file; list or remove such places."""
    console = console_of(session)

    def dialogue() -> Dialogue:
        shown = yield from console.breakpoints.command(text)
        session.write(shown)

    session.engine.debugging.examine(dialogue())


def attach(session: Session) -> None:
    """Let the person at a session's prompt be asked where a program stops."""

    def stopped(stop: Stop) -> Dialogue:
        return console_of(session)(stop)

    session.engine.debugging.debug_by(stopped)


def console_of(session: Session) -> Console:
    """Return the debugger of a session, which asks at its prompt."""
    if not isinstance(session.debugger, Console):
        settle = session.watch.settle if isinstance(session.watch, Watch) else None
        read = line_reader(session.ask, settle)
        command = partial(session.commands.run, session)
        session.debugger = Console(read, session.sources, command)
    return session.debugger


def line_reader(ask: Asking | None, prepare: Callable[[], object] | None = None) -> Asking:
    """Return a function that asks for a line: by `ask`, or on the standard input.

    It raises EOFError and KeyboardInterrupt. prepare: called before each question.
    """

    def read(question: str, words: Sequence[str]) -> str:
        if prepare is not None:
            prepare()
        # The editor at a terminal sets it, too, and a Ctrl-C belongs to the line that is typed.
        descriptor = signal.set_wakeup_fd(-1)
        try:
            with handled(signal.SIGINT, signal.default_int_handler):
                return (ask or _read_line)(question, words)
        finally:
            signal.set_wakeup_fd(descriptor, warn_on_full_buffer=False)

    return read


def _read_line(*_: object) -> str:
    with open(0, "rb", buffering=0, closefd=False) as stream:
        line = stream.readline()
    if not line:
        raise EOFError
    return line.decode("utf-8", "surrogateescape")
