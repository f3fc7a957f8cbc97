"""A session of Python: runs the inputs of a prompt, whoever reads them."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from th_shell.config import Config
from th_shell.entry import Entry
from th_shell.files import write_all
from th_shell.python.evaluation import Evaluator, show_error
from th_shell.python.inputs import examples, inputs, is_exit, is_page, wants_more
from th_shell.python.tracebacks import is_own
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.session.conversation import Conversation
from th_shell.session.interrupt import EARLY, Watch, handled
from th_shell.session.look import UNICODE, Look

if TYPE_CHECKING:
    from th_shell.docs.library import Example


class PythonSession(Conversation):
    """Runs inputs in a namespace. watched: whether Ctrl-C and Ctrl-\\ are those of a terminal."""

    commands = COMMANDS
    prompt, continuation = ">>> ", "... "
    suffix, comment = ".py", "#"

    def __init__(
        self,
        namespace: dict[str, Any],
        config: Config | None = None,
        time_format: str = "",
        watched: bool = False,
        look: Look = UNICODE,
    ) -> None:
        super().__init__(Watch(_MainThread()) if watched else nullcontext(), config, time_format)
        self.namespace = namespace
        self.look = look
        self._evaluator = Evaluator(namespace, self.config.results)

    def inputs(self, text: str) -> Sequence[str]:
        """The inputs in a text."""
        return inputs(text)

    def wants_more(self, text: str) -> bool:
        """Whether a text ends with an incomplete input."""
        return wants_more(text)

    def submit(self, text: str, timed: bool = True) -> bool:
        """Run all inputs in a text; returns False if one of them ends the session.

        Those of a page are compared with what it shows.
        """
        found = inputs(text)
        with self.timing(found, timed):
            echoes = len(found) > 1 and is_page(text)
            if is_page(text) and not any(map(COMMANDS.is_command, found)):
                shown = examples(text)
                is_compared = any(example.expected for example in shown)
                if is_compared and (goes_on := self._play(shown)) is not None:
                    return goes_on
            for piece in found:
                if echoes:
                    self.write(self.echo(piece))
                if is_exit(piece) and piece.strip("()") not in self.namespace:
                    return False
                if not self.run(piece):
                    break
        return True

    def _play(self, shown: Sequence[Example]) -> bool | None:
        """As `submit`; None where nothing can be compared, and nothing was run."""
        from th_shell.python.playing import PythonPlayer
        from th_shell.session.tee import Tee

        with ExitStack() as stack:
            try:
                tee = stack.enter_context(Tee())
            except OSError:  # the system has no more files
                return None
            stack.enter_context(self.stoppable())
            return PythonPlayer(self, shown, self.look, tee).play()

    def run(self, piece: str) -> bool:
        """Run an input, or a command; returns False where Ctrl-C has stopped it."""
        with self.surrounded(piece):
            return self._run(piece)

    def _run(self, piece: str) -> bool:
        if COMMANDS.is_command(piece):
            COMMANDS.run(self, piece)
            EARLY.take()
            return True
        error = self.evaluate(piece)
        if error is not None:
            show_error(error)
        return not isinstance(error, KeyboardInterrupt)

    @property
    def has_failed(self) -> bool:
        """Whether the last input has raised an error."""
        return bool(self.log) and self.log[-1].error is not None

    def evaluate(self, source: str) -> BaseException | None:
        """Run an input, and print its values; returns its error, which is not printed.

        Raises SystemExit where the input does.
        """
        number = len(self.log) + 1
        error: BaseException | None = None
        try:
            with nullcontext() if self.can_stop else self.stoppable():
                self._evaluator.run(source, number)
        except SystemExit:
            raise
        except BaseException as raised:
            error = raised
        self.log.append(Entry(number, source, error))
        with suppress(Exception):  # the program has closed it, or put something else there
            sys.stdout.flush()
        return error

    def interruptible(self) -> AbstractContextManager[None]:
        """Let Ctrl-C raise KeyboardInterrupt within the context."""
        return handled(signal.SIGINT, signal.default_int_handler)

    def interrupt(self) -> None:
        """Stop what is about to run."""
        raise KeyboardInterrupt

    def write_through(self, output: bytes) -> None:
        """Write to the standard output at once, in order with what inputs print."""
        with suppress(Exception):
            sys.stdout.flush()
        write_all(1, output)

    def keep(self, output: bytes) -> None:
        """Keep what a command of the system has printed, as `_`."""
        self._evaluator.keep(output.decode("utf-8", "surrogateescape"))

    def forget(self) -> None:
        """Let go of the values of former inputs."""
        self._evaluator.forget()

    def text_of(self, name: str) -> tuple[str, str | None]:
        """The type of a variable's value, 'nil' where it has none; and its text if it has one."""
        if name not in self.namespace:
            return "nil", None
        value = self.namespace[name]
        is_text = isinstance(value, (str, int, float))
        return type(value).__name__, str(value) if is_text else None

    def set_variable(self, name: str, text: bytes) -> None:
        """Set a variable to a text."""
        self.namespace[name] = text.decode("utf-8", "surrogateescape")

    def defined_names(self, source: str) -> frozenset[str]:
        """The names that an input gives a value."""
        from th_shell.python_syntax import bound_names

        return frozenset(bound_names(source))


class _MainThread:
    """What the main thread runs, which Python itself stops at Ctrl-C."""

    def interrupt(self) -> None:
        """Nothing: the signal's handler raises KeyboardInterrupt."""

    def running(self) -> str:
        """The innermost line of the program."""
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        while frame is not None and is_own(frame.f_code.co_filename):
            frame = frame.f_back
        return f"line {frame.f_lineno} of {frame.f_code.co_filename}" if frame else "the input"
