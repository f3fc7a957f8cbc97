"""Writes a graph as a module of PyTorch: source that defines the net as a class.

Chains of layers become an nn.Sequential each, loops over time classes of their own; what remains
are statements of the forward method.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from textwrap import fill
from typing import Any

from th_shell.runtime.export.graph import Call, Cell, Graph, Loop, Node, Value
from th_shell.runtime.export.operators import SIZE
from th_shell.runtime.export.parameters import Parameter, owner_names
from th_shell.runtime.export.python_text import (
    BODY,
    STEP,
    WIDTH,
    Formula,
    broken,
    call_text,
    is_attribute,
    literal,
    parameter_text,
    with_comment,
)
from th_shell.runtime.export.pytorch_forward import Statement, method_lines
from th_shell.runtime.export.pytorch_nodes import pull_first_states, simplify, uses_of

_ATTRIBUTES = {
    "Linear": "linear",
    "Conv1d": "conv",
    "Conv2d": "conv",
    "Conv3d": "conv",
    "ConvTranspose2d": "deconv",
    "Embedding": "embedding",
    "PReLU": "prelu",
    "Dropout": "dropout",
    "LocalResponseNorm": "lrn",
    "Upsample": "upsample",
}
_MOST_GATES = 4
_KINDS = (("BatchNorm", "norm"), ("Pool", "pool"), ("Pad", "pad"))


@dataclass(eq=False)
class Source:
    """The source that is written for a net."""

    text: str
    #: The parameters by their names in the state_dict.
    parameters: dict[str, Parameter]


def pytorch_source(graph: Graph, name: str, heading: str, floats: str = "float32") -> Source:
    """Return a module that defines a class for the net.

    name: the class's. heading: the text's docstring. floats: the type of its numbers.
    """
    simplify(graph)
    nodes = _with_layers(graph.nodes, uses_of(graph), graph.stubs)
    net = _Class(name, [_Method("forward", graph.inputs, graph.outputs, nodes)])
    named = list(net.parameters())
    # Ties stand behind double(), which gives each layer buffers of its own.
    ending = (["self.double()"] if floats == "float64" else []) + _ties(named)
    body = "\n\n\n".join([*graph.stubs.values(), net.text(ending)])
    remarks = [fill(f"{remark}.", WIDTH) for remark in dict.fromkeys(graph.remarks)]
    docstring = re.sub(r'["\\]', "'", "\n\n".join([heading, *remarks]))
    end = "\n" if "\n" in docstring else ""
    text = f'"""{docstring}{end}"""\n\n{_imports(body)}\n\n\n{body}\n'
    return Source(text, dict(named))


def main_block(
    graph: Graph, name: str, file: str, shapes: Mapping[str, Sequence[int]], floats: str
) -> str:
    """Return the end of the source, which loads parameters from a file and runs the net.

    shapes: those of its inputs, by their names.
    """
    inputs = []
    kind = "" if floats == "float32" else f", dtype=torch.{floats}"
    for value in graph.inputs:
        sizes = ", ".join(map(str, shapes[value.name]))
        if value.kind == "int":
            inputs.append(f"torch.randint(1, {value.highest + 1}, ({sizes},))".replace(",,", ","))
        else:
            inputs.append(f"torch.randn({sizes}{kind})")
    lines = [
        f"model = {name}()",
        f"path = Path(__file__).with_name({json.dumps(file)})",
        "model.load_state_dict(torch.load(path, weights_only=True))",
        "model.eval()",
        broken(f"print(model({', '.join(inputs)}))", STEP).lstrip(),
    ]
    return "\n".join(["", "", 'if __name__ == "__main__":', *[STEP + line for line in lines], ""])


def _with_layers(
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
    inner = _with_layers(body.nodes, uses, classes)
    cell = body.cell
    methods = [
        _Method("forward", inputs, results, [*first, whole]),
        _Method("step", steps, loop.step_outputs, inner),
    ]
    for number in count(1):
        name = cell.name if number == 1 else f"{cell.name}{number}"
        written = _Class(name, methods, cell)
        text = written.text(())
        if classes.setdefault(name, text) == text:
            break
    module = next((each.module for each in inner if each.parameters), node.module)
    call = Call(name, dict(cell.sizes), {}, tuple(cell.sizes))
    path, word = node.path, node.word
    layer = Node(inputs, results, node.to_onnx, path, module, node, call, word=word)
    layer.parameters = dict(written.parameters())
    return layer


def _once(values: Iterable[Value]) -> list[Value]:
    return list({id(value): value for value in values}.values())


def _imports(body: str) -> str:
    functions = "import torch.nn.functional as F\n" if re.search(r"(?<![\w.])F\.", body) else ""
    return f"from pathlib import Path\n\nimport torch\n{functions}from torch import Tensor, nn"


def _ties(named: Sequence[tuple[str, Parameter]]) -> list[str]:
    """Return statements that let layers share the parameters that they share in the file.

    Layers stay two, since what they do with their parameters may differ, as by a stride.
    """
    return [
        f"self.{_as_attribute(name)} = self.{_as_attribute(owner)}"
        for name, owner in owner_names(named).items()
        if owner != name
    ]


def _as_attribute(name: str) -> str:
    return re.sub(r"\.(\d+)", r"[\1]", name)


@dataclass(eq=False)
class _Method:
    """A method of a class: what it takes and gives, and the nodes that compute it."""

    name: str
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    nodes: Sequence[Node]


class _Class:
    """A class: its attributes, its methods and its text.

    cell: of a class for a loop.
    """

    def __init__(self, name: str, methods: Sequence[_Method], cell: Cell | None = None) -> None:
        self._name = name
        self._methods = methods
        self._cell = cell
        self._sizes = cell.sizes if cell else {}
        # The attribute of each node that has a layer, with an index into a Sequential.
        self._places: dict[int, str] = {}
        # The attributes of the parameters of each node that has no layer.
        self._own_attributes: dict[int, dict[str, str]] = {}
        self._lines: list[str] = []  # of the constructor
        self._taken: Counter[str] = Counter()
        self._nodes = [node for method in methods for node in method.nodes]
        self._uses = Counter(id(value) for node in self._nodes for value in node.inputs)
        self._uses.update(id(value) for method in methods for value in method.outputs)
        self._keys = _keys(self._nodes)
        self._key_counts = Counter(self._keys.values())
        self._attributes: dict[Any, str] = {}  # of layers, and of other parameters, by keys
        bases = dict(base for method in methods for base in self._bases(method.nodes))
        self._base_counts = Counter(bases.values())
        self._statements = [
            [self._statement(run) for run in self._runs(method.nodes)] for method in methods
        ]

    def parameters(self) -> Iterator[tuple[str, Parameter]]:
        """Yield each parameter with its name in the state_dict, once a name."""
        names: set[str] = set()
        for node in self._nodes:
            place, attributes = self._places.get(id(node)), self._own_attributes.get(id(node), {})
            for name, parameter in node.parameters.items():
                full = attributes.get(name) or f"{place}.{name}"
                if full not in names:
                    names.add(full)
                    yield full, parameter

    def text(self, ending: Iterable[str]) -> str:
        """Return the class; ending: statements at the end of its constructor."""
        methods = [
            "\n".join(
                method_lines(
                    method.name, method.inputs, method.outputs, statements, self._sizes_text
                )
            )
            for method, statements in zip(self._methods, self._statements, strict=True)
        ]
        keeps_size = any("self.hidden_size" in method for method in methods)
        sizes = [f"{BODY}self.hidden_size = hidden_size"] if keeps_size else []
        statements = [*sizes, *self._lines, *[BODY + line for line in ending]]
        if statements:
            taken = ", ".join(["self", *[f"{name}: int" for name in self._sizes]])
            head = [f"{STEP}def __init__({taken}) -> None:", f"{BODY}super().__init__()"]
            methods.insert(0, "\n".join([*head, *statements]))
        if self._cell is not None:
            methods.insert(0, f'{STEP}"""{self._cell.title}"""')
        return f"class {self._name}(nn.Module):\n" + "\n\n".join(methods)

    def _sized(self, node: Node) -> Call:
        """Return a node's layer with the constructor's names for sizes."""
        assert node.layer is not None
        named = {
            name: self._size(value, name == "in_features" and self._takes_steps(node))
            if name in ("in_features", "out_features")
            else value
            for name, value in node.layer.named.items()
        }
        return replace(node.layer, named=named)

    def _size(self, size: Any, of_step: bool = False) -> Any:
        """Return a size as a number, or as the constructor names it; of_step: of what is taken."""
        hidden = self._sizes.get("hidden_size")
        if of_step and size == self._sizes.get("input_size"):
            return Formula("input_size")
        if not isinstance(size, int):
            return Formula(str(size))
        if hidden and size % hidden == 0 and 1 <= size // hidden <= _MOST_GATES:
            many = size // hidden
            return Formula("hidden_size" if many == 1 else f"{many} * hidden_size")
        return size

    def _sizes_text(self, value: Value) -> str:
        """Return a value's sizes for a comment; "" where they are not known."""
        shape, taken = value.shape or (), [method.inputs[0] for method in self._methods]
        sizes = [self._size(size, any(value is each for each in taken)) for size in shape]
        return "" if None in shape else " x ".join(map(literal, sizes))

    def _takes_steps(self, node: Node) -> bool:
        """Tell whether a node's input is a step of the sequence, perhaps after dropout."""
        value = node.inputs[0]
        while value.node is not None and len(value.node.inputs) == 1:
            value = value.node.inputs[0]
        return value is self._methods[-1].inputs[0]

    def _bases(self, nodes: Sequence[Node]) -> Iterator[tuple[Any, str]]:
        """Yield a key, and the name that its attribute has if no other has it, for each layer."""
        for run in self._runs(nodes):
            if len(run) > 1:
                yield self._keys[id(run[0])], self._chain_name(run)
            elif _needs_layer(run[0]):
                yield self._keys[id(run[0])], _base_name(run[0])

    def _runs(self, nodes: Sequence[Node]) -> list[list[Node]]:
        """Return the nodes of each statement: a chain of layers, or one node."""
        runs: list[list[Node]] = []
        for node in nodes:
            if runs and self._goes_on(runs[-1][-1], node):
                runs[-1].append(node)
            else:
                runs.append([node])
        return [part for run in runs for part in _parts(run)]

    def _goes_on(self, last: Node, node: Node) -> bool:
        """Tell whether a node is the next layer of a chain."""
        if (
            last.layer is None
            or node.layer is None
            or node.inputs != last.outputs
            or len(last.inputs) > 1
        ):
            return False
        once = all(self._key_counts[self._keys[id(each)]] == 1 for each in (last, node))
        return once and len(node.outputs) == 1 and self._uses[id(last.outputs[0])] == 1

    def _statement(self, run: Sequence[Node]) -> Statement:
        first, last = run[0], run[-1]
        if len(run) == 1 and not _needs_layer(first):
            return self._expression(first)
        base = _base_name(first) if len(run) == 1 else self._chain_name(run)
        name = self._attribute(self._keys[id(first)], base, partial(self._layers_text, run))
        numbered = [name] if len(run) == 1 else [f"{name}.{number}" for number in range(len(run))]
        self._places |= {id(node): place for node, place in zip(run, numbered, strict=True)}
        arguments = ", ".join(f"{{{n}}}" for n in range(len(first.inputs)))
        use = first.expression if "{layer}" in first.expression else f"{{layer}}({arguments})"
        return Statement(first.inputs, last.outputs, use.replace("{layer}", f"self.{name}"), name)

    def _layers_text(self, run: Sequence[Node], name: str) -> str:
        """Return the statement that makes a layer, or a chain of several, an attribute."""
        calls = [call_text(self._sized(node)) for node in run]
        if len(run) == 1:
            return broken(f"self.{name} = {calls[0]}", BODY)
        lines = [f"{BODY}self.{name} = nn.Sequential("]
        for node, call in zip(run, calls, strict=True):
            line = broken(call, BODY + STEP, 1) + ","
            is_new = node.inputs[0].shape != node.outputs[0].shape
            sizes = self._sizes_text(node.outputs[0]) if is_new else ""
            lines.append(with_comment(line, sizes))
        return "\n".join([*lines, f"{BODY})"])

    def _expression(self, node: Node) -> Statement:
        """Return a statement of functions; its parameters are attributes of the net."""
        names, text = {}, node.expression
        for name, parameter in node.parameters.items():
            sizes = ", ".join([literal(self._size(size)) for size in parameter.shape]) or "()"
            making = partial(self._parameter_text, parameter=parameter, sizes=sizes)
            base = node.word if len(node.parameters) == 1 and is_attribute(node.word) else name
            base = name if base == "x" else base
            names[name] = self._attribute((self._keys[id(node)], name), base, making)
            text = text.replace(f"{{{name}}}", f"self.{names[name]}")
        self._own_attributes[id(node)] = names
        text = re.sub(rf"{SIZE}(\d+)", lambda match: self._in_method(int(match[1])), text)
        return Statement(node.inputs, node.outputs, text, node.word, node.loop)

    def _parameter_text(self, name: str, parameter: Parameter, sizes: str) -> str:
        return broken(parameter_text(name, parameter, sizes), BODY)

    def _in_method(self, size: int) -> str:
        text = literal(self._size(size))
        return text.replace("hidden_size", "self.hidden_size")

    def _attribute(self, key: Any, base: str, making: Callable[[str], str]) -> str:
        """Return the attribute with a key; making: the constructor's statement by its name."""
        if key not in self._attributes:
            self._taken[base] += 1
            number = self._taken[base]
            name = f"{base}{number}" if self._base_counts[base] > 1 or number > 1 else base
            self._attributes[key] = name
            self._lines.append(making(name))
        return self._attributes[key]

    def _chain_name(self, nodes: Sequence[Node]) -> str:
        """Return a name that says what kind of layers a chain has."""
        method = self._methods[0]
        calls = [node.layer for node in nodes if node.layer is not None]
        kinds = " ".join(call.function for call in calls)
        if nodes[-1].outputs[0] in method.outputs:
            is_first = nodes[0].inputs[0] in method.inputs
            return "classifier" if "Linear" in kinds and not is_first else "layers"
        if "Transpose" in kinds or "Upsample" in kinds:
            return "up"
        if any(call.named.get("stride", 1) != 1 for call in calls):
            return "down"
        return "features" if "Conv" in kinds else "layers"


