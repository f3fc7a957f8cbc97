"""A session of Python: runs the inputs of a prompt, whoever reads them."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from th_shell.config import Config
from th_shell.entry import Entry
from th_shell.files import write_all
from th_shell.python.evaluation import Evaluator, show_error
from th_shell.python.programs import is_own
from th_shell.python.source_text import inputs, is_page, wants_more
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.session.conversation import Conversation
from th_shell.session.interrupt import EARLY, Watch, handled


class PythonSession(Conversation):
    """Runs inputs in a namespace. watched: whether Ctrl-C and Ctrl-\\ are those of a terminal."""

    commands = COMMANDS
    prompt, continuation = ">>> ", "... "
    suffix, comment = ".py", "#"
    exits = frozenset(("exit", "exit()", "quit", "quit()"))

    def __init__(
        self,
        namespace: dict[str, Any],
        config: Config | None = None,
        time_format: str = "",
        watched: bool = False,
    ) -> None:
        watch = Watch(_MainThread()) if watched else nullcontext()
        super().__init__(watch, config, time_format)
        self.namespace = namespace
        self._evaluator = Evaluator(namespace, self.config.results)

    def inputs(self, text: str) -> Sequence[str]:
        """Return the inputs in a text."""
        return inputs(text)

    def wants_more(self, text: str) -> bool:
        """Tell whether a text ends with an incomplete input."""
        return wants_more(text)

    def submit(self, text: str, timed: bool = True) -> bool:
        """Run all inputs in a text; return False if one of them ends the session."""
        pieces = inputs(text)
        with self.timing(pieces, timed):
            echoes = len(pieces) > 1 and is_page(text)
            for piece in pieces:
                if echoes:
                    self.write(self.echo(piece))
                if self.is_exit(piece) and piece.strip("()") not in self.namespace:
                    return False
                if not self.run(piece):
                    break
        return True

    def run(self, piece: str) -> bool:
        """Run an input, or a command; return False where Ctrl-C has stopped it."""
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
        """Tell whether the last input has raised an error."""
        return bool(self.log) and self.log[-1].error is not None

    def evaluate(self, source: str) -> BaseException | None:
        """Run an input, and print its values; return its error, which is not printed.

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


class _MainThread:
    """The program in the main thread, which Python itself stops at Ctrl-C."""

    def interrupt(self) -> None:
        """Do nothing: the signal's handler raises KeyboardInterrupt."""

    def running(self) -> str:
        """Return the innermost line of the program."""
        frame = sys._current_frames().get(threading.main_thread().ident or 0)
        while frame is not None and is_own(frame.f_code.co_filename):
            frame = frame.f_back
        return f"line {frame.f_lineno} of {frame.f_code.co_filename}" if frame else "the input"
