"""Tells Python's code from other text, and the names in it, by the parser of this Python.

Text is parsed and never run.
"""

import ast
import builtins
import codeop
import re
import threading
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from io import StringIO
from typing import NamedTuple

from th_shell.patterns import pattern
from th_shell.syntax import Syntax

#: Python's prompt.
PROMPT = pattern(r"^\s*>>>(?: +(?P<input>.*)|\s*)$")

#: The names that have a value before a page begins.
BUILTINS = frozenset(dir(builtins)) | {"__name__", "_"}

#: The names of built-in classes, which may stand in printed values, and of functions, which do not.
CLASSES = frozenset(name for name in dir(builtins) if isinstance(getattr(builtins, name), type))
FUNCTIONS = frozenset(name for name in dir(builtins) if callable(getattr(builtins, name))) - CLASSES

#: Stands in sets of names for all names of a module: code with `from m import *` binds them.
ALL_NAMES = "*"

#: The errors of Python's parser.
_NO_CODE = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
#: What literals are made of.
_LITERALS = (
    *(ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set),
    *(ast.UnaryOp, ast.UAdd, ast.USub, ast.Load),
)
_LOCK = threading.Lock()
#: Short names of modules that printed values have: `np.float64(2.0)`.
_PRINTED_SHORT = ("np",)
_CELL_MAGIC = pattern(r"\s*%%(\w*)")
_OF_PYTHON = frozenset(("capture", "prun", "time", "timeit"))
_MAGIC = pattern(r"^(?=(?:[\w., ]+=\s*)?[%!?])|^(?=[\w.]+\?{1,2}\s*$)", re.M)
_TIMED = pattern(r"^%time[ \t]+(?=\S)", re.M)


def syntax(text: str) -> Syntax:
    """Tell whether a text is statements, the beginning of statements, or neither."""
    return _parsed(text)[0]


def statements(source: str) -> list[ast.stmt]:
    """Return the statements of a text; none where it is no code."""
    return _parsed(source)[1]


def expression(source: str) -> ast.expr | None:
    """Return the one expression that a text is; None where it is something else."""
    match statements(source):
        case [ast.Expr(value=value)]:
            return value
    return None


def is_literal(text: str) -> bool:
    """Tell whether a text is a number, a string, or a list and the like of these."""
    value = expression(text.strip())
    return value is not None and all(isinstance(node, _LITERALS) for node in ast.walk(value))


