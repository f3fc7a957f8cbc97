"""The modules of a file as they are converted: their fields, and the rows of what they become.

A row is a function for one or several classes; it gets the module and its input, and returns its
output. Classes of cunn and cudnn are those of nn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from th_shell.runtime.export.data import table, tensor, tensors
from th_shell.runtime.export.graph import BATCH, Data, ExportError, Graph, NeedsInput, Value
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.t7.values import Function, Table, TorchObject
from th_shell.runtime.t7.working_memory import portable_fields
from th_shell.torch.tensors.tensor import Tensor

Row = Callable[["Module", Any], Data]

_rows: dict[str, Row] = {}
#: Packages whose classes are those of nn, but for those that have a row or a reason of their own.
_OF_NN = ("cudnn", "inn", "cunn", "fbcunn")
# Classes that work in place, and change nothing more where they do so again:
_ONCE = tuple(f"nn.{name}" for name in ("ReLU", "ReLU6", "Threshold", "HardTanh", "Clamp"))


def data_row(*classes: str) -> Callable[[Row], Row]:
    """Make a function the row of some classes whose input, and output, may be a table.

    classes: their names, of which a text may have several, with spaces between.
    """

    def add(function: Row) -> Row:
        for name in " ".join(classes).split():
            assert name not in _rows
            _rows[name] = function
        return function

    return add


def row(*classes: str) -> Callable[[Row], Row]:
    """Make a function of a module and a tensor the row of some classes, named as in `data_row`."""

    def add(function: Row) -> Row:
        data_row(*classes)(lambda module, data: function(module, module.tensor(data)))
        return function

    return add


def function_rows(
    table: Mapping[str, tuple[Callable[..., Value], Mapping[str, float | None]]],
) -> None:
    """Make functions the rows of classes: of a tensor, and of numbers.

    table: for a class the function, and for each number the field and its default, or None.
    """
    for name, (function, fields) in table.items():
        row(name)(partial(_applied, function, fields))


def _applied(
    function: Callable[..., Value], fields: Mapping[str, float | None], m: Module, x: Value
) -> Value:
    return function(x, *[m.number(name, default) for name, default in fields.items()])


def row_of(kind: str) -> Row | None:
    """Return the row of a class, or None."""
    return _rows.get(kind)


_CRITERION = "it is a criterion, and no part of a net; torch.nn has PyTorch's losses"
#: Classes that are not converted, and why: not_converted.txt has a line for each reason.
REASONS: dict[str, str] = {}
for _line in Path(__file__).with_name("not_converted.txt").read_text("utf-8").rstrip().split("\n"):
    _reason, _classes = _line.split(" | ")
    REASONS.update(dict.fromkeys(_classes.split(), _reason))


def reason_of(kind: str) -> str | None:
    """Return why a class is not converted; None for one that is not known."""
    return REASONS.get(kind) or (_CRITERION if "Criterion" in kind else None)


def class_of(value: Any) -> str:
    """Return the class of an object in a file, as nn names it; "" for another value."""
    if not isinstance(value, TorchObject):
        return ""
    typename = value.torch_typename
    package, _, name = typename.partition(".")
    is_own = package not in _OF_NN or typename in REASONS or row_of(typename) is not None
    return typename if is_own else f"nn.{name}"


class Module:
    """A module of the net: its fields, and where it stands.

    kind: its class, as nn names it.
    """

    def __init__(self, value: TorchObject, path: tuple[str, ...], graph: Graph) -> None:
        self.value = value
        self.path = path
        self.graph = graph
        self.kind = graph.treated.get(value.torch_typename) or class_of(value)

    def within(self, graph: Graph) -> Module:
        """Return this module as a part of a loop's body."""
        return Module(self.value, self.path, graph)

    @property
    def is_cudnn(self) -> bool:
        """Tell whether the class is cudnn's, some of whose defaults differ."""
        return self.value.torch_typename.startswith("cudnn.")

    def error(self, text: str) -> ExportError:
        """Return an error of this module."""
        place = f" at {'.'.join(self.path)}" if self.path else ""
        return ExportError(f"{self.value.torch_typename}{place}: {text}")

    def remark(self, text: str) -> None:
        """Say something of what this module becomes, beside what was written."""
        self.graph.remarks.append(str(self.error(text)))

    def get(self, name: str, default: Any = None) -> Any:
        """Return a field, or a default where it is not there."""
        return self.value.fields.get(name, default)

    def number(self, name: str, default: float | None = None) -> float:
        """Return a field that is a number. Raises ExportError without it and a default."""
        value = self.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.error(f"its field {name} is no number")
        return float(value)

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a field that is a whole number."""
        value = self.number(name, default)
        if not abs(value) < 2**53 or value != int(value):
            raise self.error(f"its field {name} is no whole number")
        return int(value)

    def wholes(self, *names: str, default: int | None = None) -> list[int]:
        """Return several fields that are whole numbers."""
        return [self.whole(name, default) for name in names]

    def text(self, name: str) -> str:
        """Return a field that is a string."""
        value = self.get(name)
        if not isinstance(value, str):
            raise self.error(f"its field {name} is no string")
        return value

    def numbers(self, name: str) -> list[float]:
        """Return a field that is a storage, or a table of numbers."""
        field = self.get(name)
        values = field.to_list() if isinstance(field, Table) else [] if field is None else field
        return [float(value) for value in values]

    def sizes(self, name: str) -> list[int]:
        """Return a field that is a storage, or a table, of whole numbers."""
        return [int(value) for value in self.numbers(name)]

    def parameter(self, name: str, trained: bool = True) -> Parameter:
        """Return a field that is a tensor with elements. Raises ExportError where there is none."""
        value = self.optional(name, trained)
        if value is None:
            raise self.error(f"its field {name} is no tensor")
        return value

    def optional(self, name: str, trained: bool = True) -> Parameter | None:
        """Return a field that is a tensor with elements, or None."""
        value = self.get(name)
        if not isinstance(value, Tensor):
            return None
        parameter = Parameter.of(value, trained)
        return parameter if parameter.size else None

    def tensor(self, data: Data) -> Value:
        """Return an input that must be a tensor."""
        return tensor(data, self.graph)

    def tensors(self, data: Data, count: int | None = None) -> list[Value]:
        """Return an input that must be a table of tensors; count: of how many, if that is known."""
        values = [self.tensor(item) for item in table(data, self.graph, count)]
        if count is not None and len(values) != count:
            raise self.error(f"takes a table of {count} tensors, not of {len(values)}")
        return values

    def has_samples(self, x: Value, name: str) -> bool:
        """Tell whether a tensor has a dimension of samples. Where its shape is open, it has one.

        name: the field with the number of dimensions of a sample, which may be missing.
        """
        dims = self.whole(name) if self.get(name) else 0
        shape = x.shape or (x.assume((BATCH, *[None] * dims)) if dims else ())
        return 0 < dims < len(shape)

    def dim(self, x: Value, name: str, of_sample: str = "") -> int:
        """Return a field that is a dimension from 1, or from the end, as one from 0.

        of_sample: the field with the number of dimensions of a sample; a tensor that has one more
        is a batch, whose dimension is not counted.
        """
        dim, sample_rank = self.whole(name, 1), self.get(of_sample) if of_sample else None
        if dim < 0:
            return x.rank + dim
        if sample_rank is None:
            return dim - 1
        self.has_samples(x, of_sample)  # which decides an open shape
        return dim if x.rank == int(sample_rank) + 1 else dim - 1

    def child(self, name: str) -> Module:
        """Return a module in a field."""
        value = self.get(name)
        if not isinstance(value, TorchObject):
            raise self.error(f"its field {name} is no module")
        return Module(value, (*self.path, name), self.graph)

    @property
    def modules(self) -> list[Module]:
        """Return the modules of a container."""
        return self.children("modules")

    def children(self, name: str) -> list[Module]:
        """Return the modules in a table."""
        value = self.get(name)
        items = value.to_list() if isinstance(value, Table) else []
        if not all(isinstance(item, TorchObject) for item in items):
            raise self.error(f"its field {name} holds other things than modules")
        start = self.path if name == "modules" else (*self.path, name)
        return [Module(item, (*start, str(n)), self.graph) for n, item in enumerate(items, 1)]


def convert(module: Module, data: Data, function: Row | None = None) -> Data:
    """Add what a module computes to its graph; returns its output. function: instead of its row.

    Raises ExportError for a class without a row, unless the graph has a stand-in for that.
    """
    graph = module.graph
    with graph.scope(module.path, module.value.torch_typename, module.value):
        try:
            result = _converted(module, data, function)
        except ExportError as error:
            if graph.stand_in is None or graph.looks and isinstance(error, NeedsInput):
                raise
            result = graph.stand_in(module, data, error)
    if isinstance(result, Value) and _is_own(module, data, result):
        _note_memory(module, data, result)
    return result


#: Exceptions of rows where a field has a value that nn never gives it.
_UNEXPECTED = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)


def _converted(module: Module, data: Data, function: Row | None) -> Data:
    function = function or row_of(module.kind)
    if isinstance(module.get("updateOutput"), Function) and module.kind != "nn.Copy":
        raise module.error("computes by a function in the file, its field updateOutput")
    if function is None:
        raise _unknown(module)
    try:
        return function(module, data)
    except IndexError:
        raise module.error("its input has too few dimensions") from None
    except ExportError:
        raise
    except _UNEXPECTED as error:
        raise module.error("its fields, or its input, are not as this class has them") from error


def _is_own(module: Module, data: Data, result: Value) -> bool:
    """Tell whether a module made its result itself, and does not pass another one's on."""
    if isinstance(module.get("modules"), Table):
        return result.node is not None and result.node.module is module.value
    return all(result is not each for each in tensors(data))


