"""Help while a program is typed: completion, signatures and the meaning of a name.

The knowledge of the prompt, of torch and the libraries, comes first; then the definitions in the
text of programs and packages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
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
from th_shell.preflight.programs import Program
from th_shell.runtime.shell import Token, tokens

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
    if mark in (".", ":"):
        path = path_before(code, len(code) - 1)
        steps = path.steps if path else []
        is_known = path is not None and listed.candidates
        own_names = () if is_known else _members(steps, mark == ":", program, workspace)
    kind = "function" if mark == ":" else "field"
    hidden = {candidate.text for candidate in listed.candidates}
    names = {
        name for name in own_names if name.isidentifier() and (prefix or name[0] != "_")
    } - hidden
    more = in_order((Candidate(name, kind) for name in names), prefix)
    return Completions(start, [*listed.candidates, *more], listed.more)


def _members(
    steps: list[str], is_method: bool, program: Program, workspace: Workspace
) -> Iterable[str]:
    """Return the names that may follow a path which the engine knows nothing of.

    steps: as completing/paths.py reads them. The names come from programs and packages.
    """
    world = workspace.world()
    path, is_made = _path(steps)
    if is_made and (methods := symbols.methods_of(path, world)):
        return methods
    file = world.modules.file(path, program.path) if path else None
    listed = [world.facts.fields.get(path, ()), world.members.get(path, ())] if path else []
    listed += [item.chunk.defined for item in world.programs if item.path == file]
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
    constructor = symbols.methods_of(symbol.path, workspace.world()).get("__init")
    if constructor:
        yield constructor[1].parameters
    for where, place in symbols.definitions(symbol, program, workspace.world()):
        function = symbols.function_at(place, where)
        if function:
            yield function.parameters


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
    return ""
