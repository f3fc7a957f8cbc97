"""Writes a graph as a module of PyTorch: source that defines the net as a class.

Chains of layers become an nn.Sequential each, loops over time classes of their own; what remains
are statements of the forward method.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill

from th_shell.runtime.export.graph import Graph
from th_shell.runtime.export.parameters import Parameter, owner_names
from th_shell.runtime.export.python_text import STEP, WIDTH
from th_shell.runtime.export.pytorch_class import Method, WrittenClass
from th_shell.runtime.export.pytorch_layers import with_blocks, with_loops
from th_shell.runtime.export.pytorch_names import name_cells
from th_shell.runtime.export.pytorch_nodes import simplify, uses_of


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
    name_cells(graph)
    nodes = with_loops(graph.nodes, uses_of(graph), graph.stubs)
    nodes = with_blocks(nodes, uses_of(graph), graph.stubs)
    net = WrittenClass(name, [Method("forward", graph.inputs, graph.outputs, nodes)])
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
            inputs.append(f"torch.randint(1, {max(value.highest, 1) + 1}, [{sizes}])")
        else:
            inputs.append(f"torch.randn({sizes}{kind})")
    names = ["x"] if len(inputs) == 1 else [value.name for value in graph.inputs]
    is_safe = file.endswith(".safetensors")
    lines = [
        *(["from safetensors.torch import load_model", ""] if is_safe else []),
        f"model = {name}()",
        f"path = Path(__file__).with_name({json.dumps(file)})",
        "load_model(model, path)"
        if is_safe
        else "model.load_state_dict(torch.load(path, weights_only=True))",
        "model.eval()",
        *[f"{name} = {text}" for name, text in zip(names, inputs, strict=True)],
        "with torch.inference_mode():",
        f"{STEP}print(model({', '.join(names)}))",
    ]
    return "\n".join(
        ["", "", 'if __name__ == "__main__":', *[(STEP + line).rstrip() for line in lines], ""]
    )


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
