"""Converts nets: finds the module, writes it, and holds what was written against the net."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import IO, Any, Literal

import numpy as np

from th_shell.runtime.core.dtypes import DOUBLE, Array
from th_shell.runtime.core.platform import descriptor_path
from th_shell.runtime.engine.engine import Engine
from th_shell.runtime.export.checking import TOLERANCE, Outcome, Reference, Written, compare
from th_shell.runtime.export.checking_onnx import OnnxFile
from th_shell.runtime.export.checking_pytorch import PyTorchFiles, find_python
from th_shell.runtime.export.graph import ExportError, Graph
from th_shell.runtime.export.lowering import find_module, graph_of, shapes_of
from th_shell.runtime.export.parameters import FLOATS, Progress
from th_shell.runtime.export.pt_file import write_state_dict
from th_shell.runtime.export.pytorch_source import pytorch_source
from th_shell.runtime.export.stubs import stub
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.files import Path
from th_shell.runtime.t7.tensors import lua_tensor
from th_shell.runtime.t7.values import Table, TorchObject
from th_shell.runtime.t7.working_memory import portable_parts
from th_shell.torch.tensors.tensor import Tensor

_CLASS = "Model"


@dataclass
class How:
    """How a net is converted.

    select: the path of the module, where the value holds several. input: the sizes of its inputs,
    as in "1x3x224x224"; several with commas between them. training: as it trains, not as it is
    used. type: of the numbers that are written. treat: for classes of the user's, the classes that
    these are to be taken for. stub: whether classes that are not known become classes of PyTorch
    whose forward is to be written, which only `to_pytorch` can; nothing is then checked. check:
    whether what is written runs beside the net, which needs an engine with its packages; sample: an
    input for that, by default random numbers. progress: gets the number of bytes that were just
    written. python: a Python that has PyTorch, which runs what `to_pytorch` writes; by default one
    is looked for. require_check: whether nothing is written that cannot be compared.
    """

    select: str | None = None
    input: str | None = None
    training: bool = False
    type: Literal["float", "double"] = "float"
    treat: Mapping[str, str] = field(default_factory=dict)
    stub: bool = False
    check: bool = True
    sample: Any = None
    engine: Engine | None = None
    python: str | None = None
    require_check: bool = False
    progress: Progress = lambda count: None

    @property
    def floats(self) -> str:
        """numpy's name of the type."""
        return FLOATS[self.type]


@dataclass
class Report:
    """What was written: files, and how it compares; unchecked: why it was not compared.

    narrowed: whether doubles of the net are floats in the files. remarks: what who trains the net
    on should know.
    """

    files: list[str]
    narrowed: bool = False
    outcome: Outcome | None = None
    unchecked: str = ""
    remarks: list[str] = field(default_factory=list)


def to_onnx(value: Any, target: Path, **options: Any) -> Report:
    """Write a net as an ONNX file (opset 18), whose dimension of samples is open.

    value: what `load` returns: a module, or a table with one. options: the fields of `How`.
    Raises ExportError for what has no counterpart, for a file that does not compute what the net
    does, and where the library onnx is not installed; OSError; ValueError for wrong sizes.
    """
    if find_spec("onnx") is None:
        raise ExportError("writing ONNX needs the library onnx: pip install 'th-shell[export]'")
    from th_shell.runtime.export.onnx_file import write_onnx

    how = How(**options)
    if how.stub:
        raise ValueError("stub is for to_pytorch: ONNX has no place for what is to be written")
    if how.python is not None:
        raise ValueError("python is for to_pytorch: ONNX files run in this one")
    net, graph = _read(value, how)
    count = len(graph.outputs)
    names = ["output"] if count == 1 else [f"output{n}" for n in range(1, count + 1)]
    report = Report([os.fsdecode(target)], _narrows(net, how))
    with _new_file(target) as file:
        outputs = list(zip(names, graph.outputs, strict=True))
        values = write_onnx(file, graph, outputs, how.floats, how.progress)
        file.flush()
        can_run = find_spec("onnxruntime") is not None
        written = OnnxFile(descriptor_path(file.fileno()), values)
        _check(report, how, net, graph, written if can_run else _NO_ONNXRUNTIME)
    return report


