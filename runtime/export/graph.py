"""The graph of a net's computation: values, and the nodes that compute them.

Both targets are written from it: a node has the text of PyTorch and the operators of ONNX. The
modules of a net leave their places as scopes, so that what is written keeps the net's structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any, Protocol

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.t7.values import T7Error

#: A size; a name or None where it is left open: two sizes of one name are the same.
Dim = int | str | None
Shape = tuple[Dim, ...]

BATCH = "batch"  # the name of the dimension of samples
TIME = "time"  # the name of the dimension of a sequence's steps


class ExportError(T7Error):
    """A net, or a part of it, that has no counterpart in the target; the message says which."""

    __module__ = "th_shell.runtime.export"


@dataclass
class NeedsInput(ExportError):
    """A net whose input must be known better, or has sizes, found by trying, that do not fit."""

    text: str
    #: The tensor whose sizes must be; or the name of an input whose number of entries must be.
    value: Value | str | None = None
    #: Above 0 where there are too many elements to fit, below 0 where there are too few.
    excess: int = 0
    #: The graph's inputs as far as they were known.
    arguments: Data = field(default_factory=list)

    def __str__(self) -> str:
        return self.text


@dataclass
class Fit(Exception):
    """A module tells an open size of an input: the net is converted again with it."""

    name: str
    size: int


class Open(str):
    """An open size of an input, by its name."""


class Emitter(Protocol):
    """Adds operators and constants to an ONNX graph."""

    def op(self, kind: str, *inputs: str, count: int = 1, **attributes: Any) -> Any:
        """Add an operator; returns the name of its output, or a list of several names."""

    def ints(self, *values: int) -> str:
        """Return the name of a constant list of integers."""

    def index(self, value: int) -> str:
        """Return the name of a constant integer without dimensions."""

    def number(self, value: float) -> str:
        """Return the name of a constant number of the net's type, without dimensions."""

    def constant(self, array: Array) -> str:
        """Return the name of a constant of the type that an array has."""

    def parameter(self, parameter: Parameter) -> str:
        """Return the name of the initialiser with a parameter's elements."""

    def as_floats(self, name: str) -> str:
        """Return a value converted to the net's type."""

    def body(self, graph: Graph) -> Any:
        """Return a graph within this one, as an operator's attribute."""


#: Adds a node's operators; gets the names of its inputs and then of its parameters.
ToOnnx = Callable[..., Any]


@dataclass(eq=False)
class Call:
    """A call of a class of PyTorch: ``nn.Conv2d(3, 64, kernel_size=3)``."""

    function: str
    #: The arguments by name.
    named: dict[str, Any] = field(default_factory=dict)
    #: Arguments that are left out where they have these values.
    defaults: Mapping[str, Any] = field(default_factory=dict)
    #: The arguments, which come first, that are written without their names.
    plain: tuple[str, ...] = ()


@dataclass(eq=False)
class View:
    """A place in the memory of another value."""

    #: The value whose memory it is, which is itself no view.
    base: Value
    #: Returns the elements of the place; gets those of the whole memory.
    get: Callable[[Value], Value] = lambda whole: whole
    #: Returns the whole memory after a write; gets the memory, and what is written to the place.
    put: Callable[[Value, Value], Value] = lambda whole, part: part
    #: Whether the elements lie one after the other, in their order.
    is_contiguous: bool = True
    #: Whether several elements are one place in memory.
    repeats: bool = False


