"""Makes layers of parts of a graph, each with a class of its own: loops, and blocks.

A block is what a module computes from one tensor to one tensor, where that is no chain of layers
and a net repeats it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from th_shell.runtime.export.graph import Call, Cell, Loop, Node, Value
from th_shell.runtime.export.modules import class_of
from th_shell.runtime.export.pytorch_class import BLOCK_SIZES, Method, WrittenClass
from th_shell.runtime.export.pytorch_nodes import pull_first_states


def with_loops(
    nodes: Sequence[Node], uses: Mapping[int, int], classes: dict[str, str]
) -> list[Node]:
    """Return nodes in which loops are layers, whose classes are added to those that are there."""
    result: list[Node] = []
    for node in nodes:
        if node.loop is not None:
            first = pull_first_states(node, uses)
            result = [each for each in result if all(each is not inner for inner in first)]
            node = _loop_layer(node, node.loop, first, uses, classes)
        result.append(node)
    return result


def _loop_layer(
    node: Node, loop: Loop, first: list[Node], uses: Mapping[int, int], classes: dict[str, str]
) -> Node:
    """Return a layer for a loop over time, and for the nodes that make its first states."""
    body, states = loop.body, loop.states
    made = {id(value) for each in first for value in each.outputs}
    sequences, outer = node.inputs[states:], _once(loop.outer_values())
    given = [value for value in node.inputs[:states] if id(value) not in made]
    inputs = _once([*sequences, *given, *outer])
    results = node.outputs[states:]
    steps = [*body.inputs[states:], *body.inputs[:states], *outer]
    for value, state in zip(body.outputs, body.inputs[:states], strict=False):
        if value.node is not None and len(value.node.outputs) == 1 and not value.node.parameters:
            value.node.word = state.name
    whole = Node([*node.inputs, *outer], results, node.to_onnx, (), None, node, loop=loop)
    inner = with_loops(body.nodes, uses, classes)
    methods = [
        Method("forward", inputs, results, [*first, whole]),
        Method("step", steps, loop.step_outputs, inner),
    ]
    return _layer(methods, body.cell, node.word, classes)


def _layer(methods: Sequence[Method], cell: Cell, word: str, classes: dict[str, str]) -> Node:
    """Return a layer for methods, whose class is added to those that are there."""
    for number in count(1):
        name = cell.name if number == 1 else f"{cell.name}{number}"
        written = WrittenClass(name, methods, cell)
        text = written.text(())
        if classes.setdefault(name, text) == text:
            break
    nodes = [node for method in methods for node in method.nodes]
    module = next((each.module for each in nodes if each.parameters), nodes[0].module)
    inputs, outputs = [*methods[0].inputs], [*methods[0].outputs]
    call = Call(name, dict(cell.sizes), {}, tuple(cell.sizes))
    layer = Node(
        inputs, outputs, nodes[0].to_onnx, nodes[0].path, module, object(), call, word=word
    )
    layer.parameters = dict(written.parameters())
    return layer


#: Modules that are classes wherever they are, and what these compute.
_TITLES = {
    "nn.SpatialSubtractiveNormalization": "Subtract the weighted mean around each place.",
    "nn.SpatialDivisiveNormalization": "Divide by the weighted deviation around each place.",
}


def with_blocks(
    nodes: Sequence[Node], uses: Mapping[int, int], classes: dict[str, str]
) -> list[Node]:
    """Return nodes in which blocks that are repeated are layers, the innermost ones."""
    places: dict[tuple[str, ...], list[int]] = {}
    for place, node in enumerate(nodes):
        for size in range(1, len(node.path) + 1):
            places.setdefault(node.path[:size], []).append(place)
    found: list[tuple[range, Method, Cell]] = []
    for path, inner in sorted(places.items(), key=lambda item: len(item[1])):
        block = range(inner[0], inner[-1] + 1)
        method = (
            _method([nodes[place] for place in block], uses) if len(block) == len(inner) else None
        )
        if method is not None:
            found.append((block, method, _cell_of(method, path)))
    texts = Counter(_text(method, cell) for _, method, cell in found)
    result: list[Node | None] = [*nodes]
    for block, method, cell in found:
        is_wanted = cell.title in _TITLES.values() or texts[_text(method, cell)] > 1
        if is_wanted and all(result[place] is nodes[place] for place in block):
            layer = _layer([method], cell, "x", classes)
            result[block.start : block.stop] = [None] * (len(block) - 1) + [layer]
    return [node for node in result if node is not None]


def _method(nodes: Sequence[Node], uses: Mapping[int, int]) -> Method | None:
    """Return the method of a block; None where the nodes are none."""
    made = {id(value): value for node in nodes for value in node.outputs}
    within = Counter(id(value) for node in nodes for value in node.inputs)
    inputs = _once([each for node in nodes for each in node.inputs if id(each) not in made])
    outputs = [value for key, value in made.items() if uses[key] > within[key]]
    if len(inputs) != 1 or len(outputs) != 1 or not any(node.parameters for node in nodes):
        return None
    method = Method("forward", inputs, outputs, nodes)
    return method if WrittenClass("Block", [method]).has_statements else None


def _cell_of(method: Method, path: tuple[str, ...]) -> Cell:
    """Return the class of a block: its name, and the numbers of channels if these are few."""
    own = next((node.module for node in method.nodes if node.path == path), None)
    kind = class_of(own)
    if kind in _TITLES:
        return Cell(kind.removeprefix("nn.Spatial"), _TITLES[kind], is_block=True)
    calls = [node.layer for node in method.nodes if node.layer is not None]
    sizes = dict.fromkeys(
        call.named[name] for call in calls for name in BLOCK_SIZES if name in call.named
    )
    names = {1: ["channels"], 2: ["in_channels", "out_channels"]}.get(len(sizes), [])
    is_sum = any(node.expression == "{0} + {1}" for node in method.nodes)
    shrinks = any(call.named.get("stride", 1) != 1 for call in calls)
    name = f"{'Strided' if shrinks else ''}{'ResidualBlock' if is_sum else 'Block'}"
    title = f"A {'residual ' if is_sum else ''}block{' with a stride' if shrinks else ''}."
    return Cell(name, title, dict(zip(names, sizes, strict=False)), is_block=True)


def _text(method: Method, cell: Cell) -> str:
    return WrittenClass(cell.name, [method], cell).text(())


def _once(values: Iterable[Value]) -> list[Value]:
    return list({id(value): value for value in values}.values())
