"""The rules about the names and functions of a program itself.

Notes are findings that do no harm when the program runs: they leave the exit status 0.
"""

from collections.abc import Iterator, Sequence

from th_shell.paragraphs import counted
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Lack, RuleFinding, no_such
from th_shell.preflight.members import members_of, values_of
from th_shell.preflight.programs import Program, World

#: Uses that fail where the value is nil.
_FAILING = (tree.Use.CALLED, tree.Use.INDEXED)


def unused_locals(program: Program, _: World) -> Iterator[RuleFinding]:
    """Find locals that nothing reads; of those of one `local`, the first, where none is read."""
    uses = program.tables.uses
    read = {local for local in uses if any(n.use is not tree.Use.ASSIGNED for n in uses[local])}
    for local in program.chunk.locals:
        is_first = local.declared[:1] == (local,)
        if is_first and not any(d in read or d.name[0] == "_" for d in local.declared):
            node = tree.Name(local.place, name=local.name)
            lack = Lack("a local that nothing reads", "leave the name out")
            yield RuleFinding(node, "unused", local.name, lack)


def redefined_locals(program: Program, _: World) -> Iterator[RuleFinding]:
    """Find locals that hide one of the same block."""
    for local in program.chunk.locals:
        if local.hidden and len(local.declared) == 1 and local.name[0] != "_":
            line = local.hidden.place.line
            lack = Lack(f"it hides the {local.name} of line {line}", "give it another name")
            node = tree.Name(local.place, name=local.name)
            yield RuleFinding(node, "redefined", local.name, lack)


def unreachable_code(program: Program, _: World) -> Iterator[RuleFinding]:
    """Find statements that nothing leads to."""
    for place in program.chunk.unreachable:
        text = program.parsed[place.start : place.end].decode().partition("\n")[0]
        lack = Lack("it is never reached", "leave it out")
        yield RuleFinding(tree.Other(place), "unreachable", text, lack)


def wrong_options(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find fields of options that torch.CmdLine has not been told of, and that nothing sets."""
    for node in program.of(tree.Index):
        base = node.base
        if not node.key or node.is_tested or not isinstance(base, tree.Name):
            continue
        if world.may_define(node.key):
            continue
        sources = values_of(base, program, world)[1:]
        is_given = base.local is not None and not base.local.declared  # a parameter
        if is_given or len(sources) != 1 or f"{base.name}[]" in world.fields:
            continue
        where, value = sources[0]
        if isinstance(value, tree.Invoke) and where.tables.is_parse(value):
            lack = no_such("no such option", node.key, members_of(base, program, world))
            yield RuleFinding(node, f".{node.key}", f".{node.key}", lack)


def wrong_counts(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find calls of the programs' functions with arguments that no parameter takes, or without
    some that they need.
    """
    for node in program.calls:
        name, objects, closures = _called(node, program, world)
        count = len(node.arguments)
        is_open = any(isinstance(last, tree.MANY) for last in node.arguments[-1:])
        if closures and not any(
            (closure.is_vararg or count + objects <= len(closure.parameters))
            and (is_open or count + objects >= _needed(closure, where))
            for where, closure in closures
        ):
            names = ", ".join(local.name for local in closures[0][1].parameters[objects:])
            why = f"called with {counted(count, 'argument')}"
            yield RuleFinding(node, name, name, Lack(why, f"it takes: {names or 'nothing'}"))


#: Functions, with their programs.
_Closures = Sequence[tuple[Program, tree.Closure]]


def _called(
    node: tree.Call | tree.Invoke, program: Program, world: World
) -> tuple[str, int, _Closures]:
    """Return the functions that a call may call, where they are known: what it says, the number of
    objects before its arguments, and them.
    """
    if isinstance(node, tree.Invoke):
        is_common = node.name in world.facts.all_methods
        functions = () if is_common else _of_table(node.base, node.name, program, world)
        return f":{node.name}()", 1, functions
    function = node.function
    if isinstance(function, tree.Index) and function.key is not None:
        name, path = f"{function.key}()", tree.origin(function)
        if function.key in world.facts.fields.get(tree.origin(function.base), ()):
            return name, 0, ()  # that of a package, of whatever version
        if path in world.classes:
            return name, 1, _of_table(node, "__init", program, world)
        return name, 0, _of_table(function.base, function.key, program, world)
    if not isinstance(function, tree.Name):
        return "", 0, ()
    if function.local is None and function.name not in world.facts.globals:
        sources = values_of(function, program, world)[1:]
        own = [item for item in sources if item[0] is program] or sources
    else:
        own = [(program, tree.value(function))]
    closures = [(where, value) for where, value in own if isinstance(value, tree.Closure)]
    return f"{function.name}()", 0, closures if len(closures) == len(own) else ()


def _of_table(base: tree.Node, name: str, program: Program, world: World) -> _Closures:
    """Return the functions that a field of a table may be."""
    if name not in world.functions:
        return ()
    member = members_of(base, program, world).get(name)
    if member is None or not isinstance(member.value, tree.Closure):
        return ()
    # A class that inherits from this one may have another.
    return [(member.program, member.value)] if name == "__init" else world.functions[name]


def _needed(closure: tree.Closure, program: Program) -> int:
    """Return the number of arguments without which a function fails."""
    needed = 0
    for at, local in enumerate(closure.parameters):
        uses = program.tables.uses.get(local, [])
        if local.is_reassigned or any(name.is_tested for name in uses):
            continue
        for name in uses:
            fails = name.use in _FAILING or id(name) in program.tables.operands
            if fails and name.conditions == closure.conditions:
                needed = at + 1
    return needed
