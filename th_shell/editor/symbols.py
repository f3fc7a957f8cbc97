"""The symbols of programs: where names are defined, and wherever else they stand.

A local is known by its place. Of fields and methods the name is known, and often the table, so
that the editor gets the symbol that is meant, or all that may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from th_shell.help.values import start_of_comment
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.programs import Program, World
from th_shell.runtime.shell import KEYWORDS

#: A place in one of the programs.
SymbolPlace = tuple[Program, tree.Place]


class Symbol(NamedTuple):
    """A name that stands at a place."""

    name: str
    place: tree.Place
    #: The local variable, where it is one.
    local: tree.Local | None = None
    #: The path of globals and modules to a field, 'nn.Linear'; '' where it is not known.
    path: str = ""
    #: Whether it is a field or a method.
    is_member: bool = False
    #: Whether it is a module behind `require`.
    is_text: bool = False


def symbol_at(program: Program, offset: int) -> Symbol | None:
    """Return the name at an offset in bytes, or right before it."""
    for local in program.chunk.locals:
        if local.place.start <= offset <= local.place.end:
            return Symbol(local.name, local.place, local)
    at = (n for n in program.chunk.nodes if n.place.start <= offset <= n.place.end)
    return next(filter(None, map(_symbol, at)), None)


def _symbol(node: tree.Node) -> Symbol | None:
    if isinstance(node, tree.Name):
        return Symbol(node.name, node.place, node.local, "" if node.local else node.name)
    if isinstance(node, (tree.Index, tree.Invoke)):
        name = node.key if isinstance(node, tree.Index) else node.name
        table = tree.origin(node.base)
        return Symbol(name, node.place, None, table and f"{table}.{name}", True) if name else None
    return Symbol(node.value, node.place, is_text=True) if isinstance(node, tree.String) else None


def places_of(symbol: Symbol, programs: Iterable[Program]) -> Iterator[SymbolPlace]:
    """Yield all places where a symbol stands. programs: that of a local, or all."""
    for program in programs:
        if symbol.local is not None and symbol.local.place != tree.NOWHERE:
            if symbol.local in program.chunk.locals:
                yield program, symbol.local.place
        for place in dict.fromkeys(_places_in(symbol, program)):
            yield program, place


def _places_in(symbol: Symbol, program: Program) -> Iterator[tree.Place]:
    for node in program.chunk.nodes:
        candidate = _symbol(node)
        if (
            candidate is None
            or candidate.name != symbol.name
            or candidate.is_text
            or symbol.is_text
        ):
            continue
        if candidate.local is symbol.local and candidate.is_member == symbol.is_member:
            yield candidate.place


def definitions(symbol: Symbol, program: Program, world: World) -> list[SymbolPlace]:
    """Yield the places at which a symbol is defined, or may be."""
    if symbol.local is not None:
        return [(program, symbol.local.place)] if symbol.local.place != tree.NOWHERE else []
    if symbol.is_text:
        file = world.modules.file(symbol.name, program.path)
        return [(candidate, tree.NOWHERE) for candidate in world.programs if candidate.path == file]
    classes = [
        (candidate, node.arguments[0].place)
        for candidate in world.programs
        for node in candidate.chunk.nodes
        if isinstance(node, tree.Call) and (names := class_of(node)) and names[0] == symbol.path
    ]
    return classes or _assigned(symbol, program, world)


def _assigned(symbol: Symbol, program: Program, world: World) -> list[SymbolPlace]:
    """Yield the places at which functions, fields and globals of a name get a value."""
    assignments = [
        (candidate, node.place, tree.origin(node) if isinstance(node, tree.Index) else symbol.path)
        for candidate in world.programs
        for node in candidate.chunk.nodes
        if isinstance(node, (tree.Name, tree.Index)) and node.use is tree.Use.ASSIGNED
        and (assigned := _symbol(node)) and assigned.name == symbol.name
        and assigned.local is None and assigned.is_member == symbol.is_member
    ]  # fmt: skip
    file = world.modules.file(symbol.path.rpartition(".")[0], program.path) if symbol.path else None
    inside = [(candidate, place) for candidate, place, _ in assignments if candidate.path == file]
    same = [
        (candidate, place) for candidate, place, path in assignments if path and path == symbol.path
    ]
    return inside or same or [(candidate, place) for candidate, place, _ in assignments]


# -- functions and classes


def class_of(node: tree.Node) -> tuple[str, str] | None:
    """Return the names of a class that a call makes, and of the one it inherits from, or ''."""
    if not isinstance(node, tree.Call) or not tree.origin(node.function).endswith("class"):
        return None
    names = [argument.value for argument in node.arguments if isinstance(argument, tree.String)]
    return (names[0], names[1] if len(names) > 1 else "") if names else None


def methods_of(name: str, world: World) -> dict[str, tuple[Program, tree.Function]]:
    """Return the methods of a class of programs and packages, and those that it inherits."""
    methods: dict[str, tuple[Program, tree.Function]] = {}
    while name:
        parent = ""
        for program in world.programs:
            for local in program.chunk.locals:
                names = class_of(local.value) if local.value else None
                if names and names[0] == name:
                    parent = names[1]
                    for function in _functions(program, local.name):
                        methods.setdefault(last_name(function), (program, function))
        name = parent if parent != name else ""
    return methods


def _functions(program: Program, table: str) -> Iterator[tree.Function]:
    for function in program.chunk.functions:
        if re.split("[.:]", function.name)[0] == table != function.name:
            yield function


def last_name(function: tree.Function) -> str:
    """Return the name of a function without its table."""
    return re.split("[.:]", function.name)[-1]


def function_at(place: tree.Place, program: Program) -> tree.Function | None:
    """Return the function whose name stands at a place."""
    return next((function for function in program.chunk.functions if function.place == place), None)


def comment_above(program: Program, line: int) -> str:
    """Return the comment that ends right above a line, from 1."""
    lines = program.source.split("\n")[: line - 1]
    first = start_of_comment(lines, len(lines))
    return "\n".join(comment.strip().lstrip("- ") for comment in lines[first:])


def can_be_renamed(symbol: Symbol, new: str, program: Program) -> bool:
    """Tell whether a local may get another name without any name meaning another variable then."""
    if symbol.local is None or symbol.local.place == tree.NOWHERE:
        return False
    if not re.fullmatch(r"[A-Za-z_]\w*", new, re.ASCII) or new in KEYWORDS:
        return False
    for node in program.chunk.nodes:
        if isinstance(node, tree.Name):
            is_taken = node.local is symbol.local and new in node.scope
            if is_taken or (node.name == new and node.scope.get(symbol.name) is symbol.local):
                return False
    return True
