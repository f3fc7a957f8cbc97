"""Rules about names: globals and fields that nothing defines.

Where a program may get globals in ways that cannot be read (`World.is_open`), only a name that is
one slip of the fingers away from another is told.
"""

from __future__ import annotations

from collections.abc import Iterator

from th_shell.nearest import slip_of
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Found, no_such
from th_shell.preflight.knowledge import HOSTS, Lack
from th_shell.preflight.programs import Program, World

#: Programs that have more names than these from nowhere are run by others, which give them.
_MOST_NAMES = 4


def undefined_globals(program: Program, world: World) -> Iterator[Found]:
    """Names that are read as globals, and that nothing defines: packages that are not here, too."""
    names = [node for node in program.chunk.nodes if isinstance(node, tree.Name)]
    free = [node for node in names if node.local is None]
    if any(node.name in HOSTS for node in free):
        return
    packages = world.facts.packages
    known = world.global_names()
    known.update(node.name for node in free if node.is_tested)
    known.update(filter(world.modules.in_engine, {node.name for node in free} - known))
    left = [node for node in free if node.name not in known and node.use is not tree.Use.ASSIGNED]
    nowhere = {node.name for node in left} - packages.keys()
    is_open = len(nowhere) > _MOST_NAMES or world.is_open(program)
    asked = {text.partition(".")[0] for text in program.chunk.texts}
    for node in left:
        if node.name not in packages:
            lack = _lack_of_global(node, program, world, is_open)
            if lack is not None:
                yield Found(node, node.name, node.name, lack)
        elif node.name not in asked and node.use is not tree.Use.READ:
            asked.add(node.name)  # it is told once
            if not world.modules.finds(node.name, program.path):  # or this is the package itself
                yield Found(node, node.name, f"{node.name}.…", packages[node.name])


def _lack_of_global(node: tree.Name, program: Program, world: World, is_open: bool) -> Lack | None:
    """What to say of a global that nothing here defines; None where something else may."""
    others = {*node.scope, *world.globals, *world.facts.globals} - {node.name}
    if is_open:
        slip = slip_of(node.name, others)
        return Lack("no such variable", f"there is {slip}") if slip else None
    if world.is_defined_beside(node.name, program):
        return None
    return no_such("a global that nothing defines", node.name, others)


def misspelt_fields(program: Program, world: World) -> Iterator[Found]:
    """Fields that nothing defines, and whose names are those of others with a slip."""
    known, often = world.facts.all_methods, world.fields | world.often_named()
    for node in program.chunk.nodes:
        if not isinstance(node, tree.Index) or node.key is None or node.is_tested:
            continue
        if node.use is tree.Use.ASSIGNED or node.key in known or world.may_define(node.key):
            continue
        root = tree.origin(node.base).partition(".")[0]
        if root in world.facts.fields or world.mentions[node.key] > 1:
            continue
        module = tree.required_module(tree.value(node.base))
        is_of_c = isinstance(node.base, tree.Index) and node.base.key == "C"
        if is_of_c or (module and world.modules.file(module, program.path) is None):
            continue  # what it has is not known
        slip = slip_of(node.key, often)
        is_other = len(slip) == len(node.key) and sorted(slip) != sorted(node.key)
        if slip and len(node.key) > 4 and (slip in world.fields or not is_other):
            what = f".{node.key}"
            yield Found(node, what, what, Lack("nothing here defines it", f"there is {slip}"))
