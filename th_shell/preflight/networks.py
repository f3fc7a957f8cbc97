"""The rules about layers of nn: arguments of their constructors, and sizes through a Sequential."""

from collections.abc import Iterator
from typing import NamedTuple

from th_shell.paragraphs import counted
from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Lack, RuleFinding
from th_shell.preflight.programs import Program, World
from th_shell.preflight.sizes import numbers_of
from th_shell.preflight.tables import Chain, chain_of

#: Layers whose output has the sizes of their input.
_KEEPING = frozenset(
    "Tanh Sigmoid ReLU ReLU6 LeakyReLU PReLU RReLU ELU Dropout SpatialDropout SoftMax LogSoftMax "
    "SoftPlus SoftSign HardTanh Threshold Identity Abs Sqrt Square Copy Contiguous Clamp "
    "SpatialUpSamplingNearest MulConstant AddConstant SpatialMaxPooling "
    "SpatialAveragePooling".split()
)  # fmt: skip
#: Layers with a size of their input, and one of their output, as their first arguments.
_CHANGING = frozenset(
    "Linear LinearNoBias SpatialConvolution SpatialConvolutionMM TemporalConvolution "
    "VolumetricConvolution SpatialFullConvolution SpatialDilatedConvolution".split()
)
#: Layers with the size of their input as the first argument.
_SAME = frozenset("BatchNormalization SpatialBatchNormalization".split())


def wrong_constructions(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find layers of nn that are made of too many or too few arguments."""
    for node in program.of(tree.Call):
        name = tree.origin(node.function)
        least, most = world.facts.arguments.get(name, (0, len(node.arguments)))
        is_open = any(isinstance(last, tree.MANY) for last in node.arguments[-1:])
        least = 0 if is_open else least
        if not least <= len(node.arguments) <= most and not _is_own(name, world):
            counts = f"{least} to {most}" if most > least else str(most)
            lack = Lack(f"made of {counted(len(node.arguments), 'argument')}", f"it takes {counts}")
            yield RuleFinding(node, f"{name}()", f"{name}()", lack)


def _is_own(name: str, world: World) -> bool:
    """Tell whether a program makes the class of this name."""
    table, _, last = name.rpartition(".")
    return name in world.classes or last in world.fields or world.is_own_table(table)


class _Output(NamedTuple):
    """The size that the last layer of a container gives."""

    size: int
    layer: str
    #: The conditions under which it was added.
    conditions: tuple[str, ...]


def wrong_layers(program: Program, _: World) -> Iterator[RuleFinding]:
    """Find layers that take another size than the layer before them in a Sequential gives."""
    made: set[Chain] = {(local,) for local in program.chunk.locals if _is_sequential(local.value)}
    containers = _Containers(made)
    invoked = {id(node.base) for node in program.of(tree.Invoke)}
    for node in program.chunk.nodes:
        if isinstance(node, tree.Invoke):
            why = containers.add(node)
            if why:
                yield RuleFinding(node.arguments[0], "sizes", f":{node.name}()", why)
        elif isinstance(node, (tree.Name, tree.Index)) and id(node) not in invoked:
            containers.use(node)


class _Containers:
    """The outputs of a program's containers, as far as it was read. made: these containers."""

    def __init__(self, made: set[Chain]) -> None:
        self._made = made
        self._outputs: dict[Chain, _Output] = {}
        self._roots: dict[int, Chain] = {}  # by the `id` of calls of `add`: these return it

    def use(self, node: tree.Name | tree.Index) -> None:
        """Forget a container that is used in any way but a call of a method."""
        chain = chain_of(node)
        self._outputs.pop(chain, None)
        if node.use is tree.Use.ASSIGNED:
            self._made.discard(chain)
            if _is_sequential(node.value):
                self._made.add(chain)

    def add(self, node: tree.Invoke) -> Lack | None:
        """Note a call of a method; say why the layer that it adds does not fit."""
        chain = chain_of(node.base)
        is_inline = _is_sequential(node.base)
        root = (str(id(node)),) if is_inline else chain or self._roots.get(id(node.base), ())
        before = self._outputs.get(root)
        if node.name in ("insert", "remove", "replace", "add"):
            self._outputs.pop(root, None)
        is_known = is_inline or root in self._made
        if node.name != "add" or len(node.arguments) != 1 or not is_known:
            return None
        self._roots[id(node)] = root
        self._made.add(root)
        before = before if before and before.conditions == node.conditions else None
        name, taken, given = _layer(node.arguments[0])
        if name in _KEEPING and before:
            self._outputs[root] = before
        elif given:
            self._outputs[root] = _Output(given, name, node.conditions)
        if (
            before
            and taken
            and taken != before.size
            and _has_planes(name) == _has_planes(before.layer)
        ):
            why = f"nn.{before.layer} gives {before.size}, and nn.{name} takes {taken}"
            return Lack(why, "correct the sizes")
        return None


def _has_planes(name: str) -> bool:
    return name.startswith(("Spatial", "Volumetric"))


def _is_sequential(node: tree.Node | None) -> bool:
    return isinstance(node, tree.Call) and tree.origin(node.function) == "nn.Sequential"


def _layer(node: tree.Node) -> tuple[str, int, int]:
    """Return a layer's class, and the sizes that it takes and gives; 0 where one is not known."""
    node = tree.value(node)
    while isinstance(node, tree.Invoke):  # settings, which return the layer
        node = node.base
    path = tree.origin(node.function) if isinstance(node, tree.Call) else ""
    table, _, name = path.rpartition(".")
    if not isinstance(node, tree.Call) or table not in ("nn", "cudnn"):
        return "", 0, 0
    numbers = [(*numbers_of([argument]), 0)[0] for argument in node.arguments]
    if name in _CHANGING and len(numbers) > 1:
        return name, numbers[0], numbers[1]
    if name in _SAME and numbers:
        return name, numbers[0], numbers[0]
    is_flat = name == "View" and (len(numbers) == 1 or numbers[:-1] == [-1])
    return name, 0, numbers[-1] if is_flat and numbers[-1] > 0 else 0
