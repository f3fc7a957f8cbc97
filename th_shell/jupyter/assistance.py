"""Answers to a front end while a cell is written: completion, help, and whether it is complete."""

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
    """Return the names that fit at the cursor: the content of a complete_reply."""
    cursor = min(cursor, len(code))
    first = _start_of_command(code, cursor)
    completions = completing.complete(code[first:], cursor - first, session.engine)
    start = first + completions.start
    matches = [candidate.text for candidate in completions.candidates]
    described = [
        {"start": start, "end": cursor, "text": candidate.text, "type": candidate.kind}
        | {"signature": candidate.detail}
        for candidate in completions.candidates
    ]
    return {
        "matches": matches,
        "cursor_start": start,
        "cursor_end": cursor,
        "metadata": {"_jupyter_types_experimental": described},
    }


def _start_of_command(code: str, cursor: int) -> int:
    """Return the start of the cursor's line if it is a command; else 0: Lua goes over lines."""
    first = code.rfind("\n", 0, cursor) + 1
    return first if is_command(code[first:cursor]) else 0


def explain(session: Session, code: str, cursor: int) -> str:
    """Return the help on the name at the cursor, or on the function whose call it is in, or ''."""
    from th_shell.help.about import about
    from th_shell.runtime.shell import TABLE  # late: it loads numpy

    for path in _names_around(code, cursor):
        owner, _, last = path.replace(":", ".").rpartition(".")
        if last in session.engine.variables.names(owner) or (not owner and last in TABLE):
            return about(path, session.engine, session.log, session.texts)
    return ""


def _names_around(code: str, cursor: int) -> list[str]:
    """Return the path that the cursor touches, then those in front of the parentheses around it."""
    cursor = min(cursor, len(code))
    names = [m[0] for m in _PATH.finditer(code) if m.start() <= cursor <= m.end()]
    depth = 0
    for at in range(cursor - 1, -1, -1):
        if code[at] == ")":
            depth += 1
        elif code[at] == "(" and depth:
            depth -= 1
        elif code[at] == "(":
            names += [m[0] for m in _PATH.finditer(code[:at]) if m.end() == len(code[:at].rstrip())]
    return names


def is_complete(session: Session, code: str) -> dict[str, str]:
    """Tell whether a cell can be run as it is: the content of an is_complete_reply."""
    states = [session.judge(piece) for piece in session.inputs(code) if not is_command(piece)]
    if Syntax.WRONG in states:
        return {"status": "invalid"}
    if states and states[-1] is Syntax.INCOMPLETE:
        return {"status": "incomplete", "indent": margin(code, session.config.indent) or ""}
    return {"status": "complete"}
