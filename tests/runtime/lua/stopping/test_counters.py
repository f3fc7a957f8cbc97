"""Counters in bytecode: chunks with them run as without, and they can be taken out again."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lupa import luajit21

from tests.data_files import data
from th_shell.runtime.compute.luajit import _importer

TOP = Path(__file__).resolve().parents[4]
LUA = TOP / "runtime"

# Defines `count(f)`, the function with counters, and `polls`, how often they have polled.
SETUP = data(__file__, "SETUP").encode()


@pytest.fixture(scope="module")
def lua() -> Any:
    lua = luajit21.LuaRuntime(encoding=None, unpack_returned_tuples=True)
    lua.eval(b"loadstring")(SETUP, b"=setup")(_importer(lua)(b"stopping.counters"))
    return lua.globals()


FILES = sorted(LUA.rglob("*.lua")) + sorted((TOP / "tests").rglob("*.lua"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("strip", [False, True])
def test_taking_them_out_gives_the_bytes_as_written(lua: Any, strip: bool) -> None:
    changed = 0
    for path in FILES:
        written, counted = lua.dumps(path.read_bytes(), b"@" + path.name.encode(), strip)
        if counted is not None:
            changed += 1
            assert len(counted) > len(written)
            assert lua.without(counted) == written, path
    assert changed > 40


class Writer:
    """Writes programs of nested loops at random; each ends, and prints what it does."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._names = 0

    def program(self) -> str:
        return f"local acts = {{}} local n = 0\n{self._block(3)}\nprint(n, #acts)\n{self._end()}"

    def _end(self) -> str:
        calls = "for _, f in ipairs(acts) do print(f()) end\n"
        return calls + self._random.choice(["", "error('at the end')", "return n", "n = n + {}"])

    def _block(self, depth: int) -> str:
        kinds = [self._step]
        if depth:
            kinds += [self._numeric, self._generic, self._while, self._repeat, self._goto] * 2
            kinds += [self._function, self._branch]
        count = self._random.randint(1, 3)
        return "\n".join(self._random.choice(kinds)(depth - 1) for _ in range(count))

    def _name(self) -> str:
        self._names += 1
        return f"v{self._names}"

    def _step(self, _: int) -> str:
        return self._random.choice(["n = n + 1", "n = n + 1 print(n)", "n = n * 2 % 1001"])

    def _leave(self) -> str:
        return self._random.choice(["", "", "if n % 7 == 3 then break end"])

    def _kept(self, name: str) -> str:
        """A closure over a local of the loop, so that leaving it closes an upvalue."""
        return self._random.choice(["", f"acts[#acts + 1] = function() return {name} end"])

    def _numeric(self, depth: int) -> str:
        v, step = self._name(), self._random.choice([1, 2, -1])
        first, last = (1, self._random.randint(0, 4)) if step > 0 else (3, 1)
        return (
            f"for {v} = {first}, {last}, {step} do\n{self._kept(v)}\n{self._block(depth)}\n"
            f"{self._leave()} end"
        )

    def _generic(self, depth: int) -> str:
        v, w = self._name(), self._name()
        over = self._random.choice(["ipairs{5, 6, 7}", "pairs{5, 6}", "('ab'):gmatch('.')"])
        return (
            f"for {v}, {w} in {over} do\n{self._kept(v)}\n{self._block(depth)}\n{self._leave()} end"
        )

    def _while(self, depth: int) -> str:
        v = self._name()
        condition = self._random.choice(["", "and n > -1", "and (n > 1 or n < 2)"])
        return (
            f"local {v} = 0\nwhile {v} < 3 {condition} do {v} = {v} + 1\n"
            f"{self._block(depth)}\n{self._leave()} end"
        )

    def _repeat(self, depth: int) -> str:
        v, last = self._name(), self._name()
        return (
            f"local {v} = 0\nrepeat {v} = {v} + 1 local {last} = {v} > 2\n{self._kept(last)}\n"
            f"{self._block(depth)}\n{self._leave()} until {last} or {v} > 5"
        )

    def _goto(self, depth: int) -> str:
        v, label, local = self._name(), self._name(), self._name()
        jump = f"if {v} < 3 then {self._random.choice(['', 'print(n)'])} goto {label} end"
        return (
            f"do local {v} = 0 ::{label}:: {v} = {v} + 1 local {local} = {v}\n"
            f"{self._kept(local)}\n{self._block(depth)}\n{jump} end"
        )

    def _function(self, depth: int) -> str:
        f = self._name()
        call = self._random.choice([f"{f}(2)", f"print({f}(3))", f"print(pcall({f}, 1))"])
        last = self._random.choice(["", f"if k > 0 then return {f}(k - 1, ...) end", "return ..."])
        twice = self._random.choice(["", f"if k > 0 then n = {f}(k - 1) + {f}(k - 2, n) end"])
        tail = "" if last.startswith("return") else "return k"
        return (
            f"local function {f}(k, ...)\n{self._block(depth)}\n{twice}\n{last} {tail} end\n{call}"
        )

    def _branch(self, depth: int) -> str:
        return f"if n % 2 == 0 then\n{self._block(depth)}\nelse\n{self._block(depth)}\nend"


