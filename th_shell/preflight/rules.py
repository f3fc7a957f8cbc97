"""The rules of `th --check`: each finds names and calls of one kind that are wrong or not here.

A rule says only what is certain: what a program may define itself, asks for first, or guards by
pcall is left out. Where a program may get globals in ways that cannot be read (`World.is_open`),
only a name that is one slip of the fingers away from another is a finding.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set

from th_shell.call_forms import takes, without_types, words_of
from th_shell.nearest import slip_of, typo_of
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Finding, Lack, RuleFinding, no_such, syntax_error
from th_shell.preflight.knowledge import BESIDE, C_LIBRARY, GPU, GPU_METHODS, HOSTS, OTHER
from th_shell.preflight.members import members_of
from th_shell.preflight.networks import wrong_constructions, wrong_layers
from th_shell.preflight.programs import Program, World
from th_shell.preflight.scopes import (
    redefined_locals,
    unreachable_code,
    unused_locals,
    wrong_counts,
    wrong_options,
)
from th_shell.preflight.sizes import wrong_shapes

# -- findings

_GPU_TYPES = ("torch.Cuda", "torch.Cl")
#: A condition that asks whether something is on the GPU, by the name of its type.
_ASKS_FOR_GPU = re.compile(r"""["'][^"']*\bC(?:uda|l)|isCuda""")


def findings(program: Program, world: World) -> list[Finding]:
    """Return the findings in a program, in the order of its lines."""
    errors = [syntax_error(program.path, program.source, *item) for item in program.errors]
    found = [*errors, *_of_rules(program, world, {item.line for item in errors})]
    places = {(item.line, item.column, item.what): item for item in reversed(found)}
    return sorted(places.values(), key=lambda item: (item.line, item.column, item.what))


def _of_rules(program: Program, world: World, wrong: Set[int]) -> Iterator[Finding]:
    """Yield the findings of rules outside of the lines that LuaJIT does not compile.

    Where there are such lines, a name's declaration may be in what cannot be read.
    """
    for rule in _RULES[: _SURE if wrong else None]:
        for finding in rule(program, world):
            if finding.node.line not in wrong and not _is_never_reached(finding):
                yield _place(program, finding)


def _place(program: Program, finding: RuleFinding) -> Finding:
    node = finding.node
    condition = node.conditions[-1] if node.conditions else ""
    column, length = program.columns(node.place)
    what = (finding.subject, finding.what, finding.lack)
    return Finding(program.path, node.line, column, *what, condition, length)


def _is_never_reached(finding: RuleFinding) -> bool:
    """Tell whether the program itself has asked whether it can do this, or does not mind."""
    conditions = finding.node.conditions
    asks = any(_ASKS_FOR_GPU.search(c) and not c.startswith("not") for c in conditions)
    return tree.PROTECTED in conditions or (finding.lack is GPU and asks)


# -- rules


def _lacking_modules(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find modules that are not here, but those that a program tries: it can do without them."""
    strings = program.of(tree.String)
    tried = {string.value for string in strings if tree.PROTECTED in string.conditions}
    for node in program.of(tree.Call):
        name = tree.required_module(node)
        if name is None or name in tried or world.modules.finds(name, program.path):
            continue
        top = name.partition(".")[0]
        unknown = C_LIBRARY if name.startswith("lib") else OTHER
        lack = world.facts.packages.get(top, unknown) if top else BESIDE
        if world.modules.in_engine(top):  # the package is there, and has no such part
            lack = OTHER
        yield RuleFinding(node, top or name, f"require '{name}'", lack)


def _lacking_fields(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find fields that tables such as torch and nn do not have."""
    read = _read_fields(program)
    for node in program.of(tree.Index):
        if node.use not in (tree.Use.CALLED, tree.Use.INDEXED):
            continue
        table, key = tree.origin(node.base), node.key
        names, path = world.facts.fields.get(table), f"{table}.{key}"
        is_listed = table in world.facts.listed
        if names is not None and is_listed:
            names = names | world.members.get(table, set())
        if names is None or key is None or key in names or path in read:
            continue
        if world.may_define(key) or world.is_own_table(table):
            continue
        if path.startswith(_GPU_TYPES):
            yield RuleFinding(node, path, path, GPU)
            continue
        # Packages of Lua files may have more than what is known of them.
        is_rare = world.mentions[key] < 2
        is_known = table in _LUAS_OWN or not (is_listed or world.is_extended)
        if is_known or slip_of(key, names) or (is_rare and typo_of(key, names)):
            yield RuleFinding(node, path, path, no_such(f"{table} has no {key}", key, names))


#: Libraries that no package adds to.
_LUAS_OWN = frozenset("math os io coroutine bit".split())


def _read_fields(program: Program) -> set[str]:
    """Return the paths that a program only reads: it may look whether they exist."""
    read = (node for node in program.of(tree.Index) if node.use is tree.Use.READ)
    return {tree.origin(node) for node in read} - {""}


def _gpu_methods(program: Program, world: World) -> Iterator[RuleFinding]:
    for node in program.of(tree.Invoke):
        if node.name in GPU_METHODS and len(node.arguments) < 2:
            if not world.may_define(node.name) or tree.is_tensor(node.base, world.facts.kinds):
                yield RuleFinding(node, f":{node.name}()", f":{node.name}()", GPU)


def _gpu_types(program: Program, _: World) -> Iterator[RuleFinding]:
    """Find types of the GPU that are named in a text."""
    for node in program.calls:
        is_type = isinstance(node, tree.Invoke) and node.name == "type"
        if isinstance(node, tree.Call):
            is_type = tree.origin(node.function) == "torch.setdefaulttensortype"
        first = node.arguments[0] if is_type and node.arguments else None
        if isinstance(first, tree.String) and first.value.startswith(_GPU_TYPES):
            yield RuleFinding(node, first.value, f"'{first.value}'", GPU)


def _lacking_methods(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find methods that a tensor does not have; of other objects, those that are misspelt."""
    for node in program.of(tree.Invoke):
        is_tensor = tree.is_tensor(node.base, world.facts.kinds)
        methods = world.facts.methods if is_tensor else world.methods.names
        if node.name in GPU_METHODS or node.name in methods or world.may_define(node.name):
            continue
        near = methods if is_tensor else world.methods.around(node.name)
        is_slip = world.mentions[node.name] < 2 and (
            slip_of(node.name, near)
            or len(node.name) > 4
            and typo_of(node.name, {name for name in near if world.mentions[name] > 2})
        )
        if is_slip or (is_tensor and not world.is_extended):
            what, who = f":{node.name}()", "no tensor" if is_tensor else "nothing here"
            yield RuleFinding(node, what, what, no_such(f"{who} has it", node.name, methods))


# -- names: globals and fields that nothing defines


#: Programs that have more names than these from nowhere are run by others, which give them.
_MOST_NAMES = 4


def undefined_globals(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find names that are read as globals, and that nothing defines, names of packages among
    them.
    """
    free = [node for node in program.of(tree.Name) if node.local is None]
    if any(node.name in HOSTS for node in free):
        return
    packages = world.facts.packages
    counts = Counter(node.name for node in free)
    missing = counts.keys() - world.all_globals.names
    missing -= {
        node.name
        for node in free
        if node.is_tested and (counts[node.name] > 1 or not typo_of(node.name, node.scope))
    }
    missing -= {name for name in missing if world.modules.in_engine(name)}
    left = [node for node in free if node.name in missing and node.use is not tree.Use.ASSIGNED]
    nowhere = {node.name for node in left} - packages.keys()
    is_open = len(nowhere) > _MOST_NAMES or world.is_open(program)
    asked = {text.partition(".")[0] for text in program.chunk.texts}
    for node in left:
        if node.name not in packages:
            lack = _lack_of_global(node, program, world, is_open, counts)
            if lack is not None:
                yield RuleFinding(node, node.name, node.name, lack)
        elif node.name not in asked and node.use is not tree.Use.READ:
            asked.add(node.name)  # it is told once
            if not world.modules.finds(node.name, program.path):  # or this is the package itself
                yield RuleFinding(node, node.name, f"{node.name}.…", packages[node.name])


def _lack_of_global(
    node: tree.Name, program: Program, world: World, is_open: bool, counts: Counter[str]
) -> Lack | None:
    """Return why a global is a finding that nothing here defines; None where something else may.

    counts: so often the program names globals.
    """
    if is_open:
        certain = {*node.scope, *(name for name, count in counts.items() if count > 1)}
        slip = slip_of(node.name, {*node.scope, *world.all_globals.around(node.name)}) or (
            typo_of(node.name, certain) if counts[node.name] < 2 else ""
        )
        return Lack("no such variable", f"there is {slip}") if slip else None
    if world.is_defined_beside(node.name, program):
        return None
    near_names = {*node.scope, *world.all_globals.names} - {node.name}
    return no_such("a global that nothing defines", node.name, near_names)


def misspelt_fields(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find fields that nothing defines, and whose names are those of others with a slip."""
    methods = world.facts.all_methods
    for node in program.of(tree.Index):
        if node.key is None or node.is_tested or node.use is tree.Use.ASSIGNED:
            continue
        if node.key in methods or world.may_define(node.key):
            continue
        root = tree.origin(node.base).partition(".")[0]
        if root in world.facts.fields or world.mentions[node.key] > 1:
            continue
        module = tree.required_module(tree.value(node.base))
        is_of_c = isinstance(node.base, tree.Index) and node.base.key == "C"
        if is_of_c or (module and world.modules.file(module, program.path) is None):
            continue  # what it has is not known
        own = typo_of(node.key, members_of(node.base, program, world))
        slip = own or slip_of(node.key, world.usual_fields.around(node.key), is_rare=True)
        is_other = len(slip) == len(node.key) and sorted(slip) != sorted(node.key)
        if slip and len(node.key) > 3 and (own or slip in world.fields or not is_other):
            what = f".{node.key}"
            yield RuleFinding(node, what, what, Lack("nothing here defines it", f"there is {slip}"))


# -- calls of operations with a number of arguments that no form takes


def impossible_counts(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find calls of torch's functions, and of tensors' methods, with too many or few arguments."""
    for node in program.of(tree.Call):
        table, _, name = tree.origin(node.function).rpartition(".")
        if table == "torch" and name not in world.members.get("torch", ()):
            yield from _wrong(node, f"torch.{name}", "function", world)
    for invoke in program.of(tree.Invoke):
        name = invoke.name
        is_only_theirs = name in world.facts.only_of_tensors and name not in world.fields
        if is_only_theirs or tree.is_tensor(invoke.base, world.facts.kinds):
            if not world.changes_tensors(name):
                yield from _wrong(invoke, f":{name}", "method", world)


def _wrong(
    node: tree.Call | tree.Invoke, name: str, space: str, world: World
) -> Iterator[RuleFinding]:
    forms = world.facts.forms(name.lstrip(":").removeprefix("torch."), space)
    count = len(node.arguments)
    if node.arguments and isinstance(tree.value(node.arguments[0]), tree.Number):
        forms = [(form.replace("[Generator] ", ""), is_loose) for form, is_loose in forms]
    if not forms or _may_be_more(node.arguments, world):
        return
    objects = 1 if space == "method" else 0
    if any(takes(form, count + objects, is_loose) for form, is_loose in forms):
        return
    listed = ", ".join(dict.fromkeys(_shown(form, objects) for form, _ in forms))
    why = f"called with {count} argument{'' if count == 1 else 's'}"
    yield RuleFinding(node, f"{name}()", f"{name}()", Lack(why, f"it takes: {listed}"))


def _may_be_more(arguments: Sequence[tree.Node], world: World) -> bool:
    """Tell whether the last argument may stand for any number of values."""
    last = arguments[-1] if arguments else None
    if not isinstance(last, tree.MANY):
        return False
    return not tree.is_tensor(last, world.facts.kinds)


def _shown(form: str, objects: int) -> str:
    """Return the arguments of a form, without a method's object and what may stand before it."""
    words = words_of(without_types(form, "Tensor", "number"))
    if objects:
        words = words[2:] if words[0].startswith("[") else words[1:]
    return " ".join(words) or "nothing"


# -- all rules

_RULES: tuple[Callable[[Program, World], Iterator[RuleFinding]], ...] = (
    _lacking_modules,
    _lacking_fields,
    _gpu_methods,
    _gpu_types,
    _lacking_methods,
    impossible_counts,
    wrong_shapes,
    wrong_counts,
    wrong_constructions,
    wrong_layers,
    undefined_globals,
    wrong_options,
    misspelt_fields,
    unused_locals,
    redefined_locals,
    unreachable_code,
)
_SURE = -6  # without the last ones, which depend on all declarations
