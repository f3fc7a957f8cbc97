"""Runs a Python program as the command `python` does, in the module `__main__`.

Scripts, code and the standard input run in a new module; modules, folders and archives are run by
the standard library's runpy. What a program raises is printed by `sys.excepthook`. The words behind
`th --python` name the program.
"""

import atexit
import builtins
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import SourceFileLoader
from types import CodeType, ModuleType, TracebackType
from typing import Any, NamedTuple

from th_shell.visible import UsageError, complain

_TORCHES = ("th", "installed")
_CODE = ("-c", "-e")  # Python's letter, and that of th


class PythonOptions(NamedTuple):
    """A command line."""

    #: 'file', 'code', 'module' or 'input', the standard input; '' where nothing is named.
    kind: str = ""
    #: The path, the code or the module's name.
    program: str = ""
    #: The words behind it.
    arguments: tuple[str, ...] = ()
    #: Whether the prompt is opened behind the program.
    interactive: bool = False
    #: Whether `import torch` is left to the PyTorch that is installed.
    installed: bool = False


def parse(words: Sequence[str]) -> PythonOptions:
    """Read the words behind --python. Raises UsageError."""
    options = PythonOptions()
    at = 0
    while at < len(words):
        word = words[at]
        behind = tuple(words[at + 1 :])
        at += 1
        if word == "-":
            return options._replace(kind="input", arguments=behind)
        if not word.startswith("-"):
            return options._replace(kind="file", program=word, arguments=behind)
        if word in ("-i", "--interactive"):
            options = options._replace(interactive=True)
        elif word in (*_CODE, "-m"):
            kind = "module" if word == "-m" else "code"
            return options._replace(kind=kind, program=_behind(word, behind), arguments=behind[1:])
        elif word == "--torch":
            options = options._replace(installed=_torch(_behind(word, behind)) == "installed")
            at += 1
        else:
            raise UsageError(f"unrecognized option {word} of --python")
    return options


def _behind(word: str, words: tuple[str, ...]) -> str:
    if not words:
        raise UsageError(f"{word} needs {_NEEDS.get(word, 'code')}")
    return words[0]


_NEEDS = {"-m": "the name of a module", "--torch": "a name: th or installed"}


def _torch(name: str) -> str:
    if name not in _TORCHES:
        raise UsageError(f"--torch {name}: there are th and installed")
    return name


# -- programs

_FAILURE, _NO_FILE = 1, 2
_interrupted = False


class Program:
    """A program; `namespace` has its names once it has run."""

    def __init__(self, options: PythonOptions) -> None:
        self._options = options
        self._main = _new_main()
        self._text = b""

    @property
    def namespace(self) -> dict[str, Any]:
        """The names of the module `__main__`."""
        return self._main.__dict__

    def run(self) -> int:
        """Run it; return the exit status. Raises SystemExit where the program does."""
        return self._watched(self._run)

    def run_source(self, source: bytes) -> int:
        """Run what the standard input has given; otherwise as `run`."""
        return self._watched(lambda: self._execute(source, "<stdin>"))

    def run_before_prompt(self) -> None:
        """Run it; that it ends does not end the process."""
        try:
            self.run()
        except SystemExit as error:
            _report(error)

    def _watched(self, run: Callable[[], int]) -> int:
        try:
            return run()
        except SystemExit:
            raise
        except BaseException as error:
            if self._options.kind == "code":
                _show_lines_of(self._text)
            _report(error)
            return _FAILURE

    def _run(self) -> int:
        kind, program, arguments, *_ = self._options
        sys.argv[:] = [{"code": "-c", "input": "-", "module": "-m"}.get(kind, program), *arguments]
        if kind == "module":
            import runpy  # late: scripts do without

            sys.path.insert(0, os.getcwd())
            if not _is_there(program):
                complain(f"No module named {program}")
                return _FAILURE
            self._keep(runpy.run_module(program, run_name="__main__", alter_sys=True))
        elif kind == "file" and _is_run_by_runpy(program):
            import runpy

            self._keep(runpy.run_path(os.path.abspath(program), run_name="__main__"))
        else:
            source = self._source()
            if source is None:
                return _NO_FILE
            return self._execute(source, self._name())
        return 0

    def _execute(self, source: bytes, name: str) -> int:
        self._text = source
        code: CodeType = compile(source, name, "exec", dont_inherit=True)
        exec(code, self.namespace)
        return 0

    def _keep(self, names: dict[str, Any]) -> None:
        self.namespace.update(names)

    def _source(self) -> bytes | None:
        kind, program, *_ = self._options
        if kind != "file":
            sys.path.insert(0, "")
            return os.fsencode(program) if kind == "code" else sys.stdin.buffer.read()
        try:
            with io.open_code(os.path.abspath(program)) as file:
                source = file.read()
        except OSError as error:
            message = f"can't open file {os.path.abspath(program)!r}"
            print(f"th: {message}: [Errno {error.errno}] {error.strerror}", file=sys.stderr)
            return None
        sys.path.insert(0, os.path.dirname(os.path.realpath(program)))
        path = os.path.abspath(program)
        self.namespace.update(__file__=path, __loader__=SourceFileLoader("__main__", path))
        return source

    def _name(self) -> str:
        """Return the name of its source in tracebacks."""
        names = {"code": "<string>", "input": "<stdin>"}
        return names.get(self._options.kind, os.path.abspath(self._options.program))


