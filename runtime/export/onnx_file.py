"""Writes a graph as ONNX, by the library onnx; parameters are written one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import IO, Any

import numpy as np
import onnx

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.graph import ExportError, Graph, Node, Value
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.export.python_text import free_name

OPSET = 18
_LONGEST_REASON = 400  # characters
_IR_VERSION = 8  # the oldest with this opset
_LARGEST = 2**31 - 1  # bytes of a message of Protocol Buffers
#: The numbers of fields in ONNX's messages, with the mark of a field that tells its length.
_GRAPH, _INITIALISER, _RAW_DATA = 7 << 3 | 2, 5 << 3 | 2, 9 << 3 | 2


class OnnxGraph:
    """The operators of a graph, as they are added (an `Emitter`).

    floats: the type of its numbers. outer: the graph around a loop's body, which has its
    initialisers.
    """

    def __init__(self, graph: Graph, floats: str, outer: OnnxGraph | None = None) -> None:
        self.graph = graph
        self.floats = floats
        self.nodes: list[Any] = []
        self.names: dict[int, str] = dict(outer.names) if outer else {}
        self.initialisers: dict[Any, tuple[str, Parameter]] = outer.initialisers if outer else {}
        self.used: set[str] = outer.used if outer else set()  # names that operators take
        self._taken: set[str] = outer._taken if outer else set()  # names of initialisers
        self._numbers: Iterator[int] = outer._numbers if outer else count(1)
        self._place = ""
        self._parameter_names: dict[int, str] = {}  # names of the current node's parameters

    def add_all(self) -> None:
        """Add all nodes of the graph."""
        for value in self.graph.inputs:
            self.names.setdefault(id(value), value.name)
        for node in self.graph.nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        """Add one node, whose inputs are there."""
        self._place = ".".join(node.path)
        self._parameter_names = {id(each): name for name, each in node.parameters.items()}
        inputs = [self.names[id(value)] for value in node.inputs]
        parameters = [self.parameter(each) for each in node.parameters.values()]
        outputs = node.to_onnx(self, *inputs, *parameters)
        names = [outputs] if isinstance(outputs, str) else outputs
        for value, name in zip(node.outputs, names, strict=True):
            self.names[id(value)] = name

    def op(self, kind: str, *inputs: str, count: int = 1, **attributes: Any) -> Any:
        number = next(self._numbers)
        name = f"{self._place}/{kind}_{number}" if self._place else f"{kind}_{number}"
        outputs = [name] if count == 1 else [f"{name}_{n}" for n in range(count)]
        self.nodes.append(onnx.helper.make_node(kind, inputs, outputs, name, **attributes))
        self.used.update(inputs)
        return name if count == 1 else outputs

    def ints(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def index(self, value: int) -> str:
        return self.constant(np.array(value, np.int64))

    def number(self, value: float) -> str:
        return self.constant(np.array(value, self.floats))

    def constant(self, array: Array) -> str:
        key = (array.dtype.str, array.shape, array.tobytes())
        shown = "_".join(map(str, array.reshape(-1).tolist())) or "none"
        name = f"{array.dtype.name}{array.ndim}_{shown}"
        constant = Parameter.made(array)
        constant.keeps_type = True
        return self._initialiser(key, name, constant)

    def parameter(self, parameter: Parameter) -> str:
        name = self._parameter_names.get(id(parameter), "constant")
        key = (parameter.key, parameter.shape)
        return self._initialiser(key, f"{self._place}.{name}".lstrip("."), parameter)

    def _initialiser(self, key: Any, name: str, parameter: Parameter) -> str:
        initialiser = self.initialisers.get(key)
        if initialiser is None:
            unique = free_name(name, self._taken, between="_")
            self._taken.add(unique)
            initialiser = self.initialisers[key] = (unique, parameter)
        return initialiser[0]

    def as_floats(self, name: str) -> str:
        result: str = self.op("Cast", name, to=_element_type(np.dtype(self.floats)))
        return result

    def body(self, graph: Graph) -> Any:
        """Return the graph of a loop's body."""
        inner = OnnxGraph(graph, self.floats, self)
        inner.names |= {id(value): f"{value.name}_{next(self._numbers)}" for value in graph.inputs}
        inner.add_all()
        outputs = [inner.op("Identity", inner.names[id(value)]) for value in graph.outputs]
        return onnx.helper.make_graph(
            inner.nodes,
            f"body_{next(self._numbers)}",
            [self._info(inner.names[id(value)], value) for value in graph.inputs],
            [self._info(name, value) for name, value in zip(outputs, graph.outputs, strict=True)],
        )

    @property
    def tensors(self) -> list[tuple[str, Parameter]]:
        """Return the initialisers that operators take, and their names."""
        return [each for each in self.initialisers.values() if each[0] in self.used]

    def outputs(self, named_values: Sequence[tuple[str, Value]]) -> list[Any]:
        """Return descriptions of the graph's outputs, which get those names."""
        for name, value in named_values:
            old = self.names[id(value)]
            self.nodes.append(onnx.helper.make_node("Identity", [old], [name], name))
            self.used.add(old)
        return [self._info(name, value) for name, value in named_values]

    def inputs(self) -> list[Any]:
        """Return descriptions of the graph's inputs."""
        return [self._info(value.name, value) for value in self.graph.inputs]

    def _info(self, name: str, value: Value) -> Any:
        kinds = {"int": np.dtype(np.int64), "bool": np.dtype(np.bool_)}
        dtype = kinds.get(value.kind, np.dtype(self.floats))
        if value.shape is None:
            raise ExportError(
                "ONNX needs the number of dimensions of the net's input: give --input"
            )
        shape = [f"{name}_{dim}" if size is None else size for dim, size in enumerate(value.shape)]
        return onnx.helper.make_tensor_value_info(name, _element_type(dtype), shape)


