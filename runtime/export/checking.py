"""Checks a written model against the net: both compute outputs from the same random inputs.

The net runs in an engine, with the Lua packages that have its classes. An ONNX file is run by
onnxruntime; PyTorch's source is run by another process, in any Python that has PyTorch.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.platform import descriptor_path
from th_shell.runtime.engine.engine import Engine
from th_shell.runtime.errors import LuaError
from th_shell.runtime.export.data import UndecidedInput
from th_shell.runtime.export.graph import (
    BATCH,
    Data,
    Dim,
    ExportError,
    Graph,
    Open,
    Shape,
    Steps,
    Value,
)
from th_shell.runtime.t7.files import save
from th_shell.runtime.t7.values import Table, TorchObject
from th_shell.torch.tensors.tensor import Tensor

TOLERANCE = 1e-4  # largest difference that is accepted, divided by the largest output
_SAMPLES = 2  # more than one, so that mixed up samples are noticed
_STEPS = 3  # the size of other dimensions with a name, such as time


class Written(Protocol):
    """A net as it was written, which can be run."""

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return the outputs for inputs by their names. Raises ExportError where that fails."""


@dataclass
class Outcome:
    """The result of a comparison of two nets' outputs."""

    #: The sizes of the inputs, by their names.
    inputs: dict[str, tuple[int, ...]]
    #: The largest difference of two numbers.
    difference: float = 0.0
    #: The largest number of the net's outputs.
    scale: float = 0.0

    @property
    def relative(self) -> float:
        """Return the difference as a part of the largest number."""
        return self.difference / self.scale if self.scale else self.difference