def _new_main() -> ModuleType:
    main = ModuleType("__main__")
    main.__dict__["__builtins__"] = sys.modules["builtins"]
    sys.modules["__main__"] = main
    return main


def _is_there(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it would be in
        return False


def _is_run_by_runpy(path: str) -> bool:
    if os.path.isdir(path) or path.endswith(".pyc"):
        return True
    if not _begins_as_archive(path):
        return False
    from zipfile import is_zipfile

    return is_zipfile(path)


def _begins_as_archive(path: str) -> bool:
    """Tell whether a file may be an archive by its first bytes, which may name an interpreter."""
    try:
        with open(path, "rb") as file:
            start = file.read(2)
    except OSError:
        return False
    return start in (b"PK", b"#!")


def _show_lines_of(code: bytes) -> None:
    """Let tracebacks show the lines of code from the command line, as Python does from 3.13 on."""
    import linecache

    lines = list(io.StringIO(code.decode("utf-8", "replace"), None))
    linecache.cache["<string>"] = len(code), None, lines, "<string>"


def _report(error: BaseException) -> None:
    """Print an error as Python does that ends a program."""
    global _interrupted
    _interrupted = isinstance(error, KeyboardInterrupt)
    without_own_frames(error)
    sys.excepthook(type(error), error, error.__traceback__)


def leave_by_interrupt() -> None:
    """Let this process end by SIGINT, as Python's does, where Ctrl-C has ended the program.

    To be called before the program: so this is done behind all that it does at its end.
    """
    atexit.register(_end_by_signal)


def _end_by_signal() -> None:
    if not _interrupted:
        return
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # the program has closed it
            continue
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGINT)


# -- tracebacks, without the frames of this project

_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_GROUP: tuple[type, ...] = (
    (builtins.BaseExceptionGroup,) if hasattr(builtins, "BaseExceptionGroup") else ()
)  # Python 3.10 has none


def is_own(path: str) -> bool:
    """Tell whether a source file is one of this project."""
    return path.startswith(_OWN)


def without_own_frames(error: BaseException) -> BaseException:
    """Return an error whose tracebacks, and those of its causes, show the program's lines alone.

    With TH_DEBUG=1 in the environment they stay as they are.
    """
    if not os.environ.get("TH_DEBUG"):
        _shorten(error, set())
    return error


def _shorten(error: BaseException, done: set[int]) -> None:
    if id(error) in done:
        return
    done.add(id(error))
    error.__traceback__ = _shortened(error.__traceback__)
    members = error.exceptions if isinstance(error, _GROUP) else ()  # type: ignore[attr-defined]
    for cause in (error.__cause__, error.__context__, *members):
        if cause is not None:
            _shorten(cause, done)


def _shortened(traceback: TracebackType | None) -> TracebackType | None:
    steps = []
    while traceback is not None:
        if not is_own(traceback.tb_frame.f_code.co_filename):
            steps.append(traceback)
        traceback = traceback.tb_next
    shortened: TracebackType | None = None
    for step in reversed(steps):
        shortened = TracebackType(shortened, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return shortened
