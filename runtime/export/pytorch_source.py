"""Writes a graph as a module of PyTorch: source that defines the net as a class.

Chains of layers are an nn.Sequential, what is repeated is a class of its own, and what remains are
statements of a forward method.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runtime.export.graph import Graph
from runtime.export.parameters import Parameter, firsts
from runtime.export.python_text import (
    broken,
    call_text,
    is_attribute,
    parameter_text,
    sequence_text,
)
from runtime.export.pytorch_forward import Statement, forward_lines
from runtime.export.pytorch_steps import Block, Step, Steps, every_step

_BODY = "        "  # the indentation of a method's statements
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
    """What is written for a net: the text, and its parameters by their names in the state_dict."""

    text: str
    parameters: dict[str, Parameter]


def pytorch_source(
    graph: Graph, name: str, heading: str, floats: str = "float32", keeps_values: bool = False
) -> Source:
    """A module that defines a class for the net.

    name: the class's. heading: what the text says of itself. floats: the type of its numbers.
    keeps_values: whether it is one class in single steps, whose attribute `seen` has what each
    computed, by the identities of the graph's values.
    """
    steps = Steps(graph, with_blocks=not keeps_values)
    net = steps.make(name, graph)
    written = {id(block): _Class(block, keeps_values) for block in (*steps.blocks, net)}
    classes = list(written.values())
    found = list(_named(classes[-1], written, ""))
    ties = _ties(found)
    texts = [each.text for each in graph.stubs.values()]
    texts += [each.text(()) for each in classes[:-1]]
    ending = [] if graph.training else ["self.eval()  # as it was converted; train() to go on"]
    if floats == "float64":
        ending.append("self.double()")
    texts.append(classes[-1].text((*ties, *ending)))
    body = "\n\n\n".join(texts)
    text = f'"""{heading}"""\n\n{_imports(body)}\n\n\n{body}\n'
    return Source(text, dict(found))


def _imports(body: str) -> str:
    names = {
        "torch.": "import torch",
        "F.": "import torch.nn.functional as F",
        "nn.": "from torch import nn",
    }
    return "\n".join(
        line for start, line in names.items() if re.search(rf"(?<![\w.]){re.escape(start)}", body)
    )


def _ties(found: Sequence[tuple[str, Parameter]]) -> list[str]:
    """Statements that let layers share what they share in the file: whole ones where they can."""
    owners = {name: owner for name, owner in firsts(found).items() if owner != name}
    names = [name for name, _ in found]
    pairs = dict.fromkeys(_whole(name, owner, owners, names) for name, owner in owners.items())
    return [f"self.{_as_attribute(name)} = self.{_as_attribute(owner)}" for name, owner in pairs]


def _whole(
    name: str, owner: str, owners: Mapping[str, str], names: Sequence[str]
) -> tuple[str, str]:
    """The outermost layers with two parameters, of which the one shares all with the other."""
    best, own, other = (name, owner), name.split("."), owner.split(".")
    while len(own) > 1 < len(other) and own[-1] == other[-1]:
        del own[-1], other[-1]
        start, target = ".".join(own), ".".join(other)
        inner = [each for each in names if each.startswith(f"{start}.")]
        if any(owners.get(each) != target + each[len(start) :] for each in inner):
            break
        best = start, target
    return best


def _as_attribute(name: str) -> str:
    return re.sub(r"\.(\d+)", r"[\1]", name)


def _named(one: _Class, classes: dict[int, _Class], prefix: str) -> Iterator[tuple[str, Parameter]]:
    """The parameters of a class by name, of the steps of the first occurrence."""
    yield from _of_steps(one, one.block.steps, classes, prefix)


def _of_steps(
    one: _Class, steps: Sequence[Step], classes: dict[int, _Class], prefix: str
) -> Iterator[tuple[str, Parameter]]:
    """The same, of the steps of any occurrence: these are in the same order."""
    seen: set[str] = set()
    for own, step in zip(every_step(one.block.steps), every_step(steps), strict=True):
        place = one.places[id(own)] if id(own) in one.places else ""
        if step.block is not None:
            inner = classes[id(step.block)]
            yield from _of_nodes(inner, step, classes, f"{prefix}{place}.")
            continue
        names = one.attributes.get(id(own), {})
        for name, parameter in step.parameters.items():
            full = f"{prefix}{names.get(name) or f'{place}.{name}'}"
            if full not in seen:
                seen.add(full)
                yield full, parameter


def _of_nodes(
    inner: _Class, step: Step, classes: dict[int, _Class], prefix: str
) -> Iterator[tuple[str, Parameter]]:
    """The parameters of an occurrence of a block: by the nodes at the places of the first's."""
    place = 0
    steps = []
    for own in inner.block.steps:
        nodes = step.nodes[place : place + len(own.nodes)]
        place += len(own.nodes)
        found = dict(nodes[0].parameters) if own.block is None else {}
        steps.append(Step([], [], own.call, "", found, "", own.key, nodes, own.block))
    yield from _of_steps(inner, steps, classes, prefix)


