"""Random chains of views, writes and copies against numpy.

A program is drawn step by step; each step is Lua source and the same thing done to numpy
arrays, whose views share memory as tensors do. At the end all tensors, each an alias of some
others, must have the arrays' sizes, strides, offsets and values.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided, sliding_window_view

from tests.conftest import Lua
from tests.data_files import data

Array = np.ndarray[Any, np.dtype[np.float64]]
Draw = Callable[[st.SearchStrategy[Any]], Any]

MOST_ELEMENTS, MOST_DIMENSIONS = 400, 5

DUMP = data(__file__, "DUMP")


class Program:
    """Lua source under way, and the numpy arrays that its tensors must equal."""

    def __init__(self, draw: Draw, quoted: bool) -> None:
        self.draw = draw
        self.quoted = quoted  # numbers as strings: so they reach Python, not Lua's short cuts
        self.lines: list[str] = []
        self.tensors: list[tuple[Array, Array]] = []  # array and its memory
        self.counter = 0

    def whole(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def number(self, value: int) -> str:
        return f"'{value}'" if self.quoted else str(value)

    def arguments(self, *values: int) -> str:
        return ", ".join(self.number(value) for value in values)

    def fresh(self, count: int) -> tuple[int, Array]:
        """Numbers that no element has yet: the first of them, and all."""
        first = self.counter + 1
        self.counter += count
        return first, np.arange(first, first + count, dtype=np.float64)

    def add(self, source: str, array: Array, memory: Array) -> None:
        if 0 < array.size <= MOST_ELEMENTS and array.ndim <= MOST_DIMENSIONS:
            self.tensors.append((array, memory))
            self.lines.append(f"T[{len(self.tensors)}] = {source}")

    def add_copy(self, source: str, array: Array) -> None:
        copy = np.ascontiguousarray(array)
        copy = copy.copy() if copy is array or copy.base is not None else copy
        self.add(source, copy, copy)

    def start(self) -> None:
        sizes = tuple(self.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
        first, values = self.fresh(int(np.prod(sizes)))
        array = values.reshape(sizes)
        shape = ", ".join(map(str, sizes))
        self.add(f"torch.range({first}, {self.counter}):resize({shape})", array, array)


def overlaps(array: Array) -> bool:
    """Whether two elements may be the same place in memory."""
    reach = 0
    for stride, size in sorted(zip(array.strides, array.shape, strict=True)):
        if size > 1:
            if stride <= reach:
                return True
            reach += (size - 1) * stride
    return False


def narrow(p: Program, k: int, x: Array, memory: Array) -> None:
    d = p.whole(0, x.ndim - 1)
    start = p.whole(0, x.shape[d] - 1)
    size = p.whole(1, x.shape[d] - start)
    part = x[(slice(None),) * d + (slice(start, start + size),)]
    p.add(f"T[{k}]:narrow({p.arguments(d + 1, start + 1, size)})", part, memory)


def sub(p: Program, k: int, x: Array, memory: Array) -> None:
    bounds, where = [], []
    for size in x.shape[: p.whole(1, min(x.ndim, 4))]:
        first = p.whole(0, size - 1)
        last = p.whole(first, size - 1)
        where.append(slice(first, last + 1))
        bounds += [p.draw(st.sampled_from([first + 1, first - size])), last - size]
    p.add(f"T[{k}]:sub({p.arguments(*bounds)})", x[tuple(where)], memory)


def select(p: Program, k: int, x: Array, memory: Array) -> None:
    if x.ndim < 2:
        return
    d = p.whole(0, x.ndim - 1)
    at = p.whole(0, x.shape[d] - 1)
    p.add(f"T[{k}]:select({p.arguments(d + 1, at + 1)})", x[(slice(None),) * d + (at,)], memory)


def transpose(p: Program, k: int, x: Array, memory: Array) -> None:
    a, b = p.whole(0, x.ndim - 1), p.whole(0, x.ndim - 1)
    p.add(f"T[{k}]:transpose({p.arguments(a + 1, b + 1)})", x.swapaxes(a, b), memory)


def t(p: Program, k: int, x: Array, memory: Array) -> None:
    if x.ndim == 2:
        p.add(f"T[{k}]:t()", x.T, memory)


def permute(p: Program, k: int, x: Array, memory: Array) -> None:
    order = p.draw(st.permutations(range(x.ndim)))
    source = f"T[{k}]:permute({', '.join(str(d + 1) for d in order)})"
    p.add(source, x.transpose(order), memory)


def unfold(p: Program, k: int, x: Array, memory: Array) -> None:
    d = p.whole(0, x.ndim - 1)
    size, step = p.whole(1, x.shape[d]), p.whole(1, 3)
    windows = sliding_window_view(x, size, axis=d, writeable=True)
    part = windows[(slice(None),) * d + (slice(None, None, step),)]
    p.add(f"T[{k}]:unfold({p.arguments(d + 1, size, step)})", part, memory)


def squeeze(p: Program, k: int, x: Array, memory: Array) -> None:
    if x.size > 1:  # Torch7: a number, for a single element
        p.add(f"T[{k}]:squeeze()", x.squeeze(), memory)


def squeeze_dim(p: Program, k: int, x: Array, memory: Array) -> None:
    d = p.whole(0, x.ndim - 1)
    if x.ndim > 1:
        part = x.squeeze(d) if x.shape[d] == 1 else x
        p.add(f"T[{k}]:squeeze({p.number(d + 1)})", part, memory)


def expand(p: Program, k: int, x: Array, memory: Array) -> None:
    sizes = tuple(p.whole(1, 3) if n == 1 else n for n in x.shape)
    strides = tuple(0 if n == 1 else s for n, s in zip(x.shape, x.strides, strict=True))
    # Not in strings: by them the reference tells a destination from sizes.
    source = f"T[{k}]:expand({', '.join(map(str, sizes))})"
    p.add(source, as_strided(x, sizes, strides, writeable=True), memory)


def view(p: Program, k: int, x: Array, memory: Array) -> None:
    if not x.flags.c_contiguous:
        return
    first = p.draw(st.sampled_from([n for n in range(1, x.size + 1) if x.size % n == 0]))
    sizes = p.draw(st.sampled_from([(first, -1), (-1, first), (1, first, -1), (-1,)]))
    source = f"T[{k}]:view({', '.join(map(str, sizes))})"
    p.add(source, x.reshape(sizes), memory)


def _place(p: Program, x: Array) -> tuple[str, tuple[Any, ...]]:
    """What stands in [] for some dimensions, in Lua and in numpy."""
    words, where = [], []
    for size in x.shape[: p.whole(1, x.ndim)]:
        kind = p.draw(st.sampled_from(["number", "negative", "range", "from the end", "all"]))
        first = p.whole(0, size - 1)
        last = p.whole(first, size - 1)
        if kind == "number":
            words.append(p.number(first + 1))
            where.append(first)
        elif kind == "negative":
            words.append(p.number(first - size))
            where.append(first)
        elif kind == "range":
            words.append(f"{{{p.arguments(first + 1, last + 1)}}}")
            where.append(slice(first, last + 1))
        elif kind == "from the end":
            words.append(f"{{{p.arguments(first - size, last - size)}}}")
            where.append(slice(first, last + 1))
        else:
            words.append("{}")
            where.append(slice(None))
    return f"{{{', '.join(words)}}}", tuple(where)


def index_row(p: Program, k: int, x: Array, memory: Array) -> None:
    if x.ndim > 1:
        at = p.whole(0, x.shape[0] - 1)
        word = p.draw(st.sampled_from([at + 1, at - x.shape[0]]))
        p.add(f"T[{k}][{p.number(word)}]", x[at], memory)


def index_table(p: Program, k: int, x: Array, memory: Array) -> None:
    words, where = _place(p, x)
    if not (len(where) == x.ndim and all(isinstance(item, int) for item in where)):
        p.add(f"T[{k}][{words}]", x[where], memory)


def fill(p: Program, k: int, x: Array, memory: Array) -> None:
    value, _ = p.fresh(1)
    p.lines.append(f"T[{k}]:fill({p.number(value)})")
    x[...] = value


def add_number(p: Program, k: int, x: Array, memory: Array) -> None:
    if not overlaps(x):
        p.lines.append(f"T[{k}]:add({p.number(3)})")
        x += 3


def copy_fresh(p: Program, k: int, x: Array, memory: Array) -> None:
    if not overlaps(x):
        first, values = p.fresh(x.size)
        p.lines.append(f"T[{k}]:copy(torch.range({first}, {p.counter}))")
        x[...] = values.reshape(x.shape)


def copy_tensor(p: Program, k: int, x: Array, memory: Array) -> None:
    fitting = [
        i for i, (y, other) in enumerate(p.tensors) if y.shape == x.shape and other is not memory
    ]
    if fitting and not overlaps(x):
        i = p.draw(st.sampled_from(fitting))
        p.lines.append(f"T[{k}]:copy(T[{i + 1}])")
        x[...] = p.tensors[i][0]


def set_number(p: Program, k: int, x: Array, memory: Array) -> None:
    words, where = _place(p, x)
    value, _ = p.fresh(1)
    p.lines.append(f"T[{k}][{words}] = {p.number(value)}")
    x[where] = value


def set_row(p: Program, k: int, x: Array, memory: Array) -> None:
    at = p.whole(0, x.shape[0] - 1)
    value, _ = p.fresh(1)
    p.lines.append(f"T[{k}][{p.number(at + 1)}] = {value}")
    x[at] = value


def set_tensor(p: Program, k: int, x: Array, memory: Array) -> None:
    words, where = _place(p, x)
    part = x[where]
    if isinstance(part, np.ndarray) and part.ndim and not overlaps(part):
        first, values = p.fresh(part.size)
        shape = ", ".join(map(str, part.shape))
        source = f"torch.range({first}, {p.counter}):resize({shape})"
        p.lines.append(f"T[{k}][{words}] = {source}")
        part[...] = values.reshape(part.shape)


def clone(p: Program, k: int, x: Array, memory: Array) -> None:
    p.add_copy(f"T[{k}]:clone()", x)


def contiguous(p: Program, k: int, x: Array, memory: Array) -> None:
    if x.flags.c_contiguous:
        p.add(f"T[{k}]:contiguous()", x, memory)
    else:
        p.add_copy(f"T[{k}]:contiguous()", x)


def repeat(p: Program, k: int, x: Array, memory: Array) -> None:
    times = tuple(p.whole(1, 2) for _ in range(x.ndim + p.whole(0, 1)))
    p.add_copy(f"T[{k}]:repeatTensor({', '.join(map(str, times))})", np.tile(x, times))


def index_copy(p: Program, k: int, x: Array, memory: Array) -> None:
    d = p.whole(0, x.ndim - 1)
    at = p.draw(st.lists(st.integers(0, x.shape[d] - 1), min_size=1, max_size=3))
    words = ", ".join(str(i + 1) for i in at)
    p.add_copy(f"T[{k}]:index({d + 1}, torch.LongTensor{{{words}}})", np.take(x, at, d))


def masked(p: Program, k: int, x: Array, memory: Array) -> None:
    limit = float(p.draw(st.sampled_from(sorted(set(x.ravel().tolist())))))
    p.add_copy(f"T[{k}][T[{k}]:ge({limit})]", x[x >= limit])


def convert(p: Program, k: int, x: Array, memory: Array) -> None:
    name = p.draw(st.sampled_from(["int", "long", "float"]))
    p.add_copy(f"T[{k}]:{name}():double()", x)


VIEWS = [narrow, sub, select, transpose, t, permute, unfold, squeeze, squeeze_dim, expand, view]
VIEWS += [index_row, index_table]
WRITES = [fill, add_number, copy_fresh, copy_tensor, set_number, set_row, set_tensor]
COPIES = [clone, contiguous, repeat, index_copy, masked, convert]
STEPS = VIEWS * 2 + WRITES * 2 + COPIES


def draw_program(draw: Draw, quoted: bool) -> Program:
    program = Program(draw, quoted)
    program.start()
    for step in draw(st.lists(st.sampled_from(STEPS), min_size=2, max_size=14)):
        k = program.whole(1, len(program.tensors))
        step(program, k, *program.tensors[k - 1])
    return program


def expected(p: Program) -> list[list[str]]:
    """The lines that the dump must print; strides of dimensions of size 1 stay open ('?')."""
    lines: list[list[str]] = []
    for k, (x, memory) in enumerate(p.tensors, 1):
        offset = (x.ctypes.data - memory.ctypes.data) // 8 + 1
        plain = str(x.flags.c_contiguous).lower()
        lines.append(["tensor", str(k), str(offset), plain, str(x.size)])
        lines.append([str(n) for n in x.shape])
        lines.append(
            ["?" if n == 1 else str(s // 8) for n, s in zip(x.shape, x.strides, strict=True)]
        )
        values = [f"{value:.14g}" for value in x.ravel().tolist()]
        lines += [values, values]
    return lines


@pytest.mark.thorough
@pytest.mark.parametrize("quoted", [False, True], ids=["in Lua", "in Python"])
@pytest.mark.parametrize("examples", [80, pytest.param(5000, marks=pytest.mark.slow)])
def test_chains_of_views(lua: Lua, quoted: bool, examples: int) -> None:
    lua.run(DUMP)

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
    @given(st.data())
    def check(data: st.DataObject) -> None:
        program = draw_program(data.draw, quoted)
        source = "\n".join(["local T = {}", *program.lines, "model_dump(T)"])
        printed = [line.split(" ") for line in lua.run(source).splitlines()]
        wanted = expected(program)
        for got, want in zip(printed, wanted, strict=True):
            hidden = [g if w == "?" else w for g, w in zip(got, want, strict=True)]
            assert got == hidden, source

    check()
