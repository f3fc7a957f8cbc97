"""Runs an ONNX file by onnxruntime, for the check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.graph import ExportError


class OnnxFile:
    """A file, as it computes. names: of the graph's values in it, by their identities."""

    def __init__(self, path: str, names: Mapping[int, str]) -> None:
        self._path = path
        self._names = names

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Its outputs. Raises ExportError where onnxruntime refuses it."""
        return self._run(self._path, None, inputs)

    def values(self, inputs: Mapping[str, Array]) -> dict[int, Array]:
        """What its operators compute: they are outputs of a model that is otherwise the same."""
        import onnx

        model = onnx.load(self._path)
        known = {name for node in model.graph.node for name in node.output}
        names = {key: name for key, name in self._names.items() if name in known}
        for name in dict.fromkeys(names.values()):
            model.graph.output.append(onnx.ValueInfoProto(name=name))
        wanted = list(dict.fromkeys(names.values()))
        found = dict(zip(wanted, self._run(model.SerializeToString(), wanted, inputs), strict=True))
        return {key: found[name] for key, name in names.items()}

    def _run(
        self, model: str | bytes, wanted: list[str] | None, inputs: Mapping[str, Array]
    ) -> list[Array]:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # its errors are told by us
        try:
            session = onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])
            given: dict[str, Any] = {}
            for each in session.get_inputs():
                dtype = {"tensor(int64)": np.int64, "tensor(double)": np.float64}
                given[each.name] = inputs[each.name].astype(dtype.get(each.type, np.float32))
            return list(session.run(wanted, given))
        except Exception as error:  # the library has many kinds
            reason = str(error).rpartition(" : ")[2]
            raise ExportError(
                f"onnxruntime fails: {reason} (it is written with --no-check)"
            ) from None
