"""``complete``: what may stand at the cursor of an input of Python.

Attributes of live objects, the parameters of a function in its call, names, keywords, modules
behind `import`, keys and file names in strings, the commands of the prompt and files behind them.
No code of the program runs.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from th_shell.completing.candidates import LIMIT, Candidate, Completions
from th_shell.completing.inputs import complete_input, escaped, quoted_files
from th_shell.python.commands import COMMANDS
from th_shell.python.modules import modules, names_of_module
from th_shell.python.objects import NOTHING, Known, known, member
from th_shell.python.signatures import call_of, parameters_of
from th_shell.python.text import Token, opening, tokens

_MARK = re.compile(r"\s*([$!]|\?+|%{1,2}\w*)")
_FROM = re.compile(
    r"(?:\A|[\n;])[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?(?:[\w\s,]*,\s*)?\w*\Z"
)
_IMPORT = re.compile(
    r"(?:\A|[\n;])[ \t]*(?:from[ \t]+"
    r"|import[ \t]+(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?,[ \t]*)*)([\w.]*)\Z"
)

Namespace = Mapping[str, Any]


@dataclass(frozen=True)
class _Name(Candidate):
    """A name with what is known of it."""

    describe: Callable[[], str]

    @property
    def detail(self) -> str:
        """Of a function how it is called, else the type."""
        return self.describe()


def complete(text: str, cursor: int, namespace: Namespace) -> Completions:
    """What may stand at the cursor (from 0) of an input."""

    def code(before: str, behind: str, first: int) -> Completions:
        return _python(before, behind, first, namespace)

    return complete_input(text, cursor, _MARK, COMMANDS, code)


def _python(before: str, behind: str, first: int, namespace: Namespace) -> Completions:
    """first: where Python begins."""
    before = " " * first + before[first:]
    found = tokens(before)
    last = found[-1] if found else None
    if last and last.kind == "comment":
        return Completions(len(before))
    # A backslash joins lines.
    code = [token for token in found if token.kind != "comment" and token.text != "\\"]
    if last and last.kind == "string" and not last.closed:
        return _in_string(before, code[:-1], last, behind, namespace)
    prefix, start = "", len(before)
    if last and last.end == len(before) and last.kind in ("name", "number"):
        if last.kind == "number":
            return Completions(start)
        prefix, start = last.text, last.start
        code.pop()
    return _imported(before, prefix, start) or _named(before, code, prefix, start, namespace)


def _imported(before: str, prefix: str, start: int) -> Completions | None:
    """What may stand in an import statement; None where there is none."""
    if where := _FROM.search(before):
        found = [Candidate(name, "name") for name in names_of_module(where[1], prefix)]
        return _listed(start, found)
    if where := _IMPORT.search(before):
        owner = where[1].rpartition(".")[0]
        return Completions(start, [Candidate(one, "module") for one in modules(owner, prefix)])
    return None


def _named(
    before: str, code: Sequence[Token], prefix: str, start: int, namespace: Namespace
) -> Completions:
    if code and code[-1].text == ".":
        owner = known(_expression(before, code[:-1]), namespace)
        return _listed(start, _attributes(owner, prefix) if owner else [])
    found: dict[str, Candidate] = {}
    for names in (builtins.__dict__, namespace):
        own = [name for name in list(names) if isinstance(name, str)]
        found.update({name: _name(name, Known.of(names[name])) for name in own})
    found.update({word: Candidate(word, "keyword") for word in keyword.kwlist})
    typed = {one.text for one in code if one.kind == "name"} - found.keys()
    found.update({name: Candidate(name, "name") for name in typed})
    parameters = [
        Candidate(f"{name}=", "parameter") for name in _parameters(before, code, namespace)
    ]
    fitting = [one for one in parameters if one.text.startswith(prefix)]
    return _listed(start, [*fitting, *_sorted(found.values(), prefix)])


def _listed(start: int, found: Sequence[Candidate]) -> Completions:
    return Completions(start, found[:LIMIT], max(len(found) - LIMIT, 0))


def _parameters(before: str, code: Sequence[Token], namespace: Namespace) -> list[str]:
    """The names of parameters of the function whose call the cursor is in, behind `(` or `,`."""
    if not code or code[-1].text not in ("(", ","):
        return []
    depth = 0
    for at in range(len(code) - 1, -1, -1):
        depth += (code[at].text in (")", "]", "}")) - (code[at].text in ("(", "[", "{"))
        if depth < 0:
            function = (
                known(_expression(before, code[:at]), namespace) if code[at].text == "(" else None
            )
            return parameters_of(function.value) if function else []
    return []


def _expression(before: str, code: Sequence[Token]) -> str:
    """The text of the names, calls and elements that some tokens end with: `x.t()[0]`."""
    at = len(code) - 1
    start = at + 1
    while at >= 0:
        token = code[at]
        if token.text in (")", "]", "}"):
            partner = opening(code, at)
            if partner is None:
                break
            start, at = partner, partner - 1
            if at >= 0 and (code[at].kind in ("name", "string") or code[at].text in (")", "]")):
                if not keyword.iskeyword(code[at].text):
                    continue
        elif token.kind in ("name", "string") and not keyword.iskeyword(token.text):
            start, at = at, at - 1
        else:
            break
        if at < 0 or code[at].text != ".":
            break
        at -= 1
    return before[code[start].start : code[-1].end] if start < len(code) else ""


def _attributes(owner: Known, prefix: str) -> list[Candidate]:
    try:
        names = dir(owner.type if owner.value is NOTHING else owner.value)
    except Exception:  # by the object's own method
        return []
    # Names with an underscore are listed only when one is typed.
    shown = [name for name in names if prefix or not name.startswith("_")]
    return _sorted([_attribute(owner, name) for name in shown if isinstance(name, str)], prefix)


def _attribute(owner: Known, name: str) -> Candidate:
    return _Name(name, "attribute", lambda: _described(name, member(owner, name)))


def _name(name: str, found: Known) -> Candidate:
    return _Name(name, "name", lambda: _described(name, found))


def _described(name: str, found: Known | None) -> str:
    if found is None:
        return ""
    if found.value is NOTHING:
        return found.type.__name__
    return call_of(name, found.value) or found.type.__name__


def _sorted(found: Iterable[Candidate], prefix: str) -> list[Candidate]:
    fitting = [one for one in found if one.text.startswith(prefix)]
    hidden = [one for one in fitting if not prefix and one.text.startswith("_")]
    shown = [one for one in fitting if one not in hidden] if hidden else fitting
    return sorted(shown, key=lambda one: (one.text.lower(), one.text))


# -- strings


def _in_string(
    before: str, code: Sequence[Token], string: Token, behind: str, namespace: Namespace
) -> Completions:
    quotes = string.quotes
    mark = quotes.lstrip("bBrRuUfF")
    content = string.text[len(quotes) :]
    closing = "" if len(mark) == 3 or behind.startswith(mark) else mark
    if code and code[-1].text == "[":
        owner = known(_expression(before, code[:-1]), namespace)
        if owner and owner.type is dict and owner.value is not NOTHING:
            return _keys(owner.value, content, string.start + len(quotes), mark, closing)
    typed = content if "r" in quotes.lower() else re.sub(r"\\(.)", r"\1", content)
    start = string.end - len(content.rpartition("/")[2])
    return Completions(start, quoted_files(typed, lambda name: escaped(name, mark), closing))


def _keys(
    owner: Mapping[Any, Any], prefix: str, start: int, mark: str, closing: str
) -> Completions:
    found = [
        Candidate(escaped(key, mark) + (f"{closing}]" if closing else ""), "key")
        for key in owner
        if isinstance(key, str) and key.startswith(prefix)
    ]
    return _listed(start, found)
