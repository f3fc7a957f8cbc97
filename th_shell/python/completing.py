"""``complete``: completion of an input of Python.

Attributes of live objects, the parameters of a function in its call, names, keywords, modules
behind `import`, keys and file names in strings, the commands of the prompt and files behind them.
No code of the program runs.
"""

import builtins
import keyword
import pkgutil
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import import_module
from types import ModuleType
from typing import Any

from th_shell.completing.candidates import (
    Candidate,
    Completions,
    complete_input,
    in_order,
    listed,
    place_of,
    quoted_files,
)
from th_shell.python.alias import NAME, is_used
from th_shell.python.inference import NOTHING, Inferred, call_of, infer, member, parameters_of
from th_shell.python.source_text import CLOSING, OPENING, quotes_of, tokens
from th_shell.runtime.shell import Token
from th_shell.session.commands import PYTHON_COMMANDS as COMMANDS
from th_shell.tokens import innermost, opening
from th_shell.visible import escaped

# -- modules and names that an import statement may name: nothing but torch is imported for it


def modules(owner: str, prefix: str) -> list[str]:
    """Return the modules of a package, or those at the top for '', that begin with some text."""
    if owner == NAME and is_used():
        names = set(_public_modules())
    elif owner:
        names = {info.name for info in pkgutil.iter_modules(_folders(owner))}
    else:
        names = set(_at_the_top(tuple(sys.path))) | {NAME}
    fitting = sorted(name for name in names if name.startswith(prefix))
    return [name for name in fitting if prefix.startswith("_") or not name.startswith("_")]


def names_of_module(name: str, prefix: str) -> list[str]:
    """Return the names that may be imported from a module, as far as it has been imported."""
    if name.partition(".")[0] == NAME and is_used():
        try:
            import_module(name)
        except ImportError:
            return []
    module = sys.modules.get(name)
    names = set(dir(module)) if module else set()
    fitting = {
        candidate
        for candidate in names
        if candidate.startswith(prefix) and (prefix or candidate[0] != "_")
    }
    return sorted(fitting.union(modules(name, prefix)))


def _public_modules() -> Iterable[str]:
    """Return the modules of torch that it lists itself; others are how it is made."""
    module = import_module(NAME)
    return [name for name in dir(module) if isinstance(vars(module).get(name), ModuleType)]


@lru_cache(maxsize=4)
def _at_the_top(path: tuple[str, ...]) -> Iterable[str]:
    names = {info.name for info in pkgutil.iter_modules(list(path))}
    return names.union(sys.builtin_module_names)


def _folders(package: str) -> list[str]:
    """Return the folders of the modules of a package that was imported."""
    return list(getattr(sys.modules.get(package), "__path__", []))


# -- inputs

_FROM = re.compile(
    r"(?:\A|[\n;])[ \t]*from[ \t]+([\w.]+)[ \t]+import[ \t]+\(?(?:[\w\s,]{0,1000},\s*)?\w*\Z"
)
_IMPORT = re.compile(
    r"(?:\A|[\n;])[ \t]*(?:from[ \t]+"
    r"|import[ \t]+(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?,[ \t]*)*)([\w.]*)\Z"
)

Namespace = Mapping[str, Any]


def complete(text: str, cursor: int, namespace: Namespace) -> Completions:
    """Complete an input at the cursor (from 0)."""
    return complete_input(text, cursor, COMMANDS, partial(_python, namespace=namespace))


def _python(before: str, behind: str, first: int, namespace: Namespace) -> Completions:
    """Complete a text of Python at its end. first: the index at which Python begins in it."""
    before = " " * first + before[first:]
    place = place_of(tokens(before), len(before))
    if place is None:
        return Completions(len(before))
    # A backslash joins lines.
    code = [token for token in place.code if token.text != "\\"]
    if place.string:
        return _in_string(before, code, place.string, behind, namespace)
    imported = _imported(before, place.prefix, place.start)
    return imported or _named(before, code, place.prefix, place.start, namespace)