def _keys(nodes: Iterable[Node]) -> dict[int, Any]:
    """Return a key for each node's layer, by the nodes' identities.

    A module that is used again gives the same keys where it becomes the same layer.
    """
    keys: dict[int, Any] = {}
    counts: Counter[int] = Counter()
    for node in nodes:
        has_own_layer = node.module is not None and node.parameters
        form = call_text(node.layer) if node.layer else node.expression
        keys[id(node)] = (id(node.module), counts[node.visit], form) if has_own_layer else id(node)
        counts[node.visit] += 1
    return keys


def _parts(run: list[Node]) -> list[list[Node]]:
    """Return a chain, or its steps one by one where a chain gains nothing."""
    if len(run) > 1 and not any(_needs_layer(node) for node in run):
        return [[node] for node in run]
    calls = [node.layer.function if node.layer else "" for node in run]
    cut = calls.index("nn.Flatten") if "nn.Flatten" in calls else 0
    if 2 < cut < len(run) - 2 and any(node.parameters for node in run[:cut]):
        return [run[:cut], run[cut : cut + 1], run[cut + 1 :]]
    return [run]


def _needs_layer(node: Node) -> bool:
    """Tell whether a node cannot be written as an expression."""
    return node.layer is not None and (bool(node.parameters) or not node.expression)


def _base_name(node: Node) -> str:
    """Return a name for the attribute of a layer."""
    if node.word != "x" and is_attribute(node.word):
        return node.word
    assert node.layer is not None
    kind = node.layer.function.rpartition(".")[2]
    for part, name in _KINDS:
        if part in kind:
            return name
    return _ATTRIBUTES.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
