"""`%store` and `%restore`: variables that outlive the session, each in a file of Torch7's format.

The files are `NAME.t7` in `~/.local/share/th/store` (in `$XDG_DATA_HOME` where that is set). Of
several variables, either all are stored or none.
"""

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from th_shell.runtime import LuaError
from th_shell.session.commands import MagicError, errors_of
from th_shell.session.session import Session
from th_shell.visible import visible

#: Those of the system, and of what the engine reads and writes.
_ERRORS = (OSError, LuaError)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _folder() -> Path:
    home = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
    return Path(home) / "th" / "store"


def store(session: Session, text: str) -> None:
    """Store variables; with -d, delete stored ones; without names, list these."""
    delete = text.split()[:1] == ["-d"]
    names = _names(text.removeprefix("-d"))
    if delete:
        if not names:
            raise MagicError("-d takes the names of what is to be deleted")
        for path in _stored(names):
            with errors_of(path.stem, _ERRORS):
                path.unlink()
    elif names:
        _save(session, names)
    else:
        _list(session)


def restore(session: Session, text: str) -> None:
    """Set variables to what is stored of them; without names, all that are stored."""
    paths = _stored(_names(text))
    with session.stoppable():
        for path in paths:
            with errors_of(path.stem, _ERRORS):
                session.engine.variables.load(path.stem, str(path))
    session.write(f"restored: {' '.join(path.stem for path in paths) or 'nothing'}\n")


def _names(text: str) -> list[str]:
    for word in (words := text.split()):
        if not _NAME.fullmatch(word):
            raise MagicError(f"{word} is no name of a variable")
    return list(dict.fromkeys(words))


def _stored(names: Sequence[str]) -> list[Path]:
    """Return the files of variables, by default all. Raises MagicError for a missing one."""
    if not names:
        return sorted(_folder().glob("*.t7"))
    paths = [_folder() / f"{name}.t7" for name in names]
    for path in paths:
        if not path.exists():
            raise MagicError(f"{path.stem} is not stored; %store lists what is")
    return paths


def _save(session: Session, names: Sequence[str]) -> None:
    with errors_of(str(_folder())):
        _folder().mkdir(0o700, parents=True, exist_ok=True)
    new = {name: _folder() / f"{name}.{os.getpid()}.new" for name in names}
    try:
        with session.stoppable():
            for name, path in new.items():
                with errors_of(name, _ERRORS):
                    if not session.engine.variables.save(name, str(path)):
                        raise LuaError("has no value")
        for name, path in new.items():
            with errors_of(name, _ERRORS):
                path.replace(_folder() / f"{name}.t7")
    finally:
        for path in new.values():
            path.unlink(missing_ok=True)


def _list(session: Session) -> None:
    paths = _stored([])
    width = max((len(path.stem) for path in paths), default=0)
    for path in paths:
        with suppress(OSError):  # another session has just deleted it
            status = path.stat()
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(status.st_mtime))
            session.write(visible(f"{path.stem:{width}}  {when}  {status.st_size:>12,} bytes\n"))
    if not paths:
        session.write("nothing is stored; %store NAME stores a variable\n")
