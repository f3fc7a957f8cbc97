"""What a program needs that is not here, or that means something else: one rule each.

A rule says only what is certain: what a program may define itself, asks for first, or guards by
pcall is left out. The answers of a rule are places in the program, with the thing, why it is not
here, and what to do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from runtime import tokens
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.knowledge import GPU, GPU_METHODS, OTHER, Lack
from th_shell.preflight.programs import Program, World

_WRONG = Lack("LuaJIT does not compile it", "correct it")

#: Signs of Lua 5.3 and 5.4, with what stands for them in LuaJIT.
_SIGNS = {
    "//": "use math.floor(a / b)",
    "&": "use bit.band",
    "|": "use bit.bor",
    "~": "use bit.bxor or bit.bnot",
    "<<": "use bit.lshift",
    ">>": "use bit.rshift",
}
_ATTRIBUTE = re.compile(r"\blocal\s+\w+\s*<\s*(?:const|close)\s*>")


def dialect(source: str, line: int) -> Lack:
    """What to do about a syntax error on a line."""
    lines = source.splitlines()
    text = lines[line - 1] if line <= len(lines) else ""
    if _ATTRIBUTE.search(text):
        return Lack("attributes of locals are Lua 5.4's", "leave them out")
    for token in tokens(text):
        if token.kind == "sign" and token.text in _SIGNS:
            return Lack(f"{token.text} is an operator of Lua 5.3", _SIGNS[token.text])
    return _WRONG


# -- findings

_GPU_TYPES = ("torch.Cuda", "torch.Cl")
#: A condition that asks whether something is on the GPU, by the name of its type.
_ASKS_FOR_GPU = re.compile(r"""["'][^"']*\bC(?:uda|l)|isCuda""")


@dataclass(frozen=True)
class Finding:
    """A place in a file. subject: what it is about, by which findings are counted together.

    what: the piece of code. condition: of the innermost branch that it stands in, or ''.
    """

    path: Path
    line: int
    subject: str
    what: str
    lack: Lack
    condition: str = ""


@dataclass(frozen=True)
class _Found:
    node: tree.Node
    subject: str
    what: str
    lack: Lack


def findings(program: Program, world: World) -> list[Finding]:
    """What is found in a program, in the order of its lines."""
    if program.error is not None:
        line, message = program.error
        advice = dialect(program.source, line)
        return [Finding(program.path, line, "syntax", f"syntax error: {message}", advice)]
    found = (one for rule in _RULES for one in rule(program, world))
    places = [
        Finding(
            program.path,
            one.node.line,
            one.subject,
            one.what,
            one.lack,
            one.node.conditions[-1] if one.node.conditions else "",
        )
        for one in found
        if not _is_never_reached(one)
    ]
    return sorted(set(places), key=lambda one: (one.line, one.what))


def _is_never_reached(found: _Found) -> bool:
    """Whether the program itself has asked whether it can do this, or does not mind."""
    conditions = found.node.conditions
    asks = any(_ASKS_FOR_GPU.search(c) and not c.startswith("not") for c in conditions)
    return tree.PROTECTED in conditions or (found.lack is GPU and asks)


# -- rules


def _tried_modules(program: Program) -> set[str]:
    """The modules that a program loads by `pcall(require, name)`: it can do without them."""
    calls = (node for node in program.chunk.nodes if isinstance(node, tree.Call))
    protected = (node for node in calls if tree.origin(node.function) in ("pcall", "xpcall"))
    return {
        one.value for node in protected for one in node.arguments if isinstance(one, tree.String)
    }


def _lacking_modules(program: Program, world: World) -> Iterator[_Found]:
    tried = _tried_modules(program)
    for node in program.chunk.nodes:
        name = tree.required_module(node)
        if name is None or name in tried or world.modules.finds(name, program.path):
            continue
        lack = world.facts.packages.get(name.partition(".")[0], OTHER)
        yield _Found(node, name.partition(".")[0], f"require '{name}'", lack)


def _lacking_globals(program: Program, world: World) -> Iterator[_Found]:
    """Tables of packages that are not here, where the program itself does not ask for them."""
    asked = {text.partition(".")[0] for text in program.chunk.texts}
    seen = asked | world.globals
    packages = world.facts.packages
    for node in program.chunk.nodes:
        if not isinstance(node, tree.Name) or node.local or node.name not in packages:
            continue
        if (
            node.name not in seen
            and node.use is tree.Use.INDEXED
            and not _tests(program, node.name)
        ):
            if not world.modules.in_engine(node.name):
                seen.add(node.name)
                yield _Found(node, node.name, f"{node.name}.…", packages[node.name])


def _tests(program: Program, name: str) -> bool:
    """Whether a program looks whether there is a global."""
    nodes = (node for node in program.chunk.nodes if isinstance(node, tree.Name))
    return any(node.name == name and node.use is tree.Use.READ for node in nodes)


def _lacking_fields(program: Program, world: World) -> Iterator[_Found]:
    """Fields that tables such as torch do not have."""
    read = _read_fields(program)
    for node in program.chunk.nodes:
        if not isinstance(node, tree.Index) or node.use not in (tree.Use.CALLED, tree.Use.INDEXED):
            continue
        table, key = tree.origin(node.base), node.key
        names = world.facts.fields.get(table)
        if f"{table}[]" in world.fields:
            continue
        if names is None or key is None or key in names or table in world.globals:
            continue
        path = f"{table}.{key}"
        if path in read or world.may_define(key):
            continue
        if path.startswith(_GPU_TYPES):
            yield _Found(node, path, path, GPU)
        elif not world.is_extended:
            yield _Found(node, path, path, _no_such(f"{table} has no {key}", key, names))


def _read_fields(program: Program) -> set[str]:
    """The paths that a program reads without using their value: it may look whether they exist."""
    nodes = (node for node in program.chunk.nodes if isinstance(node, tree.Index))
    return {tree.origin(node) for node in nodes if node.use is tree.Use.READ} - {""}


def _no_such(why: str, name: str, names: frozenset[str]) -> Lack:
    close = get_close_matches(name, [n for n in names if not n.startswith("_")], 1, 0.8)
    return Lack(why, f"there is {close[0]}" if close else "define it, or leave it out")


def _gpu_methods(program: Program, world: World) -> Iterator[_Found]:
    for node in program.chunk.nodes:
        if isinstance(node, tree.Invoke) and node.name in GPU_METHODS and len(node.arguments) < 2:
            if not world.may_define(node.name) or tree.is_tensor(node.base):
                yield _Found(node, f":{node.name}()", f":{node.name}()", GPU)


def _gpu_types(program: Program, _: World) -> Iterator[_Found]:
    """Types of the GPU that are named in a text."""
    for node in program.chunk.nodes:
        is_type = isinstance(node, tree.Invoke) and node.name == "type"
        if isinstance(node, tree.Call):
            is_type = tree.origin(node.function) == "torch.setdefaulttensortype"
        if is_type and isinstance(node, (tree.Call, tree.Invoke)) and node.arguments:
            first = node.arguments[0]
            if isinstance(first, tree.String) and first.value.startswith(_GPU_TYPES):
                yield _Found(node, first.value, f"'{first.value}'", GPU)


def _lacking_methods(program: Program, world: World) -> Iterator[_Found]:
    """Methods that no tensor has, of what certainly is a tensor."""
    methods = world.facts.methods
    for node in program.chunk.nodes:
        if not isinstance(node, tree.Invoke) or node.name in methods or node.name in GPU_METHODS:
            continue
        if world.is_extended or world.may_define(node.name):
            continue
        if tree.is_tensor(node.base):
            what = f":{node.name}()"
            yield _Found(node, what, what, _no_such("no tensor has it", node.name, methods))


_RULES: tuple[Callable[[Program, World], Iterator[_Found]], ...] = (
    _lacking_modules,
    _lacking_globals,
    _lacking_fields,
    _gpu_methods,
    _gpu_types,
    _lacking_methods,
)