def _note_memory(module: Module, data: Data, result: Value) -> None:
    """Do what a module of Torch7 does to the memory of other values.

    It has one tensor for its results: where it was used before, and that result is used later on,
    the new one is. A module that works in place writes into its input; of a table, into the first.
    """
    before = module.graph.exchange(module.value, result)
    is_container = isinstance(module.get("modules"), Table)
    if not is_container and all(result.memory is not each.memory for each in tensors(data)):
        result.view = None  # it shows what the module has computed, which it has for itself
    if module.get("inplace") and not is_container:
        for value in islice(tensors(data), 1):
            if value.view is not None and value.view.repeats and module.kind not in _ONCE:
                raise module.error("changes in place, several times, what nn.Replicate repeats")
            value.write(result)
    if before is not None and before is not result:
        if result.view is None:
            before.write(result)
        else:  # its tensor was moved to other memory
            before.lie_at(result.view, result)


def _unknown(module: Module) -> ExportError:
    reason = reason_of(module.kind)
    if reason:
        return module.error(f"not converted: {reason}")
    kind, fields = module.value.torch_typename, portable_fields(module.value)
    text = f"this class is not known here; its fields are {', '.join(fields) or 'none'}"
    if isinstance(module.get("modules"), Table):
        container = "nn.Concat" if "dimension" in fields else "nn.Sequential"
        text += f". If it is a container, --treat {kind}={container} says so"
    return module.error(f"{text}. --stub leaves its place empty in a .pt file's source")
