"""The names in Lua code: which variables it reads, and which it gives a value; its strings."""

import re
from collections.abc import Iterable, Set
from functools import lru_cache

from th_shell.patterns import pattern
from th_shell.runtime.shell import KEYWORDS, Token, tokens
from th_shell.tokens import without_texts

_NAME = r"[A-Za-z_]\w*"
_NAMES = rf"({_NAME}(?:\s*,\s*{_NAME})*)"
_ASSIGNED = pattern(rf"(?:^|(?<!,)[;\s)]){_NAMES}\s*=(?!=)")
_ASSIGNS = pattern(rf"\s*(?:local\s+)?{_NAMES}\s*=(?!=)")
#: A loop, and what it goes through.
_LOOPS = pattern(rf"\s*for\s+{_NAMES}\s*(?:=|\bin\b)(.*?)\bdo\b", re.S)
_TABLE = pattern(r"\{[^{}]*\}")
_LOCALS = pattern(rf"\blocal\s+{_NAMES}")
#: A local of a function or a loop: it is indented, or stands behind a keyword.
_INNER_LOCAL = pattern(rf"(?:\n[^\S\n]+|\b(?:do|then|else|repeat)\s+)local\s+{_NAMES}\s*=?(?!=)")
_FUNCTIONS = pattern(rf"\bfunction\s+({_NAME})\s*\(")
#: Names that have values within a function or a loop alone.
_INNER = (
    re.compile(rf"\bfor\s+{_NAMES}"),
    re.compile(rf"\bfunction\b\s*(?:[\w.:]+\s*)?\(\s*{_NAMES}"),
)
#: A statement that sets a field, or calls a method.
_CHANGED = pattern(
    rf"(?:^|[;\n])[^\S\n]*({_NAME})(?:[^\S\n]*[.\[][^=;<>~\n]*=(?!=)|(?:\.[\w.]*)?:\w)"
)
#: A line that requires a module, and does nothing else.
_IMPORT = pattern(
    r"^(?:local )?(?P<code>(?:\w{1,99} {0,9}= {0,9})?require ?\(? ?[\"'][\w.-]{1,99}[\"'] ?\)?);?"
    r" {0,9}(?:--.*)?$",
    re.M,
)
#: `require 'nn'` alone: modules of this kind are variables of their own name.
_REQUIRED = pattern(rf"(?:^|[;\n])[^\S\n]*require\s*(?:\(\s*)?([\"'])({_NAME})\1(?![ \t)]*[.:])")
_MODULES = pattern(r"\brequire\s*(?:\(\s*)?([\"'])([\w.-]+)\1")
_DOTS = pattern(r"(?<!\.)\.\.\.(?!\.)")
_TAKES_ANY = pattern(r"\bfunction\b ?[\w.:]* ?\([^()]*\.\.\.")
_STAND_INS = pattern(r"(?<![\w.:])(?:module\b(?!\s*[({=])|(?:string|table)\b(?!\s*[.:\[({=]))")
#: Blanks that the reader fills in: `f(?, 3)`.
_BLANKS = pattern(r"(?<=[(,=] |.[(,={])\?+(?=\s*(?:[),}\n]|$))")
#: An assignment of a module.
_REQUIRES = pattern(r"=\s*require\b")
_END = Token("sign", "", 0)


_kept = lru_cache(maxsize=1 << 13)  # each input of a page is asked for its names, several times


@_kept
def bound_names(source: str) -> frozenset[str]:
    """Return the names that code gives a value, also those of locals and parameters."""
    code = _without_strings(source)
    inner = _split(names for pattern in (*_INNER, _LOCALS) for names in pattern.findall(code))
    return lasting_names(source) | inner - KEYWORDS


@_kept
def lasting_names(source: str) -> frozenset[str]:
    """Return the names that code gives a value which may outlive it: no parameters."""
    code = _INNER_LOCAL.sub("\n", _without_strings(source))
    lists = _LOCALS.findall(code) + _FUNCTIONS.findall(code)
    lists += [name for _, name in _REQUIRED.findall(source)]
    return frozenset(assigned_names(code) | _split(lists)) - KEYWORDS


