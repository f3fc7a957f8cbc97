"""The rule about calls of torch's operations with a number of arguments that no form takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from th_shell.call_forms import takes, without_types, words_of
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Found
from th_shell.preflight.knowledge import Lack
from th_shell.preflight.programs import Program, World


def impossible_counts(program: Program, world: World) -> Iterator[Found]:
    """Calls of torch's functions, and of methods of what certainly is a tensor."""
    for node in program.chunk.nodes:
        if isinstance(node, tree.Call):
            table, _, name = tree.origin(node.function).rpartition(".")
            if table == "torch" and name not in world.members.get("torch", ()):
                yield from _wrong(node, f"torch.{name}", "function", world)
        elif isinstance(node, tree.Invoke) and not world.changes_tensors(node.name):
            if tree.is_tensor(node.base, world.facts.kinds):
                yield from _wrong(node, f":{node.name}", "method", world)


def _wrong(node: tree.Call | tree.Invoke, name: str, space: str, world: World) -> Iterator[Found]:
    forms = world.facts.forms(name.lstrip(":").removeprefix("torch."), space)
    given = len(node.arguments)
    if node.arguments and isinstance(tree.value(node.arguments[0]), tree.Number):
        forms = [(form.replace("[Generator] ", ""), is_loose) for form, is_loose in forms]
    if not forms or _may_be_more(node.arguments, world):
        return
    own = 1 if space == "method" else 0
    if any(takes(form, given + own, is_loose) for form, is_loose in forms):
        return
    listed = ", ".join(dict.fromkeys(_shown(form, own) for form, _ in forms))
    why = f"called with {given} argument{'s' * (given != 1)}"
    yield Found(node, f"{name}()", f"{name}()", Lack(why, f"it takes: {listed}"))


def _may_be_more(arguments: Sequence[tree.Node], world: World) -> bool:
    """Whether the last argument may stand for any number of values."""
    last = arguments[-1] if arguments else None
    if not isinstance(last, (tree.Call, tree.Invoke, tree.Varargs)):
        return False
    return not tree.is_tensor(last, world.facts.kinds)


def _shown(form: str, own: int) -> str:
    """The arguments of a form, without a method's object and what may stand before it."""
    words = words_of(without_types(form, "Tensor", "number"))
    if own:
        words = words[2:] if words[0].startswith("[") else words[1:]
    return " ".join(words) or "nothing"
