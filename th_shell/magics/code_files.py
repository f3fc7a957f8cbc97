"""`%load`, `%edit`, `%rerun`, `%run`, `%reload` and `%autoreload`.

They run code that stands in files, in an editor, and in former inputs.
"""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from th_shell.entry import texts_of
from th_shell.files import read_file
from th_shell.lines import usual_lines
from th_shell.magics.session_contents import chosen, numbers
from th_shell.runtime import LuaError
from th_shell.runtime.shell import without_limit
from th_shell.session.commands import MagicError, errors_of
from th_shell.session.conversation import Conversation
from th_shell.session.session import Session
from th_shell.visible import escaped, visible


def load(session: Conversation, text: str) -> None:
    """Put a file's lines, or some of them, into the next input, where they can be edited."""
    name, *words = file_words(text)
    lines = usual_lines(_read(name))
    if words:
        lines = [lines[n - 1] for n in numbers(words, len(lines))]
    session.next_input = "\n".join(lines)


def edit(session: Conversation, text: str) -> None:
    """Edit inputs by their numbers, the input that has defined a name, or by default the last one.

    Runs what the editor has saved. In a notebook the editor is the cell.
    """
    if session.is_in_cell:
        session.next_input = _source(session, text).strip("\n")
        return
    with tempfile.TemporaryDirectory(prefix="th-") as folder:
        path = Path(folder) / f"input{session.suffix}"
        path.write_bytes(_source(session, text).encode("utf-8", "surrogateescape"))
        _edit(path)
        edited = _read(str(path))
    if edited.strip():
        session.submit(edited)


def rerun(session: Conversation, text: str) -> None:
    """Run inputs again, which are named as for `edit`."""
    last = chosen(session.log, [])[-1]
    session.submit(_source(session, text or str(last.number)))


def _source(session: Conversation, text: str) -> str:
    if not text:
        return session.log[-1].source + "\n" if session.log else ""
    if text[0].isdecimal():
        texts = texts_of(chosen(session.log, text.split()))
        return "".join(f"{each}\n" for each in texts.values())
    for entry in reversed(session.log):
        if text in session.defined_names(entry.source):
            return entry.source + "\n"
    raise MagicError(f"no input has defined {text}")


def _edit(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with errors_of(editor), without_limit():
        status = subprocess.call([*shlex.split(editor), str(path)])
    if status:
        raise MagicError(f"{editor} has ended with status {status}; nothing was run")


def run_file(session: Session, text: str) -> None:
    """Run a script as an input of its own, with the global `arg` set; -d: line by line."""
    option, _, words_behind = text.partition(" ")
    name, *arguments = file_words(words_behind if option == "-d" else text)
    _read(name)
    if option == "-d":
        session.engine.debugging.request("enter", os.path.abspath(name))
    script = _quoted(name)
    words = ", ".join([f"[0] = {script}", *map(_quoted, arguments)])
    session.submit(f"arg = {{{words}}} dofile({script})")


def file_words(text: str) -> list[str]:
    """Return the words of a command that begin with a file's name. Raises MagicError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise MagicError(str(error)) from None
    if not words:
        raise MagicError("which file?")
    words[0] = os.path.expanduser(words[0])
    return words


def _read(name: str) -> str:
    with errors_of(name):
        return read_file(Path(name)).decode("utf-8", "surrogateescape")


def _quoted(text: str) -> str:
    return '"' + escaped(text, '"') + '"'


# -- `%reload` and `%autoreload`

_AUTOMATIC = "%autoreload"


def reload(session: Session, text: str) -> None:
    """Load a module anew; without a name, all whose files have changed."""
    names = text.split() or session.engine.changed_modules()
    for name in names:
        if not _load_anew(session, name):
            raise MagicError(f"no module {name} was loaded from a file")
    if not names:
        session.write("no file of a required module has changed\n")


def _load_anew(session: Session, name: str) -> bool:
    """Load a module anew; return whether it is one that was loaded from a file."""
    try:
        with session.stoppable():
            is_known = session.engine.reload(name)
    except LuaError as error:
        session.write(visible(f"{name} is not loaded anew, and stays as it was:\n"))
        session.show_error(error)
        return True
    if is_known:
        session.write(visible(f"{name} is loaded anew\n"))
    return is_known


def switch(session: Session, text: str) -> None:
    """Load changed modules anew before each input, or no longer; without a word, tell whether."""
    if text not in ("", "on", "off"):
        raise MagicError("takes on or off")
    if text == "on":
        session.surroundings[_AUTOMATIC] = lambda _: _reloading(session)
    elif text == "off":
        session.surroundings.pop(_AUTOMATIC, None)
    is_on = _AUTOMATIC in session.surroundings
    session.write(f"changed modules are {'' if is_on else 'not '}loaded anew before each input\n")


@contextmanager
def _reloading(session: Session) -> Iterator[None]:
    for name in session.engine.changed_modules():
        _load_anew(session, name)
    yield
