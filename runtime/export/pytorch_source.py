"""Writes a graph as a module of PyTorch: source that defines the net as a class.

Chains of layers are an nn.Sequential, what is repeated is a class of its own, and what remains are
statements of a forward method.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from th_shell.runtime.export.graph import Graph, Node
from th_shell.runtime.export.parameters import Parameter, apart, firsts
from th_shell.runtime.export.python_text import (
    STEP,
    broken,
    is_attribute,
    parameter_text,
)
from th_shell.runtime.export.pytorch_forward import Statement, forward_lines
from th_shell.runtime.export.pytorch_steps import Block, Step, Steps, every_step

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
    """What is written for a net: the text, and its parameters by their names in the state_dict.

    remarks: what who trains it on should know; the text tells it, too.
    """

    text: str
    parameters: dict[str, Parameter]
    remarks: list[str]


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
    nodes = [node for step in every_step(net.steps) for node in step.nodes]
    found = list(_named(classes[-1], nodes, written, ""))
    texts = [each.text for each in graph.stubs.values()]
    texts += [each.text(()) for each in classes[:-1]]
    # Ties stand behind double(), which gives each layer buffers of its own.
    ending = (["self.double()"] if floats == "float64" else []) + _ties(found)
    if not graph.training:
        ending.append("self.eval()  # as it was converted; train() to go on")
    texts.append(classes[-1].text(ending))
    body = "\n\n\n".join(texts)
    remarks = graph.remarks + [
        f"{one} and {other} share memory in the file, not here: training makes them differ"
        for one, other in apart(found)
    ]
    told = "\n\n".join([heading, *[f"{remark}." for remark in remarks]])
    text = f'"""{told}"""\n\n{_imports(body)}\n\n\n{body}\n'
    return Source(text, dict(found), remarks)


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
    """Statements that let layers share the parameters that they share in the file.

    Layers stay two, since what they do with their parameters may differ, as by a stride.
    """
    return [
        f"self.{_as_attribute(name)} = self.{_as_attribute(owner)}"
        for name, owner in firsts(found).items()
        if owner != name
    ]


def _as_attribute(name: str) -> str:
    return re.sub(r"\.(\d+)", r"[\1]", name)


def _named(
    one: _Class, nodes: Iterable[Node], classes: Mapping[int, _Class], prefix: str
) -> Iterator[tuple[str, Parameter]]:
    """The parameters of an occurrence of a class by name. nodes: those that became it."""
    seen: set[str] = set()
    rest = iter(nodes)
    for step in every_step(one.block.steps):
        mine = [next(rest) for _ in step.nodes]
        place, names = one.places.get(id(step), ""), one.attributes.get(id(step), {})
        if step.block is not None:
            yield from _named(classes[id(step.block)], mine, classes, f"{prefix}{place}.")
            continue
        for name, parameter in mine[0].parameters.items():
            full = f"{prefix}{names.get(name) or f'{place}.{name}'}"
            if full not in seen:
                seen.add(full)
                yield full, parameter


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
        lines = [f"class {block.name}(nn.Module):"]
        made = [*self._lines, *[_BODY + line for line in ending]]
        if self._keeps_values:
            made.append(f"{_BODY}self.seen = {{}}")
        if made:
            arguments = ", ".join(["self", *block.arguments])
            lines += [broken(f"def __init__({arguments})", STEP, 1) + ":"]
            lines += [f"{_BODY}super().__init__()", *made, ""]
        lines += forward_lines(
            block.inputs, block.outputs, self._statements, _BODY, self._keeps_values
        )
        return "\n".join(lines)

    def _bases(self, steps: Sequence[Step]) -> Iterator[tuple[object, str]]:
        """The names that attributes would have if each were the only one of its name, by keys."""
        for run in self._runs(steps):
            if len(run) > 1:
                yield run[0].key, self._chain_name(run)
            elif _needs_layer(run[0]):
                yield run[0].key, _base_name(run[0])
            yield from self._bases(run[0].body)

    def _written(self, steps: Sequence[Step]) -> list[Statement]:
        return [self._statement(run) for run in self._runs(steps)]

    def _runs(self, steps: Sequence[Step]) -> list[list[Step]]:
        """The steps of each statement: chains of layers, or one alone."""
        runs: list[list[Step]] = []
        for step in steps:
            if runs and self._goes_on(runs[-1][-1], step):
                runs[-1].append(step)
            else:
                runs.append([step])
        return [each for run in runs for each in _parts(run)]

    def _goes_on(self, last: Step, step: Step) -> bool:
        """Whether a step is the next layer of a chain."""
        if (
            self._keeps_values
            or last.layer is None
            or step.layer is None
            or step.inputs != last.outputs
            or len(last.inputs) > 1
        ):
            return False
        once = self._keys[last.key] == 1 == self._keys[step.key]
        return once and len(step.outputs) == 1 and self._uses[id(last.outputs[0])] == 1

    def _statement(self, run: Sequence[Step]) -> Statement:
        first, last = run[0], run[-1]
        if len(run) == 1 and not _needs_layer(first):
            return self._expression(first)
        if len(run) == 1:
            name = self._layer(first.key, _base_name(first), first.call_text)
            self.places[id(first)] = name
        else:
            items = ", ".join(step.call_text for step in run)
            name = self._layer(first.key, self._chain_name(run), f"nn.Sequential({items},)")
            self.places |= {id(step): f"{name}.{number}" for number, step in enumerate(run)}
        arguments = ", ".join(f"{{{n}}}" for n in range(len(first.inputs)))
        text = first.expression if "{layer}" in first.expression else f"{{layer}}({arguments})"
        return Statement(first.inputs, last.outputs, text.replace("{layer}", f"self.{name}"), name)

    def _layer(self, key: object, base: str, text: str) -> str:
        """The attribute for a text that the constructor computes."""
        return self._attribute(key, base, lambda name: f"self.{name} = {text}")

    def _expression(self, step: Step) -> Statement:
        """A statement of functions; its parameters are attributes."""
        names, text = {}, step.expression
        for name, parameter in step.parameters.items():
            sizes = ", ".join(map(str, parameter.shape)) or "()"
            making = partial(parameter_text, parameter=parameter, sizes=sizes)
            names[name] = self._attribute((step.key, name), name, making)
            text = text.replace(f"{{{name}}}", f"self.{names[name]}")
        self.attributes[id(step)] = names
        body = self._written(step.body)
        return Statement(step.inputs, step.outputs, text, step.word, step.loop, body)

    def _attribute(self, key: object, base: str, making: Callable[[str], str]) -> str:
        """The attribute that has a key; making: the constructor's statement by its name."""
        if key not in self._layers:
            self._taken[base] += 1
            number = self._taken[base]
            name = f"{base}{number}" if self._wanted[base] > 1 or number > 1 else base
            self._layers[key] = name
            self._lines.append(broken(making(name), _BODY))
        return self._layers[key]

    def _chain_name(self, steps: Sequence[Step]) -> str:
        """A name by what the layers are."""
        if not self.block.is_net:
            return "branch"
        calls = [step.layer for step in steps if step.layer is not None]
        kinds = " ".join(call.function for call in calls)
        if steps[-1].outputs[0] in self.block.outputs:
            is_first = steps[0].inputs[0] in self.block.inputs
            return "classifier" if "Linear" in kinds and not is_first else "layers"
        if "Transpose" in kinds or "Upsample" in kinds:
            return "up"
        if any(call.named.get("stride", 1) != 1 for call in calls):
            return "down"
        return "features" if "Conv" in kinds else "layers"


def _parts(run: list[Step]) -> list[list[Step]]:
    """A chain, or its steps one by one where a chain gains nothing."""
    if len(run) > 1 and not any(_needs_layer(step) for step in run):
        return [[step] for step in run]
    calls = [step.layer.function if step.layer else "" for step in run]
    cut = calls.index("nn.Flatten") if "nn.Flatten" in calls else 0
    if 2 < cut < len(run) - 2 and any(step.has_state for step in run[:cut]):
        return [run[:cut], run[cut : cut + 1], run[cut + 1 :]]
    return [run]


def _needs_layer(step: Step) -> bool:
    """Whether it cannot be written as an expression."""
    return step.layer is not None and (step.has_state or not step.expression)


def _base_name(step: Step) -> str:
    """A name for the attribute of a layer."""
    if step.word != "x" and is_attribute(step.word):
        return step.word
    assert step.layer is not None
    kind = step.layer.function.rpartition(".")[2]
    for part, name in _KINDS:
        if part in kind:
            return name
    return _ATTRIBUTES.get(kind) or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower()
