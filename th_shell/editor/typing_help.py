"""Help while a program is typed: completion, signatures and the meaning of a name.

The knowledge of the prompt, of torch and the libraries, comes first; then the definitions in the
text of programs and packages.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain

from th_shell.completing.candidates import Candidate, Completions, in_order, place_of
from th_shell.completing.complete import complete_code
from th_shell.completing.paths import path_before
from th_shell.completing.signatures import Signature, Signatures, call_at_cursor, word_at
from th_shell.editor import symbols
from th_shell.editor.workspace import Workspace
from th_shell.help.about import explained
from th_shell.help.meanings import SECTIONS_OF_CLASS, find, find_path
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.members import Member, members_of, values_of
from th_shell.preflight.parser import as_parsed, parse
from th_shell.preflight.programs import Program
from th_shell.runtime.shell import Token, tokens

#: A name and a call, which make a whole expression of what is typed.
_DUMMY = "__()"
_MODULES = [".package", ".loaded"]


def completions(before: str, program: Program, workspace: Workspace) -> Completions:
    """Return the completions of a text at its end."""
    listed = complete_code(before, "", 0, workspace.engine)
    place = place_of(tokens(before), len(before))
    if place is None or place.string:
        return listed
    code, prefix, start, _ = place
    mark = code[-1].text if code else ""
    own_names: Iterable[str] = workspace.world().globals
    known = _known_members(before, mark, program, workspace) if mark in (".", ":") else []
    if known:
        own_names = ()
    elif mark in (".", ":"):
        path = path_before(code, len(code) - 1)
        steps = path.steps if path else []
        is_known = path is not None and listed.candidates
        own_names = () if is_known else _members(steps, mark == ":", program, workspace)
    kind = "function" if mark == ":" else "field"
    hidden = {candidate.text for candidate in listed.candidates}
    names = {
        name for name in own_names if name.isidentifier() and (prefix or name[0] != "_")
    } - hidden
    listed_too = [
        item for item in known if item.text not in hidden and (prefix or item.text[0] != "_")
    ]
    more = in_order([*listed_too, *(Candidate(name, kind) for name in names)], prefix)
    return Completions(start, [*listed.candidates, *more], listed.more)


def _known_members(
    before: str, mark: str, program: Program, workspace: Workspace
) -> list[Candidate]:
    """Return the members of the expression before a mark, where programs tell them."""
    source = f"{before}{_DUMMY}{program.source[len(before) :]}"
    typed = Program(program.path, source, parse(source, is_whole=False))
    world, end = workspace.world(), len(as_parsed(before)) + len(_DUMMY) - 2
    found: dict[str, Candidate] = {}
    for node in typed.chunk.nodes:
        if isinstance(node, (tree.Index, tree.Invoke)) and node.place.end == end:
            for name, member in members_of(node.base, typed, world).items():
                is_method = isinstance(member.value, tree.Closure)
                if name.isidentifier() and (mark == "." or is_method):
                    text = partial(described, name, member)
                    found[name] = Candidate(name, "function" if is_method else "field", text)
            for steps in _classes(node.base, typed, workspace):
                for listed in workspace.engine.variables.members(steps).members:
                    found.setdefault(listed.name, Candidate(listed.name, "function"))
            break
    return list(found.values())


def _classes(node: tree.Node, program: Program, workspace: Workspace) -> Iterator[list[str]]:
    """Yield steps to what an expression is: an object of a class of torch, or a tensor."""
    for _, value in values_of(node, program, workspace.world()):
        path = tree.origin(value.function) if isinstance(value, tree.Call) else ""
        is_flat = isinstance(value, tree.Invoke) and value.name == "getParameters"
        if is_flat or tree.is_tensor(value, workspace.facts.kinds):
            yield [".torch", ".DoubleTensor", "("]
        elif path.startswith("torch.") and "class" not in path:
            yield [*(f".{name}" for name in path.split(".")), "("]


def described(name: str, member: Member) -> str:
    """Return the line that declares a member: an option with its default, or code."""
    program, value = member.program, member.value
    if isinstance(value, tree.Invoke) and value.name in ("option", "argument"):
        default = value.arguments[1] if len(value.arguments) > 1 else None
        text = program.parsed[default.place.start : default.place.end].decode() if default else ""
        kind = {"true": "boolean", "false": "boolean"}.get(text, type(default).__name__.lower())
        is_known = kind in ("boolean", "number", "string")
        return f"{name}: {kind}, {text} by default" if is_known else name
    start = program.parsed.rfind(b"\n", 0, member.place.start) + 1
    line = program.parsed[start:].partition(b"\n")[0].decode().strip()
    return line.replace(_DUMMY, "")


def _help_of_option(member: Member) -> str:
    """Return the help that an option has; '' for other members."""
    value = member.value
    texts = value.arguments[2:3] if isinstance(value, tree.Invoke) else ()
    return "".join(f"\n-- {text.value}" for text in texts if isinstance(text, tree.String))


def _members(
    steps: list[str], is_method: bool, program: Program, workspace: Workspace
) -> Iterable[str]:
    """Return the names that may follow a path which the engine knows nothing of.

    steps: as completing/paths.py reads them. The names come from programs and packages.
    """
    world = workspace.world()
    path, is_made = _path(steps)
    listed = [world.facts.fields.get(path, ()), world.members.get(path, ())] if path else []
    if not is_made and any(listed):
        return chain(*listed)
    methods_here = (symbols.last_name(item) for item in program.chunk.functions if ":" in item.name)
    return chain(methods_here, world.facts.package_methods if is_method else program.chunk.defined)


def _path(steps: Sequence[str]) -> tuple[str, bool]:
    """Return the dotted path in steps, and whether a call of it follows: `nn.Linear(…)`."""
    inner = list(steps[2:] if steps[:2] == _MODULES else steps)
    is_made = bool(inner) and inner[-1].startswith("(")
    names = inner[:-1] if is_made else inner
    if not all(name.startswith(".") for name in names):
        return "", False
    return ".".join(name[1:] for name in names), is_made


def signatures(before: str, program: Program, workspace: Workspace) -> list[Signature]:
    """Return the forms of the call that is open behind a text."""
    program = workspace.whole(program)
    listed = Signatures(workspace.engine).at(before, len(before))
    code = [token for token in tokens(before) if token.kind != "comment"]
    call = call_at_cursor(code, with_own=True)
    if call is None or (listed and call.steps):
        return listed
    name = code[call.bracket - 1].text
    path, _ = _path(call.steps)
    is_member = call.bracket > 1 and code[call.bracket - 2].text in (".", ":")
    local = None if is_member else _local(code, call.first, program)
    symbol = symbols.Symbol(name, tree.NOWHERE, local, path, is_member)
    for parameters in _parameters(symbol, program, workspace):
        words = [word.strip() for word in parameters.strip("()").split(",")]
        return [Signature(name, words, word_at(words, call.argument))]
    return []


def _local(code: Sequence[Token], first: int, program: Program) -> tree.Local | None:
    """Return the last local of the program that has the name with which a call begins."""
    named = [local for local in program.chunk.locals if local.name == code[first].text]
    return named[-1] if named else None


def _parameters(symbol: symbols.Symbol, program: Program, workspace: Workspace) -> Iterator[str]:
    """Yield the parameters of a function or of a class's constructor."""
    places = symbols.definitions(symbol, program, workspace.world())
    made = tree.Call(tree.NOWHERE, function=_as_node(symbol.path))
    constructor = members_of(made, program, workspace.world()).get("__init")
    if constructor:
        places.insert(0, (constructor.program, constructor.place))
    for where, place in places:
        function = symbols.function_at(place, where)
        if function:
            yield function.parameters


