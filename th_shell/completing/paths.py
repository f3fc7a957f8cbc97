"""Reads the text before the cursor, such as `x[1]:clone()`, as steps from the globals to a value.

The steps have the notation of the runtime's engine/completion.lua. Nothing is run: the result of a
call is known only for operations of torch, by their rows in the table, and for constructors. A
local variable stands for the value that it gets where it is declared.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from th_shell.call_forms import takes, without_types
from th_shell.runtime.shell import Member, Token
from th_shell.tokens import closing, opening

_OPERATORS = frozenset("and or + - * / % ^ .. == ~= < > <= >=".split())


class Path(NamedTuple):
    """The steps of an expression, and the index of its first token."""

    steps: list[str]
    first: int


def path_before(code: Sequence[Token], end: int) -> Path | None:
    """Return the path whose last token stands before an index; None where it is not known."""
    if end <= 0:
        return None
    last = code[end - 1]
    if last.kind == "name":
        return _name(code, end - 1)
    if last.kind == "string":
        return _literal(code, end - 1)
    if last.text == ")":
        return _parentheses(code, end - 1)
    if last.text == "}":
        begin = opening(code, end - 1)
        return None if begin is None else _call(code, begin, begin, end)
    if last.text == "]":
        return _index(code, end - 1)
    return None


def _name(code: Sequence[Token], at: int) -> Path | None:
    name = code[at].text
    if at and code[at - 1].text in (".", ":"):
        before = path_before(code, at - 1)
        return before and Path([*before.steps, f".{name}"], before.first)
    scopes = _scopes(code[:at])
    if name not in scopes:
        return Path([f".{name}"], at)
    start = scopes[name]
    steps = None if start is None else _value(code[:at], start)
    return None if steps is None else Path(steps, at)


def _literal(code: Sequence[Token], at: int) -> Path | None:
    return _call(code, at, at, at + 1) if _ends_expression(code, at) else Path(['"'], at)


def _parentheses(code: Sequence[Token], last: int) -> Path | None:
    begin = opening(code, last)
    if begin is None:
        return None
    if _ends_expression(code, begin):
        return _call(code, begin, begin + 1, last)
    inner = path_before(code, last)
    return Path(inner.steps, begin) if inner and inner.first == begin + 1 else None


def _call(code: Sequence[Token], called: int, first: int, end: int) -> Path | None:
    """Return the call of the function before the index `called`; arguments: from first to end."""
    before = path_before(code, called)
    if before is None or not _ends_expression(code, called):
        return None
    if before.steps == [".require"] and [token.kind for token in code[first:end]] == ["string"]:
        # What it returns, if the module is loaded.
        return Path([".package", ".loaded", f".{code[first].content}"], before.first)
    is_method = called >= 2 and code[called - 2].text == ":"
    if before.steps in _OPENING_FILES:
        return Path([*before.steps, "(file"], before.first)
    name = before.steps[-1][1:]
    result = result_of(name, is_method, _count(code[first:end]))
    return Path([*before.steps, f"({result}"], before.first)


def _index(code: Sequence[Token], last: int) -> Path | None:
    begin = opening(code, last)
    if begin is None or not _ends_expression(code, begin):
        return None
    before = path_before(code, begin)
    if before is None:
        return None
    inside = code[begin + 1 : last]
    step = "#"
    if len(inside) == 1 and inside[0].kind == "string":
        step = f".{inside[0].content}"
    elif len(inside) == 1 and inside[0].kind == "number":
        step = f"#{inside[0].text}"
    return Path([*before.steps, step], before.first)


def _ends_expression(code: Sequence[Token], end: int) -> bool:
    """Tell whether the token before an index ends something that can be called or indexed."""
    if end == 0:
        return False
    last = code[end - 1]
    return last.kind in ("name", "string") or last.text in (")", "]")


def _count(arguments: Sequence[Token]) -> int:
    """Return the number of arguments: one more than there are commas outside of brackets."""
    depth = commas = 0
    for token in arguments:
        if token.kind == "sign":
            if token.text in "([{":
                depth += 1
            elif token.text in ")]}":
                depth -= 1
            elif token.text == "," and depth == 0:
                commas += 1
    return commas + 1 if arguments else 0


# ---------------------------------------------------------------- local names


def local_names(code: Sequence[Token]) -> list[str]:
    """Return the local variables and parameters that are visible behind some tokens."""
    return list(_scopes(code))


def _value(code: Sequence[Token], start: int) -> list[str] | None:
    """Return the steps of the expression that begins at an index."""
    end = _end(code, start)
    path = path_before(code[:end], end)
    return path.steps if path and path.first == start else None


def _end(code: Sequence[Token], start: int) -> int:
    """Return the end of the names, calls and indexes that begin at `start`; else start."""
    at = start
    while at < len(code):
        token = code[at]
        if token.kind in ("name", "string") and (at == start or token.kind == "string"):
            at += 1
        elif token.text in (".", ":") and at > start:
            at += 2
        elif token.text in ("(", "[", "{"):
            behind = closing(code, at)
            if behind is None:
                return start
            at = behind + 1
        else:
            break
    return start if at < len(code) and code[at].text in _OPERATORS else at


def _scopes(code: Sequence[Token]) -> dict[str, int | None]:
    """Return the visible locals, with the index at which the expression of each begins."""
    scopes: list[dict[str, int | None]] = [{}]
    of_loop: dict[str, int | None] = {}
    for at, token in enumerate(code):
        if token.kind != "keyword":
            continue
        word = token.text
        if word in ("end", "until", "elseif", "else") and len(scopes) > 1:
            scopes.pop()
        if word == "for":
            of_loop = dict.fromkeys(_list(code, at + 1))
        elif word in ("do", "then", "repeat", "else"):
            scopes.append(of_loop if word == "do" else {})
            of_loop = {} if word == "do" else of_loop
        elif word == "function":
            scopes.append(dict.fromkeys(_parameters(code, at + 1)))
        elif word == "local":
            scopes[-1].update(_declared(code, at + 1))
    return {name: start for scope in scopes for name, start in scope.items()}


def _declared(code: Sequence[Token], at: int) -> dict[str, int | None]:
    if at < len(code) and code[at].text == "function":
        return dict.fromkeys(_list(code, at + 1))
    names = list(_list(code, at))
    behind = at + 2 * len(names) - 1
    if len(names) == 1 and behind < len(code) and code[behind].text == "=":
        # In its own expression, the name still means another variable.
        return {names[0]: behind + 1} if behind + 1 < len(code) else {}
    return dict.fromkeys(names)


def _list(code: Sequence[Token], at: int) -> Iterator[str]:
    """Yield the names from an index on that commas separate."""
    while at < len(code) and code[at].kind == "name":
        yield code[at].text
        if at + 1 >= len(code) or code[at + 1].text != ",":
            return
        at += 2


def _parameters(code: Sequence[Token], at: int) -> Iterator[str]:
    while at < len(code) and (code[at].kind == "name" or code[at].text in (".", ":")):
        if code[at].text == ":":
            yield "self"
        at += 1
    if at < len(code) and code[at].text == "(":
        yield from _list(code, at + 1)


# -- what the operations of torch take and return, read off their rows in the table

_OF_STRINGS = frozenset("char concat format gsub lower rep reverse sub tostring type upper".split())
_OPENING_FILES = [[".io", f".{name}"] for name in ("open", "popen", "tmpfile")]
_SIZES = frozenset(["size", "stride"])  # with no argument, a LongStorage; else a number
_DESTINATION = re.compile(r"\*(\w+)\*")


def result_of(name: str, is_method: bool, arguments: int) -> str:
    """Return the class that a call returns, or '', as engine/completion.lua has it behind '('."""
    text = '"' if name in _OF_STRINGS else ""
    if name in _SIZES and arguments == 0:
        return f"torch.LongStorage{text}"
    space = "method" if is_method else "function"
    return next(filter(None, _classes(name, space, arguments + is_method)), "") + text


def _classes(name: str, space: str, words: int) -> list[str]:
    from th_shell.runtime.shell import TABLE

    rows = TABLE.get(name, []) + TABLE.get(f"Storage.{name}", [])
    row_forms = [(row, row.form(space)) for row in rows]
    return [
        _class(row.implementation, form, row.name)
        for row, form in row_forms
        if form is not None and takes(form, words)
    ]


def _class(implementation: object, form: str, name: str) -> str:
    returned = getattr(implementation, "__annotations__", {}).get("return", "None")
    if "Tensor" in returned:
        return "T"
    if "Storage" in returned:
        return "T" if name.startswith("Storage.") else "torch.DoubleStorage"
    destination = _DESTINATION.search(form)
    if returned != "None" or not (destination or form.startswith("T")):
        return ""
    kind = destination[1] if destination else "T"
    return f"torch.{kind}" if kind.endswith("Tensor") else "T"


def signature(member: Member, owner: str) -> str:
    """Return how a function is called: the first form of an operation, else its parameters.

    owner: the class of the object that it is a method of, or ''.
    """
    call_forms = forms(member.name, owner) if member.is_operation else []
    if call_forms:
        return f"{member.name} {call_forms[0]}".rstrip()
    return f"{member.name}({member.parameters})" if member.parameters else member.kind


def forms(name: str, owner: str) -> list[str]:
    """Return the forms of an operation, or of an owner's method, as people read them."""
    from th_shell.runtime.shell import TABLE

    key = f"Storage.{name}" if owner.endswith("Storage") else name
    space = "method" if owner else "function"
    row_forms = (row.form(space) for row in TABLE.get(key, []))
    return [without_types(form, "Tensor", "number") for form in row_forms if form is not None]
