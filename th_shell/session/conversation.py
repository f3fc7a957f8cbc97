"""``Conversation``: the base of sessions of any language, for the editor and for commands."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from th_shell.config import Config
from th_shell.entry import Entry
from th_shell.session.commands import CommandTable
from th_shell.session.interrupt import EARLY
from th_shell.visible import columns, visible

if TYPE_CHECKING:
    from th_shell.session.output import OutputCopy

_TIME_COLUMN = 70


#: Shows a question, and returns the answer; raises EOFError and KeyboardInterrupt. It also gets the
#: words that Tab completes.
Asking = Callable[[str, Sequence[str]], str]


class PageMarks(NamedTuple):
    """The marks behind examples of a page and inputs, and the colours of these and of errors."""

    #: The example printed what the page shows; the same layout; something else.
    held: str
    layout: str
    differs: str
    #: The formats, each with one {}, of good marks, bad marks and errors, what matters less,
    #: advice, and the place that is meant.
    good: str = "{}"
    bad: str = "{}"
    faint: str = "{}"
    note: str = "{}"
    strong: str = "{}"
    #: The format of the seconds that an input has taken; '' if they are not shown.
    time: str = ""

    def coloured(self) -> PageMarks:
        """Return these marks in colours, those of the terminal."""
        codes = {"good": "32", "bad": "31", "faint": "90", "note": "36", "strong": "1;4"}
        formats = {name: f"\x1b[{code}m{{}}\x1b[0m" for name, code in codes.items()}
        return self._replace(**formats)


UNICODE = PageMarks("✓", "≈ layout", "✗")
ASCII = PageMarks("ok", "~ layout", "x")


class Conversation(ABC):
    """Inputs that are run one after the other.

    config: the settings of the prompt. log: the inputs of the language so far. marks: of examples
    of pages, and of the time that inputs take.
    """

    commands: CommandTable
    #: What stands before the first line of an input, and before the others.
    prompt = ""
    continuation = ""
    #: What a comment begins with.
    comment = ""
    #: The ending of a file with an input, for $EDITOR.
    suffix = ""
    #: The inputs that end the session.
    exits: frozenset[str] = frozenset()
    #: The text that the next input is to begin with; who reads inputs takes it.
    next_input = ""

    def __init__(
        self, watch: AbstractContextManager[None], config: Config | None, marks: PageMarks
    ) -> None:
        self.config = config or Config()
        self.marks = marks
        self.log: list[Entry] = []
        #: Asks the user a question, where there is somebody to answer.
        self.ask: Asking | None = None
        #: Contexts that each input runs within, by the command that has set them; made of its text.
        self.surroundings: dict[str, Callable[[str], AbstractContextManager[None]]] = {}
        #: The context that hears of Ctrl-C and Ctrl-\\ while something runs.
        self.watch = watch
        #: Whether Ctrl-C stops what runs now (see `stoppable`).
        self.can_stop = False

    @property
    def is_in_cell(self) -> bool:
        """Tell whether the inputs that run are those of a notebook's cell."""
        return False

    def is_exit(self, text: str) -> bool:
        """Tell whether an input ends the session."""
        return text.strip() in self.exits

    @abstractmethod
    def inputs(self, text: str) -> Sequence[str]:
        """Return the inputs in a text."""

    @abstractmethod
    def wants_more(self, text: str) -> bool:
        """Tell whether a text ends with an incomplete input."""

    @abstractmethod
    def submit(self, text: str, timed: bool = True) -> bool:
        """Run all inputs in a text; return False if one of them ends the session.

        timed: the time that they take is shown, as it is at a prompt. The inputs that a command
        runs are submitted by the command, which may ask or edit before that: so its own time is
        none.
        """

    @contextmanager
    def stoppable(self) -> Iterator[None]:
        """Let Ctrl-C stop what runs within the context."""
        with self.watch, self.interruptible():
            self.can_stop = True
            try:
                if EARLY.take():
                    self.interrupt()
                yield
            finally:
                self.can_stop = False

    @abstractmethod
    def interruptible(self) -> AbstractContextManager[None]:
        """Let what runs within the context hear of Ctrl-C."""

    @abstractmethod
    def interrupt(self) -> None:
        """Stop what is about to run."""

    @abstractmethod
    def write_through(self, output: bytes) -> None:
        """Write to the standard output at once, in order with what inputs print."""

    @abstractmethod
    def keep(self, output: bytes) -> None:
        """Keep what a command of the system has printed, as the last value."""

    @abstractmethod
    def text_of(self, name: str) -> tuple[str, str | None]:
        """Return the type of a variable's value, 'nil' where it has none, and its text.

        The text is None but for a string, number or boolean.
        """

    @abstractmethod
    def set_variable(self, name: str, text: bytes) -> None:
        """Set a variable to a text."""

    @abstractmethod
    def defined_names(self, source: str) -> frozenset[str]:
        """Return the names that an input gives a value."""

    @contextmanager
    def surrounded(self, text: str) -> Iterator[None]:
        """Enter the contexts that each input runs within, or a page."""
        with ExitStack() as stack:
            for enter in list(self.surroundings.values()):
                stack.enter_context(enter(text))
            yield

    @contextmanager
    def copy_output(
        self, listener: Callable[[bytes], object] | None = None
    ) -> Iterator[OutputCopy]:
        """Read what is written to the standard output within the context. Raises OSError.

        listener: gets it as it comes.
        """
        from th_shell.session.output import OutputCopy

        self.write_through(b"")
        with OutputCopy(listener) as copy:
            yield copy
            self.write_through(b"")

    def report(self, command: str, message: str) -> None:
        """Say why a command could not be done."""
        self.write(visible(f"{command}: {message}\n"))

    def write(self, text: str) -> None:
        """Write to the standard output, in order with what inputs print."""
        self.write_through(text.encode("utf-8", "surrogateescape"))

    def echo(self, source: str) -> str:
        """Return an input as it looks when it is typed at the prompt."""
        return self.prompt + source.replace("\n", f"\n{self.continuation}") + "\n"

    def numbered_prompt(self) -> str:
        """Return the prompt of the next input, with a number where the settings ask for it."""
        number = f"[{len(self.log) + 1}] " if self.config.prompt_number else ""
        return number + self.prompt

    def show_text(self, text: str) -> None:
        """Show lines of a text that may hold anything, with control codes as digits.

        In a pager where they are more than the screen has, and a person is there.
        """
        from th_shell.session.output import show_in_pager

        lines = map(visible, text.removesuffix("\n").split("\n"))
        shown = "".join(f"{self.fitted(line)}\n" for line in lines)
        self.write_through(b"")
        if self.ask is None or not self.config.pager or not show_in_pager(shown):
            self.write(shown)

    def fitted(self, line: str) -> str:
        """Return a line for a person at a terminal: broken at words where it is too long."""
        if self.ask is None or len(line) <= columns():
            return line
        from th_shell.paragraphs import broken

        return broken(line, columns())

    def take_next_input(self) -> str:
        """Return the text that the next input is to begin with; from then on there is none."""
        text, self.next_input = self.next_input, ""
        return text

    @contextmanager
    def timing(self, inputs: Sequence[str], shown: bool = True) -> Iterator[None]:
        """Show how long the inputs have taken that are run within the context.

        It is not shown where all of them are commands.
        """
        start, before = time.perf_counter(), len(self.log)
        yield
        if not shown or not self.marks.time or len(self.log) == before:
            return
        if not all(map(self.commands.is_command, inputs)):
            taken = f"[{time.perf_counter() - start:.4f}s]"
            column = min(_TIME_COLUMN, max(columns() - len(taken) - 1, 0))
            line = " " * column + self.marks.time.format(taken) + "\n"
            self.write_through((self._new_line() + line).encode())

    def _new_line(self) -> str:
        """Return what moves a terminal's cursor to the start of a line, if it is not there.

        So many blanks as a line has end in the next line, unless they begin at the start of one.
        """
        return " " * columns() + "\r" if self.ask is not None and sys.stdout.isatty() else ""
