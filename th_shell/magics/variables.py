"""`%who` and `%reset`: the variables of the session."""

from __future__ import annotations

from th_shell.magics.numbered_inputs import confirm_reset
from th_shell.runtime.shell import Engine
from th_shell.session.session import Session
from th_shell.show import NAME


def who(session: Session, _: str) -> None:
    """Show what `who()` shows."""
    with session.stoppable():
        session.engine.evaluate(b"who()")


def reset(session: Session, text: str) -> None:
    """Remove the globals of the session and its results; without -f, only list them."""
    with Engine() as fresh:
        built_in = fresh.names("")
    staying = {*built_in, NAME, "arg"}
    names = sorted(name for name in session.engine.names("") if name not in staying)
    confirm_reset(text, names, "globals")
    removed = "".join(f"_G['{name}'] = nil " for name in names) + "_RESULTS = {} _LAST = ''"
    session.engine.run(session.engine.compile(removed.encode("utf-8", "surrogateescape")))
    session.engine.forget_frames()
