"""The graph of a net's computation: values, and the nodes that compute them.

Both targets are written from it: a node has the text of PyTorch and the operators of ONNX. The
modules of a net leave their places as scopes, so that what is written keeps the net's structure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from th_shell.runtime.core.dtypes import Array
from th_shell.runtime.export.parameters import Parameter
from th_shell.runtime.t7.values import T7Error

#: A size; a name or None where it is left open: two sizes of one name are the same.
Dim = int | str | None
Shape = tuple[Dim, ...]

BATCH = "batch"  # the name of the dimension of samples
TIME = "time"  # that of the steps of a sequence


class ExportError(T7Error):
    """A net, or a part of it, that has no counterpart in the target; the message says which."""

    __module__ = "th_shell.runtime.export"


class Emitter(Protocol):
    """Adds operators and constants to an ONNX graph."""

    training: bool

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
    """A call of a class of PyTorch: ``nn.Conv2d(3, 64, kernel_size=3)``.

    named: arguments by name; those in `defaults` are left out where they have that value; those in
    `plain`, which come first, are written without their names.
    """

    function: str
    named: dict[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    plain: tuple[str, ...] = ()


@dataclass(eq=False)
class View:
    """A place in the memory of another value, `base`, which is itself no view.

    get: makes what lies there of what is in the memory. put: makes what is in the memory of what
    was in it, and of what was written to the place.
    """

    base: Value
    get: Callable[[Value], Value] = lambda whole: whole
    put: Callable[[Value, Value], Value] = lambda whole, part: part
    is_contiguous: bool = True
    repeats: bool = False  # whether several elements are one place in memory


@dataclass(eq=False)
class Value:
    """A tensor that flows through the net, and the memory in which the net keeps it.

    What is written into that memory afterwards all see whose memory it is, too.
    """

    graph: Graph
    shape: Shape | None = None
    kind: str = "float"  # or "int" or "bool"
    source: Value | None = None  # the value whose elements these are, in the same places or others
    on_shape: Callable[[Shape], object] | None = None  # gets the shape once it is known
    highest: int = 0  # of an input of indices: the largest index that is used with it
    name: str = ""  # the name of an input
    undecided: bool = False  # an input whose elements may turn out to be indices
    in_steps: bool = False  # an input that the net takes as a table of its places
    node: Node | None = None
    view: View | None = None  # where it lies, if not in memory of its own
    written: Callable[[], Value] | None = None  # gives what was put into its own memory afterwards
    _read: tuple[Any, Value] | None = None  # what it was read from last, and what was read

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

    def lie(self, view: View, now: Value) -> None:
        """Have it lie in the memory of another value; now: what is there."""
        self.view, self._read = view, (view.base.written, now)

    def copied(self) -> Value:
        """Return a value with memory of its own, and what is in this one's now."""
        result = Value(self.graph, self.shape, self.kind, source=self, on_shape=self.assume)
        result._read = None, self.current
        return result

    def look(self, place: Value, now: Value | None = None, **view_fields: Any) -> None:
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
        self.lie(view, now or self)

    def write(self, result: Value) -> None:
        """Write a result into its memory, where that then lies."""
        memory, view = self.memory, self.view or View(self)
        before, first, now = memory.written, memory._read, result.current

        def whole() -> Value:
            with self.graph.frozen():
                return view.put(before() if before else first[1] if first else memory, now)

        memory.written = cache(whole)
        self._read = memory.written, now
        result.lie(view, now)

    @property
    def rank(self) -> int:
        """Return the number of dimensions. Raises ExportError where it is not known."""
        if self.shape is None:
            raise self.graph.error("the number of dimensions must be known here: give --input")
        return len(self.shape)

    def assume(self, shape: Shape) -> Shape:
        """Return the shape; where none is known, this one becomes it, and `on_shape` gets it."""
        if self.shape is None:
            self.shape = shape
            if self.on_shape is not None:
                self.on_shape(shape)
        return self.shape

    def sizes(self, *dims: int) -> tuple[int, ...]:
        """Return sizes that must be known. Raises ExportError where they are not."""
        self.rank  # noqa: B018
        sizes = [self.shape[dim] for dim in dims] if self.shape else []
        if not all(isinstance(size, int) for size in sizes):
            raise self.graph.error("the sizes of its input must be known: give --input")
        return tuple(sizes)  # type: ignore[arg-type]