def _element_type(dtype: np.dtype[Any]) -> int:
    return int(onnx.helper.np_dtype_to_tensor_dtype(dtype))


def write_onnx(
    file: IO[bytes], graph: Graph, outputs: Sequence[tuple[str, Value]], floats: str
) -> None:
    """Write a model; outputs: the values that it gives, and their names.

    floats: "float32" or "float64". Raises ExportError where it has 2 GB and more, and where the
    library finds a mistake.
    """
    writer = OnnxGraph(graph, floats)
    writer.add_all()
    infos = writer.outputs(outputs)
    shell = onnx.helper.make_graph(writer.nodes, "net", writer.inputs(), infos)
    opsets = [onnx.helper.make_opsetid("", OPSET)]
    model = onnx.helper.make_model(
        shell, opset_imports=opsets, producer_name="th", ir_version=_IR_VERSION
    )
    _check(model, writer, floats)
    tensors = writer.tensors
    total = sum(each.length(floats) for _, each in tensors)
    if total > _LARGEST - (1 << 20):
        raise ExportError(
            f"the net has {total / 1e9:.1f} GB of parameters: an ONNX file has room for 2"
        )
    file.write(model.SerializeToString(deterministic=True))
    for name, parameter in tensors:
        for part in _message(name, parameter, floats):
            file.write(part)


def _check(model: Any, writer: OnnxGraph, floats: str) -> None:
    """Let the library check a model, whose initialisers are inputs meanwhile."""
    whole = onnx.ModelProto()
    whole.CopyFrom(model)
    for name, each in writer.tensors:
        if each.size <= 64:  # such as sizes, by which shapes are found
            array = np.asarray(each.array(), each.dtype(floats))
            whole.graph.initializer.append(onnx.numpy_helper.from_array(array, name))
            continue
        kind = _element_type(each.dtype(floats))
        whole.graph.input.append(onnx.helper.make_tensor_value_info(name, kind, each.shape))
    try:
        onnx.checker.check_model(whole, full_check=True)
    except Exception as error:  # the library has many kinds
        reason = str(error).partition("\x08")[0][:_LONGEST_REASON]
        raise ExportError(f"the library onnx refuses the model: {reason}") from None


def _message(name: str, parameter: Parameter, floats: str) -> Iterable[bytes | memoryview]:
    """Yield the bytes of a model's message that has an initialiser alone: messages can be joined.

    So the elements need not be in memory at a time.
    """
    dtype = parameter.dtype(floats)
    head = onnx.TensorProto(name=name, dims=parameter.shape, data_type=_element_type(dtype))
    size = parameter.length(floats)
    start = head.SerializeToString(deterministic=True) + _head(_RAW_DATA, size)
    tensor = _head(_INITIALISER, len(start) + size) + start
    yield _head(_GRAPH, len(tensor) + size) + tensor
    yield from parameter.parts(floats)


def _head(field: int, size: int) -> bytes:
    """Return the beginning of a field of a message: its number, and its length."""
    out = bytearray([field])
    while size > 0x7F:
        out.append(size & 0x7F | 0x80)
        size >>= 7
    out.append(size)
    return bytes(out)
