"""Reads what is typed or pasted at the Python prompt: its inputs, and whether the last one goes on.

An input is one or several statements, or a command. A text with prompts, `>>>` or `In [1]:`, was
copied from a page or from another prompt: its inputs are what stands behind these, and its outputs
are left out.
"""

from __future__ import annotations

import ast
import re
from textwrap import dedent

from th_shell.lines import usual_lines
from th_shell.python_syntax import statements, syntax
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.session.inputs import ASKED, FENCE
from th_shell.syntax import Syntax

_PROMPT = re.compile(r"(?<![ \t])[ \t]*(?:>>>(?: |$)|In ?\[[\d ]*\]:)", re.M)
_CELL = re.compile(r"\s*In ?\[[\d ]*\]:")
_OF_CELL = re.compile(r"\A\s*%%(\w+)\b[ \t]*(\S.*)?\n", re.A)


def is_page(text: str) -> bool:
    """Tell whether a text has the prompts or the fences of a page."""
    if _has_fences(text) and syntax(text) is Syntax.WRONG:
        return True
    if not _PROMPT.search(text):
        return False
    if _CELL.match(text):  # which Python would read as an annotation
        return True
    state = syntax(text)
    return state is Syntax.WRONG or (state is Syntax.INCOMPLETE and bool(_PROMPT.match(text)))


def inputs(text: str) -> list[str]:
    """Return the inputs in a text, of which only the last one may be incomplete."""
    if is_page(text):
        return _of_page(text)
    text = _OF_CELL.sub(r"%\1 \2\n", _without_margin(text).rstrip(), count=1)
    asked = ASKED.match(text)
    if asked:
        return [asked[2] + asked[1]]
    return [] if _is_blank(text) else [text]


def wants_more(text: str) -> bool:
    """Tell whether a text that was typed up to Enter goes on: its last input is not complete.

    A compound statement, such as a loop, ends with an empty line.
    """
    if is_page(text):
        pieces = _of_page(text)
        return bool(pieces) and syntax(pieces[-1]) is Syntax.INCOMPLETE
    if COMMANDS.is_command(text):
        text = _code_of_command(text)
    text = _without_margin(text)
    state = syntax(text)
    if state is not Syntax.COMPLETE or not text.strip():
        return state is Syntax.INCOMPLETE
    ends = not text.rpartition("\n")[2].strip()
    return not ends and _is_compound(statements(text)[-1:])


def _code_of_command(text: str) -> str:
    """Return the code that stands behind the name of a command such as %time."""
    mark = re.match(r"\s*%?(%\w+)[ \t]*", text)
    if mark is None or not COMMANDS.takes_input(mark[1]):
        return ""
    return text[mark.end() :]


def _without_margin(text: str) -> str:
    """Return a text whose first line may stand behind a margin, as it was copied."""
    text = re.sub(r"\A(?:[ \t]*\n)+", "", text)
    return dedent(text) if text[:1].isspace() else text


def _is_compound(last: list[ast.stmt]) -> bool:
    return bool(last) and (hasattr(last[0], "body") or hasattr(last[0], "cases"))


def _is_blank(text: str) -> bool:
    return syntax(text) is Syntax.COMPLETE and not statements(text)


def _has_fences(text: str) -> bool:
    return any(map(FENCE.match, usual_lines(text)))


def _of_page(text: str) -> list[str]:
    """Return the inputs of a page."""
    import th_shell.docs.library as docs  # late: with the first page

    if _has_fences(text):
        blocks = docs.read_text(text, "the text", "python").blocks
        examples = docs.examples_of(blocks, docs.Compiler())
    else:
        lines = docs.numbered(usual_lines(text), 1)
        examples = docs.cut_python(0, docs.Block(0, len(lines) + 1, "python", lines))
    of_python = (example.source for example in examples if example.language == "python")
    return [source for source in of_python if source]