@dataclass(eq=False)
class Value:
    """A tensor that flows through the net, and the memory in which the net keeps it.

    What is written into that memory afterwards all see whose memory it is, too.
    """

    graph: Graph
    shape: Shape | None = None
    #: "float", "int" or "bool".
    kind: str = "float"
    #: The value whose elements these are, in the same places or in others.
    source: Value | None = None
    #: A function that is called with the shape once it is known.
    on_shape: Callable[[Shape], object] | None = None
    #: For an input of indices: the largest one that a lookup by it takes.
    highest: int = 0
    #: The name of an input.
    name: str = ""
    #: Whether it is an input whose elements may turn out to be indices.
    undecided: bool = False
    #: Whether it is an input that the net takes as a table of its places.
    in_steps: bool = False
    #: The node that computes it; None for an input.
    node: Node | None = None
    #: The place in another value's memory where it lies; None for one with memory of its own.
    view: View | None = None
    #: Returns what was written into its own memory later; None if nothing was.
    written: Callable[[], Value] | None = None
    #: The `written` by which it was read last, and what was read.
    _read: tuple[Any, Value] | None = None

    @property
    def memory(self) -> Value:
        """Return the value whose own memory it lies in."""
        return self.view.base if self.view else self

    @property
    def current(self) -> Value:
        """Return its present contents as a value of their own, which no later write changes."""
        written = self.memory.written
        source, value = self._read or (None, self)
        if written is not None and written is not source:
            with self.graph.frozen():
                value = self.view.get(written()) if self.view else written()
            self._read = written, value
        return value

    def lie_at(self, view: View, now: Value) -> None:
        """Have it lie in the memory of another value; now: what is there."""
        self.view, self._read = view, (view.base.written, now)

    def copied(self) -> Value:
        """Return a value with memory of its own, and what is in this one's now."""
        result = Value(self.graph, self.shape, self.kind, source=self, on_shape=self.assume)
        result._read = None, self.current
        return result

    def lie_within(self, place: Value, now: Value | None = None, **view_fields: Any) -> None:
        """Have it lie where another value does, or in a part of that.

        now: what is there, by default itself. how: the fields of `View`.
        """
        outer = place.view or View(place)
        inner = View(outer.base, **view_fields)
        view = View(
            outer.base,
            lambda whole: inner.get(outer.get(whole)),
            lambda whole, part: outer.put(whole, inner.put(outer.get(whole), part)),
            inner.is_contiguous and outer.is_contiguous,
            inner.repeats or outer.repeats,
        )
        self.lie_at(view, now or self)

    def write(self, result: Value) -> None:
        """Write a result into its memory, where that then lies."""
        memory, view = self.memory, self.view or View(self)
        before, first, now = memory.written, memory._read, result.current

        def whole() -> Value:
            with self.graph.frozen():
                return view.put(before() if before else first[1] if first else memory, now)

        memory.written = cache(whole)
        self._read = memory.written, now
        result.lie_at(view, now)

    @property
    def rank(self) -> int:
        """Return the number of dimensions. Raises ExportError where it is not known."""
        if self.shape is None:
            raise self.graph.need("the number of dimensions must be known here", self)
        return len(self.shape)

    def assume(self, shape: Shape) -> Shape:
        """Return the shape; where none is known, this one becomes it, and `on_shape` gets it.

        Of an input the sizes that are None are open. Where the shape is known, its sizes must fit.
        """
        if self.shape is None:
            if self.undecided:
                sizes = zip(shape, self.open_sizes(len(shape)), strict=True)
                shape = tuple([name if size is None else size for size, name in sizes])
            self.shape = shape
            if self.on_shape is not None:
                self.on_shape(shape)
        elif len(shape) != len(self.shape):
            self.graph.check_fit(len(self.shape) - len(shape))
        else:
            for found, wanted in zip(self.shape, shape, strict=True):
                self.graph.fit([found], wanted)
        return self.shape

    def open_sizes(self, count: int) -> list[Open]:
        """Return names for the sizes of an input."""
        return [Open(f"{self.name}_{dim}") for dim in range(count)]

    @property
    def sizes_text(self) -> str:
        """Return its sizes for people, as far as they are known."""
        if self.shape is None:
            return "unknown sizes"
        known = ["?" if size is None or isinstance(size, Open) else size for size in self.shape]
        return " x ".join(map(str, known))

    def sizes(self, *dims: int) -> tuple[int, ...]:
        """Return sizes that must be known. Raises ExportError where they are not."""
        self.rank  # noqa: B018
        sizes = [self.shape[dim] for dim in dims] if self.shape else []
        if not all(isinstance(size, int) for size in sizes):
            raise self.graph.need("the sizes of its input must be known", self)
        return tuple(sizes)  # type: ignore[arg-type]


@dataclass(eq=False)
class Steps:
    """A table with an entry for each step of a sequence, which may be of any length."""

    #: All entries together: tensors, or tables of these.
    data: Data
    #: The dimension of these tensors that is time.
    dim: int = 0
    #: The entries one by one, once these were needed.
    entries: list[Data] | None = None
    #: The net's input, where it is a table if this is used as one; otherwise both are tensors.
    source: Value | None = None


#: The input or output of a module: a tensor, or a table of these.
Data = Value | list["Data"] | Steps