def _imported(before: str, prefix: str, start: int) -> Completions | None:
    """Complete an import statement; return None where there is none."""
    if where := _FROM.search(before):
        candidates = [Candidate(name, "name") for name in names_of_module(where[1], prefix)]
        return listed(start, candidates)
    if where := _IMPORT.search(before):
        owner = where[1].rpartition(".")[0]
        return Completions(
            start, [Candidate(module, "module") for module in modules(owner, prefix)]
        )
    return None


def _named(
    before: str, code: Sequence[Token], prefix: str, start: int, namespace: Namespace
) -> Completions:
    if code and code[-1].text == ".":
        owner = infer(_expression(before, code[:-1]), namespace)
        return listed(start, _attributes(owner, prefix) if owner else [])
    candidates: dict[str, Candidate] = {}
    for names in (builtins.__dict__, namespace):
        shown = _shown(list(names), prefix)
        candidates.update({name: _name(name, Inferred.of(names[name])) for name in shown})
    candidates.update({word: Candidate(word, "keyword") for word in keyword.kwlist})
    typed = _shown([item.text for item in code if item.kind == "name"], prefix)
    candidates.update({name: Candidate(name, "name") for name in typed if name not in candidates})
    parameters = [
        Candidate(f"{name}=", "parameter") for name in _parameters(before, code, namespace)
    ]
    fitting = [item for item in parameters if item.text.startswith(prefix)]
    return listed(start, [*fitting, *in_order(candidates.values(), prefix)])


def _parameters(before: str, code: Sequence[Token], namespace: Namespace) -> list[str]:
    """Return the parameters of the function whose call the cursor is in, behind `(` or `,`."""
    if not code or code[-1].text not in ("(", ","):
        return []
    opened = innermost(code, OPENING, CLOSING)
    if opened is None or opened.text != "(":
        return []
    function = infer(_expression(before, code[: code.index(opened)]), namespace)
    return parameters_of(function.value) if function else []


def _expression(before: str, code: Sequence[Token]) -> str:
    """Return the text of the names, calls and elements that some tokens end with: `x.t()[0]`."""
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


def _attributes(owner: Inferred, prefix: str) -> list[Candidate]:
    try:
        names = dir(owner.type if owner.value is NOTHING else owner.value)
    except Exception:  # by the object's own method
        return []
    candidates = [
        Candidate(name, "attribute", partial(_described_member, owner, name))
        for name in _shown(names, prefix)
    ]
    return in_order(candidates, prefix)


def _name(name: str, value: Inferred) -> Candidate:
    return Candidate(name, "name", partial(_described, name, value))


def _described_member(owner: Inferred, name: str) -> str:
    return _described(name, member(owner, name))


def _shown(names: Iterable[Any], prefix: str) -> list[str]:
    """Return the names that are listed: with an underscore only when one is typed."""
    return [
        name for name in names if isinstance(name, str) and (prefix or not name.startswith("_"))
    ]


def _described(name: str, value: Inferred | None) -> str:
    if value is None:
        return ""
    if value.value is NOTHING:
        return value.type.__name__
    return call_of(name, value.value) or value.type.__name__


# -- strings


def _in_string(
    before: str, code: Sequence[Token], string: Token, behind: str, namespace: Namespace
) -> Completions:
    mark, content = quotes_of(string), string.content
    closing = "" if len(mark) == 3 or behind.startswith(mark) else mark
    if code and code[-1].text == "[":
        owner = infer(_expression(before, code[:-1]), namespace)
        if owner and owner.type is dict and owner.value is not NOTHING:
            return _keys(owner.value, content, string.end - len(content), mark, closing)
    return quoted_files(string, mark, closing, raw="r" in string.mark.lower())


def _keys(
    owner: Mapping[Any, Any], prefix: str, start: int, mark: str, closing: str
) -> Completions:
    candidates = [
        Candidate(escaped(key, mark) + (f"{closing}]" if closing else ""), "key")
        for key in owner
        if isinstance(key, str) and key.startswith(prefix)
    ]
    return listed(start, candidates)
