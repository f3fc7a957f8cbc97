"""A formula as steps: each is an inner loop of a ufunc over all elements.

The ufuncs are numpy's, but for functions of floats (``libm.py``).

A formula is an expression of numbers and tensors' elements: ``t + value * src1 / src2``. Besides
Lua's operators it has functions of elements by numpy's names (``log1p(t)``); ``double(x)``,
``wide(x)`` and ``cast(x)`` convert to double precision, to the type in which elements are added up,
and to the element type. Each operator and each
function is a step, which rounds to the element type as numpy does; so the results have the same
bits as those of an implementation that calls numpy for the same steps. Intermediate results are
elements of temporary arrays.

A formula may choose between values, ``t > high and high or t``. Its steps work on the bits of the
elements as whole numbers, so that what is chosen keeps them all: with a mask of ones where the
comparison holds, and otherwise of zeros, ``a`` or ``b`` is ``b xor ((a xor b) and mask)``.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from th_shell.runtime.compute.libm import IN_DOUBLES, function
from th_shell.runtime.core.dtypes import BYTE, INT, LONG

_BINARY: dict[type[ast.AST], np.ufunc] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
#: numpy's letters for whole numbers of the size of a type.
WHOLE = {"d": LONG.numpy.char, "f": INT.numpy.char}
_LONG = LONG.numpy.char


def parse(formula: str) -> ast.expr:
    """The tree of a formula. Raises SyntaxError."""
    return ast.parse(formula.replace("~=", "!="), mode="eval").body


def suits_whole(tree: ast.expr) -> bool:
    """Tell whether numpy's steps compute a formula of whole numbers as C does."""
    odd = (ast.Div, ast.Call, ast.IfExp)
    if isinstance(tree, ast.Constant) and tree.value is None:
        return False
    return not any(isinstance(node, odd) for node in ast.walk(tree))