class Reference:
    """The net itself, loaded into an engine.

    The constructor raises ExportError where the engine lacks a class of the net.
    """

    def __init__(self, net: TorchObject, graph: Graph, engine: Engine) -> None:
        self.graph = graph
        source = Path(__file__).with_name("running.lua").read_text()
        self._lua = engine.eval(source, "running")
        try:
            self._lua["need"](sorted(_classes(net)))
            # The engine gets a copy: to compute writes buffers, and statistics, into a net.
            with tempfile.NamedTemporaryFile() as file:
                save(file, net)
                file.flush()
                self._net = self._lua["take"](file.name)
            self._type = _type_of(net, graph)
        except LuaError as error:
            raise ExportError(
                f"the check runs the net, which cannot be run here: {_cause(error)} "
                "(--lua FILE runs a program that defines it, --no-check writes unchecked)"
            ) from None

    def inputs(self, seed: int = 1) -> dict[str, Array]:
        """Return random inputs by their names; open sizes are tried until the net takes them.

        Raises ExportError where it takes none.
        """
        generator = np.random.default_rng(seed)
        error: LuaError | None = None
        for shapes in self.graph.examples or [{}]:
            inputs = {
                each.name: _random(each, shapes.get(each.name, each.shape), generator, self._type)
                for each in self.graph.inputs
            }
            try:
                if self._keeps_samples(self.outputs(inputs)):
                    return inputs
            except LuaError as failed:
                error = error or failed
        more = "; --input says its sizes, --sample gives one" if self.graph.examples else ""
        cause = f": {_cause(error)}" if error else ""
        raise ExportError(f"the net fails on random inputs{cause}{more}")

    def _keeps_samples(self, outputs: Sequence[Array]) -> bool:
        """Tell whether each sample has a result: views mix samples where sizes do not fit."""
        return all(
            output.shape[:1] == (_SAMPLES,)
            for value, output in zip(self.graph.outputs, outputs, strict=True)
            if value.shape and value.shape[0] == BATCH
        )

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return the net's outputs, in the graph's order. Raises LuaError."""
        nested = _nested(self.graph.arguments, inputs)
        return list(_arrays(self.graph.result, self._lua["run"](self._net, nested)))


def _arrays(data: Data, output: Any) -> Iterator[Array]:
    """Yield the net's outputs as arrays, one for each value of the graph's result.

    A table of steps is one value: its entries are stacked along a new dimension.
    """
    if isinstance(data, UndecidedInput) and data.tensor is not None:
        data = data.tensor
    if isinstance(data, Value):
        yield np.array(output)
    elif isinstance(data, Steps) and isinstance(output, Tensor):
        yield from _arrays(data.data, output)
    elif isinstance(data, Steps):
        entries = [list(_arrays(data.data, entry)) for entry in output.values()]
        for arrays in zip(*entries, strict=True):
            yield np.stack(arrays, data.dim)
    else:
        for item, each in zip(data, output.values(), strict=True):
            yield from _arrays(item, each)


def _classes(net: TorchObject) -> set[str]:
    """Return the names of all Torch7 classes whose objects a net holds."""
    names: set[str] = set()
    seen: set[int] = set()
    waiting: list[Any] = [net]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, (TorchObject, Table)) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, TorchObject):
            names.add(value.torch_typename)
        waiting += (value.fields if isinstance(value, TorchObject) else value).values()
    return names


def _type_of(net: TorchObject, graph: Graph) -> str:
    """Return numpy's name of the type of a net's parameters, and so of its inputs."""
    for node in graph.every_node():
        for parameter in node.parameters.values():
            if (dtype := parameter.own_dtype).kind == "f":
                return dtype.name
    return "float64" if net.fields.get("_type") == "torch.DoubleTensor" else "float32"


def _random(value: Value, shape: Shape | None, generator: np.random.Generator, dtype: str) -> Array:
    if shape is None or any(isinstance(dim, Open) for dim in shape):
        raise ExportError("the check needs the sizes of the net's input: give --input")
    sizes = [_size(dim) for dim in shape]
    if value.kind == "int":
        return generator.integers(1, max(value.highest, 1) + 1, sizes).astype(dtype)
    return generator.standard_normal(sizes).astype(dtype)


def guessed_sizes(graph: Graph) -> dict[str, Sequence[int]]:
    """Return sizes of inputs, which may be others than the net takes where none were found."""
    found = next(iter(graph.examples), {})
    shapes = {each.name: found.get(each.name, each.shape) or (BATCH, 32) for each in graph.inputs}
    return {name: [_size(dim) for dim in shape] for name, shape in shapes.items()}


def _size(dim: Dim) -> int:
    if isinstance(dim, int):
        return dim
    return _STEPS if isinstance(dim, str) and dim != BATCH else _SAMPLES


def _nested(data: Data, inputs: Mapping[str, Array]) -> Any:
    """Return inputs in the form in which the net takes them: a tensor, or nested tables."""
    if isinstance(data, UndecidedInput) and data.tensor is not None:
        data = data.tensor
    if isinstance(data, Value):
        array = inputs[data.name]
        return list(array) if data.in_steps else array
    assert isinstance(data, list)
    return [_nested(item, inputs) for item in data]


def _cause(error: LuaError) -> str:
    """Return the line of an error that tells its cause: a missing module, or nn's message."""
    lines = [line for line in error.message.split("\n") if line.strip()]
    if "' not found:" in error.message:
        return lines[-1].strip()
    before = error.message.partition("\nstack traceback:")[0]  # nn's containers have their own
    lines = [line for line in before.split("\n") if line.strip() and line[0] != "\t"]
    return lines[-1] if lines else error.message


def compare(reference: Reference, written: Written, inputs: Mapping[str, Array]) -> Outcome:
    """Compare the outputs of a written model with the net's.

    Raises ExportError where their sizes differ, or where one of the two fails.
    """
    outcome = Outcome({name: array.shape for name, array in inputs.items()})
    try:
        expected = reference.outputs(inputs)
    except LuaError as error:
        raise ExportError(f"the net fails on this input: {_cause(error)}") from None
    outputs = written.outputs(inputs)
    for number, (net_output, output) in enumerate(zip(expected, outputs, strict=True), 1):
        if net_output.shape != output.shape:
            raise ExportError(
                f"output {number} has sizes {output.shape} instead of {net_output.shape}"
            )
        difference, scale = distance(net_output, output)
        outcome.difference = max(outcome.difference, difference)
        outcome.scale = max(outcome.scale, scale)
    return outcome


def distance(expected: Array, output: Array) -> tuple[float, float]:
    """Return the largest difference of two arrays, and the largest magnitude in the first."""
    if not expected.size:
        return 0.0, 0.0
    expected64, output64 = np.asarray(expected, np.float64), np.asarray(output, np.float64)
    same = (expected64 == output64) | (np.isnan(expected64) & np.isnan(output64))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(expected64 - output64))
    finite = np.abs(expected64[np.isfinite(expected64)])
    return float(np.nan_to_num(gap, nan=np.inf).max()), float(finite.max(initial=0.0))


