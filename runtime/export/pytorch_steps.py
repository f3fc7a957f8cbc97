"""The steps of a class of PyTorch: nodes, and blocks of nodes that occur several times.

A block is what a container became that is no plain chain, where several containers became the same
but for sizes. It is a class of its own, and each occurrence a layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from th_shell.runtime.export.graph import Call, Graph, Node, Scope, Value
from th_shell.runtime.export.python_text import Name, call_text, free_name


@dataclass(eq=False)
class Step(Node):
    """A statement of a forward method: a node, or an occurrence of a block, which is a layer.

    key: of the layer; two steps with one key use one layer. nodes: those that it stands for.
    block: the class, if it is ours. body: the steps in a loop.
    """

    key: Any = None
    nodes: Sequence[Node] = ()
    block: Block | None = None
    body: list[Step] = field(default_factory=list)

    @property
    def call_text(self) -> str:
        """The call that makes the layer."""
        assert self.layer is not None
        return call_text(self.layer)

    @property
    def has_state(self) -> bool:
        """Whether it has parameters."""
        return bool(self.parameters) or self.block is not None


@dataclass(eq=False)
class Block:
    """A class: its steps are those of its first occurrence.

    arguments: the names of what its constructor takes. is_net: whether it is the whole net.
    """

    name: str
    steps: list[Step]
    inputs: list[Value]
    outputs: list[Value]
    arguments: list[str] = field(default_factory=list)
    is_net: bool = False


class Steps:
    """Makes the classes of a graph."""

    def __init__(self, graph: Graph, with_blocks: bool = True) -> None:
        self.blocks: list[Block] = []
        self._names: set[str] = set(graph.stubs)
        self._with_blocks = with_blocks
        self._uses = Counter(id(value) for node in graph.nodes for value in node.uses)
        self._uses.update(id(value) for value in graph.outputs)
        self._keys = keys_of(graph.every_node())
        self._repeated = Counter(self._keys.values())
        self._all = graph.nodes

    def make(self, name: str, graph: Graph) -> Block:
        """The class of the whole graph."""
        scopes = graph.scopes if self._with_blocks else []
        steps = self._steps(0, len(graph.nodes), scopes)
        return Block(name, steps, graph.inputs, graph.outputs, is_net=True)

    def _steps(self, start: int, stop: int, scopes: Sequence[Scope]) -> list[Step]:
        """The steps of a range of nodes, with blocks for what is repeated in it."""
        found: list[Step] = []
        chosen = {scope.start: block for scope, block in self._blocks(scopes, start, stop)}
        place = start
        while place < stop:
            found.append(chosen.get(place) or self._step(self._all[place]))
            place += len(found[-1].nodes)
        return found

    def _step(self, node: Node) -> Step:
        body = [self._step(inner) for inner in node.loop.body.nodes] if node.loop else []
        return Step(**vars(node), key=self._keys[id(node)], nodes=[node], body=body)

    def _blocks(
        self, scopes: Sequence[Scope], start: int, stop: int
    ) -> Iterable[tuple[Scope, Step]]:
        """The containers that become blocks, and their steps."""
        inner = [each for each in scopes if start <= each.start < each.stop <= stop]
        alike: dict[Any, list[Scope]] = {}
        for scope in inner:
            if (scope.start, scope.stop) != (start, stop) and self._is_candidate(scope):
                alike.setdefault(self._signature(scope), []).append(scope)
        taken: list[Scope] = []
        order = sorted(
            alike.values(), key=lambda group: (-len(group), group[0].start - group[0].stop)
        )
        for group in order:
            group = _apart(group, taken)
            if len(group) > 1:
                taken += group
                yield from self._block(group, scopes)

    def _is_candidate(self, scope: Scope) -> bool:
        """Whether nodes are no chain, have layers of their own, and one result."""
        nodes = self._all[scope.start : scope.stop]
        if len(nodes) < 3 or all(len(node.inputs) == 1 for node in nodes) and self._is_chain(nodes):
            return False
        keys = Counter(self._keys[id(node)] for node in nodes)
        if any(self._repeated[key] != count for key, count in keys.items()):
            return False
        inputs, outputs = self._ends(scope)
        return len(outputs) == 1 and 1 <= len(inputs) <= 3

    def _is_chain(self, nodes: Sequence[Node]) -> bool:
        return all(
            b.inputs == a.outputs and self._uses[id(a.outputs[0])] == 1
            for a, b in zip(nodes, nodes[1:], strict=False)
        )

    def _ends(self, scope: Scope) -> tuple[list[Value], list[Value]]:
        """The values from outside that nodes use, and theirs that are used outside."""
        nodes = self._all[scope.start : scope.stop]
        inner = {id(value): value for node in nodes for value in node.outputs}
        inputs = {id(v): v for node in nodes for v in node.inputs if id(v) not in inner}
        uses = Counter(id(value) for node in nodes for value in node.inputs)
        outputs = [value for key, value in inner.items() if self._uses[key] > uses[key]]
        return list(inputs.values()), outputs

    def _signature(self, scope: Scope) -> Any:
        """Equal for those that are the same but for the values of arguments."""
        inputs, _ = self._ends(scope)
        numbers = {id(value): -1 - n for n, value in enumerate(inputs)}
        parts = []
        for node in self._all[scope.start : scope.stop]:
            call: Any = node.expression, tuple(each.shape for each in node.parameters.values())
            if node.layer:
                call = node.layer.function, *node.layer.named
            wires = tuple([numbers[id(value)] for value in node.inputs])
            parts.append((call, wires, tuple(node.parameters), id(node.loop) if node.loop else 0))
            numbers |= {id(value): len(numbers) for value in node.outputs}
        return tuple(parts)

    def _block(self, group: list[Scope], scopes: Sequence[Scope]) -> Iterable[tuple[Scope, Step]]:
        first = group[0]
        inputs, outputs = self._ends(first)
        calls, arguments = self._arguments(group)
        block = Block(self._name(first), [], inputs, outputs, arguments)
        nodes = self._all[first.start : first.stop]
        saved = [node.layer for node in nodes]
        for node, call in zip(nodes, calls, strict=True):
            node.layer = call
        block.steps = self._steps(first.start, first.stop, scopes)
        for node, layer in zip(nodes, saved, strict=True):
            node.layer = layer
        self.blocks.append(block)
        for scope in group:
            yield scope, self._occurrence(scope, block, group)

    def _occurrence(self, scope: Scope, block: Block, group: list[Scope]) -> Step:
        inputs, outputs = self._ends(scope)
        values = self._values(group)
        mine = group.index(scope)
        named = {name: column[mine] for name, column in zip(block.arguments, values, strict=True)}
        call = Call(block.name, named, {}, tuple(named) if len(named) < 4 else ())
        nodes = self._all[scope.start : scope.stop]
        place = (nodes[0].to_onnx, scope.path, None, 0)
        return Step(inputs, outputs, *place, layer=call, key=(id(scope),), nodes=nodes, block=block)

    def _columns(self, group: list[Scope]) -> Iterable[tuple[int, str, tuple[Any, ...]]]:
        """The arguments that differ between occurrences: node, name, a value for each."""
        count = group[0].stop - group[0].start
        for place in range(count):
            layers = [self._all[scope.start + place].layer for scope in group]
            if layers[0] is None:
                continue
            for name in layers[0].named:
                column = tuple([layer.named[name] for layer in layers if layer is not None])
                if isinstance(column[0], Name) or any(value != column[0] for value in column):
                    yield place, name, column

    def _values(self, group: list[Scope]) -> list[tuple[Any, ...]]:
        return list(dict.fromkeys(column for _, _, column in self._columns(group)))

    def _arguments(self, group: list[Scope]) -> tuple[list[Call | None], list[str]]:
        """The calls of the first occurrence with names where they differ, and these names."""
        columns = list(self._columns(group))
        last = next((c for _, name, c in reversed(columns) if name == "out_channels"), None)
        names: dict[tuple[Any, ...], Name] = {}
        changed: dict[int, dict[str, Name]] = {}
        for place, name, column in columns:
            if column not in names:
                base = "channels" if name == "out_channels" and column != last else name
                names[column] = Name(free_name(base, names.values()))
            changed.setdefault(place, {})[name] = names[column]
        layers = [node.layer for node in self._all[group[0].start : group[0].stop]]
        calls = [
            replace(layer, named=layer.named | changed.get(place, {})) if layer else None
            for place, layer in enumerate(layers)
        ]
        return calls, list(names.values())

    def _name(self, scope: Scope) -> str:
        """A name by what the block ends with."""
        words = [node.word for node in self._all[scope.start : scope.stop] if not node.layer]
        base = "Residual" if "sum" in words else "Branches" if "joined" in words else "Block"
        name = free_name(base, self._names)
        self._names.add(name)
        return name


def _apart(group: Sequence[Scope], taken: Sequence[Scope]) -> list[Scope]:
    """Those that share no node with others."""
    found: list[Scope] = []
    for scope in group:
        if all(scope.stop <= one.start or one.stop <= scope.start for one in (*taken, *found)):
            found.append(scope)
    return found


def keys_of(nodes: Iterable[Node]) -> dict[int, Any]:
    """A key for the layer of each node: a module that is used again gives the same keys again,
    where it becomes the same layer.
    """
    keys: dict[int, Any] = {}
    counts: Counter[int] = Counter()
    for node in nodes:
        owned = node.module is not None and node.parameters
        form = call_text(node.layer) if node.layer else node.expression
        keys[id(node)] = (id(node.module), counts[node.visit], form) if owned else (id(node),)
        counts[node.visit] += 1
    return keys


def every_step(steps: Iterable[Step]) -> Iterator[Step]:
    """Steps, and behind each those of its body."""
    for step in steps:
        yield step
        yield from every_step(step.body)
