"""Runs nets as they were written, for the check.

An ONNX file runs by onnxruntime; PyTorch's source runs in a process of any Python that has it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.core.platform import descriptor_path
from th_shell.runtime.export.graph import ExportError, Graph
from th_shell.runtime.export.parameters import write_state_dict
from th_shell.runtime.export.pytorch_source import Source, pytorch_source


class OnnxFile:
    """A file, as it computes. names: of the graph's values in it, by their identities."""

    def __init__(self, path: str, names: Mapping[int, str]) -> None:
        self._path = path
        self._names = names

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return its outputs. Raises ExportError where onnxruntime refuses it."""
        return self._run(self._path, None, inputs)

    def values(self, inputs: Mapping[str, Array]) -> dict[int, Array]:
        """Return what its operators compute, by a model of which they are outputs."""
        import onnx

        model = onnx.load(self._path)
        outputs = {name for node in model.graph.node for name in node.output}
        names = {key: name for key, name in self._names.items() if name in outputs}
        for name in dict.fromkeys(names.values()):
            model.graph.output.append(onnx.ValueInfoProto(name=name))
        output_names = list(dict.fromkeys(names.values()))
        arrays = dict(
            zip(
                output_names,
                self._run(model.SerializeToString(), output_names, inputs),
                strict=True,
            )
        )
        return {key: arrays[name] for key, name in names.items()}

    def _run(
        self, model: str | bytes, output_names: list[str] | None, inputs: Mapping[str, Array]
    ) -> list[Array]:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # its errors are raised as ours
        try:
            session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
            typed_inputs: dict[str, Any] = {}
            for each in session.get_inputs():
                dtype = {"tensor(int64)": np.int64, "tensor(double)": np.float64}
                typed_inputs[each.name] = inputs[each.name].astype(dtype.get(each.type, np.float32))
            return list(session.run(output_names, typed_inputs))
        except Exception as error:  # the library has many kinds
            reason = str(error).rpartition(" : ")[2]
            raise ExportError(
                f"onnxruntime fails: {reason} (it is written with --no-check)"
            ) from None


#: What the check needs, none of which is a file in the open folder.
_IMPORTS = """\
import sys
sys.path[:] = filter(None, sys.path)
import numpy
import torch
"""

#: Loads the source and the parameters, and computes the outputs, or all values, of the inputs.
_PROGRAM = """\
folder, parameters, name, training = sys.argv[1:]
space = {"__name__": "model"}
exec(compile(open(folder + "/model.py").read(), "model.py", "exec"), space)
net = space[name]()
net.load_state_dict(torch.load(parameters, weights_only=True))
net.train(training == "True")
with numpy.load(folder + "/in.npz") as file:
    inputs = [torch.from_numpy(file[str(n)]) for n in range(len(file.files))]
with torch.no_grad():
    found = net(*inputs)
found = [found] if isinstance(found, torch.Tensor) else found
numpy.savez(folder + "/out.npz", *[each.numpy() for each in found])
values = {str(key): each.numpy() for key, each in getattr(net, "seen", {}).items()}
numpy.savez(folder + "/values.npz", **values)
"""


def find_python(named: str | None) -> str | None:
    """Return a Python that has PyTorch: the one that is named; else ours, that of the environment
    that is active, or that of the PATH; None where none has it.

    Raises ExportError where the named one cannot import it.
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
    """The source of a net and the open file of its parameters, as they compute."""

    def __init__(
        self, python: str, descriptor: int, source: Source, name: str, graph: Graph, floats: str
    ) -> None:
        self._python = python
        self._descriptor = descriptor
        self._source = source
        self._name = name
        self._graph = graph
        self._floats = floats

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Return its outputs. Raises ExportError where PyTorch raises an error."""
        return list(self._run(self._source.text, self._descriptor, inputs, "out").values())

    def values(self, inputs: Mapping[str, Array]) -> dict[int, Array]:
        """Return what its statements compute, by a source that keeps the value of each."""
        source = pytorch_source(self._graph, self._name, "", keeps_values=True)
        with tempfile.TemporaryFile() as file:
            write_state_dict(file, source.parameters, self._floats)
            file.flush()
            arrays = self._run(source.text, file.fileno(), inputs, "values")
        return {int(key): array for key, array in arrays.items()}

    def _run(
        self, text: str, parameters: int, inputs: Mapping[str, Array], result: str
    ) -> dict[str, Array]:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model.py").write_text(text)
            kinds = {"int": np.dtype(np.int64)}
            typed_inputs = {
                str(n): inputs[value.name].astype(kinds.get(value.kind, self._floats))
                for n, value in enumerate(self._graph.inputs)
            }
            np.savez(Path(folder, "in.npz"), **typed_inputs)  # type: ignore[arg-type]
            words = [folder, descriptor_path(parameters), self._name, str(self._graph.training)]
            program = [self._python, "-c", _IMPORTS + _PROGRAM, *words]
            done = subprocess.run(program, capture_output=True, text=True, pass_fds=[parameters])
            if done.returncode:
                last = done.stderr.strip().rpartition("\n")[2]
                raise ExportError(f"PyTorch fails: {last}")
            with np.load(Path(folder, f"{result}.npz")) as file:
                return {name: file[name] for name in file.files}
