"""The members of the value of an expression, as far as programs tell: fields, methods, options."""

from collections.abc import Iterator
from typing import NamedTuple

from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.programs import Program, World
from th_shell.preflight.tables import chain_of, class_of

_DEPTH = 3  # tables in tables
_MOST = 40  # expressions that one value may come from

#: An expression of a program.
Value = tuple[Program, tree.Node]


class Member(NamedTuple):
    """A field, a method or an option."""

    program: Program
    place: tree.Place
    #: What it is; of an option the call of `option`.
    value: tree.Node | None
    #: The field that is assigned to, where it has a chain.
    target: tree.Node | None = None


def members_of(
    node: tree.Node, program: Program, world: World, depth: int = _DEPTH
) -> dict[str, Member]:
    """Return the members of an expression's value by their names; none where it is not known."""
    members: dict[str, Member] = {}
    for where, value in values_of(node, program, world, depth):
        for name, member in _own_members(value, where, world):
            members.setdefault(name, member)
    return members


def _own_members(value: tree.Node, where: Program, world: World) -> Iterator[tuple[str, Member]]:
    chain = chain_of(value)
    for program in _programs(value, where, world) if chain else ():
        for name, target in program.tables.fields.get(chain, {}).items():
            yield name, Member(program, target.place, target.value, target)
    if isinstance(value, tree.Array):
        for entry in value.fields:
            yield entry.key, Member(where, entry.place, entry.value)
    elif isinstance(value, tree.Invoke) and value.name == "parse":
        for program in _programs(value.base, where, world):
            for call in program.tables.options.get(chain_of(value.base), ()):
                first = call.arguments[0] if call.arguments else None
                if isinstance(first, tree.String):
                    yield first.value.lstrip("-"), Member(program, first.place, call)


def _programs(node: tree.Node, program: Program, world: World) -> list[Program]:
    """Return the programs that may give the fields of an expression values."""
    return [program, *world.building(chain_of(node))]


def values_of(node: tree.Node, program: Program, world: World, depth: int = _DEPTH) -> list[Value]:
    """Return an expression, and those that its value may come from."""
    values = [(program, node)]
    seen = {id(node)}
    for where, value in values:  # which grows
        for source in _sources(value, where, world, depth):
            if id(source[1]) not in seen and len(values) < _MOST:
                seen.add(id(source[1]))
                values.append(source)
    if len(values) == 1 and isinstance(node, tree.Name):
        # A parameter, say: options go by one name in all files of a program.
        own = program.tables.parsed.get(node.name)
        alike = (program, own) if own is not None else world.parsed.get(node.name)
        values += [alike] if alike is not None else []
    return values


def _sources(node: tree.Node, program: Program, world: World, depth: int) -> Iterator[Value]:
    """Yield the expressions that an expression's value may come from, one step away."""
    if isinstance(node, tree.Name) and node.local is not None:
        values = [node.local.table, node.local.value]
        yield from ((program, value) for value in values if value is not None)
    if chain := chain_of(node):
        for where in _programs(node, program, world):
            targets = where.tables.assigned.get(chain, ())
            yield from ((where, target.value) for target in targets if target.value is not None)
    if isinstance(node, tree.Index) and node.key and depth:
        member = members_of(node.base, program, world, depth - 1).get(node.key)
        if member is not None:
            nodes = (member.target, member.value)
            yield from ((member.program, item) for item in nodes if item is not None)
    elif isinstance(node, tree.Binary) and node.sign in ("or", "and"):
        yield from ((program, node.left), (program, node.right))
    elif isinstance(node, tree.Call):
        yield from _results(node, program, world)


def _results(call: tree.Call, program: Program, world: World) -> Iterator[Value]:
    """Yield what a call of `require`, `setmetatable` or of a class returns."""
    path = tree.origin(call.function)
    if name := tree.required_module(call):
        where = world.by_path.get(world.modules.file(name, program.path))
        if where is not None and where.chunk.result is not None:
            yield where, where.chunk.result
    elif path == "setmetatable" and call.arguments:
        yield program, call.arguments[0]
    names = class_of(call)
    if entry := world.classes.get(names[1] if names else path):
        where, local = entry
        yield where, tree.Name(local.place, name=local.name, local=local)
