"""The rule about tensors whose sizes are written in the program, and do not fit together.

`sizes` tells the sizes of an expression as far as literals tell them. A tensor that a local stands
for counts where nothing in the program can change its sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Found
from th_shell.preflight.knowledge import Lack
from th_shell.preflight.programs import Program, World

Sizes = tuple[int, ...]

_FILLED = frozenset("zeros ones rand randn".split())
_TYPES = frozenset(f"{name}Tensor" for name in "Byte Char Short Int Long Float Double".split())
#: Methods after which a tensor has the sizes that it had.
_KEPT = frozenset(
    "fill zero clone contiguous double float long int byte char short abs neg exp log sqrt sin cos "
    "tanh sigmoid floor ceil round pow mul div uniform normal bernoulli clamp".split()
)
#: Operations that go through the elements of two tensors together.
_TOGETHER = frozenset("add csub cmul cdiv cpow cmin cmax copy dot dist".split())
#: Products, and the numbers of dimensions of what they multiply.
_PRODUCTS = {"mm": [(2, 2)], "mv": [(2, 1)], "bmm": [(3, 3)], "*": [(2, 2), (2, 1)]}
#: Methods that do not change the sizes of the tensor that they are called on.
_HARMLESS = _KEPT | frozenset(
    "t view reshape narrow select size dim nElement sum mean max min std var prod sort topk dot "
    "transpose expand index type norm numel isSameSizeAs lt gt le ge eq ne repeatTensor stride "
    "unfold split chunk sub isContiguous storage all any apply".split()
)


def wrong_shapes(program: Program, world: World) -> Iterator[Found]:
    """Calls and products of tensors whose literal sizes do not fit."""
    reader = _Reader(program, world)
    for node in program.chunk.nodes:
        why, name = "", ""
        if isinstance(node, tree.Binary):
            name, why = node.sign, reader.of_signs(node)
        elif isinstance(node, tree.Invoke):
            name, why = f":{node.name}()", reader.of_method(node)
        elif isinstance(node, tree.Call):
            path = tree.origin(node.function)
            if path.startswith("torch."):
                name, why = f"{path}()", reader.of_function(path[6:], node.arguments)
        if why:
            yield Found(node, "sizes", name, Lack(why, "correct the sizes"))


class _Reader:
    """Reads sizes off a program."""

    def __init__(self, program: Program, world: World) -> None:
        self._changed = _changed(program)
        self._torch = world.members.get("torch", set())

    def sizes(self, node: tree.Node) -> Sizes | None:
        """The sizes of a tensor; None where they are not known."""
        if isinstance(node, tree.Name):
            if node.local in self._changed:
                return None
            inner = tree.value(node)
            return None if inner is node or isinstance(inner, tree.Name) else self.sizes(inner)
        if isinstance(node, tree.Call):
            path = tree.origin(node.function)
            is_torch = path.startswith("torch.") and path[6:] not in self._torch
            return self._made(path[6:], node.arguments) if is_torch else None
        if isinstance(node, tree.Invoke):
            before = self.sizes(node.base)
            return None if before is None else self._after(before, node)
        if isinstance(node, tree.Binary) and node.sign in ("+", "-"):
            return self.sizes(node.left) if self.sizes(node.right) else None
        return None

    def _made(self, name: str, arguments: Sequence[tree.Node]) -> Sizes | None:
        """The sizes of what a function of torch makes."""
        numbers = _numbers(arguments)
        if name in _FILLED or name == "Tensor" or name in _TYPES:
            if numbers and min(numbers) > 0:
                return numbers
            return _nested(arguments[0]) if len(arguments) == 1 and name not in _FILLED else None
        if name == "eye" and numbers and len(numbers) < 3:
            return (numbers[0], numbers[-1])
        if name == "randperm" and numbers and len(numbers) == 1:
            return numbers
        if name == "range" and numbers and len(numbers) == 2 and numbers[1] >= numbers[0]:
            return (numbers[1] - numbers[0] + 1,)
        return None

    def _after(self, before: Sizes, node: tree.Invoke) -> Sizes | None:
        """The sizes of what a method returns."""
        numbers = _numbers(node.arguments)
        tensors = [one for one in node.arguments if self.sizes(one) is not None]
        if node.name in _KEPT and not tensors:
            return before
        if node.name == "t" and len(before) == 2:
            return before[::-1]
        if node.name in ("view", "reshape", "resize") and numbers and min(numbers) > 0:
            return numbers
        if node.name == "add" and len(tensors) < 2 and len(node.arguments) < 3:
            return before
        return None

    # -- what is wrong; '' for nothing

    def of_signs(self, node: tree.Binary) -> str:
        """Of a sum, difference or product."""
        left, right = self.sizes(node.left), self.sizes(node.right)
        if left is None or right is None or node.sign not in ("+", "-", "*"):
            return ""
        if node.sign != "*" or len(left) == len(right) == 1:
            return _of_elements(left, right)
        return _of_product("*", left, right)

    def of_method(self, node: tree.Invoke) -> str:
        """Of a call of a method."""
        before = self.sizes(node.base)
        if before is None:
            return ""
        numbers = _numbers(node.arguments)
        if node.name in ("view", "reshape") and numbers:
            return _of_view(before, numbers)
        if node.name in ("select", "narrow", "size", "sum", "mean", "max", "min", "sort"):
            return _of_dimension(before, numbers, node.name)
        if node.name == "t" and len(before) != 2 and not node.arguments:
            return f"{_text(before)} is no matrix"
        return self.of_function(node.name, (node.base, *node.arguments), is_method=True)

    def of_function(
        self, name: str, arguments: Sequence[tree.Node], is_method: bool = False
    ) -> str:
        """Of a call of a function of torch, or of a method, whose object is the first argument."""
        if name in self._torch or not name:
            return ""
        if name not in _TOGETHER and name not in _PRODUCTS:
            return ""
        tensors = [one for one in arguments if not _is_number(one)]
        found = [self.sizes(one) for one in tensors[-2:]]
        if len(found) < 2 or found[0] is None or found[1] is None:
            return ""
        if name in _TOGETHER:
            return _of_elements(found[0], found[1])
        if not is_method:
            return _of_product(name, found[0], found[1])
        result = self.sizes(tensors[0]) if len(tensors) == 3 else None
        return _of_product(name, found[0], found[1], result) if result else ""


def _changed(program: Program) -> frozenset[tree.Local]:
    """The locals whose tensors may get other sizes, as far as uses tell."""
    names = [n for n in program.chunk.nodes if isinstance(n, tree.Name) and n.local is not None]
    harmless: set[int] = set()
    for node in program.chunk.nodes:
        if isinstance(node, tree.Invoke):
            in_place = node.name in _TOGETHER and len(node.arguments) == 1
            if in_place or node.name in _HARMLESS:
                harmless.add(id(node.base))
            harmless.update(map(id, node.arguments) if node.name in _TOGETHER else ())
        elif isinstance(node, tree.Binary):
            harmless.update((id(node.left), id(node.right)))
        elif isinstance(node, tree.Call) and tree.origin(node.function) in _READERS:
            harmless.update(map(id, node.arguments))
    return frozenset(n.local for n in names if n.local is not None and id(n) not in harmless)


#: Functions that leave the sizes of their arguments as they are.
_READERS = frozenset("print torch.mm torch.mv torch.bmm torch.dot".split())


def _number(node: tree.Node) -> float | None:
    node = tree.value(node)
    return node.value if isinstance(node, tree.Number) else None


def _is_number(node: tree.Node) -> bool:
    return _number(node) is not None


def _numbers(arguments: Sequence[tree.Node]) -> Sizes:
    """Literal whole numbers; none where one of the arguments is anything else."""
    found = [_number(one) for one in arguments]
    whole = tuple(int(one) for one in found if one is not None and one == int(one))
    return whole if len(whole) == len(arguments) else ()


def _nested(node: tree.Node) -> Sizes | None:
    """The sizes of nested tables of numbers."""
    if not isinstance(node, tree.Array) or not node.entries:
        return None
    if all(_is_number(one) for one in node.entries):
        return (len(node.entries),)
    inner = {_nested(one) for one in node.entries}
    same = inner.pop() if len(inner) == 1 else None
    return None if same is None else (len(node.entries), *same)


def _text(sizes: Sizes) -> str:
    return "x".join(map(str, sizes))


def _of_elements(left: Sizes, right: Sizes) -> str:
    if prod(left) == prod(right):
        return ""
    return f"{_text(left)} has {prod(left)} elements, and {_text(right)} has {prod(right)}"


def _of_product(name: str, left: Sizes, right: Sizes, result: Sizes | None = None) -> str:
    """result: the sizes of the tensor that takes the product, which stay as they are."""
    batch = len(left) - 2
    fits = (len(left), len(right)) in _PRODUCTS[name] and left[:batch] == right[:batch]
    if not fits or left[-1] != right[batch]:
        return f"{_text(left)} and {_text(right)} cannot be multiplied"
    product = left[:-1] + right[batch + 1 :]
    if result in (None, product):
        return ""
    return f"the product is {_text(product)}, and the tensor for it {_text(result or ())}"


def _of_view(before: Sizes, sizes: Sizes) -> str:
    if min(sizes) > 0:
        return _of_elements(before, sizes)
    known = prod(size for size in sizes if size > 0)
    free = sizes.count(-1) == 1 and len([size for size in sizes if size < 1]) == 1
    if free and prod(before) % known:
        return f"the {prod(before)} elements of {_text(before)} are no multiple of {known}"
    return ""


def _of_dimension(before: Sizes, numbers: Sizes, name: str) -> str:
    if not numbers:
        return ""
    dimension, *rest = numbers
    if name == "select" and len(before) == 1:
        dimension = 1  # whatever is said
    if not 1 <= dimension <= len(before):
        return f"{_text(before)} has no dimension {dimension}"
    size = before[dimension - 1]
    if name == "select" and rest and not 1 <= rest[0] <= size:
        return f"{_text(before)} has no index {rest[0]} in dimension {dimension}"
    if name == "narrow" and len(rest) > 1 and rest[0] > 0 and rest[0] + rest[1] - 1 > size:
        return f"dimension {dimension} of {_text(before)} ends at {size}"
    return ""