@dataclass(eq=False)
class _Run:
    """Steps that are one statement: a chain of layers, or a single step."""

    steps: list[Step]
    attribute: str = ""
    items: list[Step] = field(default_factory=list)


class _Class:
    """One class of the source: where its layers are, and its text."""

    def __init__(self, block: Block, keeps_values: bool) -> None:
        self.block = block
        self._keeps_values = keeps_values
        self.places: dict[int, str] = {}  # of a step's layer: its attribute, with numbers in chains
        self.attributes: dict[int, dict[str, str]] = {}  # of parameters without a layer
        self._lines: list[str] = []  # of the constructor
        self._taken: Counter[str] = Counter()
        every = list(every_step(block.steps))
        self._uses = Counter(id(value) for step in every for value in step.inputs)
        self._uses.update(id(value) for value in block.outputs)
        self._uses.update(id(v) for step in every if step.loop for v in step.loop.body.outputs)
        self._keys = Counter(step.key for step in every)
        self._layers: dict[object, str] = {}  # attributes by keys
        self._wanted = Counter(dict(self._bases(block.steps)).values())
        self._statements = self._written(block.steps)

    def text(self, ending: Iterable[str]) -> str:
        """The class; ending: statements at the end of its constructor."""
        block = self.block
        arguments = "".join(f", {name}" for name in block.arguments)
        lines = [*self._lines, *[_BODY + line for line in ending]]
        init = [f"    def __init__(self{arguments}):", f"{_BODY}super().__init__()", *lines]
        if len(init[0]) > 88:
            init[0] = broken(init[0].strip()[:-1], "    ", 1) + ":"
        if self._keeps_values:
            lines.append(f"{_BODY}self.seen = {{}}")
            init.append(lines[-1])
        forward = forward_lines(
            block.inputs, block.outputs, self._statements, _BODY, self._keeps_values
        )
        head = [f"class {block.name}(nn.Module):"]
        if lines:
            head += [*init, ""]
        return "\n".join([*head, *forward])

    def _bases(self, steps: Sequence[Step]) -> Iterator[tuple[object, str]]:
        """The names that attributes would have if each were the only one of its name, by keys."""
        for run in self._runs(steps):
            first = run.steps[0]
            if len(run.steps) > 1:
                yield first.key, self._chain_name(run.steps)
            elif _needs_layer(first):
                yield first.key, _base_name(first)
            yield from self._bases(first.body)

    def _written(self, steps: Sequence[Step]) -> list[Statement]:
        return [self._statement(run) for run in self._runs(steps)]

    def _runs(self, steps: Sequence[Step]) -> list[_Run]:
        """The steps in chains, where they are chains of layers."""
        runs: list[_Run] = []
        for step in steps:
            if runs and self._goes_on(runs[-1].steps[-1], step):
                runs[-1].steps.append(step)
            else:
                runs.append(_Run([step]))
        return [each for run in runs for each in self._parts(run)]

    def _parts(self, run: _Run) -> list[_Run]:
        """A chain, or its steps one by one where a chain gains nothing."""
        if len(run.steps) == 1:
            return [run]
        if not any(_needs_layer(step) for step in run.steps):
            return [_Run([step]) for step in run.steps]
        flat = [
            n
            for n, step in enumerate(run.steps)
            if step.call and step.call.function == "nn.Flatten"
        ]
        if flat and 2 < flat[0] < len(run.steps) - 2 and _has_layers(run.steps[: flat[0]]):
            cut = flat[0]
            pieces = run.steps[:cut], run.steps[cut : cut + 1], run.steps[cut + 1 :]
            return [_Run(list(piece)) for piece in pieces]
        return [run]

    def _goes_on(self, last: Step, step: Step) -> bool:
        """Whether a step is the next layer of a chain."""
        if (
            self._keeps_values
            or last.call is None
            or step.call is None
            or step.inputs != last.outputs
            or len(last.inputs) > 1
        ):
            return False
        once = self._keys[last.key] == 1 == self._keys[step.key]
        return once and len(step.outputs) == 1 and self._uses[id(last.outputs[0])] == 1

    def _statement(self, run: _Run) -> Statement:
        first, last = run.steps[0], run.steps[-1]
        if len(run.steps) > 1:
            name = self._attribute(self._chain_name(run.steps))
            items = []
            for number, step in enumerate(run.steps):
                self.places[id(step)] = f"{name}.{number}"
                assert step.call is not None
                items.append(call_text(step.call))
            self._lines.append(broken(f"self.{name} = {sequence_text(items)}", _BODY))
            return Statement(first.inputs, last.outputs, f"self.{name}({{0}})", name)
        if not _needs_layer(first):
            return self._expression(first)
        name = self._layer(first)
        self.places[id(first)] = name
        arguments = ", ".join(f"{{{n}}}" for n in range(len(first.inputs)))
        text = first.expression if "{layer}" in first.expression else f"{{layer}}({arguments})"
        text = text.replace("{layer}", f"self.{name}")
        return Statement(first.inputs, first.outputs, text, name)

    def _layer(self, step: Step) -> str:
        """The attribute of a single layer."""
        found = self._layers.get(step.key)
        if found is None:
            base = _base_name(step)
            found = self._layers[step.key] = self._attribute(base)
            assert step.call is not None
            self._lines.append(broken(f"self.{found} = {call_text(step.call)}", _BODY))
        return found

    def _expression(self, step: Step) -> Statement:
        """A statement of functions; its parameters are attributes."""
        names = {}
        for name, parameter in step.parameters.items():
            key = (step.key, name)
            found = self._layers.get(key)
            if found is None:
                found = self._layers[key] = self._attribute(name)
                sizes = ", ".join(map(str, parameter.shape)) or "()"
                self._lines.append(_BODY + parameter_text(found, parameter, sizes))
            names[name] = found
        self.attributes[id(step)] = names
        text = step.expression
        for name, attribute in names.items():
            text = text.replace(f"{{{name}}}", f"self.{attribute}")
        body = self._written(step.body)
        return Statement(step.inputs, step.outputs, text, step.word, step.loop, body)

    def _attribute(self, base: str) -> str:
        self._taken[base] += 1
        number = self._taken[base]
        return f"{base}{number}" if self._wanted[base] > 1 or number > 1 else base

    def _chain_name(self, steps: Sequence[Step]) -> str:
        """A name by what the layers are."""
        if not self.block.is_net:
            return "branch"
        calls = [step.call for step in steps if step.call is not None]
        kinds = " ".join(call.function for call in calls)
        if steps[-1].outputs[0] in self.block.outputs:
            is_first = steps[0].inputs[0] in self.block.inputs
            return "classifier" if "Linear" in kinds and not is_first else "layers"
        if "Transpose" in kinds or "Upsample" in kinds:
            return "up"
        if any(call.named.get("stride", 1) != 1 for call in calls):
            return "down"
        return "features" if "Conv" in kinds else "layers"


def _has_layers(steps: Sequence[Step]) -> bool:
    return any(step.has_state for step in steps)


def _needs_layer(step: Step) -> bool:
    """Whether it cannot be written as an expression."""
    return step.call is not None and (step.has_state or not step.expression)


def _base_name(step: Step) -> str:
    """A name for the attribute of a layer."""
    if step.word != "x" and is_attribute(step.word):
        return step.word
    assert step.call is not None
    kind = step.call.function.rpartition(".")[2]
    for part, name in _KINDS:
        if part in kind:
            return name
    return _ATTRIBUTES.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
