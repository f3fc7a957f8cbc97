"""What a front end asks while a cell is written: completion, help, whether the cell is complete."""

from __future__ import annotations

import re
from typing import Any

from th_shell.completing import complete as completing
from th_shell.session.commands import is_command
from th_shell.session.session import Session
from th_shell.syntax import Syntax
from th_shell.tokens import margin

_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*", re.ASCII)


def complete(session: Session, code: str, cursor: int) -> dict[str, Any]:
    """The names that fit at the cursor: the content of a complete_reply."""
    cursor = min(cursor, len(code))
    first = _start_of_command(code, cursor)
    found = completing.complete(code[first:], cursor - first, session.engine)
    start = first + found.start
    matches = [candidate.text for candidate in found.candidates]
    described = [
        {"start": start, "end": cursor, "text": one.text, "type": one.kind}
        | {"signature": one.detail}
        for one in found.candidates
    ]
    return {
        "matches": matches,
        "cursor_start": start,
        "cursor_end": cursor,
        "metadata": {"_jupyter_types_experimental": described},
    }


def _start_of_command(code: str, cursor: int) -> int:
    """Where the cursor's line begins if it is a command; else 0, since Lua goes over lines."""
    first = code.rfind("\n", 0, cursor) + 1
    return first if is_command(code[first:cursor]) else 0


def explain(session: Session, code: str, cursor: int) -> str:
    """The help on the name at the cursor, or on the function whose call it is in; '' for none."""
    from th_shell.help.about import about
    from th_shell.runtime.shell import TABLE  # late: it loads numpy

    for path in _names_around(code, cursor):
        owner, _, last = path.replace(":", ".").rpartition(".")
        if last in session.engine.names(owner) or (not owner and last in TABLE):
            return about(path, session.engine, session.log, session.texts)
    return ""


def _names_around(code: str, cursor: int) -> list[str]:
    """The path that the cursor touches, then those in front of the parentheses around it."""
    cursor = min(cursor, len(code))
    found = [m[0] for m in _PATH.finditer(code) if m.start() <= cursor <= m.end()]
    depth = 0
    for at in range(cursor - 1, -1, -1):
        if code[at] == ")":
            depth += 1
        elif code[at] == "(" and depth:
            depth -= 1
        elif code[at] == "(":
            found += [m[0] for m in _PATH.finditer(code[:at]) if m.end() == len(code[:at].rstrip())]
    return found


def is_complete(session: Session, code: str) -> dict[str, str]:
    """Whether a cell can be run as it is: the content of an is_complete_reply."""
    states = [session.judge(piece) for piece in session.inputs(code) if not is_command(piece)]
    if Syntax.WRONG in states:
        return {"status": "invalid"}
    if states and states[-1] is Syntax.INCOMPLETE:
        return {"status": "incomplete", "indent": margin(code, session.config.indent) or ""}
    return {"status": "complete"}