def to_pytorch(value: Any, target: Path, **options: Any) -> Report:
    """Write a net as PyTorch's: its parameters as a state_dict, and its source beside that.

    target: the name of the first, model.pt for example; the source is then model.py, which defines
    the class Model: ``net = Model(); net.load_state_dict(torch.load("model.pt"))``. value, options
    and errors are those of `to_onnx`; PyTorch is needed for the check alone, in any Python.
    """
    how = How(**options)
    python = find_python(how.python) if how.check else None
    net, graph = _read(value, how)
    base = os.path.splitext(os.fsdecode(target))[0]
    heading = f"{net.torch_typename} of Torch7; its parameters are in {os.path.basename(base)}.pt."
    source = pytorch_source(graph, _CLASS, heading, how.floats)
    files = [os.fsdecode(target), f"{base}.py"]
    report = Report(files, _narrows(net, how), remarks=source.remarks)
    with _new_file(target) as file, _new_file(f"{base}.py") as text:
        write_state_dict(file, source.parameters, how.floats, how.progress)
        text.write(source.text.encode())
        for each in (file, text):
            each.flush()
        written = python and PyTorchFiles(python, file.fileno(), source, _CLASS, graph, how.floats)
        _check(report, how, net, graph, written or _NO_PYTORCH)
    return report


def _read(value: Any, how: How) -> tuple[TorchObject, Graph]:
    net = find_module(value, how.select, how.treat)
    shapes = shapes_of(how.input) if how.input else None
    return net, graph_of(net, shapes, how.training, how.treat, stub if how.stub else None)


def _narrows(net: TorchObject, how: How) -> bool:
    tensors = (value for _, value in portable_parts(net)[1] if isinstance(value, Tensor))
    return how.type == "float" and any(lua_tensor(each).dtype is DOUBLE for each in tensors)


@contextmanager
def _new_file(target: Path) -> Iterator[IO[bytes]]:
    """A file that takes its name when the block ends."""
    with Replacement(os.fsencode(target)) as replacement:
        with open(replacement.descriptor, "r+b", closefd=False) as file:
            yield file


_NO_ONNXRUNTIME = "it needs onnxruntime: pip install 'th-shell[export]'"
_NO_PYTORCH = (
    "no Python with PyTorch is here ($VIRTUAL_ENV, $CONDA_PREFIX, python3); --python PATH names one"
)


def _check(
    report: Report, how: How, net: TorchObject, graph: Graph, written: Written | str
) -> None:
    """Compare what was written with the net. Raises ExportError where it differs.

    written: a text where it cannot run, which says why.
    """
    if not how.check:
        report.unchecked = "as was asked for"
    elif graph.unchecked:
        report.unchecked = graph.unchecked
    elif isinstance(written, str):
        report.unchecked = written
    else:
        reference = Reference(net, graph, how.engine or Engine())
        inputs = _given(how.sample, graph) if how.sample is not None else reference.inputs()
        report.outcome = compare(reference, written, inputs)
        if report.outcome.relative > TOLERANCE:
            raise ExportError(_difference(report.outcome))
    if how.require_check and report.unchecked:
        raise ExportError(f"not checked: {report.unchecked}")


def _given(sample: Any, graph: Graph) -> dict[str, Array]:
    """An input of the user's: a tensor or a table of these, or a table that has it as `input`."""
    if isinstance(sample, Table) and "input" in sample:
        sample = sample["input"]
    found = list(_flat(sample))
    if len(graph.inputs) == 1 and graph.inputs[0].in_steps:
        found = [np.stack(found)]
    if len(found) != len(graph.inputs):
        raise ExportError(
            f"the sample has {len(found)} tensors, and the net {len(graph.inputs)} inputs"
        )
    return {value.name: array for value, array in zip(graph.inputs, found, strict=True)}


def _flat(value: Any) -> Iterator[Array]:
    if isinstance(value, Table):
        for item in value.to_list():
            yield from _flat(item)
    else:
        yield np.asarray(value)


def _difference(outcome: Outcome) -> str:
    where = f"; the first module that differs is {outcome.place}" if outcome.place else ""
    return (
        f"what was written differs from the net by {outcome.difference:.3g}, where the largest "
        f"number is {outcome.scale:.3g}{where}"
    )
