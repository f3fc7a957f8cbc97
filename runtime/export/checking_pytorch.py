"""Runs a net's source by PyTorch, for the check: in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from runtime.core.dtypes import Array
from runtime.core.platform import descriptor_path
from runtime.export.graph import ExportError, Graph
from runtime.export.pt_file import write_state_dict
from runtime.export.pytorch_source import Source, pytorch_source

#: Loads the source and the parameters, and computes the outputs, or all values, of the inputs.
_PROGRAM = """\
import sys
import numpy
import torch
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


class PyTorchFiles:
    """The source of a net and the open file of its parameters, as they compute."""

    def __init__(
        self, descriptor: int, source: Source, name: str, graph: Graph, floats: str
    ) -> None:
        self._descriptor = descriptor
        self._source = source
        self._name = name
        self._graph = graph
        self._floats = floats

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Its outputs. Raises ExportError where PyTorch raises an error."""
        return list(self._run(self._source.text, self._descriptor, inputs, "out").values())

    def values(self, inputs: Mapping[str, Array]) -> dict[int, Array]:
        """What its statements compute: by a source that keeps the value of each."""
        source = pytorch_source(self._graph, self._name, "", keeps_values=True)
        with tempfile.TemporaryFile() as file:
            write_state_dict(file, source.parameters, self._floats)
            file.flush()
            found = self._run(source.text, file.fileno(), inputs, "values")
        return {int(key): array for key, array in found.items()}

    def _run(
        self, text: str, parameters: int, inputs: Mapping[str, Array], result: str
    ) -> dict[str, Array]:
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "model.py").write_text(text)
            kinds = {"int": np.dtype(np.int64)}
            given = {
                str(n): inputs[value.name].astype(kinds.get(value.kind, self._floats))
                for n, value in enumerate(self._graph.inputs)
            }
            np.savez(Path(folder, "in.npz"), **given)  # type: ignore[arg-type]
            words = [folder, descriptor_path(parameters), self._name, str(self._graph.training)]
            safe = "-P" if sys.version_info >= (3, 11) else "-E"
            program = [sys.executable, safe, "-c", _PROGRAM, *words]
            done = subprocess.run(program, capture_output=True, text=True, pass_fds=[parameters])
            if done.returncode:
                last = done.stderr.strip().rpartition("\n")[2]
                raise ExportError(f"PyTorch fails: {last}")
            with np.load(Path(folder, f"{result}.npz")) as file:
                return {name: file[name] for name in file.files}