def names(tree: ast.AST) -> set[str]:
    """The names in a formula, those of functions aside."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if id(node) not in functions}


def cases(tree: ast.expr) -> Iterable[tuple[ast.expr, ast.expr | None]]:
    """The expressions of a formula `a if condition else b …`, and their conditions."""
    while isinstance(tree, ast.IfExp):
        yield tree.body, tree.test
        tree = tree.orelse
    if not (isinstance(tree, ast.Constant) and tree.value is None):
        yield tree, None


def is_comparison(tree: ast.expr) -> bool:
    """Tell whether a formula is a comparison that gives 1 where it holds and otherwise 0."""
    return _compared(tree) is not None


def _compared(tree: ast.expr) -> ast.expr | None:
    """The comparison in such a formula; None for another one."""
    match tree:
        case ast.BoolOp(values=[ast.BoolOp(values=[compare, ast.Constant(1)]), ast.Constant(0)]):
            return compare
    return None


class Operand(NamedTuple):
    """An input or output of a step.

    kind: 'tensor', 'number', 'buffer' (the elements lie one after the other), 'temporary' (a buffer
    that is to be found), or 'whole', a whole number. A bare number has no type of its own ('').
    name: which; of a number, the Lua expression. type: numpy's letter for the element type.
    """

    kind: str
    name: str
    type: str


class Step(NamedTuple):
    """One inner loop; or, where ufunc is None, a conversion of the only input to out's type.

    signature: the loop's types, as in ``ufunc.types``. They need not be those of the operands,
    whose bits are then whole numbers of the same size; of bytes, the first of each element.
    """

    ufunc: np.ufunc | None
    inputs: tuple[Operand, ...]
    out: Operand
    signature: str = ""


@dataclass(eq=False, repr=False)
class Steps:
    """The steps of one formula.

    operands: what its names stand for. type: numpy's letter of the element type. wide: that of the
    type in which elements are added up.
    """

    operands: dict[str, Operand]
    type: str
    wide: str
    steps: list[Step] = field(default_factory=list)
    _known: dict[str, Operand] = field(default_factory=dict)
    _count: int = 0

    def write(self, tree: ast.expr, out: Operand) -> list[Step]:
        """The steps that set out to what a formula gives. Raises ValueError."""
        compared = _compared(tree) if out.type == "?" else None
        result = self._of(compared or tree)
        result = self._typed(result, out.type)
        last = self.steps[-1] if self.steps else None
        if last and last.ufunc and last.out == result and result.type == out.type:
            self.steps[-1] = Step(last.ufunc, last.inputs, out, last.signature)
        elif result.type == out.type:
            self._add(np.positive, (result,), out)
        else:
            self.steps.append(Step(None, (result,), out))
        return self.steps

    def _add(self, ufunc: np.ufunc, inputs: tuple[Operand, ...], out: Operand) -> None:
        types = "".join(x.type for x in inputs)
        self.steps.append(Step(ufunc, inputs, out, f"{types}->{out.type}"))

    def _of(self, node: ast.AST) -> Operand:
        key = ast.dump(node)
        if key not in self._known:
            self._known[key] = self._computed(node)
        return self._known[key]

    def _computed(self, node: ast.AST) -> Operand:
        match node:
            case ast.Name(id=name):
                return self.operands[name]
            case ast.Constant(value=value):
                return Operand("number", repr(value), "")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._negated(self._of(operand))
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, left, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._step(_BINARY[type(op)], left, right)
            case ast.BoolOp(op=ast.Or(), values=[ast.BoolOp(values=[compare, value]), *rest]):
                remaining = rest[0] if len(rest) == 1 else ast.BoolOp(ast.Or(), rest)
                return self._chosen(self._of(compare), self._of(value), self._of(remaining))
            case ast.Call(func=ast.Name(id="double"), args=[argument]):
                return self._converted(self._of(argument), "d")
            case ast.Call(func=ast.Name(id="wide"), args=[argument]):
                return self._converted(self._of(argument), self.wide)
            case ast.Call(func=ast.Name(id="cast"), args=[argument]):
                return self._converted(self._of(argument), self.type)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._step(function(name), *arguments)
        raise ValueError(f"{ast.unparse(node)!r} is no step")

    def _binary(self, op: ast.operator, left: ast.expr, right: ast.expr) -> Operand:
        a, b = self._of(left), self._of(right)
        for first, second in ((a, b), (b, a)):
            if isinstance(op, ast.Mult) and first.kind == "number" and first.name == "1":
                return second
        return self._step(_BINARY[type(op)], left, right)

    def _step(self, ufunc: np.ufunc, *nodes: ast.expr) -> Operand:
        inputs = [self._of(node) for node in nodes]
        types = {x.type for x in inputs if x.type}
        if len(types) != 1:
            raise ValueError(f"{', '.join(map(ast.unparse, nodes))}: one type is needed")
        kind = types.pop()
        typed = tuple(self._typed(x, kind) for x in inputs)
        if kind == "f" and ufunc.__name__ in IN_DOUBLES:
            return self._in_doubles(ufunc, *typed)
        is_compare = ufunc in _BINARY.values() and f"{kind}{kind}->?" in ufunc.types
        out = self._temporary("?" if is_compare else kind)
        self._add(ufunc, typed, out)
        return out

    def _in_doubles(self, ufunc: np.ufunc, *floats: Operand) -> Operand:
        """A function of floats, computed in double precision and rounded."""
        out = self._temporary("d")
        self._add(ufunc, tuple(self._converted(x, "d") for x in floats), out)
        return self._converted(out, "f")

    def _negated(self, x: Operand) -> Operand:
        """A float with the other sign. (numpy's negative is not to be trusted with all strides.)"""
        if x.kind == "number":
            return Operand("number", f"-{x.name}", x.type)
        out = self._temporary(x.type)
        sign = "-2147483648" if x.type == "f" else "-9223372036854775808"
        self._of_bits(np.bitwise_xor, x, Operand("whole", sign, x.type), out)
        return out

    def _chosen(self, holds: Operand, value: Operand, alternative: Operand) -> Operand:
        """One of two values for each truth value."""
        kind = value.type or alternative.type or self.type
        value, alternative = self._typed(value, kind), self._typed(alternative, kind)
        mask, out = self._temporary(kind), self._temporary(kind)
        self.steps.append(Step(np.positive, (holds,), mask, "B->B"))
        self._of_bits(np.bitwise_and, mask, Operand("whole", "1", kind), mask)
        if value.kind == "number" and value.name == "0":
            self._of_bits(np.subtract, mask, Operand("whole", "1", kind), mask)  # of the opposite
            self._of_bits(np.bitwise_and, alternative, mask, out)
            return out
        self._of_bits(np.negative, mask, out=mask)
        if alternative.kind == "number" and alternative.name == "0":
            self._of_bits(np.bitwise_and, value, mask, out)
            return out
        self._of_bits(np.bitwise_xor, value, alternative, out)
        self._of_bits(np.bitwise_and, out, mask, out)
        self._of_bits(np.bitwise_xor, out, alternative, out)
        return out

    def _of_bits(self, ufunc: np.ufunc, *inputs: Operand, out: Operand | None = None) -> None:
        """A step on the bits of elements; without out, the last operand is the result."""
        *operands, target = (*inputs, out) if out else inputs
        whole = WHOLE.get(target.type, target.type)
        self.steps.append(Step(ufunc, tuple(operands), target, f"{whole * len(operands)}->{whole}"))

    def _typed(self, x: Operand, kind: str) -> Operand:
        return x if x.type else Operand(x.kind, x.name, kind)

    def _converted(self, x: Operand, kind: str) -> Operand:
        if x.type in ("", kind):
            return self._typed(x, kind)
        out = self._temporary(kind)
        if kind == _LONG:
            self._lengthen(x, out)
        else:
            self.steps.append(Step(None, (x,), out))
        return out

    def _lengthen(self, x: Operand, out: Operand) -> None:
        """Steps that copy bytes or ints to the first bytes of longs, and set the others."""
        self.steps.append(Step(np.positive, (x,), out, f"{x.type}->{x.type}"))
        more: list[tuple[np.ufunc, str]] = [(np.bitwise_and, "255")]
        if x.type != BYTE.numpy.char:
            more = [(np.left_shift, "32"), (np.right_shift, "32")]
        for ufunc, number in more:
            inputs = out, Operand("whole", number, _LONG)
            self.steps.append(Step(ufunc, inputs, out, f"{_LONG}{_LONG}->{_LONG}"))

    def _temporary(self, kind: str) -> Operand:
        self._count += 1
        return Operand("temporary", str(self._count), kind)


def place_temporaries(steps: list[Step]) -> dict[Operand, int]:
    """The buffer of each temporary operand: one that nothing needs any more, or the next."""
    last = {x: i for i, step in enumerate(steps) for x in step.inputs if x.kind == "temporary"}
    places: dict[Operand, int] = {}
    for i, step in enumerate(steps):
        if step.out.kind == "temporary" and step.out not in places:
            taken = {at for x, at in places.items() if last.get(x, -1) >= i}
            places[step.out] = min(set(range(len(places) + 1)) - taken)
    return places
