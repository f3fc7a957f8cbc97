"""A formula as steps: each is one of numpy's inner loops over all elements.

A formula is an expression of numbers and tensors' elements: ``t + value * src1 / src2``. Besides
Lua's operators it has numpy's functions of elements by their names (``log1p(t)``);
``double(x)`` and ``cast(x)`` convert to double precision, and to the element type. Each operator and each
function is a step, which rounds to the element type as numpy does; so the results have the same
bits as those of an implementation that calls numpy for the same steps. Intermediate results are
elements of temporary arrays.

A formula that chooses between values, ``t > high and high or t``, has no steps. It is a loop in Lua
and may compute nothing, since Lua computes in double precision.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Operand", "Step", "Steps", "chooses", "names", "parse"]

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
_TRUE_OR_FALSE = {"and", "1", "or", "0"}


def parse(formula: str) -> ast.expr:
    """The tree of a formula. Raises SyntaxError."""
    return ast.parse(formula.replace("~=", "!="), mode="eval").body


def names(tree: ast.AST) -> set[str]:
    """The names in a formula, those of functions aside."""
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if id(node) not in functions}


def comparison(tree: ast.AST) -> ast.Compare | None:
    """The comparison in a formula that gives 1 where it holds and otherwise 0, or None."""
    if isinstance(tree, ast.BoolOp) and isinstance(tree.op, ast.Or):
        first, last = tree.values[0], tree.values[-1]
        if isinstance(first, ast.BoolOp) and len(tree.values) == len(first.values) == 2:
            compare, one = first.values
            if _is(one, 1) and _is(last, 0) and isinstance(compare, ast.Compare):
                return compare
    return None


def chooses(tree: ast.AST) -> bool:
    """Whether a formula chooses between values, other than 1 and 0."""
    return isinstance(tree, ast.BoolOp) and comparison(tree) is None


def _is(node: ast.AST, value: float) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


@dataclass(frozen=True)
class Operand:
    """What a step reads or writes.

    kind: 'tensor', 'number' or 'temporary'; a bare number has no type of its own ('').
    name: which; of a number, the Lua expression. type: numpy's letter for the element type.
    """

    kind: str
    name: str
    type: str


@dataclass(frozen=True)
class Step:
    """One inner loop; or, where ufunc is None, a conversion of the only input to out's type."""

    ufunc: np.ufunc | None
    inputs: tuple[Operand, ...]
    out: Operand

    @property
    def signature(self) -> str:
        """The loop's types, as in ``ufunc.types``."""
        return "".join(x.type for x in self.inputs) + "->" + self.out.type


@dataclass
class Steps:
    """The steps of one formula.

    operands: what its names stand for. type: numpy's letter of the element type.
    """

    operands: dict[str, Operand]
    type: str
    steps: list[Step] = field(default_factory=list)
    _known: dict[str, Operand] = field(default_factory=dict)
    _count: int = 0

    def write(self, tree: ast.expr, out: Operand) -> list[Step]:
        """The steps that set out to what a formula gives. Raises ValueError."""
        compare = comparison(tree)
        result = self._of(compare if compare is not None else tree)
        result = self._typed(result, out.type if not result.type else result.type)
        if result.kind == "temporary" and self.steps and self.steps[-1].out == result:
            if result.type == out.type:
                last = self.steps.pop()
                self.steps.append(Step(last.ufunc, last.inputs, out))
                return self.steps
        self.steps.append(Step(np.positive if result.type == out.type else None, (result,), out))
        return self.steps

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
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return Operand("number", repr(-value), "")
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._step(np.negative, operand)
            case ast.BinOp(left=left, op=op, right=right):
                return self._binary(op, left, right)
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return self._step(_BINARY[type(op)], left, right)
            case ast.Call(func=ast.Name(id="double"), args=[argument]):
                return self._converted(self._of(argument), "d")
            case ast.Call(func=ast.Name(id="cast"), args=[argument]):
                return self._converted(self._of(argument), self.type)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._step(getattr(np, name), *arguments)
        raise ValueError(f"{ast.unparse(node)!r} is no step")

    def _binary(self, op: ast.operator, left: ast.expr, right: ast.expr) -> Operand:
        a, b = self._of(left), self._of(right)
        for one, other in ((a, b), (b, a)):
            if isinstance(op, ast.Mult) and one.kind == "number" and one.name == "1":
                return other
        return self._step(_BINARY[type(op)], left, right)

    def _step(self, ufunc: np.ufunc, *nodes: ast.expr) -> Operand:
        inputs = [self._of(node) for node in nodes]
        types = {x.type for x in inputs if x.type}
        if len(types) != 1:
            raise ValueError(f"{', '.join(map(ast.unparse, nodes))}: one type is needed")
        kind = types.pop()
        typed = tuple(self._typed(x, kind) for x in inputs)
        is_compare = ufunc in _BINARY.values() and f"{kind}{kind}->?" in ufunc.types
        out = self._temporary("?" if is_compare else kind)
        self.steps.append(Step(ufunc, typed, out))
        return out

    def _typed(self, x: Operand, kind: str) -> Operand:
        return x if x.type else Operand(x.kind, x.name, kind)

    def _converted(self, x: Operand, kind: str) -> Operand:
        if x.type in ("", kind):
            return self._typed(x, kind)
        out = self._temporary(kind)
        self.steps.append(Step(None, (x,), out))
        return out

    def _temporary(self, kind: str) -> Operand:
        self._count += 1
        return Operand("temporary", str(self._count), kind)