def _as_node(path: str) -> tree.Node:
    """Return the expression that a path of globals is."""
    first, *rest = path.split(".")
    node: tree.Node = tree.Name(tree.NOWHERE, name=first)
    for key in rest:
        node = tree.Index(tree.NOWHERE, base=node, key=key)
    return node


def meaning(before: str, symbol: symbols.Symbol, program: Program, workspace: Workspace) -> str:
    """Return the help on a name; before: the text up to its end."""
    steps = [f".{name}" for name in symbol.path.split(".") if name]
    if not steps:
        code = [token for token in tokens(before) if token.kind != "comment"]
        path = path_before(code, len(code))
        steps = path.steps if path else []
    if symbol.local is None and steps:
        listed = workspace.engine.variables.members(steps[:-1], symbol.name)
        if any(member.name == symbol.name for member in listed.members):
            sections = SECTIONS_OF_CLASS.get(_class(listed.owner), ())
            library_meaning = find(symbol.name, sections) or find_path(
                ".".join(s[1:] for s in steps)
            )
            if library_meaning:
                return explained(library_meaning)
    own_text = _own_meaning(symbol, program, workspace)
    library_meaning = find_path(symbol.path)
    return own_text or (explained(library_meaning) if library_meaning else _kind(steps, workspace))


def _class(owner: str) -> str:
    name = owner.removeprefix("torch.")
    return next((kind for kind in ("Tensor", "Storage") if name.endswith(kind)), name)


def _kind(steps: Sequence[str], workspace: Workspace) -> str:
    """Return the class of the object that steps lead to."""
    return workspace.engine.variables.members(steps, "\0").owner if steps else ""


def _own_meaning(symbol: symbols.Symbol, program: Program, workspace: Workspace) -> str:
    """Return the head of a function, the comment above it, and where it is."""
    for parameters in _parameters(symbol, program, workspace):
        places = symbols.definitions(symbol, program, workspace.world())
        where, place = places[0] if places else (program, symbol.place)
        comment = symbols.comment_above(where, place.line)
        head = f"{symbol.path or symbol.name}{parameters}"
        return f"{head}\n{comment}\n\n{where.path.name}, line {place.line}"
    member = symbols.member_of(symbol, program, workspace.world())
    if member is None:
        return ""
    place_text = f"{member.program.path.name}, line {member.place.line}"
    return f"{described(symbol.name, member)}{_help_of_option(member)}\n\n{place_text}"
