"""Calls at the sizes at which the code takes another way, with results as destinations.

Each call runs with new results, then twice with destinations that were results of earlier calls,
of whatever sizes: it has to give the same.
"""

from functools import cache
from math import isqrt, prod
from random import Random

from tests.data_files import data
from tests.fuzz.calls import arguments
from tests.fuzz.cases import Case
from tests.fuzz.operations import Operation, operations
from tests.fuzz.values import Values
from tests.limits import limits

_STATEMENTS = 12
_MOST = 200_000  # elements of a tensor

# The last one only of few elements: as a destination, it takes a step for each of them.
_LAYOUTS = ("plain", "range", "range", "positive", "transposed", "stepped", "narrowed", "expanded")

#: What is called at all sizes and has no form.
_MORE = tuple(data(__file__, "_MORE"))

#: What takes more time than its operands have elements: matrices only of few rows and columns.
_SLOW = frozenset(
    """svd eig symeig gesv gels inverse potrf potri potrs pstrf qr geqrf
    orgqr ormqr trtrs btrifact btrisolve ger addr multinomial renorm match""".split()
)
_FEW = 5000
#: What takes more than the square of that time: full correlations of a row with a column.
_SLOWEST = frozenset("conv2 conv3 xcorr2 xcorr3".split())
_FEWEST = 1000

#: What gives other results each time, prints, or belongs to files and processes.
_LEFT_OUT = frozenset(
    """tostring print tic toc seed initialSeed setnumthreads setheaptracking retain free save load
    saveobj loadobj pointer cdata data id Timer Storage""".split()
)
_OTHER_KINDS = {"file", "timer", "path", "command", "function", "Generator", "filemode", "table"}

#: Whose results may differ in more than last digits, are undetermined, or keep sizes of a
#: destination.
_NOT_COMPARED = frozenset(
    """svd eig symeig qr geqrf gels orgqr ormqr potrf pstrf new gather range linspace
    logspace""".split()
)


class _Sized(Values):
    """Tensors around one limit: one of so many elements, or of so many rows or columns."""

    def __init__(self, rng: Random, dtype: str) -> None:
        super().__init__(rng, dtype)
        count = max(rng.choice(_numbers()) + rng.choice((-1, 0, 1)), 1)
        few = rng.choice((1, 2, 3, 5, 8))
        shapes = [(count, 1), (1, count), (isqrt(count), isqrt(count)), (few, max(count // few, 1))]
        if count * few <= _MOST:
            shapes += [(count, few), (few, count)]
        if count <= 300:
            shapes += [(count, count)] * 4
        self.rows, self.columns = rng.choice(shapes)
        self.count = rng.choice((count, self.rows * self.columns))
        self.sizes = [self.rows, self.columns, 1]

    @property
    def slow(self) -> frozenset[str]:
        """The operations that take too long."""
        most = max(self.count, self.rows * self.columns)
        return (_SLOW if most > _FEW else frozenset()) | (
            _SLOWEST if most > _FEWEST else frozenset()
        )

    def new(self, dtype: str, ndim: int) -> str:
        rng = self.rng
        rows, columns = (self.rows, self.columns) if rng.random() < 0.7 else self.sizes[1::-1]
        shape = {
            1: (rng.choice((self.count, rows, columns)),),
            2: (rows, columns),
            3: rng.choice(((1, rows, columns), (rows, 1, columns), (rows, columns, 1))),
        }.get(ndim, (1, 1, rows, columns))
        sizes = ", ".join(map(str, shape))
        if dtype != self.dtype and dtype in ("Long", "Int"):
            return f"indices('{dtype}', {rng.choice((1, rows, columns, self.count))}, {sizes})"
        if dtype != self.dtype and dtype == "Byte":
            return f"indices('Byte', 2, {sizes}):add(-1)"
        layout = rng.choice(_LAYOUTS[:-1] if prod(shape) > _FEW else _LAYOUTS)
        return f"make('{dtype}', '{layout}', {sizes})"

    def number(self, kind: str) -> str:
        rng = self.rng
        if kind in ("long", "int") and rng.random() < 0.3:
            return str(rng.choice((self.count, self.rows, self.columns)) + rng.choice((-1, 0, 0)))
        return super().number(kind)

    def size_list(self) -> str:
        sizes = self.rng.choice(((self.count,), (self.rows, self.columns), (self.columns, 1)))
        text = ", ".join(map(str, sizes))
        return f"torch.LongStorage{{{text}}}" if self.rng.random() < 0.4 else text


def make(rng: Random) -> Case:
    """A program of some large tensors and calls."""
    dtype = rng.choice(("Double", "Double", "Double", "Float", "Float", "Long", "Int", "Byte"))
    values = _Sized(rng, dtype)
    declared = [(1, dtype), (2, dtype), (2, dtype), (2, dtype), (1, dtype), (3, dtype)]
    declared += [(1, "Long"), (2, "Long"), (1, "Byte"), (2, "Byte")]
    lines = ["fuzz.seconds = 12"]
    for i, (ndim, kind) in enumerate(declared, 1):
        lines.append(f"try(function() {values.declare(f'v[{i}]', kind, ndim)} end)")
    lines += [_statement(values) for _ in range(_STATEMENTS)]
    return Case.of_lines([*lines, "forget()"])


def _statement(values: _Sized) -> str:
    rng = values.rng
    if rng.random() < 0.1:
        return f"try(function() return {rng.choice(_MORE)} end)"
    operation = rng.choice(_operations(values.dtype, values.slow))
    first = operation.destinations
    own = f"{values.dtype}Tensor"
    kinds = [own if word == "[T]" else word[1:-1] for word in operation.arguments[:first]]
    words = [word for word in operation.arguments[first:] if word != "[Generator]"]
    if first and words[:1] in (["[T]"], [f"[{own}]"]):
        words[0] = "T"  # where it is left out, the destination is the operand
    name = operation.function.rpartition(".")[2]
    call = [
        f"'{operation.function}', {operation.function}",
        f"{{{', '.join(map(repr, kinds))}}}",
        str(name not in _NOT_COMPARED).lower(),
        *arguments(values, operation, words),
    ]
    return f"try(function() again({', '.join(call)}) end)"


@cache
def _numbers() -> tuple[int, ...]:
    return tuple(sorted(set(limits().values())))


@cache
def _operations(dtype: str, slow: frozenset[str]) -> tuple[Operation, ...]:
    left = _LEFT_OUT | slow
    return tuple(
        o
        for o in operations()
        if o.dtype == dtype
        and o.function.startswith("torch.")
        and o.function.rpartition(".")[2] not in left
        and "tostring" not in o.function
        and not o.function.endswith("Storage.new")
        and not _OTHER_KINDS & {w.strip("[]") for w in o.arguments}
    )
