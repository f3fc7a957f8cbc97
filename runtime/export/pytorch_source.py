"""Writes a graph as a module of PyTorch: source that defines the net as a class.

Chains of layers become an nn.Sequential each; what remains are statements of the forward method.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from th_shell.runtime.export.graph import Graph, Node
from th_shell.runtime.export.parameters import Parameter, owner_names
from th_shell.runtime.export.python_text import (
    STEP,
    broken,
    call_text,
    is_attribute,
    parameter_text,
)
from th_shell.runtime.export.pytorch_forward import Statement, forward_lines

_BODY = STEP * 2  # the indentation of a method's statements
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
_KINDS = (("BatchNorm", "norm"), ("Pool", "pool"), ("Pad", "pad"))


@dataclass(eq=False)
class Source:
    """The source that is written for a net."""

    text: str
    #: The parameters by their names in the state_dict.
    parameters: dict[str, Parameter]


def pytorch_source(graph: Graph, name: str, heading: str, floats: str = "float32") -> Source:
    """Return a module that defines a class for the net.

    name: the class's. heading: the first line of the text's docstring. floats: the type of its
    numbers.
    """
    net = _Class(graph, name)
    named = list(net.parameters())
    # Ties stand behind double(), which gives each layer buffers of its own.
    ending = (["self.double()"] if floats == "float64" else []) + _ties(named)
    ending.append("self.eval()  # as it was converted; train() to go on")
    body = "\n\n\n".join([*graph.stubs.values(), net.text(ending)])
    docstring = "\n\n".join([heading, *[f"{remark}." for remark in graph.remarks]])
    text = f'"""{docstring}"""\n\n{_imports(body)}\n\n\n{body}\n'
    return Source(text, dict(named))


def _imports(body: str) -> str:
    names = {
        "torch.": "import torch",
        "F.": "import torch.nn.functional as F",
        "nn.": "from torch import nn",
    }
    return "\n".join(
        line for start, line in names.items() if re.search(rf"(?<![\w.]){re.escape(start)}", body)
    )


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


class _Class:
    """The class of a net: its attributes, and its text."""

    def __init__(self, graph: Graph, name: str) -> None:
        self._graph = graph
        self._name = name
        # Of a node with a layer: its attribute, with a number in a chain.
        self._places: dict[int, str] = {}
        # Of a node without one: the attributes of its parameters.
        self._own_attributes: dict[int, dict[str, str]] = {}
        self._lines: list[str] = []  # of the constructor
        self._taken: Counter[str] = Counter()
        self._nodes = list(graph.every_node())
        self._uses = Counter(id(value) for node in self._nodes for value in node.inputs)
        self._uses.update(id(value) for value in graph.outputs)
        for node in self._nodes:
            self._uses.update(id(value) for value in (node.loop.body.outputs if node.loop else ()))
        self._keys = _keys(self._nodes)
        self._key_counts = Counter(self._keys.values())
        self._attributes: dict[Any, str] = {}  # of layers, and of other parameters, by keys
        self._base_counts = Counter(dict(self._bases(graph.nodes)).values())
        self._statements = self._written(graph.nodes)

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
        lines = [f"class {self._name}(nn.Module):"]
        statements = [*self._lines, *[_BODY + line for line in ending]]
        if statements:
            lines += [f"{STEP}def __init__(self):", f"{_BODY}super().__init__()", *statements, ""]
        graph = self._graph
        lines += forward_lines(graph.inputs, graph.outputs, self._statements, _BODY)
        return "\n".join(lines)

    def _bases(self, nodes: Sequence[Node]) -> Iterator[tuple[Any, str]]:
        """Yield a key, and the name that its attribute has if no other has it, for each layer."""
        for run in self._runs(nodes):
            if len(run) > 1:
                yield self._keys[id(run[0])], self._chain_name(run)
            elif _needs_layer(run[0]):
                yield self._keys[id(run[0])], _base_name(run[0])
            yield from self._bases(run[0].body)

    def _written(self, nodes: Sequence[Node]) -> list[Statement]:
        return [self._statement(run) for run in self._runs(nodes)]

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
        calls = [call_text(node.layer) for node in run if node.layer is not None]
        if len(run) == 1:
            base, text = _base_name(first), calls[0]
        else:
            base, text = self._chain_name(run), f"nn.Sequential({', '.join(calls)},)"
        key = self._keys[id(first)]
        name = self._attribute(key, base, lambda attribute: f"self.{attribute} = {text}")
        numbered = [name] if len(run) == 1 else [f"{name}.{number}" for number in range(len(run))]
        self._places |= {id(node): place for node, place in zip(run, numbered, strict=True)}
        arguments = ", ".join(f"{{{n}}}" for n in range(len(first.inputs)))
        use = first.expression if "{layer}" in first.expression else f"{{layer}}({arguments})"
        return Statement(first.inputs, last.outputs, use.replace("{layer}", f"self.{name}"), name)

    def _expression(self, node: Node) -> Statement:
        """Return a statement of functions; its parameters are attributes of the net."""
        names, text = {}, node.expression
        for name, parameter in node.parameters.items():
            sizes = ", ".join(map(str, parameter.shape)) or "()"
            making = partial(parameter_text, parameter=parameter, sizes=sizes)
            names[name] = self._attribute((self._keys[id(node)], name), name, making)
            text = text.replace(f"{{{name}}}", f"self.{names[name]}")
        self._own_attributes[id(node)] = names
        body = self._written(node.body)
        return Statement(node.inputs, node.outputs, text, node.word, node.loop, body)

    def _attribute(self, key: Any, base: str, making: Callable[[str], str]) -> str:
        """Return the attribute with a key; making: the constructor's statement by its name."""
        if key not in self._attributes:
            self._taken[base] += 1
            number = self._taken[base]
            name = f"{base}{number}" if self._base_counts[base] > 1 or number > 1 else base
            self._attributes[key] = name
            self._lines.append(broken(making(name), _BODY))
        return self._attributes[key]

    def _chain_name(self, nodes: Sequence[Node]) -> str:
        """Return a name that says what kind of layers a chain has."""
        calls = [node.layer for node in nodes if node.layer is not None]
        kinds = " ".join(call.function for call in calls)
        if nodes[-1].outputs[0] in self._graph.outputs:
            is_first = nodes[0].inputs[0] in self._graph.inputs
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
