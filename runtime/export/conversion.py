"""Converts nets: finds the module, writes it, and holds what was written against the net."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from tempfile import TemporaryFile
from typing import IO, Any, Literal

import numpy as np

from th_shell.runtime.core.dtypes import DOUBLE, Array
from th_shell.runtime.core.platform import descriptor_path
from th_shell.runtime.engine.engine import Engine
from th_shell.runtime.export.checking import (
    TOLERANCE,
    OnnxFile,
    Outcome,
    PyTorchFiles,
    Reference,
    Written,
    compare,
    find_python,
    guessed_sizes,
)
from th_shell.runtime.export.graph import ExportError, Graph
from th_shell.runtime.export.guessing import find_graph
from th_shell.runtime.export.lowering import find_module, shapes_of
from th_shell.runtime.export.parameters import FLOATS, write_state_dict
from th_shell.runtime.export.pytorch_source import main_block, pytorch_source
from th_shell.runtime.export.stubs import stub
from th_shell.runtime.export.weights import write_safetensors
from th_shell.runtime.io.replacement import Replacement
from th_shell.runtime.t7.files import Path
from th_shell.runtime.t7.tensors import lua_tensor
from th_shell.runtime.t7.values import Table, TorchObject
from th_shell.runtime.t7.working_memory import portable_tensors
from th_shell.torch.tensors.tensor import Tensor

_CLASS = "Model"


@dataclass
class ConversionOptions:
    """The options of `to_onnx` and `to_pytorch`."""

    #: The path of the module, where the value holds several.
    select: str | None = None
    #: The sizes of the inputs, as in "1x3x224x224"; several with commas between them.
    input: str | None = None
    #: The name of the file that the value is from, which a source tells.
    source: str = ""
    #: The type of the numbers that are written.
    type: Literal["float", "double"] = "float"
    #: For classes of the user's, the classes that these are to be taken for.
    treat: Mapping[str, str] = field(default_factory=dict)
    #: Whether classes that are not known become classes of PyTorch whose forward is to be written,
    #: which only `to_pytorch` can; nothing is then checked.
    stub: bool = False
    #: Whether the net that was written is compared with the one in the file.
    check: bool = True
    #: An input for that comparison; by default random numbers.
    sample: Any = None
    #: The engine that runs the net for it, with the packages that have its classes.
    engine: Engine | None = None
    #: A Python with PyTorch, which runs the source of `to_pytorch`; by default one is looked for.
    python: str | None = None
    #: Whether nothing is written where the comparison is not possible.
    require_check: bool = False

    @property
    def floats(self) -> str:
        """Return numpy's name of the type."""
        return FLOATS[self.type]


@dataclass
class Report:
    """The outcome of a conversion."""

    #: The names of the files that were written.
    files: list[str]
    #: Whether doubles of the net are floats in the files.
    narrowed: bool = False
    #: The comparison with the net, if there was one.
    outcome: Outcome | None = None
    #: Why there was none.
    unchecked: str = ""
    #: Remarks for somebody who trains the net further.
    remarks: list[str] = field(default_factory=list)


def to_onnx(value: Any, target: Path, **options: Any) -> Report:
    """Write a net as an ONNX file (opset 18), whose dimension of samples is open.

    value: what `load` returns: a module, or a table with one. options: the fields of
    `ConversionOptions`. Raises ExportError for what has no counterpart, for a file that does not
    compute what the net does, and where the library onnx is not installed; OSError; ValueError for
    wrong sizes.
    """
    if find_spec("onnx") is None:
        raise ExportError("writing ONNX needs the library onnx: pip install 'th-shell[export]'")
    from th_shell.runtime.export.onnx_file import write_onnx

    settings = ConversionOptions(**options)
    if settings.stub:
        raise ValueError("stub is for to_pytorch: ONNX has no place for what is to be written")
    if settings.python is not None:
        raise ValueError("python is for to_pytorch: ONNX files run in this one")
    net, graph = _read(value, settings, ranked=True)
    count = len(graph.outputs)
    names = ["output"] if count == 1 else [f"output{n}" for n in range(1, count + 1)]
    report = Report([os.fsdecode(target)], _narrows(net, settings), remarks=graph.assumed)
    with _new_file(target) as file:
        outputs = list(zip(names, graph.outputs, strict=True))
        write_onnx(file, graph, outputs, settings.floats)
        file.flush()
        can_run = find_spec("onnxruntime") is not None
        written = OnnxFile(descriptor_path(file.fileno()), settings.floats)
        _check(report, settings, net, graph, written if can_run else _NO_ONNXRUNTIME)
    return report


