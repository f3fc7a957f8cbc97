"""What LuaJIT does by itself on few elements is what Python does, bit for bit."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product

import pytest

import th_shell.runtime.ops  # noqa: F401 (adds the rows)
from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.calls.table import TABLE
from th_shell.runtime.compute.formulas import has_formula, source
from th_shell.runtime.shell import Engine

MOST_ARGUMENTS = 5

# Prints all that calls give and change, for tensors that lie in memory in several ways.
PRELUDE = data(__file__, "PRELUDE")

_OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "mod": "%"}


@cache
def all_calls() -> list[tuple[str, str, str]]:
    """All calls that Lua can run: operation, 'method' or 'function', kinds of arguments."""
    return sorted(calls())


def calls() -> Iterator[tuple[str, str, str]]:
    """The same, in any order."""
    for name, space in product(filter(has_formula, TABLE), ("method", "function")):
        for count in range(1, MOST_ARGUMENTS + 1):
            for pattern in product("TN", repeat=count):
                code = sum(("", "T", "N").index(kind) * 3**i for i, kind in enumerate(pattern))
                if source(name, space, code) is not None:
                    yield name, space, "".join(pattern)


def _expression(name: str, space: str, pattern: str) -> str:
    names = "abcde"[: len(pattern)]
    if name == "operator_unm":
        return "-a"
    if name.startswith("operator_"):
        return f" {_OPERATORS[name.removeprefix('operator_')]} ".join(names)
    if space == "method" and pattern[0] == "N":
        return f"torch.Tensor.{name}({', '.join(names)})"
    if space == "method":
        return f"a:{name}({', '.join(names[1:])})"
    return f"torch.{name}({', '.join(names)})"


TURNS = 84  # all layouts with all types


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("part", "turns"),
    [(part, 3) for part in range(8)]
    + [pytest.param(part, TURNS, marks=pytest.mark.slow) for part in range(8, 16)],
)
def test_same_as_python(lua: Lua, by_python: Callable[[str], None], part: int, turns: int) -> None:
    lines = []
    for at, (name, space, pattern) in enumerate(all_calls()[part % 8 :: 8]):
        names = ", ".join("abcde"[: len(pattern)])
        call = f"function({names}) return {_expression(name, space, pattern)} end"
        at *= turns + 1
        lines.append(
            f"io.write('{name} {pattern}\\n') for turn = {at}, {at + turns - 1} do "
            f"try_with({call}, '{pattern}', turn) end"
        )
    program = PRELUDE + "\n".join(lines)
    found = lua.run(program)
    by_python(program)
    expected = lua.output()
    assert found.count("\n") > 100
    for a, b in zip(found.splitlines(), expected.splitlines(), strict=True):
        assert a == b


OVERLAPS = data(__file__, "OVERLAPS")


def test_overlaps(lua: Lua, by_python: Callable[[str], None]) -> None:
    found = lua.run(OVERLAPS)
    by_python(OVERLAPS)
    assert found == lua.output()
    assert len(set(found.splitlines())) > 10


# Results of other sizes, and results that have gaps.
RESULTS = data(__file__, "RESULTS")


@pytest.mark.thorough
def test_results_of_other_sizes(lua: Lua, by_python: Callable[[str], None]) -> None:
    found = lua.run(PRELUDE + RESULTS)
    by_python(PRELUDE + RESULTS)
    assert found == lua.output()
    assert found.count("torch.") > 500


FLAGS = data(__file__, "FLAGS")


@pytest.mark.thorough
def test_flags_in_a_destination(lua: Lua, by_python: Callable[[str], None]) -> None:
    found = lua.run(PRELUDE + FLAGS)
    by_python(PRELUDE + FLAGS)
    assert found == lua.output()
    assert found.count("true") > 150


@pytest.mark.parametrize("dtype", ["Float", "Double"])
def test_updates_of_many_parameters_need_no_python(lua: Lua, dtype: str) -> None:
    lua.run(f"x, y = torch.{dtype}Tensor(100003):fill(3), torch.{dtype}Tensor(100003):fill(0.25)")
    lua.run("function update() x:zero() x:add(-2, y) x:add(0, y) end update() x[100003] = 9")
    files = []
    sys.setprofile(lambda frame, *_: files.append(frame.f_code.co_filename))
    try:
        lua.run("update()")
    finally:
        sys.setprofile(None)
    assert [file for file in files if "/ops/" in file] == []
    assert lua.run("io.write(tostring(x:eq(-0.5):all()))") == "true"


@pytest.mark.parametrize("call", data(__file__, "test_past_the_end"))
def test_past_the_end(lua: Lua, call: str) -> None:
    answer = lua.error(f"local x = torch.ones(4, 5) x:storage():resize(12) {call}")
    assert answer.endswith("elements of its storage, which holds 12")


# A finalizer runs wherever memory is allocated. It moves the elements of both tensors each time.
FINALIZERS = data(__file__, "FINALIZERS")


@pytest.mark.thorough
def test_finalizers_that_move_elements() -> None:
    engine = Engine()  # with few objects, so that it collects often
    engine.run(engine.compile(FINALIZERS.encode(), b"=lua"))
    engine.close()


@pytest.mark.parametrize("count", [4, 700], ids=["few", "many"])
@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_views_that_overlap(lua: Lua, count: int, first: int, second: int) -> None:
    answer = lua.run(
        f"local n, x = {count}, torch.range(1, {count})\n"
        f"local a, b = x:narrow(1, {first}, n - 1), x:narrow(1, {second}, n - 1)\n"
        "a:copy(b) io.write(a[1], ' ', a[2], ' ', a[3], ' ')\n"
        "x:copy(torch.range(1, n)) a:add(b, 1) io.write(a[1], ' ', a[2], ' ', a[3])"
    )
    if second == 1:
        assert answer == "1 2 3 2 3 4"
    else:
        assert answer == "2 3 4 3 4 5"


EXTREMA = data(__file__, "EXTREMA")


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["min", "max"])
def test_extrema(lua: Lua, by_python: Callable[[str], None], name: str) -> None:
    program = EXTREMA.format(name=name)
    found = lua.run(program)
    by_python(program)
    assert found == lua.output()
    assert " nan" in found
    assert found.count("LongTensor") > 20


@pytest.mark.parametrize("dim", ["0", "4", "-1", "1.5"])
def test_extrema_of_no_dimension(lua: Lua, dim: str) -> None:
    few = f"torch.ones(2, 3, 2):max({dim})"
    many = f"torch.ones(20, 30, 2):max({dim})"
    if dim == "1.5":
        assert lua.run(f"io.write(tostring(({few}):size(1)), ({many}):size(1))") == "11"
    else:
        assert lua.error(few) == lua.error(many)


@pytest.mark.parametrize("name", ["sum", "prod", "max", "cumsum", "norm"])
@pytest.mark.parametrize(
    ("dim", "number"), [("0", 0), ("3", 3), ("-1", -1), ("1e15", -1530494976), ("0/0", 0)]
)
def test_results_along_no_dimension(lua: Lua, name: str, dim: str, number: int) -> None:
    """Nothing is looked up along it, also where the result is no contiguous tensor."""
    numbers = f"2, {dim}" if name == "norm" else dim
    places = ", torch.LongTensor(3, 3):t()" if name == "max" else ""
    message = f"bad argument #2 to '{name}' (dimension {number} out of range)"
    if name == "norm":
        message = f"bad argument #3 to 'norm' (invalid dimension {number})"
    for size in (3, 300):
        lua(f"x = torch.ones({size}, {size})")
        assert lua.error(f"x.{name}(torch.Tensor(3, 3):t(){places}, x, {numbers})") == message


def test_new_tensor_as_source(lua: Lua) -> None:
    assert lua.error("torch.ones(2):cmax()").startswith("inconsistent tensor size, expected r []")


@pytest.mark.thorough
def test_there_are_such_calls() -> None:
    named = {name for name, _, _ in all_calls()}
    assert {"add", "mul", "cmul", "exp", "lt", "sum", "max", "fill", "clone"} <= named


def test_results_of_another_type_get_other_sizes(lua: Lua) -> None:
    lua("m, x = torch.ByteTensor(5), torch.FloatTensor{{3, 2, 1}}")
    for n in range(1, 4):
        lua(f"y = x:narrow(2, 1, {n}):clone() x.lt(m, y, 3)")
        assert lua("print(m:nDimension(), m:size(2), m:sum())") == f"2\t{n}\t{n - 1}\t\n"
    lua("m, x, y = nil, nil, nil")
