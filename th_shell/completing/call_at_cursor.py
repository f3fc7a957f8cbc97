"""Which call the cursor is in, and at which of its arguments: read off the tokens before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from th_shell.completing.paths import path_before
from th_shell.runtime.shell import Token

_VALUES = frozenset("nil true false and or not".split())
_OPENING_BLOCKS = frozenset("function if do repeat".split())  # `for` and `while` have a `do`
_ENDS = frozenset(["end", "until"])


class OpenCall(NamedTuple):
    """A call whose brackets are open.

    steps: what is called, as `paths.path_before` has it. is_method: whether it is called with ':'.
    argument: the one at the cursor, from 0, without the object of a method. first: the index of
    the first token of what is called; bracket: that of the opening bracket.
    """

    steps: list[str]
    is_method: bool
    argument: int
    first: int
    bracket: int


def call_at_cursor(code: Sequence[Token], with_own: bool = False) -> OpenCall | None:
    """The innermost call that is open behind some tokens, of which none is a comment.

    None where there is none, where what is called has no name, and in a function's body. with_own:
    calls count whose steps are not known, too: of the program's own functions; they have none.
    """
    brackets = blocks = commas = 0
    for at in range(len(code) - 1, -1, -1):
        text, is_inside = code[at].text, brackets > 0 or blocks > 0
        if code[at].kind == "keyword":
            if text in _OPENING_BLOCKS and blocks:
                blocks -= 1
            elif text in _ENDS:
                blocks += 1
            elif text not in _VALUES and not is_inside:
                return None
        elif code[at].kind == "sign":
            if text in (")", "]", "}"):
                brackets += 1
            elif text in ("(", "[", "{") and not is_inside:
                call = _call(code, at, commas, with_own) if text == "(" else None
                if call is not None or (at and code[at - 1].text == "function"):
                    return call
                commas = 0
            elif text in ("(", "[", "{"):
                brackets -= brackets > 0
            commas += text == "," and not is_inside
    return None


def _call(code: Sequence[Token], bracket: int, argument: int, with_own: bool) -> OpenCall | None:
    path = path_before(code, bracket)
    if path is None and with_own and bracket and code[bracket - 1].kind == "name":
        is_definition = bracket > 1 and code[bracket - 2].text == "function"
        is_method = bracket > 1 and code[bracket - 2].text == ":"
        return None if is_definition else OpenCall([], is_method, argument, bracket - 1, bracket)
    if path is None or not path.steps[-1].startswith("."):
        return None
    if path.first and code[path.first - 1].text == "function":
        return None  # the parameters of its definition
    is_method = bracket >= 2 and code[bracket - 2].text == ":"
    return OpenCall(path.steps, is_method, argument, path.first, bracket)