@dataclass(eq=False)
class Steps:
    """A table with an entry for each step of a sequence, which may be of any length.

    data: all entries together: tensors, or tables of these, whose dimension `dim` is time.
    entries: one by one, once these were needed. source: the net's input, where it is a table if
    this is used as one; else both are tensors.
    """

    data: Data
    dim: int = 0
    entries: list[Data] | None = None
    source: Value | None = None


#: What a module gets and returns: a tensor, or a table of these.
Data = Value | list["Data"] | Steps


@dataclass(eq=False)
class Node:
    """One step: what computes values from values.

    layer: PyTorch's module that does it, with `parameters` as its attributes. expression: what does
    it in a forward method, where ``{0}`` stands for the first input and ``{weight}`` for a
    parameter, which is then an attribute of the net. At least one of them is there.
    """

    inputs: list[Value]
    outputs: list[Value]
    to_onnx: ToOnnx
    path: tuple[str, ...]
    module: Any  # the object in the file, by which layers that are used twice are known
    visit: int  # equal for the nodes of one use of it
    layer: Call | None = None
    expression: str = ""
    parameters: dict[str, Parameter] = field(default_factory=dict)
    word: str = "x"  # the name of its result
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
    states: int

    def outer_values(self) -> list[Value]:
        """Return the values from outside that the body uses."""
        inner_ids = {id(value) for node in self.body.nodes for value in node.outputs}
        inner_ids |= {id(value) for value in self.body.inputs}
        used = [value for node in self.body.nodes for value in node.uses]
        return [value for value in (*used, *self.body.outputs) if id(value) not in inner_ids]


@dataclass(eq=False)
class State:
    """A value that a module keeps from one step to the next. first: before the first step.

    value: what it has in a step; last: what it has after it.
    """

    first: Value
    value: Value
    last: Value


@dataclass(eq=False)
class Memory:
    """The states of modules, by any keys.

    sequence: what the steps of a loop go through; None where each step has nodes of its own.
    """

    sequence: Value | None = None
    states: dict[Any, State] = field(default_factory=dict)


@dataclass(eq=False)
class Scope:
    """A use of a module, whose nodes have its identity as `visit`."""

    path: tuple[str, ...]
    kind: str


#: Gives the output of a module that cannot be converted: gets that, its input and why it cannot.
StandIn = Callable[[Any, Data, ExportError], Data]


@dataclass(eq=False)
class Graph:
    """A net's nodes in the order in which they are computed.

    training: whether the net is written as it trains. treated: classes of the user's, and the
    classes that these are to be taken for. outer: the graph in which this one is a loop's body.
    stand_in: for what cannot be converted; stubs: classes that it has made for that, by name.
    """

    training: bool = False
    treated: Mapping[str, str] = field(default_factory=dict)
    outer: Graph | None = None
    stand_in: StandIn | None = None
    stubs: dict[str, str] = field(default_factory=dict)
    unchecked: str = ""  # why it is not run beside the net, if it is not
    remarks: list[str] = field(default_factory=list)  # what who trains it on should know
    inputs: list[Value] = field(default_factory=list)
    outputs: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    memory: Memory = field(default_factory=Memory)
    computed: dict[Any, Any] = field(default_factory=dict)  # weights, by what they are made from
    arguments: Data = field(default_factory=list)  # the inputs as the net takes them
    result: Data = field(default_factory=list)  # the outputs as the net gives them
    # Of modules, in the order of their ends:
    results: list[tuple[Scope, Data]] = field(default_factory=list)
    # What modules computed last, by their identities:
    _last: dict[int, Value] = field(default_factory=dict)
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

    @contextmanager
    def scope(self, path: tuple[str, ...], kind: str, module: Any) -> Iterator[Scope]:
        """While a module is converted. Raises ExportError for one that holds itself."""
        if any(module is each for _, each in self._open):
            raise self.error("it holds itself")
        scope = Scope(path, kind)
        self._open.append((scope, module))
        yield scope
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
            taken, list(outputs), to_onnx, path, module, id(scope), parameters=there, **node_fields
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
