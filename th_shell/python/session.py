"""A session of Python: runs the inputs of a prompt, whoever reads them.

Each expression that is a statement shows its value, as at Python's own prompt, through
`sys.displayhook`, which is Python's: debuggers step over it. An input is a file `<input 7>` to
tracebacks, whose lines they show.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import linecache
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from th_shell.config import Config
from th_shell.entry import Entry
from th_shell.files import write_all
from th_shell.python.programs import is_own, without_own_frames
from th_shell.python.source_text import examples, inputs, is_page, wants_more
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.session.conversation import UNICODE, Conversation, PageMarks
from th_shell.session.interrupt import EARLY, Watch, handled

if TYPE_CHECKING:
    from th_shell.docs.library import Example


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
        watched: bool = False,
        marks: PageMarks = UNICODE,
    ) -> None:
        watch = Watch(_MainThread()) if watched else nullcontext()
        super().__init__(watch, config, marks)
        self.namespace = namespace
        self._evaluator = Evaluator(namespace, self.config.results)

    def inputs(self, text: str) -> Sequence[str]:
        """Return the inputs in a text."""
        return inputs(text)

    def wants_more(self, text: str) -> bool:
        """Tell whether a text ends with an incomplete input."""
        return wants_more(text)

    def submit(self, text: str, timed: bool = True) -> bool:
        """Run all inputs in a text; return False if one of them ends the session.

        Those of a page are compared with what it shows.
        """
        pieces = inputs(text)
        with self.timing(pieces, timed):
            echoes = len(pieces) > 1 and is_page(text)
            if is_page(text) and not any(map(COMMANDS.is_command, pieces)):
                shown = examples(text)
                is_compared = any(example.expected for example in shown)
                if is_compared and (goes_on := self._play(shown)) is not None:
                    return goes_on
            for piece in pieces:
                if echoes:
                    self.write(self.echo(piece))
                if self.is_exit(piece) and piece.strip("()") not in self.namespace:
                    return False
                if not self.run(piece):
                    break
        return True

    def _play(self, shown: Sequence[Example]) -> bool | None:
        """Run and judge examples; return None, having run none, where the output cannot be read."""
        from th_shell.python.pages import PythonPlayer

        with ExitStack() as stack:
            try:
                copy = stack.enter_context(self.copy_output())
            except OSError:  # the system has no more files
                return None
            stack.enter_context(self.stoppable())
            return PythonPlayer(self, shown, copy).play()

    def run(self, piece: str) -> bool:
        """Run an input, or a command; return False where Ctrl-C has stopped it."""
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

    def text_of(self, name: str) -> tuple[str, str | None]:
        """Return the type of a variable's value, 'nil' where it has none, and its text or None."""
        if name not in self.namespace:
            return "nil", None
        value = self.namespace[name]
        is_text = isinstance(value, (str, int, float))
        return type(value).__name__, str(value) if is_text else None

    def set_variable(self, name: str, text: bytes) -> None:
        """Set a variable to a text."""
        self.namespace[name] = text.decode("utf-8", "surrogateescape")

    def defined_names(self, source: str) -> frozenset[str]:
        """Return the names that an input gives a value."""
        from th_shell.python_syntax import bound_names

        return frozenset(bound_names(source))


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


# -- running inputs, and showing their errors

_FUTURES = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


class Evaluator:
    """Runs inputs in a namespace.

    The last value is `_`, that of the last expression of input 7 is `_7`: names of the module
    builtins, so that a program's own names count first. most: so many values are kept.
    """

    def __init__(self, namespace: dict[str, Any], most: int) -> None:
        self.namespace = namespace
        self._most = most
        self._names: list[str] = []
        self._number = 0
        self._flags = 0  # of the future statements so far

    def run(self, source: str, number: int) -> None:
        """Run the input that has a number; raise what it raises."""
        self._number = number
        name = f"<input {number}>"
        lines = [f"{line}\n" for line in source.split("\n")]
        linecache.cache[name] = (len(source), None, lines, name)
        tree: Any = compile(source, name, "exec", self._flags | ast.PyCF_ONLY_AST, True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        self._execute(ast.Interactive(tree.body), name, "single")
        if last is not None:
            self._show(self._execute(ast.Expression(last.value), name, "eval"))

    def _execute(self, tree: Any, name: str, mode: str) -> Any:
        code = compile(tree, name, mode, self._flags, True)
        self._flags |= code.co_flags & _FUTURES
        return eval(code, self.namespace)

    def _show(self, value: object) -> None:
        sys.displayhook(value)
        if value is not None:
            self._remember(value)

    def keep(self, value: object) -> None:
        """Let a value be the last one."""
        builtins.__dict__["_"] = value
        self._remember(value)

    def _remember(self, value: object) -> None:
        name = f"_{self._number}"
        builtins.__dict__[name] = value
        if self._names[-1:] != [name]:
            self._names.append(name)
        while len(self._names) > self._most:
            builtins.__dict__.pop(self._names.pop(0), None)

    def forget(self) -> None:
        """Let go of all values."""
        for name in ("_", *self._names):
            builtins.__dict__.pop(name, None)
        self._names.clear()


def show_error(error: BaseException) -> None:
    """Print an error as Python's prompt does, with the lines of inputs in its traceback."""
    without_own_frames(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    with suppress(Exception):
        sys.stdout.flush()
    if sys.excepthook is sys.__excepthook__:
        sys.stderr.write(_formatted(error))
        sys.stderr.flush()
        return
    try:
        sys.excepthook(type(error), error, error.__traceback__)
    except Exception as wrong:
        sys.stderr.write(
            f"Error in sys.excepthook:\n{_formatted(wrong)}\nOriginal exception was:\n"
        )
        sys.stderr.write(_formatted(error))


def error_text(error: BaseException) -> str:
    """Return the text that Python prints for an error of an input."""
    without_own_frames(error)
    return _formatted(error)


def _formatted(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception:  # by the error's own methods
        return f"{type(error).__name__}\n"
