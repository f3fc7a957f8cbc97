"""A session: runs the inputs of a prompt, which others read.

An input is Lua, whose values or error are printed; ``? name`` for help; ``$ command`` for the
system's shell; or ``exit``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from th_shell.config import Config
from th_shell.entry import Entry
from th_shell.runtime.shell import Engine, Interrupted, LuaError, LuaSyntaxError
from th_shell.session.commands import COMMANDS, is_command
from th_shell.session.conversation import UNICODE, Asking, Conversation, PageMarks
from th_shell.session.inputs import is_page, placed, split
from th_shell.session.interrupt import EARLY, Watch
from th_shell.show import install
from th_shell.syntax import Judge, Syntax
from th_shell.visible import CONTINUATION, PROMPT, visible

if TYPE_CHECKING:
    from th_shell.docs.library import Example
    from th_shell.session.output import OutputCopy
    from th_shell.session.random_inputs import Chance


class _Text(NamedTuple):
    """The parts of a text."""

    inputs: tuple[str, ...]
    #: The input that may go on.
    last: str
    is_page: bool = False
    #: The examples of a page.
    examples: Sequence[Example] = ()
    #: Why the directives of the page are not followed, or ''.
    problem: str = ""


class Session(Conversation):
    """Runs inputs in an engine, and writes their results to its standard output.

    judge: a function that compiles a text. numbered: whether an input's chunk is named by its
    number in the log, and its first value is `_N` in later inputs.
    """

    commands = COMMANDS
    prompt, continuation = PROMPT, CONTINUATION
    suffix, comment = ".lua", "--"
    exits = frozenset(("exit", "exit()"))

    def __init__(
        self,
        engine: Engine,
        config: Config | None = None,
        numbered: bool = False,
        marks: PageMarks = UNICODE,
    ) -> None:
        super().__init__(Watch(engine), config, marks)
        self.engine = engine
        #: Whether errors are shown with hints: at a prompt, where a person reads them.
        self.hints = False
        #: Takes the error of an input, which ends the text it stands in; None: errors are shown.
        self.take_error: Callable[[LuaError], None] | None = None
        #: The debugger of the room `debugging`, from its first use on.
        self.debugger: object = None
        self._cell: tuple[int, int] | None = None  # its number, and so many lines are above
        self._copy: OutputCopy | None = None  # of what the inputs print that run
        self._cuts: list[bool] = []  # whether each part that was cut is the output of an input
        self._has_written = False  # whether the session itself has, since the last cut
        self._numbered = numbered
        self._followed = 0  # so many entries of the log are told to `_chance`
        self._running: list[Entry] = []  # the input that runs, which comes into the log at its end
        # While an input grows line by line, its beginning is compiled again and again.
        self.judge: Judge = lru_cache(maxsize=512)(self._compile)
        # The editor asks for the inputs of a text before they are run, and the history after that.
        self._read = lru_cache(maxsize=1)(self._read_text)

    def serve_person(self, ask: Asking | None = None) -> None:
        """Show hints, which help a person who types the inputs.

        ask: asks a question; None where nobody answers.
        """
        self.hints, self.ask = True, ask

    def inputs(self, text: str) -> list[str]:
        """Return the inputs in a text."""
        return list(self._read(text).inputs)

    def is_page(self, text: str) -> bool:
        """Tell whether a text was copied from a page."""
        return self._read(text).is_page

    def wants_more(self, text: str) -> bool:
        """Tell whether a text ends with an incomplete input."""
        last = self._read(text).last
        return last != "" and not is_command(last) and self.judge(last) is Syntax.INCOMPLETE

    def submit(self, text: str, timed: bool = True) -> bool:
        """Run all inputs in a text; return False if one of them ends the session.

        If the text is a page, the outputs in it are compared with those of its inputs.
        """
        parts = self._read(text)
        shows = any(example.expected or example.value for example in parts.examples)
        with self.timing(parts.inputs, timed):
            try:
                if parts.is_page and (shows or not parts.inputs):
                    with self.surrounded(text):
                        return self._play(parts)
                return self._run_all(list(self._placed(text, parts.inputs)))
            except Interrupted as error:  # it came while a hint was looked for, or in a command
                (self.take_error or self.show_error)(error)
                return True

    @property
    def is_in_cell(self) -> bool:
        """Tell whether the inputs that run are those of a notebook's cell."""
        return self._cell is not None

    @contextmanager
    def in_cell(self, number: int, above: int = 0) -> Iterator[None]:
        """Let the inputs that are run within the context be those of a notebook's cell.

        number: the cell's; 0 for inputs that have none, and are in no log. above: so many lines of
        the cell stand above the text that is submitted.
        """
        before, self._cell = self._cell, (number, above)
        try:
            yield
        finally:
            self._cell = before

    def _placed(self, text: str, inputs: Sequence[str]) -> Iterable[str]:
        return inputs if self._cell is None else placed("\n" * self._cell[1] + text, inputs)

    def _read_text(self, text: str) -> _Text:
        inputs = split(text, self.judge)
        if not is_page(inputs, self.judge):
            return _Text(tuple(inputs), inputs[-1] if inputs else "")
        from th_shell.docs.library import Compiler
        from th_shell.session import pages

        examples, problem = pages.read_examples(text, Compiler(self.engine))
        run = tuple(pages.input_of(example) for example in examples if pages.is_run(example))
        return _Text(run, pages.open_input(examples), True, examples, problem)

    def _play(self, page: _Text) -> bool:
        from th_shell.session.pages import LuaPlayer

        if page.problem:
            self.write(f"the page's directives are not followed: {visible(page.problem)}\n")
        for entry in self.log[self._followed :]:
            self._chance.affects(entry.source)
        with ExitStack() as stack:
            try:
                copy = stack.enter_context(self.copy_output())
            except OSError as error:
                self.write(f"not compared with the page: {error.strerror or error}\n")
                return self._run_all(page.inputs)
            stack.enter_context(self.stoppable())
            goes_on = LuaPlayer(self, page.examples, self._chance, copy).play()
        self._followed = len(self.log)
        return goes_on

    @cached_property
    def _chance(self) -> Chance:
        from th_shell.session.random_inputs import Chance

        # The runtime's own list of the globals that no program has made.
        return Chance(frozenset(self.engine.variables.names("_preloaded_")))

    def _run_all(self, inputs: Sequence[str]) -> bool:
        with ExitStack() as stack:
            for piece in inputs:
                if self.is_exit(piece):
                    return False
                if is_command(piece):
                    stack.close()  # a command has Ctrl-C for itself
                    with self.surrounded(piece):
                        COMMANDS.run(self, piece)
                    self.engine.flush()
                    EARLY.take()
                    continue
                if not self.can_stop:
                    stack.enter_context(self._keeping_outputs())
                    stack.enter_context(self.stoppable())
                with self.surrounded(piece):
                    goes_on = self._run(piece)
                if not goes_on:
                    break
        return True

    @contextmanager
    def _keeping_outputs(self) -> Iterator[None]:
        """Keep in the log what the inputs print that run within the context, at a terminal."""
        if self.ask is None or not sys.stdout.isatty():
            yield
            return
        first = len(self.log)
        with ExitStack() as stack:
            with suppress(OSError):  # no more files or threads: it is not kept
                copy = self._own_copy
                self._copy = stack.enter_context(copy)
                stack.enter_context(self.engine.before_exit(copy.text))
            stack.callback(self.engine.flush)
            try:
                yield
            finally:
                stack.close()
                if self._copy is not None:
                    parts = zip(self._copy.take_parts(), self._cuts, strict=True)
                    self._set_outputs(first, [part for part, is_of_input in parts if is_of_input])
                self._copy, self._cuts = None, []

    @cached_property
    def _own_copy(self) -> OutputCopy:
        from th_shell.session.output import OutputCopy

        return OutputCopy(again=True)

    def _set_outputs(self, first: int, outputs: Sequence[bytes]) -> None:
        """Set what the inputs have printed that stand in the log from an index on."""
        for index, output in enumerate(outputs, first):
            text = output.decode("utf-8", "surrogateescape")
            self.log[index] = self.log[index]._replace(output=text)

    def _cut_output(self, is_of_input: bool) -> None:
        """End the output of an input, or of what stands before it, if there may be some."""
        if self._copy is not None and (is_of_input or self._has_written):
            self.engine.flush()
            self._copy.cut()
            self._cuts.append(is_of_input)
        self._has_written = False

    @contextmanager
    def copy_output(
        self, listener: Callable[[bytes], object] | None = None
    ) -> Iterator[OutputCopy]:
        """Read what is written to the standard output within the context. Raises OSError."""
        with super().copy_output(listener) as copy, self.engine.before_exit(copy.text):
            try:
                yield copy
            finally:
                self.engine.flush()  # which C may keep until the line ends

    def interruptible(self) -> AbstractContextManager[None]:
        """Let what Lua runs within the context hear of Ctrl-C."""
        return self.engine.interruptible()

    def interrupt(self) -> None:
        """Stop what is about to run."""
        self.engine.interrupt()

    def _compile(self, text: str) -> Syntax:
        try:
            self.engine.inputs.check_syntax(_encoded(text))
        except LuaSyntaxError as error:
            return Syntax.INCOMPLETE if error.incomplete else Syntax.WRONG
        return Syntax.COMPLETE

    def write(self, text: str) -> None:
        """Write to the standard output, in order with what Lua writes."""
        self._has_written = True
        self.engine.write(text)

    def write_through(self, output: bytes) -> None:
        """Write at once what a running command prints."""
        self.write(output.decode("utf-8", "surrogateescape"))
        self.engine.flush()

    def keep(self, output: bytes) -> None:
        """Keep what a command of the system has printed, as `_LAST`."""
        self.engine.inputs.keep(output)

    def text_of(self, name: str) -> tuple[str, str | None]:
        """Return the Lua type of a global's value, and its text if it is one."""
        return self.engine.variables.text_of([f".{name}"])

    def set_variable(self, name: str, text: bytes) -> None:
        """Set a local of the session, or else a global, to a text."""
        self.engine.variables.set(name, text)

    def defined_names(self, source: str) -> frozenset[str]:
        """Return the names that an input gives a value."""
        from th_shell.preflight.parser import assigned_names

        return assigned_names(source)

    def report(self, command: str, message: str) -> None:
        """Say why a command could not be done: in a notebook, this is the cell's error."""
        if self.take_error is not None:
            self.take_error(LuaError(f"{command}: {message}"))
        else:
            super().report(command, message)

    def evaluate(
        self, source: str, before_values: Callable[[], None] | None = None
    ) -> LuaError | None:
        """Run an input of Lua, and print its values; return its error, which is not printed.

        before_values: called between what the input itself prints and its values.
        """
        number = len(self.log) + 1 if self._cell is None else self._cell[0]
        name = b"=[%d]" % number if self._numbered and number else b"=stdin"
        result = number if self._numbered and number else None
        error = None
        self._cut_output(False)
        self._running = [Entry(number, source, None)]
        try:
            with nullcontext() if self.can_stop else self.stoppable():
                self.engine.inputs.enter(_encoded(source), name, result, before_values)
        except LuaError as raised:
            error = raised
        finally:
            self._running = []
        if number:
            self._cut_output(True)
            self.log.append(Entry(number, source, error))
        return error

    def sources(self) -> list[Entry]:
        """Return the inputs whose lines a debugger shows: those of the log, and what runs."""
        return [*self.log, *self._running]

    def _interrupt(self) -> Interrupted | None:
        """Return the error of a Ctrl-C before an input's first step, or behind its last."""
        is_pressed = self.can_stop and self.engine.take_interrupt()
        return Interrupted("interrupted!") if is_pressed else None

    def _run(self, source: str) -> bool:
        error = self._interrupt() or self.evaluate(source) or self._interrupt()
        if error is None:
            for hint in self.hints_on_value(source):
                self.write(self.marks.note.format(self.fitted(visible(hint))) + "\n")
        elif self.take_error is not None:
            self.take_error(error)
            return False
        else:
            self.show_error(error)
        self.engine.flush()
        return not isinstance(error, Interrupted)

    def show_error(self, error: LuaError) -> None:
        """Write the error of an input as the prompt shows it."""
        from th_shell.session.errors import error_lines

        lines = error_lines(error, self.hints_on(error), self.marks, self.fitted)
        self.write("".join(f"{line}\n" for line in lines if line))

    def hints_on(self, error: LuaError) -> list[str]:
        """Return the lines that a prompt shows under the error of the last input."""
        if not self.hints or isinstance(error, Interrupted):
            return []
        from th_shell.help.hints import hints_on

        return hints_on(error, self.log, self.engine)

    def hints_on_value(self, source: str) -> list[str]:
        """Return the lines under an input that may have printed nil for a name that is none."""
        if not self.hints or not re.fullmatch(r"[\w.= \n]+", source):
            return []
        from th_shell.help.hints import hints_on_nil

        return hints_on_nil(source, self.engine)


def prepare(engine: Engine, config: Config) -> None:
    """Let an engine show large values, and keep results, as the settings say; draw pictures; and
    tell by `who()` what its variables share.
    """
    engine.inputs.set_elision(config.elide)
    engine.inputs.keep_results(config.results)
    engine.use_prompt_who()
    engine.debugging.offer_debugger()
    engine.debugging.keep_frames()
    install(engine)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
