"""Holds what was written against the net itself: both compute random inputs.

The net runs in an engine, with the Lua packages that have its classes; how the other side runs is
in `checking_onnx` and `checking_pytorch`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.engine.engine import Engine
from th_shell.runtime.errors import LuaError
from th_shell.runtime.export.data import Unknown
from th_shell.runtime.export.graph import BATCH, Data, Dim, ExportError, Graph, Steps, Value
from th_shell.runtime.t7.files import save
from th_shell.runtime.t7.values import Table, TorchObject
from th_shell.torch.tensors.tensor import Tensor

TOLERANCE = 1e-4  # of the largest difference, as a part of the largest number
_SAMPLES = 2  # so that samples that are mixed up are seen
_CHANNELS = 3  # of images, where no number is said
_STEPS = 3  # of all other dimensions that are open
_SIZES = (32, 224, 64, 96, 128, 256, 299, 227, 28)  # of images, where no size is said


class Written(Protocol):
    """What was written, as it computes."""

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """Its outputs for inputs by their names. Raises ExportError where it fails."""

    def values(self, inputs: Mapping[str, Array]) -> dict[int, Array]:
        """What its parts compute, by the identities of the graph's values."""


@dataclass
class Outcome:
    """How what was written compares. difference: the largest; scale: the largest number."""

    inputs: dict[str, tuple[int, ...]]
    difference: float = 0.0
    scale: float = 0.0
    place: str = ""  # the first module whose output differs, where one does

    @property
    def relative(self) -> float:
        """The difference as a part of the largest number."""
        return self.difference / self.scale if self.scale else self.difference


class Reference:
    """The net itself, in an engine. Raises ExportError where its classes are not to be had."""

    def __init__(self, net: TorchObject, graph: Graph, engine: Engine) -> None:
        self.graph = graph
        source = Path(__file__).with_name("running.lua").read_text()
        self._lua = engine.eval(source, "running")
        try:
            self._lua["need"](sorted(_classes(net)))
            # A net of its own, as classes read it: what computes writes, and learns, into it.
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
        """Random inputs of sizes that the net takes, by their names."""
        generator = np.random.default_rng(seed)
        error: LuaError | None = None
        for size in (None,) if _is_known(self.graph) else _SIZES:
            found = {
                each.name: _random(each, size, generator, self._type) for each in self.graph.inputs
            }
            try:
                if self._keeps_samples(self.outputs(found)):
                    return found
            except LuaError as failed:
                error = error or failed
        more = "" if _is_known(self.graph) else "; --input says the sizes of its input"
        cause = f": {_cause(error)}" if error else ""
        raise ExportError(f"the net fails on random inputs{cause}{more}")

    def _keeps_samples(self, outputs: Sequence[Array]) -> bool:
        """Whether there is a result for each sample: views mix them where sizes do not fit."""
        return all(
            found.shape[:1] == (_SAMPLES,)
            for value, found in zip(self.graph.outputs, outputs, strict=True)
            if value.shape and value.shape[0] == BATCH
        )

    def outputs(self, inputs: Mapping[str, Array]) -> list[Array]:
        """What the net computes. Raises LuaError."""
        return [array for _, array in _paired(self.graph.result, self._run(inputs, False)[0])]

    def traced(self, inputs: Mapping[str, Array]) -> dict[str, Any]:
        """What its modules compute, by their paths."""
        return {str(path): found for path, found in self._run(inputs, True)[1].items()}

    def _run(self, inputs: Mapping[str, Array], watched: bool) -> Any:
        given = _nested(self.graph.given, inputs)
        return self._lua["run"](self._net, given, self.graph.training, watched)


def _paired(data: Data, found: Any) -> Iterator[tuple[Value, Array]]:
    """The graph's values and what the net computed for them.

    A table of any length is one value: its entries are put together.
    """
    if isinstance(data, Unknown) and data.tensor is not None:
        data = data.tensor
    if isinstance(data, Value):
        yield data, np.array(found)
    elif isinstance(data, Steps) and isinstance(found, Tensor):
        yield from _paired(data.data, found)
    elif isinstance(data, Steps):
        entries = [list(_paired(data.data, entry)) for entry in found.values()]
        for pairs in zip(*entries, strict=True):
            yield pairs[0][0], np.stack([array for _, array in pairs], data.dim)
    else:
        for item, each in zip(data, found.values(), strict=True):
            yield from _paired(item, each)


def _classes(net: TorchObject) -> set[str]:
    """The classes of modules in a net."""
    found: set[str] = set()
    seen: set[int] = set()
    waiting: list[Any] = [net]
    while waiting:
        value = waiting.pop()
        if not isinstance(value, (TorchObject, Table)) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, TorchObject):
            found.add(value.torch_typename)
        waiting += (value.fields if isinstance(value, TorchObject) else value).values()
    return found


