"""What a front end asks while a cell is written: completion, help, whether the cell is complete."""

from __future__ import annotations

import re
from typing import Any

from runtime import TABLE
from th_shell.session.commands import is_command
from th_shell.session.session import Session
from th_shell.syntax import Syntax

__all__ = ["complete", "explain", "is_complete"]

_INDENT = "  "
_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)*", re.ASCII)
_QUOTED = re.compile(r"--.*|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'")
_OPENING = re.compile(r"\b(?:function|do|then|else|repeat)\b|[({\[]")
_CLOSING = re.compile(r"\b(?:end|until|elseif|else)\b|[)}\]]")


def complete(session: Session, code: str, cursor: int) -> dict[str, Any]:
    """The names that fit at the cursor: the content of a complete_reply."""
    from prompt_toolkit.completion import CompleteEvent
    from prompt_toolkit.document import Document

    from th_shell.terminal.completion import LuaCompleter

    completer = LuaCompleter(session.engine.names)
    found = list(completer.get_completions(Document(code, cursor), CompleteEvent()))
    start = cursor + (found[0].start_position if found else 0)
    return {
        "matches": [completion.text for completion in found],
        "cursor_start": start,
        "cursor_end": cursor,
        "metadata": {
            "_jupyter_types_experimental": [
                {
                    "start": start,
                    "end": cursor,
                    "text": completion.text,
                    "type": completion.display_meta_text,
                }
                for completion in found
            ]
        },
    }


def explain(session: Session, code: str, cursor: int) -> str:
    """The help on the name at the cursor, or on the function whose call it is in; '' for none."""
    from th_shell.help import forms

    for path in _names_around(code, cursor):
        owner, _, last = path.replace(":", ".").rpartition(".")
        if last in session.engine.names(owner) or (not owner and last in TABLE):
            return forms.about(path, session.engine.names)
    return ""


def _names_around(code: str, cursor: int) -> list[str]:
    """The path that the cursor touches, then those in front of the parentheses around it."""
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
        return {"status": "incomplete", "indent": _indent(code)}
    return {"status": "complete"}


def _indent(code: str) -> str:
    """The space in front of the next line."""
    line = code.splitlines()[-1]
    bare = _QUOTED.sub("", line)
    opened = len(_OPENING.findall(bare)) - len(_CLOSING.findall(bare))
    begins_less = bool(_CLOSING.match(bare.lstrip()))
    margin = line[: len(line) - len(line.lstrip())]
    return margin + _INDENT * (opened + begins_less > 0)