@pytest.mark.parametrize("seed", range(0, 120, 20))
def test_programs_do_the_same(lua: Any, seed: int) -> None:
    polls = lua.polls
    for number in range(seed, seed + 20):
        source = Writer(number).program().encode()
        assert lua.outcome(source, True) == lua.outcome(source, False), source.decode()
    assert lua.polls > polls


COUNTED = data(__file__, "COUNTED")


@pytest.mark.parametrize("name", COUNTED)
def test_what_may_be_endless_is_counted(lua: Any, name: str) -> None:
    polls = lua.polls
    assert lua.outcome(COUNTED[name].encode(), True) == b"true"
    assert lua.polls - polls >= 99


# The loop's function is another one in the second run.
LOOP = data(__file__, "LOOP").encode()


def test_a_loop_that_begins_otherwise_is_compiled_as_a_loop_again(lua: Any) -> None:
    # Where in memory the code is decides by chance which of its loops and calls LuaJIT counts as
    # one, and so what it compiles first: of several copies, one is compiled as it should.
    copies = [lua.loadstring(LOOP) for _ in range(8)]
    assert any(copy() == b"loop" for copy in copies)


@pytest.mark.parametrize(
    "source",
    data(__file__, "test_what_ends_soon_is_left_as_it_is"),
)
def test_what_ends_soon_is_left_as_it_is(lua: Any, source: str) -> None:
    assert lua.dumps(source.encode(), b"=x")[1] is None


def _assign(count: int) -> str:
    return " ".join(f"local v{i} = {i}" for i in range(count))


def _use(count: int) -> str:
    return " + ".join(f"v{i}" for i in range(count))


@pytest.mark.parametrize(
    ("source", "complete"),
    [
        (f"{_assign(58)} return function() while {_use(58)} do end end", True),
        (f"{_assign(59)} return function() while {_use(59)} do end end", False),
        (f"{_assign(59)} return function() local a = {_use(59)} "
         "return function() while a do end end end", False),
        (f"local t = {{{', '.join('1' for _ in range(240))}}} while t[1] == 1 do t[1] = 2 end",
         True),
        (f"local function f(...) while ... do end end f(x, {', '.join('1' for _ in range(245))})"
         " while x do end", False),
    ],
)  # fmt: skip
def test_functions_with_all_the_room_used_are_left_as_they_are(
    lua: Any, source: str, complete: bool
) -> None:
    run: Callable[[bytes, bool], bytes] = lua.outcome
    assert lua.count(lua.loadstring(source.encode()))[1] is complete
    assert run(source.encode(), True).startswith(b"true") == run(source.encode(), False).startswith(
        b"true"
    )


@pytest.mark.parametrize("text", [b"", b"return 1", b"\x1bLJ\x01", b"\x1bLuaQ"])
def test_what_is_no_dump_is_left_as_it_is(lua: Any, text: bytes) -> None:
    assert lua.add(text) == (None, False)
