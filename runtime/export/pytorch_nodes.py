"""Simplifies a graph's nodes for PyTorch, whose layers take more forms of tensors than nn's do.

Dimensions that are exchanged, or made one, and later put back, stay as they are where what stands
between computes each element, or each vector of the last dimension, by itself.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from th_shell.runtime.export.graph import Graph, Node, Shape, Value
from th_shell.runtime.export.operators.shaping import MERGED, UNMERGED

#: Layers and expressions that compute each element by itself.
_OF_ELEMENTS = frozenset(
    "nn.ReLU nn.ReLU6 nn.Sigmoid nn.LogSigmoid nn.Tanh nn.Tanhshrink nn.ELU nn.LeakyReLU "
    "nn.Softplus nn.Softsign nn.Softshrink nn.Hardshrink nn.Hardtanh nn.Threshold "
    "nn.Dropout".split()
)
_OF_PAIRS = frozenset(["{0} + {1}", "{0} - {1}", "{0} * {1}"])
#: Layers that compute each vector of the last dimension by itself.
_OF_VECTORS = frozenset(["nn.Linear", "nn.Embedding", "nn.Softmax", "nn.LogSoftmax"])


def uses_of(graph: Graph) -> Counter[int]:
    """Return how often each value is used, by its identity."""
    uses = Counter(id(value) for value in graph.outputs)
    for node in graph.every_node():
        uses.update(id(value) for value in node.uses)
        uses.update(id(value) for value in (node.loop.body.outputs if node.loop else ()))
    return uses


def simplify(graph: Graph) -> None:
    """Take out of a graph and its loops what one node does and another one undoes."""
    for node in graph.nodes:
        if node.loop is not None:
            simplify(node.loop.body)
    for node in graph.nodes:
        is_closing = node.expression == UNMERGED or ".transpose(" in node.expression
        if is_closing and node.layer is None:
            _Pair(graph, node).take_out()
    graph.prune()


class _Pair:
    """A node that may undo what nodes before it do."""

    def __init__(self, graph: Graph, closing: Node) -> None:
        self._graph = graph
        self._closing = closing
        self._text = MERGED if closing.expression == UNMERGED else closing.expression
        self._between: list[Node] = []  # the last one first
        self._opened: dict[int, Value] = {}  # what was there before, by the values that show it

    def take_out(self) -> None:
        """Do without the node, where it undoes what all nodes before it do."""
        result, last = self._closing.outputs[0], self._closing.inputs[0]
        likes = self._closing.inputs[1:]
        if not self._opens(last, uses_of(self._graph)):
            return
        if likes and likes[0] not in self._opened.values():
            return
        for node in reversed(self._between):
            self._change(node)
        if self._between:
            self._between[0].outputs, result.node = [result], self._between[0]
            self._closing.outputs = [Value(self._graph)]
        else:
            _exchange(self._graph, result, self._opened[id(last)])

    def _opens(self, value: Value, uses: Mapping[int, int]) -> bool:
        """Tell whether a value, and what it is computed from, begins with the opposite."""
        node = value.node
        if node is None or not node.inputs or node.loop is not None:
            return False
        if node.expression == self._text and node.layer is None:
            self._opened[id(value)] = node.inputs[0]
            return self._form(node.inputs[0]) == self._form(self._closing.outputs[0])
        if uses[id(value)] != 1 or not self._is_between(node):
            return False
        self._between.append(node)
        return all([self._opens(each, uses) for each in node.inputs])

    def _form(self, value: Value) -> Shape | None:
        """Return the dimensions that are not to differ where values meet."""
        return value.shape and value.shape[:2]

    def _is_between(self, node: Node) -> bool:
        kind = node.layer.function if node.layer else node.expression
        if kind in _OF_ELEMENTS or kind in _OF_PAIRS:
            return True
        if self._text != MERGED:
            return False
        is_matrix = all(each.shape and len(each.shape) == 2 for each in node.inputs)
        return (
            kind in _OF_VECTORS
            and (is_matrix or "dim" not in _named(node))
            or is_matrix
            and (kind.startswith("torch.cat(") and kind.endswith(", 1)"))
        )

    def _change(self, node: Node) -> None:
        """Let a node take and give values as they were before."""
        node.inputs = [self._opened.get(id(each), each) for each in node.inputs]
        if "dim" in _named(node) and node.layer is not None:
            node.layer = replace(node.layer, named={"dim": -1})
        if self._text == MERGED:
            node.expression = node.expression.replace(", 1)", ", -1)")
        (value,) = node.outputs
        first = node.inputs[0].shape
        if first is None or value.shape is None:
            value.shape = None
        elif self._text == MERGED:
            value.shape = (*first[:2], *value.shape[1:])
        else:
            value.shape = first


def _named(node: Node) -> Mapping[str, object]:
    return node.layer.named if node.layer is not None else {}


def _exchange(graph: Graph, old: Value, new: Value) -> None:
    """Let all nodes and outputs use another value."""
    for lists in [[node.inputs for node in graph.every_node()], [graph.outputs]]:
        for values in lists:
            values[:] = [new if each is old else each for each in values]
    for node in graph.every_node():
        if node.loop is not None:
            node.loop.body.outputs = [new if e is old else e for e in node.loop.body.outputs]


def pull_first_states(node: Node, uses: Mapping[int, int]) -> list[Node]:
    """Return the nodes that make the first states of a loop of its sequences, and of nothing else.

    uses: see `uses_of`.
    """
    assert node.loop is not None
    states, sequences = node.inputs[: node.loop.states], node.inputs[node.loop.states :]
    found: list[Node] = []

    def makes(value: Value, inner: list[Node]) -> bool:
        maker = value.node
        if any(value is each for each in sequences):
            return True
        if maker is None or maker.layer or maker.loop or uses[id(value)] != 1:
            return False
        inner.append(maker)
        return all([makes(each, inner) for each in maker.inputs])

    for state in states:
        inner: list[Node] = []
        if not any(state is each for each in sequences) and makes(state, inner):
            found += inner[::-1]
    return found
