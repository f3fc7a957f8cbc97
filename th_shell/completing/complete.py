"""``complete``: what may stand at the cursor of an input.

Names behind a path, local variables, keywords and globals, keys and file names in strings, modules
behind `require`, names behind `?`, the commands of the prompt, and files behind `$`. The engine
lists names without running any code of the program.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from th_shell.completing.candidates import (
    Candidate,
    Completions,
    complete_input,
    in_order,
    modules,
    place_of,
    quoted_files,
)
from th_shell.completing.paths import local_names, path_before, signature
from th_shell.help.meanings import SECTIONS_OF_CLASS, find, find_path
from th_shell.help.values import brief
from th_shell.paragraphs import MOST_NAMES
from th_shell.runtime.shell import KEYWORDS, Engine, Member, Token, tokens
from th_shell.session.commands import COMMANDS
from th_shell.visible import escaped


def _name(
    engine: Engine, member: Member, steps: Sequence[str] = (), owner: str = "", text: str = ""
) -> Candidate:
    """Return a name that the engine lists. steps: before it. text: how it is written."""
    return Candidate(
        text or member.name,
        member.kind,
        lambda: signature(member, owner),
        lambda: _explained(engine, member, "".join([*steps, f".{member.name}"])[1:], owner),
    )


def _explained(engine: Engine, member: Member, path: str, owner: str) -> str:
    """Return a line of help on a function; what else a path leads to."""
    if member.kind != "function":
        return brief(engine.variables.inspect(path))
    class_name = re.sub(r"torch\.(?:[A-Z][a-z]+(?=Tensor$|Storage$))?", "", owner)
    of_class = SECTIONS_OF_CLASS.get(class_name, (owner,))
    meaning = find(member.name, of_class) if owner else find_path(path)
    return meaning.text if meaning else ""


def complete(text: str, cursor: int, engine: Engine) -> Completions:
    """Complete an input at the cursor (from 0)."""
    return complete_input(text, cursor, COMMANDS, partial(complete_code, engine=engine))


# ------------------------------------------------------------------------ Lua


def complete_code(before: str, behind: str, first: int, engine: Engine) -> Completions:
    """Complete a text of Lua at its end. first: the index at which Lua begins in it."""
    place = place_of(tokens(before, first), len(before))
    if place is None:
        return Completions(len(before))
    code, prefix, start, string = place
    if string:
        return _in_string(code, string, behind, engine)
    if code and code[-1].kind == "sign" and code[-1].text in (".", ":"):
        return _members(code, prefix, start, engine)
    return _names(code, prefix, start, engine)


def _members(code: Sequence[Token], prefix: str, start: int, engine: Engine) -> Completions:
    path = path_before(code, len(code) - 1)
    if path is None:
        return Completions(start)
    listed = engine.variables.members(path.steps, prefix, MOST_NAMES)
    methods = code[-1].text == ":"
    candidates = [
        _name(engine, member, path.steps, listed.owner)
        for member in listed.members
        # Metamethods and other names with an underscore are listed only when one is typed.
        if (prefix or not member.name.startswith("_"))
        and (member.kind == "function" or not methods)
    ]
    return Completions(start, candidates, listed.more)


def _names(code: Sequence[Token], prefix: str, start: int, engine: Engine) -> Completions:
    listed = engine.variables.members([], prefix, MOST_NAMES)
    # The runtime's own list of what no program has made.
    built_in = engine.variables.names("_preloaded_")
    candidates: dict[str, Candidate] = {
        member.name: replace(_name(engine, member), is_own=member.name not in built_in)
        for member in listed.members
    }
    candidates.update({word: Candidate(word, "keyword") for word in KEYWORDS})
    candidates.update({name: Candidate(name, "local", is_own=True) for name in local_names(code)})
    return Completions(start, in_order(candidates.values(), prefix), listed.more)


def _in_string(code: Sequence[Token], string: Token, behind: str, engine: Engine) -> Completions:
    start = string.end - len(string.content)
    quote = string.mark
    closing = "" if quote not in ("'", '"') or behind.startswith(quote) else quote
    called = code[-2] if len(code) > 1 and code[-1].text == "(" else code[-1] if code else None
    if called and called.text == "require" and not string.content.startswith(("/", ".")):
        return _modules(string.content, start, closing, engine)
    if len(code) > 1 and code[-1].text == "[":
        path = path_before(code, len(code) - 1)
        if path is not None:
            return _keys(path.steps, string.content, start, quote, closing, engine)
    return quoted_files(string, quote, closing, raw=quote not in ("'", '"'))


def _keys(
    steps: Sequence[str], prefix: str, start: int, quote: str, closing: str, engine: Engine
) -> Completions:
    listed = engine.variables.members(steps, prefix, MOST_NAMES, any_text=True)
    ending = closing and f"{closing}]"
    candidates = [
        _name(engine, member, steps, listed.owner, _escaped(member.name, quote) + ending)
        for member in listed.members
        if prefix or not member.name.startswith("__")
    ]
    return Completions(start, candidates, listed.more)


def _modules(prefix: str, start: int, closing: str, engine: Engine) -> Completions:
    names: set[str] = set()
    for table in ("preload", "loaded"):
        listed = engine.variables.members(
            [".package", f".{table}"], prefix, MOST_NAMES, any_text=True
        )
        names.update(member.name for member in listed.members)
    for patterns in ("path", "cpath"):
        names.update(
            modules(prefix, engine.variables.text_of([".package", f".{patterns}"])[1] or "")
        )
    candidates = [
        Candidate(name if name.endswith(".") else name + closing, "module")
        for name in names - {"_G"}
    ]
    return Completions(start, in_order(candidates, prefix))


def _escaped(text: str, quote: str) -> str:
    """Return a text as it stands in a Lua string."""
    return escaped(text, quote) if quote in ("'", '"') else text
