"""The table of runtime/export/README.md: what each class of nn becomes.

Nets that the tests convert tell. ``python -m tests.runtime.export.coverage`` writes the table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.runtime.export.nets import linear, module, tensor
from tests.runtime.export.test_modules import ENTRIES
from th_shell.runtime import TorchObject
from th_shell.runtime.export.graph import Graph, Node, Scope
from th_shell.runtime.export.lowering import graph_of, shapes_of
from th_shell.runtime.export.modules import class_of, row_of
from th_shell.runtime.export.onnx_file import OnnxGraph
from th_shell.runtime.export.rows.refused import reason_of

PAGE = Path(__file__).parents[3] / "runtime" / "export" / "README.md"
CLASSES = (Path(__file__).parents[2] / "data" / "export" / "classes.txt").read_text().split()
START = "| class | PyTorch | ONNX |\n|---|---|---|\n"

_CALL = re.compile(r"(?:torch|F)\.\w+|(?<=[})])\.(\w+)(?=\()|[-+*/@](?!\d)|\[")


def _recurrent(mode: str, gates: int) -> tuple[TorchObject, str]:
    fields = {"inputSize": 3, "hiddenSize": 4, "numLayers": 1, "weight": tensor(36 * gates)}
    return TorchObject("cudnn.RNN", {"mode": f"CUDNN_{mode}", **fields}), "timexbatchx3"


#: Modules of which no file of the tests has one.
_OTHERS = {
    "nn.DataParallelTable": (module("DataParallelTable", linear(3, 2)), "1x3"),
    "cudnn.ClippedReLU": (TorchObject("cudnn.ClippedReLU", {"ceiling": 6}), "1x3"),
    "cudnn.BGRU": _recurrent("GRU", 3),
    "cudnn.BLSTM": _recurrent("LSTM", 4),
    "cudnn.GRU": _recurrent("GRU", 3),
    "cudnn.LSTM": _recurrent("LSTM", 4),
    "cudnn.RNN": _recurrent("RNN_TANH", 1),
    "cudnn.RNNReLU": _recurrent("RNN_RELU", 1),
    "cudnn.RNNTanh": _recurrent("RNN_TANH", 1),
    "cudnn.LogSoftMax": (TorchObject("cudnn.LogSoftMax", {}), "1x3"),
    "cudnn.SoftMax": (TorchObject("cudnn.SoftMax", {}), "1x3"),
    "cudnn.VolumetricSoftMax": (TorchObject("cudnn.VolumetricSoftMax", {}), "1x3x2x2x2"),
    "cudnn.VolumetricLogSoftMax": (TorchObject("cudnn.VolumetricLogSoftMax", {}), "1x3x2x2x2"),
}


def table() -> str:
    """The rows, behind the table's head; what becomes the same stands together."""
    alike: dict[tuple[str, str], list[str]] = {}
    for name, *cells in _all_cells():
        alike.setdefault((cells[0], cells[1]), []).append(name)
    lines = [f"| {', '.join(names)} | {' | '.join(cells)} |\n" for cells, names in alike.items()]
    return "".join(sorted(lines, key=lambda line: "| none: " in line))


def own_name(name: str) -> str:
    """The class by whose row a class of cudnn is converted."""
    has_own = row_of(name) is not None or reason_of(name) is not None
    return name if has_own else f"nn.{name.partition('.')[2]}"


def _all_cells() -> Iterator[tuple[str, str, str]]:
    for name in CLASSES:
        if reason := reason_of(name):
            yield name, f"none: {reason}", ""
        elif own_name(name) == name:
            yield name, *_becomes(name)


def _becomes(name: str) -> tuple[str, str]:
    """What a class is in PyTorch and in ONNX."""
    net, shape = _example(name)
    graph = graph_of(net, shapes_of(shape))
    kinds = {name, class_of(net)} if name in _OTHERS else {name}
    scopes = [scope for scope, _ in graph.results]
    nodes = [node for scope in scopes if scope.kind in kinds for node in _own(graph, scope)]
    if not nodes:
        has_modules = any(len(scope.path) for scope in scopes if scope.kind != name)
        return ("what its modules are" if has_modules else "its input, or parts of it", "")
    calls, operators = (call for node in nodes for call in _pytorch(node)), _operators(graph, nodes)
    return _joined(calls), _joined(operators) or "none"


def _example(name: str) -> tuple[TorchObject, str]:
    short = name.partition(".")[2]
    for title, entry in ENTRIES.items():
        if title.partition(":")[0] == short and not name.startswith("cudnn."):
            return entry["module"], entry["shape"]
    return _OTHERS[name]


def _own(graph: Graph, scope: Scope) -> list[Node]:
    """The nodes that a module has added, without those of modules in it."""
    return [node for node in graph.nodes if node.visit == id(scope)]


def _pytorch(node: Node) -> list[str]:
    """A layer's class, or what an expression calls."""
    if node.layer is not None:
        return [node.layer.function]
    return [found[1] or found[0] for found in _CALL.finditer(node.expression)] or ["nn.Parameter"]


def _operators(graph: Graph, nodes: list[Node]) -> list[str]:
    """The operators of some nodes."""
    made = OnnxGraph(graph, "float32")
    made.names = {id(value): value.name for value in graph.inputs}
    kinds = []
    for node in graph.nodes:
        before = len(made.nodes)
        made.add(node)
        kinds += [each.op_type for each in made.nodes[before:] if node in nodes]
    return kinds


def _joined(names: Iterable[str]) -> str:
    found = dict.fromkeys(names)
    if len(found) > 1:
        found.pop("Identity", None)  # of a parameter
    return ", ".join(f"`{name if name != '[' else '[…]'}`" for name in found)


if __name__ == "__main__":
    text = PAGE.read_text()
    start = text.index(START) + len(START)
    stop = text.find("\n\n", start)
    PAGE.write_text(text[:start] + table() + (text[stop + 1 :] if stop >= 0 else ""))
