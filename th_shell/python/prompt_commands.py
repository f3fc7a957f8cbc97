"""The commands of the Python prompt, but for those that any language has (`th_shell.magics`).

`%debug` and `%profile` are Python's own pdb, cProfile and pstats. They show the program's
functions: torch is one thing, whatever it does within.
"""

import cProfile
import io
import pdb
import pstats
import reprlib
import runpy
import signal
import sys
import timeit
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from th_shell.files import write_file
from th_shell.magics.code_files import file_words
from th_shell.magics.session_contents import confirm_reset, to_save
from th_shell.magics.timing import measure
from th_shell.paragraphs import counted, line_width
from th_shell.python import help
from th_shell.python.programs import is_own
from th_shell.python.session import PythonSession, show_error
from th_shell.session.commands import MagicError, errors_of
from th_shell.session.interrupt import handled
from th_shell.visible import visible


def show_help(session: PythonSession, name: str) -> None:
    """Tell what an expression is; without one, what there is at the prompt."""
    session.show_text(help.about(name, session.namespace) if name else help.overview())


def show_source(session: PythonSession, name: str) -> None:
    """Show the source of a function, class or module."""
    session.show_text(help.source(name, session.namespace) if name else help.overview())


def save(session: PythonSession, text: str) -> None:
    """Write inputs, by default all that have raised no error, as a program."""
    example = "file? As in: %save program.py 3-9"
    path, entries = to_save(session.log, text, example, (".py",), "a program's name ends in .py")
    program = "".join(f"{entry.source}\n" for entry in entries)
    with errors_of(str(path)):
        write_file(path, program.encode("utf-8", "surrogateescape"))
    session.write(f"{path}: {counted(len(entries), 'input')}\n")


def run_file(session: PythonSession, text: str) -> None:
    """Run a program in a module of its own, whose names the session then has."""
    name, *arguments = file_words(text)
    if not Path(name).is_file():
        raise MagicError(f"{name}: No such file")
    before = sys.argv[:]
    sys.argv[:] = [name, *arguments]
    try:
        with session.stoppable():
            globals_of_program = runpy.run_path(name, run_name="__main__")
    except SystemExit:
        return
    except BaseException as error:
        show_error(error)
        return
    finally:
        sys.argv[:] = before
    names = {key: value for key, value in globals_of_program.items() if not _is_of_module(key)}
    session.namespace.update(names)


def time_many(session: PythonSession, text: str) -> None:
    """Run an input so often that its time can be told, and tell the time of one run."""
    try:
        measure(session, timeit.Timer(text, globals=session.namespace).timeit)
    except BaseException as error:
        message = traceback.format_exception_only(type(error), error)[-1]
        raise MagicError(message.rstrip("\n")) from None


def who(session: PythonSession, _: str) -> None:
    """List the names of the session: types, sizes, values."""
    names = _own_names(session)
    if not names:
        session.write("no names yet\n")
        return
    rows = [(name, *_type_and_value(session.namespace[name])) for name in names]
    widths = [max(len(row[at]) for row in rows) for at in range(2)]
    for name, kind, value in rows:
        line = f"{name:{widths[0]}}  {kind:{widths[1]}}  {value}"
        session.write(visible(line[: line_width()]).rstrip() + "\n")


def reset(session: PythonSession, text: str) -> None:
    """Remove the names of the session and its results; without -f, only list them."""
    names = _own_names(session)
    confirm_reset(text, names, "names")
    for name in names:
        del session.namespace[name]
    session.forget()


def _own_names(session: PythonSession) -> list[str]:
    return sorted(name for name in session.namespace if not _is_of_module(name))


def _is_of_module(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")


def _type_and_value(value: object) -> tuple[str, str]:
    """Return the type of a value, with its shape if it has one; and the value in short."""
    kind = type(value).__name__
    if isinstance(value, ModuleType):
        return "module", ""
    if isinstance(value, type) or callable(value):
        return kind, ""
    shape = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        return f"{kind} {'x'.join(map(str, shape))}".rstrip(), str(getattr(value, "dtype", ""))
    try:
        return kind, reprlib.repr(value).replace("\n", " ")
    except Exception:  # by the value's own methods
        return kind, ""


# -- `%debug` and `%profile`: Python's own pdb, cProfile and pstats


_LINES = 20  # of a profile
_TORCH = ("~", 0, "<torch>")  # pstats shows it as it shows functions in C

#: The rows of pstats: calls without and with recursive ones, own time, time with all that was
#: called, and the same of each caller; by file, line and name.
_Stats = dict[tuple[str, int, str], tuple[int, int, float, float, dict[Any, Any]]]


def debug(session: PythonSession, text: str) -> None:
    """Look into the last error by pdb: where its traceback, without frames of ours, ends."""
    traceback = getattr(sys, "last_traceback", None)
    if text:
        raise MagicError("it takes nothing; breakpoint() stops a program")
    if traceback is None:
        raise MagicError("no error that has lines of the program was raised")
    sys.stdout.flush()
    with handled(signal.SIGINT, signal.default_int_handler):
        pdb.post_mortem(traceback)


def profile(session: PythonSession, text: str) -> None:
    """Run an input, and tell which functions take long."""
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        session.submit(text, timed=False)
    finally:
        profiler.disable()
    out = io.StringIO()
    stats: Any = pstats.Stats(profiler, stream=out)
    stats.stats = _of_program(stats.stats)
    stats.total_calls = sum(row[1] for row in stats.stats.values())
    stats.prim_calls = sum(row[0] for row in stats.stats.values())
    stats.total_tt = sum(row[2] for row in stats.stats.values())
    stats.sort_stats("cumulative").print_stats(_LINES)
    session.show_text(out.getvalue().strip())


def _of_program(stats: _Stats) -> _Stats:
    """Return the rows of the functions that inputs and these call, but those within torch."""
    waiting = [function for function in stats if function[0].startswith("<input ")]
    rows: _Stats = {}
    torch = (0, 0, 0.0, 0.0)
    while waiting:
        function = waiting.pop()
        if function not in rows:
            rows[function] = stats[function]
            waiting += [called for called, row in stats.items() if function in row[4]
                        and not is_own(called[0])]  # fmt: skip
    for function, row in stats.items():
        if is_own(function[0]):
            for caller, times in row[4].items():
                if caller in rows:
                    torch = tuple(map(sum, zip(torch, times, strict=True)))  # type: ignore
    if torch[0]:
        calls, primitive, _, total = torch
        rows[_TORCH] = (primitive, calls, total, total, {})
    return rows