@dataclass(eq=False)
class Node:
    """A step of the computation, from values to values: a layer, an expression, or both."""

    inputs: list[Value]
    outputs: list[Value]
    #: Adds its operators to an ONNX graph.
    to_onnx: ToOnnx
    #: The path of the module that it is a part of.
    path: tuple[str, ...]
    #: The module's object in the file; a layer that is used twice has the same one.
    module: Any
    #: What is the same for the nodes of one use of the module.
    visit: Any
    #: PyTorch's module that computes it, with `parameters` as its attributes.
    layer: Call | None = None
    #: The text that computes it in a forward method: ``{0}`` stands for the first input, and
    #: ``{weight}`` for a parameter, which is then an attribute of the net.
    expression: str = ""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    #: A name for its result.
    word: str = "x"
    #: The steps in it, if it goes through time.
    loop: Loop | None = None

    @property
    def body(self) -> list[Node]:
        """Return the nodes in its loop."""
        return self.loop.body.nodes if self.loop else []

    @property
    def uses(self) -> list[Value]:
        """Return its inputs, and what the body of a loop uses besides."""
        return [*self.inputs, *(self.loop.outer_values() if self.loop else [])]


@dataclass(eq=False)
class Loop:
    """The steps of a node that goes through time: a graph that is run for each.

    The body's inputs are the states, then a step of each sequence; its outputs the next states,
    then a step of each result. The node's inputs are the first states and the sequences; its
    outputs the last states and the results. Time is the first dimension. The body may use values
    from outside.
    """

    body: Graph
    #: How many states there are.
    states: int

    @property
    def results(self) -> list[Value]:
        """Return the values that a step gives out."""
        return self.body.outputs[self.states :]

    @property
    def step_outputs(self) -> list[Value]:
        """Return what a step computes: results, and the next states, each of them once."""
        states = self.body.outputs[: self.states]
        every = [*[each for each in self.results if each not in states], *states]
        return list({id(value): value for value in every}.values())

    def outer_values(self) -> list[Value]:
        """Return the values from outside that the body uses."""
        inner_ids = {id(value) for node in self.body.nodes for value in node.outputs}
        inner_ids |= {id(value) for value in self.body.inputs}
        used = [value for node in self.body.nodes for value in node.uses]
        return [value for value in (*used, *self.body.outputs) if id(value) not in inner_ids]


@dataclass(eq=False)
class State:
    """A value that a module keeps from one step to the next."""

    #: The value before the first step.
    first: Value
    #: The value at the beginning of a step.
    value: Value
    #: The value at its end.
    last: Value


@dataclass(eq=False)
class Memory:
    """The states of modules."""

    #: The sequence that the steps of a loop go through; None where each step has its own nodes.
    sequence: Value | None = None
    #: The states by any keys.
    states: dict[Any, State] = field(default_factory=dict)


@dataclass
class Cell:
    """The class of PyTorch that a loop, or another part of a net, becomes."""

    name: str = "Steps"
    #: What it is, in a sentence.
    title: str = "A loop over the steps of a sequence."
    #: The numbers that its constructor takes: input_size and hidden_size, those of channels, or
    #: none.
    sizes: dict[str, int] = field(default_factory=dict)
    #: Whether it is a part of a net without a loop.
    is_block: bool = False


@dataclass(eq=False)
class Scope:
    """A use of a module, which its nodes have as `visit`."""

    path: tuple[str, ...]
    kind: str


#: Gives the output of a module that cannot be converted: gets that, its input and why it cannot.
StandIn = Callable[[Any, Data, ExportError], Data]


