"""The rule about calls and products of tensors whose sizes do not fit.

Sizes count that are written in the program. A tensor that a local stands for counts where nothing
in the program can change its sizes.
"""

from collections.abc import Iterator, Sequence
from math import prod

from th_shell.preflight import syntax_tree as tree
from th_shell.preflight.finding import Lack, RuleFinding
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
_TOGETHER = frozenset("+ - add csub cmul cdiv cpow cmin cmax copy dot dist".split())
#: Products, and the numbers of dimensions of what they multiply.
_PRODUCTS = {"mm": [(2, 2)], "mv": [(2, 1)], "bmm": [(3, 3)], "*": [(2, 2), (2, 1)]}
#: Methods that do not change the sizes of the tensor that they are called on.
_HARMLESS = _KEPT | frozenset(
    "t view reshape dim nElement std var prod topk transpose expand index type norm numel "
    "isSameSizeAs lt gt le ge eq ne repeatTensor stride unfold split chunk sub storage select "
    "narrow size sum mean max min sort".split()
)  # fmt: skip
#: Functions that leave the sizes of their arguments as they are.
_READERS = frozenset("print torch.mm torch.mv torch.bmm torch.dot".split())


def wrong_shapes(program: Program, world: World) -> Iterator[RuleFinding]:
    """Find calls and products of tensors whose literal sizes do not fit."""
    reader = _Reader(_changed(program), world.members.get("torch", set()))
    for node in program.chunk.nodes:
        why, name = "", ""
        if isinstance(node, tree.Binary):
            name, why = node.sign, reader.wrong(node.sign, (node.left, node.right))
        elif isinstance(node, tree.Invoke):
            name = f":{node.name}()"
            why = reader.wrong(node.name, (node.base, *node.arguments), is_method=True)
        elif isinstance(node, tree.Call):
            table, _, function = tree.origin(node.function).rpartition(".")
            name = f"{table}.{function}()"
            why = reader.wrong(function, node.arguments) if table == "torch" else ""
        if why:
            yield RuleFinding(node, "sizes", name, Lack(why, "correct the sizes"))


def known_sizes(program: Program, world: World) -> Iterator[tuple[tree.Local, str]]:
    """Yield the locals that are declared with tensors of known sizes, with these."""
    reader = _Reader(_changed(program), world.members.get("torch", set()))
    for local in program.chunk.locals:
        sizes = reader.sizes(local.value) if local.value is not None else ()
        if sizes:
            yield local, _text(sizes)


def _changed(program: Program) -> frozenset[tree.Local | None]:
    """Return the locals whose tensors may get other sizes, as far as uses tell."""
    harmless: set[int] = set()
    for node in program.chunk.nodes:
        if isinstance(node, tree.Invoke):
            in_place = node.name in _TOGETHER and len(node.arguments) == 1
            harmless.update([id(node.base)] if in_place or node.name in _HARMLESS else [])
            harmless.update(map(id, node.arguments) if node.name in _TOGETHER else ())
        elif isinstance(node, tree.Binary):
            harmless.update((id(node.left), id(node.right)))
        elif isinstance(node, tree.Call) and tree.origin(node.function) in _READERS:
            harmless.update(map(id, node.arguments))
    return frozenset(name.local for name in program.of(tree.Name) if id(name) not in harmless)