def _is_known(graph: Graph) -> bool:
    return all(each.shape is not None and None not in each.shape[1:] for each in graph.inputs)


def _type_of(net: TorchObject, graph: Graph) -> str:
    """The type of the numbers that a net takes."""
    for node in graph.every_node():
        for parameter in node.parameters.values():
            if (found := parameter.own_dtype).kind == "f":
                return found.name
    return "float64" if net.fields.get("_type") == "torch.DoubleTensor" else "float32"


def _random(value: Value, size: int | None, generator: np.random.Generator, dtype: str) -> Array:
    if value.shape is None:
        raise ExportError("the check needs the sizes of the net's input: give --input")
    image = len(value.shape) > 3
    shape = [
        _size(dim, _CHANNELS if image and at == 1 else size) for at, dim in enumerate(value.shape)
    ]
    if value.kind == "int":
        return generator.integers(1, max(value.highest, 1) + 1, shape)
    return generator.standard_normal(shape).astype(dtype)


def _size(dim: Dim, unknown: int | None) -> int:
    if isinstance(dim, int):
        return dim
    if isinstance(dim, str):
        return _SAMPLES if dim == BATCH else _STEPS
    return unknown or _SAMPLES


def _nested(data: Data, inputs: Mapping[str, Array]) -> Any:
    """Inputs as the net takes them: a tensor, or tables."""
    if isinstance(data, Unknown) and data.tensor is not None:
        data = data.tensor
    if isinstance(data, Value):
        array = inputs[data.name]
        return list(array) if data.in_steps else array
    assert isinstance(data, list)
    return [_nested(item, inputs) for item in data]


def _cause(error: LuaError) -> str:
    """The line of an error that says most: what to do without a package, or where nn has failed."""
    lines = [line for line in error.message.split("\n") if line.strip()]
    if "' not found:" in error.message:
        return lines[-1].strip()
    before = error.message.partition("\nstack traceback:")[0]  # nn's containers have their own
    lines = [line for line in before.split("\n") if line.strip() and line[0] != "\t"]
    return lines[-1] if lines else error.message


def compare(reference: Reference, written: Written, inputs: Mapping[str, Array]) -> Outcome:
    """Compare outputs. Raises ExportError where these have other sizes, and where the net fails."""
    outcome = Outcome({name: array.shape for name, array in inputs.items()})
    try:
        wanted = reference.outputs(inputs)
    except LuaError as error:
        raise ExportError(f"the net fails on this input: {_cause(error)}") from None
    found = written.outputs(inputs)
    for number, (one, other) in enumerate(zip(wanted, found, strict=True), 1):
        if one.shape != other.shape:
            raise ExportError(f"output {number} has sizes {other.shape} instead of {one.shape}")
        difference, scale = distance(one, other)
        outcome.difference = max(outcome.difference, difference)
        outcome.scale = max(outcome.scale, scale)
    if outcome.relative > TOLERANCE:
        outcome.place = _first_difference(reference, written.values(inputs), inputs)
    return outcome


def _first_difference(
    reference: Reference, values: Mapping[int, Array], inputs: Mapping[str, Array]
) -> str:
    """The first module whose output differs; values: what was computed, by the values' identities.

    "" where none does.
    """
    traced = reference.traced(inputs)
    for scope, data in reference.graph.results:
        wanted = traced.get(".".join(scope.path))
        for value, one in _paired(data, wanted) if wanted is not None else ():
            other = values.get(id(value))
            if other is not None and _differs(one, other):
                return f"{scope.kind} at {'.'.join(scope.path) or 'the top'}"
    return ""


def _differs(wanted: Array, found: Array) -> bool:
    if wanted.ndim and found.ndim == wanted.ndim:
        found = found[: len(wanted)]  # of what computes all steps at once, the first one was traced
    if wanted.shape != found.shape:
        return True
    difference, scale = distance(wanted, found)
    return difference > TOLERANCE * scale


def distance(wanted: Array, found: Array) -> tuple[float, float]:
    """The largest difference of two arrays of one shape, and the largest number in the first."""
    if not wanted.size:
        return 0.0, 0.0
    one, other = np.asarray(wanted, np.float64), np.asarray(found, np.float64)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    with np.errstate(invalid="ignore"):
        gap = np.where(same, 0.0, np.abs(one - other))
    finite = np.abs(one[np.isfinite(one)])
    return float(np.nan_to_num(gap, nan=np.inf).max()), float(finite.max(initial=0.0))