def to_pytorch(value: Any, target: Path, **options: Any) -> Report:
    """Write a net as PyTorch's: its parameters as a state_dict, and its source beside that.

    target: the name of the first, model.pt for example; the source is then model.py, which defines
    the class Model: ``net = Model(); net.load_state_dict(torch.load("model.pt"))``. Of a folder
    (`model/`), it is one as Hugging Face's hub has it: model.safetensors, for
    ``safetensors.torch.load_model``, model.py and config.json. value, options and errors are those
    of `to_onnx`; PyTorch is needed for the check alone, in any Python.
    """
    settings = ConversionOptions(**options)
    python = find_python(settings.python) if settings.check else None
    net, graph = _read(value, settings)
    name = os.fsdecode(target)
    folder = name if name.endswith("/") or os.path.isdir(name) else ""
    base = os.path.join(folder, "model") if folder else os.path.splitext(name)[0]
    weights = f"{base}.safetensors" if folder else name
    origin = f", converted from {settings.source}" if settings.source else ""
    kept_in = os.path.basename(weights)
    heading = f"{net.torch_typename} of Torch7{origin}; its parameters are in {kept_in}."
    source = pytorch_source(graph, _CLASS, heading, settings.floats)
    report = Report([weights, f"{base}.py"], _narrows(net, settings))
    report.remarks = graph.remarks + graph.assumed
    with _new_folder(folder), _new_file(weights) as file, _new_file(f"{base}.py") as text:
        with TemporaryFile() if folder else nullcontext(file) as checked:
            write_state_dict(checked, source.parameters, settings.floats)
            checked.flush()
            written = python and PyTorchFiles(
                python, checked.fileno(), source.text, _CLASS, graph, settings.floats
            )
            _check(report, settings, net, graph, written or _NO_PYTORCH)
        shapes = report.outcome.inputs if report.outcome else guessed_sizes(graph)
        ending = main_block(graph, _CLASS, kept_in, shapes, settings.floats)
        text.write((source.text + ending).encode())
        if folder:
            write_safetensors(file, source.parameters, settings.floats)
            report.files.append(os.path.join(folder, "config.json"))
            with _new_file(report.files[-1]) as config:
                config.write(_config(net, settings, shapes))
    return report


def _config(
    net: TorchObject, settings: ConversionOptions, shapes: Mapping[str, Sequence[int]]
) -> bytes:
    """Return the text of config.json: what the net is, and the sizes of its inputs."""
    content = {
        "architectures": [_CLASS],
        "torch_dtype": settings.floats,
        "torch7_class": net.torch_typename,
        "torch7_file": settings.source,
        "inputs": {name: list(sizes) for name, sizes in shapes.items()},
    }
    return (json.dumps(content, indent=2) + "\n").encode()


@contextmanager
def _new_folder(folder: str) -> Iterator[None]:
    """Make a folder, if it has a name and is not there; leave none where the block fails."""
    is_new = folder != "" and not os.path.isdir(folder)
    if is_new:
        os.mkdir(folder)
    try:
        yield
    except BaseException:
        if is_new:
            with suppress(OSError):
                os.rmdir(folder)
        raise


def _read(
    value: Any, settings: ConversionOptions, ranked: bool = False
) -> tuple[TorchObject, Graph]:
    net = find_module(value, settings.select, settings.treat)
    shapes = shapes_of(settings.input) if settings.input else None
    stand_in = stub if settings.stub else None
    return net, find_graph(net, shapes, settings.treat, stand_in, ranked)


def _narrows(net: TorchObject, settings: ConversionOptions) -> bool:
    tensors = (value for _, value in portable_tensors(net)[0] if isinstance(value, Tensor))
    return settings.type == "float" and any(lua_tensor(each).dtype is DOUBLE for each in tensors)


@contextmanager
def _new_file(target: Path) -> Iterator[IO[bytes]]:
    """Return a file that takes its name when the block ends."""
    with Replacement(os.fsencode(target)) as replacement:
        with open(replacement.descriptor, "r+b", closefd=False) as file:
            yield file


_NO_ONNXRUNTIME = "it needs onnxruntime: pip install 'th-shell[export]'"
_NO_PYTORCH = (
    "no Python with PyTorch is here ($VIRTUAL_ENV, $CONDA_PREFIX, python3); --python PATH names one"
)


def _check(
    report: Report,
    settings: ConversionOptions,
    net: TorchObject,
    graph: Graph,
    written: Written | str,
) -> None:
    """Compare what was written with the net. Raises ExportError where it differs.

    written: a text where it cannot run, which says why.
    """
    if not settings.check:
        report.unchecked = "as was asked for"
    elif graph.unchecked:
        report.unchecked = graph.unchecked
    elif isinstance(written, str):
        report.unchecked = written
    else:
        reference = Reference(net, graph, settings.engine or Engine())
        inputs = (
            _given(settings.sample, graph) if settings.sample is not None else reference.inputs()
        )
        report.outcome = compare(reference, written, inputs)
        if report.outcome.relative > TOLERANCE:
            raise ExportError(
                f"what was written differs from the net by {report.outcome.difference:.3g}, where "
                f"the largest number is {report.outcome.scale:.3g}"
            )
    if settings.require_check and report.unchecked:
        raise ExportError(f"not checked: {report.unchecked}")


def _given(sample: Any, graph: Graph) -> dict[str, Array]:
    """Return the user's input by names: a tensor, a table of these, or a table's field `input`."""
    if isinstance(sample, Table) and "input" in sample:
        sample = sample["input"]
    arrays = list(_flat(sample))
    if len(graph.inputs) == 1 and graph.inputs[0].in_steps:
        arrays = [np.stack(arrays)]
    if len(arrays) != len(graph.inputs):
        raise ExportError(
            f"the sample has {len(arrays)} tensors, and the net {len(graph.inputs)} inputs"
        )
    return {value.name: array for value, array in zip(graph.inputs, arrays, strict=True)}


def _flat(value: Any) -> Iterator[Array]:
    if isinstance(value, Table):
        for item in value.to_list():
            yield from _flat(item)
    else:
        yield np.asarray(value)
