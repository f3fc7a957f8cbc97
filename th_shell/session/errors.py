"""Errors as a prompt shows them: what matters in them stands out, where there are colours."""

import re
from collections.abc import Callable, Iterable

from th_shell.runtime.shell import LuaError, LuaSyntaxError
from th_shell.session.conversation import PageMarks
from th_shell.visible import visible

#: Lines of a traceback that are not about a program's own functions: installed packages lie in
#: `share/lua` or `th/lua`.
_OTHERS = re.compile(r"stack traceback:|\t\[C\]|\t\S*/(?:share|th)/lua/")
_NAMED = re.compile(r"(?:global|local|upvalue|field|method|near) '([^'\n]+)'")


def error_lines(
    error: LuaError,
    hints: Iterable[str],
    marks: PageMarks,
    fitted: Callable[[str], str] = str,
) -> list[str]:
    """Return an error's lines with the marks' colours: its message, traceback, and hints.

    hints: the lines of `hints_on`, of which the first may quote the source: the name that the
    message is about is marked in it. fitted: breaks a line where it is too long for the screen.
    """
    prefix = "syntax error: " if isinstance(error, LuaSyntaxError) else ""
    message = (prefix + error.message).split("\n")
    lines = [marks.bad.format(fitted(visible(line))) for line in message]
    for frame in error.traceback.split("\n") if error.traceback else ():
        look = marks.faint if _OTHERS.match(frame) else "{}"
        lines.append(look.format(visible(frame)))
    for hint in map(visible, hints):
        is_advice = hint.startswith("hint: ")
        shown = fitted(hint)
        lines.append(marks.note.format(shown) if is_advice else _marked(shown, error, marks))
    return lines


def _marked(quote: str, error: LuaError, marks: PageMarks) -> str:
    named = _NAMED.search(error.message)
    place, _, source = quote.partition("  ")
    name = re.escape(visible(named[1])) if named else "(?!)"
    shown = re.sub(
        rf"(?<!\w){name}(?!\w)", lambda found: marks.strong.format(found[0]), source, count=1
    )
    return f"{place}  {shown}"
