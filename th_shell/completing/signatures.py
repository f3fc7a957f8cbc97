"""Signatures of the call that the cursor is in: its forms, and in each the argument at the
cursor.

Forms of torch's operations have the words of error messages, in which [x] may be left out and *x*
is the destination. Others have the names of parameters. No code of the program is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from th_shell.call_forms import words_of
from th_shell.completing.paths import forms, path_before
from th_shell.help.meanings import SECTIONS_OF_CLASS, find, find_path, sections
from th_shell.runtime.shell import Engine, Token, tokens
from th_shell.session.commands import COMMANDS

_LONGEST = 20_000  # characters: to look at more takes a time that is felt at each key
_MARKS = ("...", "…")


class Signature(NamedTuple):
    """A form of a call."""

    name: str
    #: The words for its arguments.
    words: Sequence[str]
    #: The index of the argument at the cursor.
    current: int | None


class Signatures:
    """Tells of the call at the cursor. To make it reads the help on libraries, which takes long."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        sections()

    def at(self, text: str, cursor: int) -> list[Signature]:
        """Return the forms of the call at the cursor (from 0) of an input: those that have an
        argument there, or else all.
        """
        before = text[:cursor]
        if "(" not in before or len(before) > _LONGEST or not self._engine.is_started:
            return []
        if COMMANDS.is_command(before) and not before.lstrip().startswith("%"):
            return []
        code = [token for token in tokens(before) if token.kind != "comment"]
        call = call_at_cursor(code)
        if call is None:
            return []
        name = "".join(token.text for token in code[call.first : call.bracket])
        written = [
            _behind_object(words, call.argument) if has_object else words
            for words, has_object in _forms(call, self._engine)
        ]
        signatures = [Signature(name, words, word_at(words, call.argument)) for words in written]
        fitting = [signature for signature in signatures if signature.current is not None]
        return fitting or signatures


#: The words of a form, and whether one of them stands for a method's object.
_Form = tuple[list[str], bool]


def _behind_object(words: Sequence[str], argument: int) -> Sequence[str]:
    """Return the words of a method's form behind its object, as the call is written.

    The object is the first argument that is needed, or, where more are given, a destination.
    """
    first = next((at for at, word in enumerate(words) if not word.startswith("[")), 0)
    behind = words[first + 1 :]
    has_destination = words[0].startswith("[*")
    return words[1:] if has_destination and word_at(behind, argument) is None else behind


def _forms(call: OpenCall, engine: Engine) -> list[_Form]:
    *steps, last = call.steps
    name = last[1:]
    listed = engine.variables.members(steps, name)
    member = next((item for item in listed.members if item.name == name), None)
    if member is None:
        return []
    if member.kind != "function":  # an object, or a class, whose constructor has parameters
        constructor = engine.variables.members([*call.steps, "("], "__init")
        parameters = [item.parameters for item in constructor.members if item.name == "__init"]
        return [(item.split(", "), True) for item in parameters] or _meant(call, listed.owner)
    parameters = forms(name, listed.owner) if member.is_operation else []
    if parameters:
        return [(words_of(form), call.is_method) for form in parameters]
    own = member.parameters.split(", ") if member.parameters else []
    without_help = [(own, call.is_method)] if own else []
    return _meant(call, listed.owner) or without_help


def _meant(call: OpenCall, owner: str) -> list[_Form]:
    """Return the arguments of a library's function, as its line of help names them."""
    sections = SECTIONS_OF_CLASS.get(owner.removeprefix("torch."), (owner,))
    path = "".join(call.steps).lstrip(".")
    help_line = find(call.steps[-1][1:], sections) if owner else find_path(path)
    inner = help_line.arguments[1:-1] if help_line else ""
    return [(inner.split(", "), owner == "string")] if inner else []


def word_at(words: Sequence[str], index: int) -> int | None:
    """Return the index of the word for an argument.

    An optional word counts only where more arguments are given than needed.
    """
    needed = [at for at, word in enumerate(words) if not word.startswith("[")]
    if needed and index + 1 >= len(needed) and any(mark in words[-1] for mark in _MARKS):
        return len(words) - 1
    if index < len(needed):
        return needed[index]
    before = needed[0] if needed else 0
    at = index + before if index + before < len(words) else index
    return at if at < len(words) else None


# -- the call that the cursor is in


_VALUES = frozenset("nil true false and or not".split())
_OPENING_BLOCKS = frozenset("function if do repeat".split())  # `for` and `while` have a `do`
_ENDS = frozenset(["end", "until"])


class OpenCall(NamedTuple):
    """A call whose brackets are open."""

    #: The function that is called, as `paths.path_before` has it.
    steps: list[str]
    #: Whether it is called with ':'.
    is_method: bool
    #: The argument at the cursor, from 0, without the object of a method.
    argument: int
    #: The index of the first token of the function.
    first: int
    #: The index of the opening bracket.
    bracket: int


def call_at_cursor(code: Sequence[Token], with_own: bool = False) -> OpenCall | None:
    """Return the innermost call that is open behind some tokens, of which none is a comment.

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