class OnnxFile:
    """An ONNX file, run by onnxruntime."""

    def __init__(self, path: str, floats: str) -> None:
        self._path = path
        self._floats = floats

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return the outputs. Raises ExportError where onnxruntime refuses the file."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # fatal: other errors are raised below
        try:
            session = onnxruntime.InferenceSession(self._path, options, ["CPUExecutionProvider"])
            typed_inputs: dict[str, Any] = {}
            for each in session.get_inputs():
                dtype = {"tensor(int64)": np.int64, "tensor(double)": np.float64}
                typed_inputs[each.name] = inputs[each.name].astype(dtype.get(each.type, np.float32))
            return list(session.run(None, typed_inputs))
        except Exception as error:  # its exceptions have no common class
            reason, way = str(error).rpartition(" : ")[2], "it is written with --no-check"
            if self._floats == "float64":
                way = "leave out --type double: for floats it may have what it lacks"
            raise ExportError(f"onnxruntime fails: {reason} ({way})") from None


#: Imports of the check. The current folder is not searched: a file there may be named `torch.py`.
_IMPORTS = """\
import sys
sys.path[:] = filter(None, sys.path)
import numpy
import torch
"""

#: The program of the other process: loads the model, and computes outputs from inputs.
_PROGRAM = """\
folder, parameters, name = sys.argv[1:]
space = {"__name__": "model"}
exec(compile(open(folder + "/model.py").read(), "model.py", "exec"), space)
with torch.device("meta"):  # the parameters are mapped from the file, which may be large
    net = space[name]()
net.load_state_dict(torch.load(parameters, weights_only=True, mmap=True), assign=True)
net.eval()
with numpy.load(folder + "/in.npz") as file:
    inputs = [torch.from_numpy(file[str(n)]) for n in range(len(file.files))]
with torch.no_grad():
    found = net(*inputs)
found = [found] if isinstance(found, torch.Tensor) else found
numpy.savez(folder + "/out.npz", *[each.numpy() for each in found])
"""


def find_python(named: str | None) -> str | None:
    """Return a Python that has PyTorch; None where there is none.

    named: the one that the user wants; ExportError is raised where it lacks PyTorch. Otherwise ours
    is tried, that of the active environment, and that of the PATH.
    """
    if named is not None:
        if error := _import_error(named):
            raise ExportError(f"{named} cannot run what is written: {error}")
        return named
    if find_spec("torch") is not None:
        return sys.executable
    return next((python for python in _pythons() if not _import_error(python)), None)


def _pythons() -> Iterator[str]:
    for folder in filter(None, map(os.environ.get, ("VIRTUAL_ENV", "CONDA_PREFIX"))):
        yield os.path.join(folder, "bin", "python")
    if python := shutil.which("python3"):
        yield python


def _import_error(python: str) -> str:
    """Return why a Python cannot import PyTorch; "" where it can."""
    try:
        done = subprocess.run([python, "-c", _IMPORTS], capture_output=True, text=True)
    except OSError as error:
        return error.strerror or str(error)
    reason = done.stderr.strip().rpartition("\n")[2]
    return (reason or f"it ended with status {done.returncode}") if done.returncode else ""


class PyTorchFiles:
    """The PyTorch source of a net with a file of its parameters, run by another process.

    descriptor: the open file. name: the class of the net. floats: numpy's name of its type.
    """

    def __init__(
        self, python: str, descriptor: int, source: str, name: str, graph: Graph, floats: str
    ) -> None:
        self._python = python
        self._descriptor = descriptor
        self._source = source
        self._name = name
        self._graph = graph
        self._floats = floats

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return the outputs. Raises ExportError where PyTorch raises an error."""
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model.py").write_text(self._source)
            kinds = {"int": np.dtype(np.int64)}
            typed_inputs = {
                str(n): inputs[value.name].astype(kinds.get(value.kind, self._floats))
                for n, value in enumerate(self._graph.inputs)
            }
            np.savez(Path(folder, "in.npz"), **typed_inputs)  # type: ignore[arg-type]
            words = [folder, descriptor_path(self._descriptor), self._name]
            program = [self._python, "-c", _IMPORTS + _PROGRAM, *words]
            passed = [self._descriptor]
            done = subprocess.run(program, capture_output=True, text=True, pass_fds=passed)
            if done.returncode:
                last = done.stderr.strip().rpartition("\n")[2]
                raise ExportError(f"PyTorch fails: {last}")
            with np.load(Path(folder, "out.npz")) as file:
                return [file[name] for name in file.files]
