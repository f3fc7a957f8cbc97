"""``Language``: what the editor has to know of the inputs that it reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from prompt_toolkit.lexers import Lexer

from th_shell.completing.candidates import Completions
from th_shell.terminal.history import InputHistory
from th_shell.terminal.indentation import Margins


@dataclass(frozen=True)
class Language:
    """A language.

    prompt, continuation: what stands before the first line of an input, and before the others.
    complete: what may stand at the cursor (from 0) of a text. indent: blanks for each level.
    """

    prompt: str
    continuation: str
    complete: Callable[[str, int], Completions]
    lexer: Lexer
    history: InputHistory
    margins: Margins
    indent: int