def comment(source: str) -> str:
    """Return the text of the comment at the end of code, or ''."""
    try:
        tokens = list(tokenize.generate_tokens(StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError):
        return ""
    marks = (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.DEDENT)
    last = next((token for token in reversed(tokens) if token.type not in marks), None)
    is_comment = last is not None and last.type == tokenize.COMMENT
    return last.string.lstrip("#").strip() if last and is_comment else ""


def ends_with_value(text: str) -> bool:
    """Tell whether the last of some statements is an expression, whose value notebooks show."""
    body = statements(text)
    return bool(body) and isinstance(body[-1], ast.Expr)


def bound_names(source: str) -> set[str]:
    """Return the names that code gives a value, also those of parameters."""
    return set(_names(source).bound)


class _Names(NamedTuple):
    """The names in code: those that get values, those whose values it uses, what it imports."""

    bound: frozenset[str]
    read: frozenset[str]
    imported: frozenset[str]
    #: Those that are parameters and nothing else.
    parameters: frozenset[str]


@lru_cache(maxsize=1 << 13)  # each input of a page is asked for them, several times
def _names(source: str) -> _Names:
    bound, read, imported, parameters = set[str](), set[str](), set[str](), set[str]()
    for node in _nodes(source):
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            parameters.add(node.arg)
        elif isinstance(node, ast.alias):
            imported.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            bound.add(node.name)
    bound |= imported
    names = (bound | parameters, read, imported, parameters - bound)
    return _Names(*map(frozenset, names))


def lasting_names(source: str) -> set[str]:
    """Return the names that code gives a value which may outlive it: no parameters."""
    names = _names(source)
    return set(names.bound - names.parameters)


def called_names(source: str) -> set[str]:
    """Return the names of attributes in code, and of functions that it calls."""
    nodes = _nodes(source)
    called = {node.func for node in nodes if isinstance(node, ast.Call)}
    return {node.attr for node in nodes if isinstance(node, ast.Attribute)} | {
        function.id for function in called if isinstance(function, ast.Name)
    }


def changed_names(source: str) -> set[str]:
    """Return the names whose values code may make other ones.

    Those that it binds, those of which it assigns an element or an attribute, and those whose
    methods it calls as statements: `model.cuda()`.
    """
    changed: list[ast.expr] = []
    for node in _nodes(source):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            changed.append(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changed.append(node.value)
    return bound_names(source) | set(filter(None, map(_base_name, changed)))


def _base_name(place: ast.expr) -> str:
    """Return the name that a place or a method call begins with; '' where there is none."""
    inner: ast.expr = place
    while True:
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            inner = inner.func
        elif isinstance(inner, (ast.Attribute, ast.Subscript)):
            inner = inner.value
        else:
            return inner.id if isinstance(inner, ast.Name) else ""


def imported_names(source: str) -> set[str]:
    """Return the names that code binds by importing them."""
    return set(_names(source).imported) if "import" in source else set()


def imports(source: str) -> str:
    """Return the statements of code that import, each on a line of its own."""
    found = (s for s in statements(source) if isinstance(s, (ast.Import, ast.ImportFrom)))
    return "".join(f"{ast.unparse(statement)}\n" for statement in found)


def shown_name(source: str) -> str:
    """Return the variable that code shows at its end, be it by `print`, or ''.

    A value may begin with the same name: `device` shows `device(type='cpu')`.
    """
    body = statements(source)
    value = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        is_print = value.func.id == "print" and len(value.args) == 1 and not value.keywords
        value = value.args[0] if is_print else None
    return value.id if isinstance(value, ast.Name) else ""


def variables(source: str) -> set[str]:
    """Return the names that code binds and that no printed value begins with.

    Classes print their names, and modules those that they have themselves.
    """
    classes = {n.name for n in _nodes(source) if isinstance(n, ast.ClassDef)}
    modules = {
        (alias.asname or alias.name).partition(".")[0]
        for node in _nodes(source)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
        if alias.asname in (None, alias.name, *_PRINTED_SHORT)
    }
    return bound_names(source) - classes - modules


def only_defines(source: str) -> bool:
    """Tell whether code has nothing but functions and classes, so that it prints nothing."""
    body = statements(source)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return bool(body) and all(isinstance(node, kinds) for node in body)


def read_names(source: str) -> set[str]:
    """Return the names whose values code uses."""
    return set(_names(source).read)


def without_magics(source: str) -> str:
    """Return a notebook's code whose lines for the notebook itself, such as `%cd`, are comments.

    `%time f()` is `f()`. A cell for another program, such as `%%bash`, has nothing but comments
    then.
    """
    if syntax(source) is Syntax.COMPLETE:
        return source  # such lines are within strings, if there are any
    cell = _CELL_MAGIC.match(source)
    if cell and cell[1] not in _OF_PYTHON:
        return re.sub("^", "# ", source, flags=re.M)
    return _MAGIC.sub("# ", _TIMED.sub("", source))


def _nodes(source: str) -> list[ast.AST]:
    return [node for statement in statements(source) for node in ast.walk(statement)]


@lru_cache(maxsize=16)  # an input is looked at several times in a row
def _parsed(text: str) -> tuple[Syntax, list[ast.stmt]]:
    with _quiet():
        try:
            return Syntax.COMPLETE, ast.parse(text).body
        except _NO_CODE:
            return (Syntax.INCOMPLETE if _is_beginning(text) else Syntax.WRONG), []


def _is_beginning(text: str) -> bool:
    try:
        return codeop.compile_command(text, "<page>", "exec") is None
    except _NO_CODE:
        return False


@contextmanager
def _quiet() -> Iterator[None]:
    r"""Ignore the parser's warnings, such as those of a literal '\d', in any thread."""
    with _LOCK, warnings.catch_warnings():  # which changes what all threads share
        warnings.simplefilter("ignore")
        yield
