"""Collects the regular expressions of the product, with how they are used.

The sources are read for calls such as `re.search(pattern, text)`. A pattern is computed where it
stands, by the names of its module and what a function assigns. What is compiled when modules are
imported is noted then. What is known at run time only, as a name that is escaped into a pattern,
has a sample here.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from tests.data_files import data

TOP = Path(__file__).parents[2]
#: How functions go through a text. `scan`: by matches, each where the last one has ended.
WALKS = {
    **{name: name for name in ("match", "fullmatch", "search")},
    **dict.fromkeys(("split", "findall", "finditer", "sub", "subn"), "finditer"),
}
EVERY = frozenset(WALKS.values())

#: Samples of what functions put into their patterns.
SAMPLES = data(__file__, "SAMPLES")
SAMPLES |= {"path": "ab.c", "table": "ab"}
#: Functions that compile patterns when they are called.
COMPILE_LATE = {"th_shell.help.name_hints": "_notations"}
_OF_HINTS = ("failure", "call_hints", "name_hints", "size_hints")
#: What is not pumped, and why: files and sources.
SPARED = {
    **dict.fromkeys(
        (f"th_shell/help/{name}.py" for name in _OF_HINTS),
        "hints are given on short lines and messages alone: see _LONGEST in hints.py",
    ),
    "re.compile(read_text(value['match']), re.M)": "the user's own, in a file of settings",
    **dict.fromkeys(
        (
            "re.sub(pattern, replacement, ''.join(texts))",
            "re.finditer(pattern, ''.join(texts))",
            "re.search(pattern, text)",
        ),
        "of the package that is installed, whose code runs then, too",
    ),
}

_compile = re.compile
USES = re.compile(rf"\.(?:{'|'.join(WALKS)}|compile)\(|= pattern\(")  # no other file is read
#: Patterns by the file and line that have compiled them.
compiled: dict[tuple[str, int], list[re.Pattern[Any]]] = defaultdict(list)


class Use(NamedTuple):
    """A pattern, where it stands, and one of the ways in which it is used."""

    place: str
    pattern: re.Pattern[Any]
    walk: str


def import_all() -> dict[str, Path]:
    """Import the modules of the product, and note what they compile; their files by names."""

    def compile_noting(pattern: Any, flags: Any = 0) -> re.Pattern[Any]:
        frame = sys._getframe(1)
        made = _compile(pattern, flags)
        compiled[frame.f_code.co_filename, frame.f_lineno].append(made)
        return made

    # By the links in th_shell, as they are imported; runtime/pytorch is th_shell/torch.
    rooms = ("th_shell", "th_shell/runtime", "th_shell/torch")
    paths = {
        path
        for room in rooms
        for path in (TOP / room).rglob("*.py")
        if not path.is_relative_to(TOP / "th_shell/runtime/pytorch")
    }
    modules = {
        ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__"): path
        for path in sorted(paths)
        if path.stem != "__main__"
    }
    re.compile = compile_noting  # type: ignore[assignment]
    for name in modules:
        try:
            module = import_module(name)
        except ImportError:  # of a library that is not installed
            continue
        if name in COMPILE_LATE:
            getattr(module, COMPILE_LATE[name])()
    re.compile = _compile
    return modules


def collect() -> tuple[set[Use], list[str]]:
    """All uses of patterns, and the places and sources of those that are not known."""
    modules, found, unknown = import_all(), set[Use](), []
    walks = {name: walks_by_names(path) for name, path in modules.items()}
    for name, path in modules.items():
        if str(path.relative_to(TOP)) in SPARED:
            continue
        for call in calls_of_re(path):
            place = f"{path.relative_to(TOP)}:{call.lineno}"
            patterns = patterns_of(call, name, path)
            if not patterns and ast.unparse(call) not in SPARED:
                unknown.append(f"{place}: {ast.unparse(call)}")
            if called(call) == "compile":
                target = target_of(call, path)
                users = [
                    walks[one][target]
                    for one in modules
                    if one == name or (name, target) in imported(modules[one])
                ]
                own = set[str]().union(*users) if target else {""}
                if "" in own:  # it goes into a table, or to a function
                    own |= set[str]().union(*walks[name].values())
                ways = own - {""} or EVERY
            else:
                ways = {WALKS[called(call)]}
            found |= {Use(place, *use) for use in product(patterns, ways)}
    return found, unknown


@cache
def nodes_of(path: Path) -> list[ast.AST]:
    """All nodes of a file; each knows its parent."""
    text = path.read_text("utf-8")
    nodes = list(ast.walk(ast.parse(text))) if USES.search(text) else []
    for node in nodes:
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    return nodes


def calls_of_re(path: Path) -> Iterator[Any]:
    for node in nodes_of(path):
        if isinstance(node, ast.Call) and called(node) in {*WALKS, "compile"}:
            yield node


def called(call: Any) -> str:
    """The function of `re` that a call is of; `compile` for `patterns.pattern`; '' for others."""
    name = ast.unparse(call.func)
    return "compile" if name == "pattern" else name.removeprefix("re.") * name.startswith("re.")


def patterns_of(call: Any, module: str, path: Path) -> list[re.Pattern[Any]]:
    """The patterns that a call uses; none where they are not known."""
    flags = [word.value for word in call.keywords if word.arg == "flags"]
    first = {"compile": 1, "sub": 4, "subn": 4}.get(called(call), 2)
    flags += call.args[first : first + 1]
    names = {**vars(sys.modules.get(module, re)), **SAMPLES}
    lines = range(call.lineno, (call.end_lineno or call.lineno) + 1)
    noted = [one for line in lines for one in compiled[str(path), line]]
    return noted or [
        _compile(*texts)
        for texts in product(*(values_of(one, call, names, path) for one in (call.args[0], *flags)))
    ]


def values_of(expression: Any, at: Any, names: Mapping[str, Any], path: Path) -> list[Any]:
    """The values of an expression; of a name in a function, all that is assigned to it there."""
    try:
        return [eval(ast.unparse(expression), dict(names))]
    except Exception:
        if not isinstance(expression, ast.Name):
            return []
    while not isinstance(at, ast.FunctionDef):
        at = at.parent
    found: list[Any] = []
    for node in ast.walk(at):
        if isinstance(node, ast.Assign):
            one, value = node.targets[0], node.value
            pairs = [(one, value)]
            if isinstance(one, ast.Tuple) and isinstance(value, ast.Tuple):
                pairs = list(zip(one.elts, value.elts, strict=True))
            for target, own in pairs:
                if isinstance(target, ast.Name) and target.id == expression.id:
                    found += values_of(own, node, names, path)
    return found


def target_of(call: Any, path: Path) -> str:
    """The constant that is a compiled pattern; '' where it goes elsewhere."""
    parent = call.parent
    if isinstance(parent, ast.Tuple) and isinstance(parent.parent, ast.Assign):
        target = parent.parent.targets[0]
        if isinstance(target, ast.Tuple):
            return ast.unparse(target.elts[parent.elts.index(call)])
    is_alone = isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name)
    return str(parent.targets[0].id) if is_alone else ""


def walks_by_names(path: Path) -> dict[str, set[str]]:
    """How what has a name is used in a file: the walks, '' where it is used otherwise."""
    found = defaultdict[str, set[str]](set)
    for node in nodes_of(path):
        name = getattr(node, "id", "")
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", "").islower():
            name = node.attr  # of a module
        if name and isinstance(node.ctx, ast.Load):  # type: ignore[attr-defined]
            method = node.parent  # type: ignore[attr-defined]
            call = getattr(method, "parent", None)
            walk = ""
            if isinstance(method, ast.Attribute):
                walk = WALKS.get(method.attr, "")
                is_call = isinstance(call, ast.Call) and call.func is method
                walk = "scan" if walk == "match" and is_call and len(call.args) > 1 else walk
            found[name].add(walk)
    return found


@cache
def imported(path: Path) -> set[tuple[str, str]]:
    """What a file imports from modules: their names, and those of what it takes."""
    return {
        (node.module or "", alias.name)
        for node in nodes_of(path)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