@dataclass(eq=False)
class Graph:
    """A net's nodes in the order in which they are computed."""

    #: Classes of the user's, and the classes that these are to be taken for.
    treated: Mapping[str, str] = field(default_factory=dict)
    #: The graph in which this one is a loop's body.
    outer: Graph | None = None
    #: Whether its inputs' sizes are looked for, so that they must fit.
    looks: bool = False
    #: Makes an output for what cannot be converted.
    stand_in: StandIn | None = None
    #: The sources of classes that stand in for others, by their names.
    stubs: dict[str, str] = field(default_factory=dict)
    #: Why it is not run beside the net, if it is not.
    unchecked: str = ""
    #: Remarks for somebody who trains the net further.
    remarks: list[str] = field(default_factory=list)
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    #: Remarks on what is taken for granted of its inputs.
    assumed: list[str] = field(default_factory=list)
    #: Shapes that its inputs may have, by their names, where sizes are open.
    examples: Iterable[Mapping[str, Any]] = ()
    #: The state that modules keep from step to step.
    memory: Memory = field(default_factory=Memory)
    #: Weights that were computed, by what they are made from.
    computed: dict[Any, Any] = field(default_factory=dict)
    #: The inputs as the net takes them, in tables.
    arguments: Data = field(default_factory=list)
    #: The outputs as the net gives them, in tables.
    result: Data = field(default_factory=list)
    #: Of a loop's body: what it becomes in PyTorch.
    cell: Cell = field(default_factory=lambda: Cell())
    #: The last output of each module, by its identity.
    _last: dict[int, Value] = field(default_factory=dict)
    #: The modules that are being converted, the innermost last.
    _open: list[tuple[Scope, Any]] = field(default_factory=list)
    _frozen: bool = False

    @property
    def place(self) -> str:
        """Return the path and class of the module that is being converted."""
        if not self._open:
            return self.outer.place if self.outer else "the net"
        scope = self._open[-1][0]
        return f"{scope.kind} at {'.'.join(scope.path)}" if scope.path else scope.kind

    def error(self, text: str) -> ExportError:
        """Return an error of the module that is being converted."""
        return ExportError(f"{self.place}: {text}")

    def need(self, text: str, value: Value | str | None, excess: int = 0) -> NeedsInput:
        """Return an error of the module that is being converted, by which --input is asked for."""
        return NeedsInput(f"{self.error(text)}: give --input", value, excess)

    def check_fit(self, excess: int) -> None:
        """Raise NeedsInput where there is an excess of elements, and sizes are looked for."""
        if excess and self.looks:
            raise self.need("its input does not fit", None, excess)

    def fit(self, found: Sequence[Dim], wanted: Dim) -> None:
        """Have sizes be, as their product, a size that a module wants.

        Raises Fit where an open size can be told; see `check_fit` where there is none.
        """
        others = [size for size in found if not isinstance(size, int)]
        product = prod(size for size in found if isinstance(size, int))
        if isinstance(wanted, int) and others in ([], [BATCH]):
            self.check_fit(1 if others else product - wanted)
        elif isinstance(wanted, int) and len(others) == 1 and isinstance(others[0], Open):
            if product and not wanted % product:
                raise Fit(others[0], wanted // product)

    @contextmanager
    def scope(self, path: tuple[str, ...], kind: str, module: Any) -> Iterator[None]:
        """While a module is converted. Raises ExportError for one that holds itself."""
        if any(module is each for _, each in self._open):
            raise self.error("it holds itself")
        self._open.append((Scope(path, kind), module))
        yield
        self._open.pop()

    def input(self, name: str, shape: Shape | None = None) -> Value:
        """Return a new input."""
        value = Value(self, shape, name=name, undecided=True)
        self.inputs.append(value)
        return value

    def add(
        self,
        inputs: Sequence[Value],
        to_onnx: ToOnnx,
        outputs: Sequence[Value],
        *,
        parameters: Mapping[str, Parameter | None] | None = None,
        **node_fields: Any,
    ) -> None:
        """Add a node; its parameters that are None are left out. how: other fields of `Node`."""
        there = {name: each for name, each in (parameters or {}).items() if each is not None}
        scope, module = self._open[-1] if self._open else (None, None)
        path = scope.path if scope else ()
        taken = list(inputs) if self._frozen else [value.current for value in inputs]
        node = Node(
            taken, list(outputs), to_onnx, path, module, scope, parameters=there, **node_fields
        )
        for value in node.outputs:
            value.node = node
        self.nodes.append(node)

    def exchange(self, module: Any, result: Value) -> Value | None:
        """Note what a module computed; returns what it computed before, None for the first time."""
        before = self._last.get(id(module))
        self._last[id(module)] = result
        return before

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """While nodes take values as these were computed, not what is in their memory now."""
        before, self._frozen = self._frozen, True
        try:
            yield
        finally:
            self._frozen = before

    @contextmanager
    def apart(self) -> Iterator[None]:
        """While a copy of a module is converted, whose results are its own."""
        before, self._last = self._last, {}
        yield
        self._last = before

    def prune(self) -> None:
        """Take out the nodes whose results nothing uses."""
        used = {id(value) for value in self.outputs}
        nodes: list[Node] = []
        for node in reversed(self.nodes):
            if any(id(value) in used for value in node.outputs):
                nodes.append(node)
                used |= {id(value) for value in node.uses}
        self.nodes = nodes[::-1]

    def every_node(self) -> Iterator[Node]:
        """Yield all nodes, also those of loops' bodies."""
        for node in self.nodes:
            yield node
            if node.loop is not None:
                yield from node.loop.body.every_node()
