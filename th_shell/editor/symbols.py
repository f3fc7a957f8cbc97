"""The symbols of programs: where names are defined, and wherever else they stand.

A local is known by its place. Of fields and methods the name is known, and often the table, so
that the editor gets the symbol that is meant, or all that may be.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from th_shell.help.values import start_of_comment
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.members import Member, members_of
from th_shell.preflight.programs import Program, World
from th_shell.preflight.tables import class_of
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
    #: The expression whose field or method it is.
    base: tree.Node | None = None


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
        path = table and f"{table}.{name}"
        return Symbol(name, node.place, None, path, True, base=node.base) if name else None
    if isinstance(node, tree.Field):
        return Symbol(node.key, node.place, None, "", True)
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
    member = member_of(symbol, program, world)
    if member is not None:
        return [(member.program, member.place)]
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


def member_of(symbol: Symbol, program: Program, world: World) -> Member | None:
    """Return the field, method or option that a symbol is; None where that is not known."""
    if symbol.base is None:
        return None
    return members_of(symbol.base, program, world).get(symbol.name)


# -- functions and classes


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


def rename_problem(symbol: Symbol | None, new: str | None, program: Program) -> str:
    """Return why a name cannot get another one, or ''. new: None where it is not known yet."""
    if symbol is None or symbol.is_text:
        return "there is no name here"
    if symbol.local is None:
        kind = "a field or a method" if symbol.is_member else "a global"
        return f"{symbol.name} is {kind}: other programs may use it"
    if symbol.local.place == tree.NOWHERE:
        return "self is Lua's own name"
    if new is None or new == symbol.name:
        return ""
    if not re.fullmatch(r"[A-Za-z_]\w*", new, re.ASCII) or new in KEYWORDS:
        return f"{new} cannot be the name of a variable"
    for node in program.chunk.nodes:
        if isinstance(node, tree.Name):
            is_taken = node.local is symbol.local and new in node.scope
            if is_taken or (node.name == new and node.scope.get(symbol.name) is symbol.local):
                return f"{new} is another variable in line {node.line}"
    return ""
