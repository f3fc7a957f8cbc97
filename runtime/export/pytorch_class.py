"""Writes a class of PyTorch: its constructor, whose layers are attributes, and its methods."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from th_shell.runtime.export.graph import Call, Cell, Node, Value
from th_shell.runtime.export.operators import SIZE
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import (
    BODY,
    STEP,
    Formula,
    broken,
    call_text,
    is_attribute,
    literal,
    parameter_text,
    with_comment,
)
from th_shell.runtime.export.pytorch_forward import Statement, method_lines

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
#: Arguments of layers that a block's constructor may name.
BLOCK_SIZES = ("in_channels", "out_channels", "num_features")
_KINDS = (("BatchNorm", "norm"), ("Pool", "pool"), ("Pad", "pad"))


@dataclass(eq=False)
class Method:
    """A method of a class: what it takes and gives, and the nodes that compute it."""

    name: str
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    nodes: Sequence[Node]


class WrittenClass:
    """A class: its attributes, its methods and its text.

    cell: of a class for a loop.
    """

    def __init__(self, name: str, methods: Sequence[Method], cell: Cell | None = None) -> None:
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
        bases = dict([base for method in methods for base in self._bases(method.nodes)])
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

    @property
    def has_statements(self) -> bool:
        """Tell whether it is more than a chain of layers."""
        return any(len(statements) > 1 for statements in self._statements)

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
        named = dict(node.layer.named)
        for name, value in named.items():
            if name in ("in_features", "out_features"):
                named[name] = self._size(value, name == "in_features" and self._takes_steps(node))
            elif name in BLOCK_SIZES:
                named[name] = next(
                    (Formula(each) for each, size in self._sizes.items() if size == value), value
                )
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
        if self._cell is not None and self._cell.is_block:
            return ""  # uses of a block may have others
        shape, taken = value.shape or (), [method.inputs[0] for method in self._methods]
        sizes = [self._size(size, any(value is each for each in taken)) for size in shape]
        indices = f", integers up to {value.highest}" if value.highest and not value.node else ""
        return "" if None in shape else " x ".join(map(literal, sizes)) + indices

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
                yield self._key(run), self._chain_name(run)
            elif _needs_layer(run[0]):
                yield self._key(run), _base_name(run[0])
            for name in () if run[0].layer else run[0].parameters:
                yield (self._keys[id(run[0])], name), _parameter_name(run[0], name)

    def _key(self, run: Sequence[Node]) -> Any:
        """Return what is the same for chains of the same layers that share all parameters."""
        parameters = [each for node in run for each in node.parameters.items()]
        if len(run) == 1 or not parameters:
            return self._keys[id(run[0])]
        shared = [(name, each.key, each.shape, each.trained) for name, each in parameters]
        return tuple([call_text(node.layer) for node in run if node.layer]), tuple(shared)

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
        name = self._attribute(self._key(run), base, partial(self._layers_text, run))
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
            is_new = len(node.outputs[0].shape or ()) > 2 or call.startswith("nn.Flatten")
            is_new = is_new and node.inputs[0].shape != node.outputs[0].shape
            sizes = self._sizes_text(node.outputs[0]) if is_new else ""
            lines.append(with_comment(line, sizes))
        return "\n".join([*lines, f"{BODY})"])

    def _expression(self, node: Node) -> Statement:
        """Return a statement of functions; its parameters are attributes of the net."""
        names, text = {}, node.expression
        for name, parameter in node.parameters.items():
            sizes = ", ".join([literal(self._size(size)) for size in parameter.shape]) or "()"
            making = partial(self._parameter_text, parameter=parameter, sizes=sizes)
            base = _parameter_name(node, name)
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
        words = [node.word for node in nodes if node.word != "x" and is_attribute(node.word)]
        if len(words) == 1:
            return words[0]
        if self._uses[id(nodes[0].inputs[0])] > 1:
            return "branch"
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


def _parameter_name(node: Node, name: str) -> str:
    is_named = not node.inputs and node.word != "x" and is_attribute(node.word)
    return node.word if is_named else name


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
