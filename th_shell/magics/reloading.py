"""`%reload` and `%autoreload`: loads required modules anew whose files have changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from th_shell.runtime import LuaError
from th_shell.session.commands import MagicError
from th_shell.session.session import Session
from th_shell.visible import visible

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