class _Reader:
    """Reads sizes off a program.

    changed: the locals that do not count. own: what the program itself gives torch.
    """

    def __init__(self, changed: frozenset[tree.Local | None], own_names: set[str]) -> None:
        self._changed, self._own = changed, own_names

    def sizes(self, node: tree.Node) -> Sizes:
        """Return the sizes of a tensor; none where they are not known."""
        if isinstance(node, tree.Name) and node.local in self._changed:
            return ()
        node = tree.value(node)
        if isinstance(node, tree.Call):
            table, _, name = tree.origin(node.function).rpartition(".")
            is_torch = table == "torch" and name not in self._own
            return _made(name, node.arguments) if is_torch else ()
        if isinstance(node, tree.Invoke):
            return self._after(self.sizes(node.base), node)
        if isinstance(node, tree.Binary) and node.sign in ("+", "-") and self.sizes(node.right):
            return self.sizes(node.left)
        return ()

    def _after(self, before: Sizes, node: tree.Invoke) -> Sizes:
        """Return the sizes of what a method returns."""
        numbers = numbers_of(node.arguments)
        has_tensor = any(self.sizes(argument) for argument in node.arguments)
        if node.name == "t" and len(before) == 2:
            return before[::-1]
        if before and node.name in ("view", "reshape", "resize") and min(numbers, default=0) > 0:
            return numbers
        is_kept = node.name in _KEPT and not has_tensor
        return before if is_kept or (node.name == "add" and len(node.arguments) == 1) else ()

    def wrong(self, name: str, arguments: Sequence[tree.Node], is_method: bool = False) -> str:
        """Say why a call is wrong; '' where it is not. A method's object is its first argument."""
        before = self.sizes(arguments[0]) if arguments else ()
        if name in self._own or not before:
            return ""
        numbers = numbers_of(arguments[1:])
        if is_method and name == "t" and len(arguments) == 1 and len(before) != 2:
            return f"{_text(before)} is no matrix"
        if is_method and numbers and name in ("view", "reshape"):
            return _of_view(before, numbers)
        tensors = [argument for argument in arguments if _number(argument) is None]
        all_sizes = [self.sizes(argument) for argument in tensors]
        if len(all_sizes) < 2 or not (all_sizes[-2] and all_sizes[-1]):
            return ""
        if name in _TOGETHER or (name == "*" and len(all_sizes[0]) == len(all_sizes[1]) == 1):
            return _of_elements(all_sizes[-2], all_sizes[-1])
        if name not in _PRODUCTS or (is_method and len(all_sizes) != 3):
            return ""
        return _of_product(name, all_sizes[-2], all_sizes[-1])


def _made(name: str, arguments: Sequence[tree.Node]) -> Sizes:
    """Return the sizes of what a function of torch makes."""
    numbers = numbers_of(arguments)
    if name == "eye" and 0 < len(numbers) < 3:
        return (numbers[0], numbers[-1])
    if name == "range" and len(numbers) == 2 and numbers[1] >= numbers[0]:
        return (numbers[1] - numbers[0] + 1,)
    is_typed = name == "Tensor" or name in _TYPES
    if is_typed and len(arguments) == 1 and not numbers:
        return _nested(arguments[0])
    is_sized = is_typed or name in _FILLED or (name == "randperm" and len(numbers) == 1)
    return numbers if is_sized and min(numbers, default=0) > 0 else ()


def _number(node: tree.Node) -> float | None:
    node = tree.value(node)
    if isinstance(node, tree.Binary) and node.sign == "*":
        factors = _number(node.left), _number(node.right)
        return None if None in factors else prod(factors)  # type: ignore[arg-type]
    return node.value if isinstance(node, tree.Number) else None


def numbers_of(arguments: Sequence[tree.Node]) -> Sizes:
    """Return literal whole numbers; none where one of the arguments is anything else."""
    numbers = [_number(number) for number in arguments]
    whole = tuple(int(number) for number in numbers if number is not None and number == int(number))
    return whole if len(whole) == len(arguments) else ()


def _nested(node: tree.Node) -> Sizes:
    """Return the sizes of nested tables of numbers."""
    if not isinstance(node, tree.Array) or not node.entries:
        return ()
    if all(_number(entry) is not None for entry in node.entries):
        return (len(node.entries),)
    [same, *more] = {_nested(entry) for entry in node.entries}
    return (len(node.entries), *same) if same and not more else ()


def _text(sizes: Sizes) -> str:
    return "x".join(map(str, sizes))


def _of_elements(left: Sizes, right: Sizes) -> str:
    if prod(left) == prod(right):
        return ""
    return f"{_text(left)} has {prod(left)} elements, and {_text(right)} has {prod(right)}"


def _of_product(name: str, left: Sizes, right: Sizes) -> str:
    batch = len(left) - 2
    fits = (len(left), len(right)) in _PRODUCTS[name] and left[:batch] == right[:batch]
    if fits and left[-1] == right[batch]:
        return ""
    return f"{_text(left)} and {_text(right)} cannot be multiplied"


def _of_view(before: Sizes, sizes: Sizes) -> str:
    if min(sizes) > 0:
        return _of_elements(before, sizes)
    fixed = prod(size for size in sizes if size > 0)
    if min(sizes) < -1 or 0 in sizes or sizes.count(-1) > 1 or prod(before) % fixed == 0:
        return ""
    return f"the {prod(before)} elements of {_text(before)} are no multiple of {fixed}"