def reused_names(source: str) -> set[str]:
    """Return the names that an assignment sets and reads: `x` of `x = x + 1`; not in functions.

    A loop reads them before it sets them, too: `for _, x in ipairs(x) do`.
    """
    code = _without_strings(source)
    if loop := _LOOPS.match(code):
        return _split([loop[1]]) & read_names(loop[2])
    match = _ASSIGNS.match(code)
    is_read = match and "function" not in code
    return _split([match[1]]) & read_names(code[match.end() :]) if match and is_read else set()


def placeholders(source: str) -> set[str]:
    """Return what stands for the reader's own values.

    `...` where no function takes it, and names of Lua's own that have other uses: `f(module)`.
    """
    code = _without_strings(source)
    is_left_open = _DOTS.search(code) and not _TAKES_ANY.search(code)
    marks = {"..."} if is_left_open else set()
    return set(_STAND_INS.findall(code)) | marks | set(_BLANKS.findall(code))


@_kept
def _without_strings(source: str) -> str:
    """Return code without its comments, and without strings and their quotes."""
    return re.sub("[\"']", " ", without_texts(f"{source}\n"))


def required_names(source: str) -> set[str]:
    """Return the names that code gives to modules: `nn = require 'nn'`, `require 'nn'`."""
    is_assigned = _REQUIRES.search(source) is not None
    return {name for _, name in _REQUIRED.findall(source)} | (
        bound_names(source) if is_assigned else set()
    )


def required_modules(source: str) -> set[str]:
    """Return the modules that code requires, by their whole names."""
    return {name for _, name in _MODULES.findall(source)}


def imports(source: str) -> str:
    """Return the statements of code that only require a module, each on a line of its own."""
    return "".join(f"{match['code']}\n" for match in _IMPORT.finditer(source))


def changed_names(source: str) -> Set[str]:
    """Return the names whose values code binds, sets a field of, or calls a method of by itself."""
    return bound_names(source) | set(_CHANGED.findall(without_texts(f"{source}\n")))


def assigned_names(code: str) -> set[str]:
    """Return the names to which code assigns values; the fields of its tables are none."""
    tables = 1
    while tables:  # from the innermost one on
        code, tables = _TABLE.subn(" ", code)
    return _split(_ASSIGNED.findall(code))


def _split(lists: Iterable[str]) -> set[str]:
    return {name.strip() for names in lists for name in names.split(",")}


@_kept
def read_names(source: str) -> frozenset[str]:
    """Return the names that code uses otherwise: not as fields, methods or keys of tables."""
    names, before = set(), ""
    opened: list[str] = []
    code = [token for token in _tokens(source) if token.kind != "string"]
    for token, after in zip(code, [*code[1:], _END], strict=False):
        in_table = opened[-1:] == ["{"]
        is_key = in_table and after.text == "=" and before in ("{", ",", ";")
        if token.kind == "name" and before not in (".", ":") and not is_key:
            names.add(token.text)
        if token.text in "([{":
            opened.append(token.text)
        elif token.text in ")]}" and opened:
            opened.pop()
        before = token.text
    return frozenset(names)


def called_names(source: str) -> set[str]:
    """Return the names of fields and methods in code, and of functions that it calls."""
    names, before = set(), ""
    code = _tokens(source)
    for token, after in zip(code, [*code[1:], _END], strict=False):
        is_called = after.text in ("(", "{") or after.kind == "string"
        if token.kind == "name" and (before in (".", ":") or is_called):
            names.add(token.text)
        before = token.text
    return names


def strings(source: str) -> list[str]:
    """Return the contents of the short strings in code, as they are written."""
    return [token.content for token in _tokens(source) if token.text[0] in "\"'"]


def _tokens(source: str) -> list[Token]:
    """Return the tokens of code but for comments; a quote that is open at the end is no string."""
    return [token for token in tokens(f"{source}\n") if token.kind != "comment"]
