"""What the commands of the Python prompt do.

Those that are the same for any language are those of `th_shell.magics`.
"""

from __future__ import annotations

import reprlib
import runpy
import sys
import timeit
import traceback
from pathlib import Path
from types import ModuleType

from th_shell.files import write_file
from th_shell.magics.editing import file_words
from th_shell.magics.numbered_inputs import confirm_reset, to_save
from th_shell.magics.timing import measure
from th_shell.paragraphs import counted, line_width
from th_shell.python import help
from th_shell.python.evaluation import show_error
from th_shell.python.session import PythonSession
from th_shell.session.commands import MagicError
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
    try:
        write_file(path, program.encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise MagicError.of(str(path), error) from None
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
            found = runpy.run_path(name, run_name="__main__")
    except SystemExit:
        return
    except BaseException as error:
        show_error(error)
        return
    finally:
        sys.argv[:] = before
    names = {key: value for key, value in found.items() if not _is_of_module(key)}
    session.namespace.update(names)


def time_many(session: PythonSession, text: str) -> None:
    """Run an input so often that its time can be told, and tell the time of one run."""
    if not text:
        raise MagicError("what is to be run? As in: %timeit x.add(1)")
    try:
        timer = timeit.Timer(text, globals=session.namespace)
        measure(session, timer.timeit)
    except BaseException as error:
        told = traceback.format_exception_only(type(error), error)[-1]
        raise MagicError(told.rstrip("\n")) from None


def who(session: PythonSession, _: str) -> None:
    """List the names of the session: types, sizes, values."""
    names = _own_names(session)
    if not names:
        session.write("no names yet\n")
        return
    rows = [(name, *_told(session.namespace[name])) for name in names]
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


def _told(value: object) -> tuple[str, str]:
    """The type of a value, with its shape if it has one; and the value in short."""
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
