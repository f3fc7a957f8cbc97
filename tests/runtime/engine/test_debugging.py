"""What an engine tells a debugger of frames, and how programs stop."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Dialogue, Engine, LuaError, Stop

FAILING = data(__file__, "FAILING").encode()


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as one:
        one.count_loops()
        yield one


def failed(engine: Engine, source: bytes) -> None:
    engine.debugging.keep_frames()
    with pytest.raises(LuaError):
        engine.inputs.enter(source, b"=[1]")


def asked(engine: Engine, *requests: tuple[Any, ...]) -> list[list[Any]]:
    return [engine.debugging.request(*request) for request in requests]


def rows(answer: list[Any], width: int) -> list[tuple[Any, ...]]:
    return [tuple(answer[at : at + width]) for at in range(0, len(answer), width)]


class Recorder:
    """A debugger that asks the same at each stop, and goes on as a list says."""

    def __init__(self, ways: list[str], *asks: tuple[Any, ...]) -> None:
        self.ways = ways
        self.asks = asks
        self.stops: list[tuple[str, str, list[Any]]] = []
        self.answers: list[list[Any]] = []

    def __call__(self, stop: Stop) -> Dialogue:
        if stop.reason == "long":  # on a busy machine; it is no stop for the user
            yield ("go", "on", 1)
            return
        frames = yield ("frames",)
        self.stops.append((stop.reason, frames[0], frames[2]))
        for ask in self.asks:
            self.answers.append((yield ask))
        yield ("go", self.ways.pop(0) if self.ways else "continue", 1)

    @property
    def lines(self) -> list[Any]:
        return [line for _, _, line in self.stops]


def run(engine: Engine, path: Path, source: str, **_: Any) -> None:
    path.write_text(source)
    engine.run(engine.compile_file(str(path)))


def test_the_frames_of_an_error_are_kept(engine: Engine) -> None:
    failed(engine, FAILING)
    frames = rows(engine.debugging.request("frames"), 3)
    assert frames == [
        ("inner", "=[1]", 5),
        ("outer", "=[1]", 7),
        ("main chunk", "=[1]", 8),
    ]
    variables = {name: (kind, text) for kind, name, text, _, _ in rows(
        engine.debugging.request("variables", 1), 5
    )}  # fmt: skip
    assert variables == {
        "a": ("local", "5"),
        "s": ("local", '"text"'),
        "t": ("upvalue", "DoubleTensor 2x3"),
        "...[1]": ("vararg", "true"),
        "...[2]": ("vararg", "nil"),
    }


def test_variables_are_as_they_were(engine: Engine) -> None:
    failed(engine, b"local n = 1 local function f() local m = n n = 2 error(m) end f()")
    engine.inputs.enter(b"n = 5")
    assert asked(engine, ("evaluate", 1, "m"), ("evaluate", 2, "n")) == [
        [True, "1", "number", 0],
        [True, "2", "number", 0],
    ]


@pytest.mark.parametrize(("code", "answer"), data(__file__, "test_code_runs_in_a_frame"))
def test_code_runs_in_a_frame(engine: Engine, code: str, answer: list[Any]) -> None:
    failed(engine, FAILING)
    assert engine.debugging.request("evaluate", 1, code) == answer


def test_what_is_assigned_stays(engine: Engine) -> None:
    failed(engine, FAILING)
    asked(engine, ("evaluate", 1, "a = 7"), ("evaluate", 1, "made = a"))
    assert engine.debugging.request("evaluate", 1, "a")[1] == "7"
    assert engine.values["made"] == 7


def test_the_upvalue_of_a_frame_is_the_variable_itself(engine: Engine) -> None:
    failed(engine, b"local n = 1; function get() return n end; (function() n = n; error('') end)()")
    engine.debugging.request("evaluate", 1, "n = 9")
    assert engine.values.eval("get()") == 9


def test_values_are_told_of_part_by_part(engine: Engine) -> None:
    failed(engine, b"local x = { 5, 'a', k = { true }, [2.5] = torch.ones(2, 2) } error('')")
    number = engine.debugging.request("evaluate", 1, "x")[3]
    parts = rows(engine.debugging.request("parts", number), 4)
    assert [part[:2] for part in parts] == [
        ("[1]", "5"),
        ("[2]", '"a"'),
        ("[2.5]", "DoubleTensor 2x2"),
        ("k", "table (1)"),
    ]
    rows_of_tensor = rows(engine.debugging.request("parts", parts[2][3]), 4)
    assert [part[:2] for part in rows_of_tensor] == [
        ("[1]", "DoubleTensor 2"),
        ("[2]", "DoubleTensor 2"),
    ]
    assert engine.debugging.request("set", 1, number, "k", "12")[:2] == [True, "12"]
    assert engine.debugging.request("evaluate", 1, "x.k")[1] == "12"
    engine.debugging.request("set", 1, parts[2][3], "[1]", "8")
    assert engine.debugging.request("evaluate", 1, "x[2.5]:sum()")[1] == "18"


def test_no_code_of_the_program_runs_for_a_list(engine: Engine) -> None:
    failed(
        engine,
        b"""local x = setmetatable({ 1 }, { __index = function() ran = true end,
            __tostring = function() ran = true end, __pairs = function() ran = true end })
            error('')""",
    )
    number = rows(engine.debugging.request("variables", 1), 5)[0][4]
    engine.debugging.request("parts", number)
    assert engine.values["ran"] is None


def test_the_innermost_frames_of_deep_calls(engine: Engine) -> None:
    failed(
        engine, b"local function f(n) if n == 0 then error('') end\nreturn f(n - 1) + n end f(9999)"
    )
    frames = rows(engine.debugging.request("frames"), 3)
    assert frames == [("f", "=[1]", 1)] + [("f", "=[1]", 2)] * 99
    assert engine.debugging.request("evaluate", 3, "n")[1] == "2"


def test_a_full_stack_leaves_no_frames(engine: Engine) -> None:
    failed(engine, FAILING)
    failed(engine, b"local function f(n) return 1 + f(n + 1) end f(1)")
    assert engine.debugging.request("frames") == []


def test_frames_are_let_go_of(engine: Engine) -> None:
    engine.debugging.keep_frames()
    with pytest.raises(LuaError):
        engine.inputs.enter(
            b"local x = newproxy(true)\n"
            b"getmetatable(x).__gc = function() gone = true end\n"
            b"error('')"
        )
    engine.debugging.forget_frames()
    engine.inputs.enter(b"x = nil collectgarbage() collectgarbage()")
    assert engine.values["gone"] is True
    assert engine.debugging.request("frames") == []


# -- programs that stop

PROGRAM = data(__file__, "PROGRAM")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "program.lua"
    path.write_text(PROGRAM)
    return path


def debugged(engine: Engine, path: Path, recorder: Recorder) -> Recorder:
    engine.debugging.debug_by(recorder)
    engine.run(engine.compile_file(str(path)))
    return recorder


def test_steps_go_from_line_to_line(engine: Engine, program: Path) -> None:
    recorder = Recorder(["step", "step", "step", "step", "step", "next", "next", "finish"])
    engine.debugging.request("enter", str(program))
    debugged(engine, program, recorder)
    assert recorder.lines == [1, 2, 7, 8, 3, 4, 5, 8]
    assert [reason for reason, _, _ in recorder.stops] == [
        "entry", "step", "step", "step", "step", "step", "next", "next",
    ]  # fmt: skip


def test_next_goes_over_calls_and_finish_out_of_them(engine: Engine, program: Path) -> None:
    recorder = Recorder(["next", "next", "next", "next", "step", "step", "finish"])
    engine.debugging.request("enter", str(program))
    debugged(engine, program, recorder)
    assert recorder.lines == [1, 2, 7, 8, 8, 3, 4, 8]


def test_breakpoints_have_conditions(engine: Engine, program: Path) -> None:
    recorder = Recorder([], ("evaluate", 1, "total"), ("evaluate", 1, "n = 100"))
    assert engine.debugging.request("breakpoints", "program.lua", 4, "n > 1", "", "") == [0]
    debugged(engine, program, recorder)
    assert recorder.lines == [4, 4]
    assert [answer[1] for answer in recorder.answers[::2]] == ["2", "6"]


def test_a_breakpoint_moves_to_a_line_with_code(engine: Engine, program: Path) -> None:
    assert engine.debugging.request(
        "breakpoints", str(program), 6, "", "", "", str(program), 99, "", "", ""
    ) == [
        7,
        0,
    ]
    assert engine.debugging.request("breakpoints", str(program), 4, "n >", "", "") == [
        "unexpected symbol near '<eof>'"
    ]


def test_what_is_assigned_where_a_program_waits_counts(engine: Engine, program: Path) -> None:
    recorder = Recorder([], ("evaluate", 1, "double = 1"), ("evaluate", 1, "total = total + 100"))
    engine.debugging.request("breakpoints", str(program), 4, "n == 2", "", "")
    debugged(engine, program, recorder)
    assert engine.values["result"] == 2 + 1 + 100 + 6


def test_steps_over_calls_leave_code_compiled(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "heavy.lua").write_text("local function f(i) return i % 7 end\n"
        "return function() local s = 0 for i = 1, 2e7 do s = s + f(i) end end\n")  # fmt: skip
    main = tmp_path / "main.lua"
    main.write_text(f"local heavy = dofile '{tmp_path}/heavy.lua'\nheavy()\nlast = os.clock()\n"
                    "first = jit.status()\n")  # fmt: skip
    recorder = Recorder(["next", "next", "next", "continue"])
    engine.debugging.request("enter", str(main))
    engine.debugging.request("breakpoints", "elsewhere.lua", 3, "", "", "")
    start = time.process_time()
    debugged(engine, main, recorder)
    assert recorder.lines == [1, 2, 3, 4]
    assert engine.values["first"] is True
    assert time.process_time() - start < 2  # interpreted, with a hook, it takes ten times as long


def test_a_breakpoint_in_a_file_that_was_loaded(engine: Engine, program: Path) -> None:
    engine.run(engine.compile_file(str(program)))
    engine.run(engine.compile(b"function again() return 1 end"))
    assert engine.debugging.request("breakpoints", str(program), 6, "", "", "") == [6]


def test_code_that_was_compiled_stops(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "hot.lua"
    path.write_text("function hot(n)\n  local s = 0\n  for i = 1, n do\n    s = s + i\n  end\n"
                    "  return s\nend\nfor i = 1, 200 do hot(100) end\n")  # fmt: skip
    engine.run(engine.compile_file(str(path)))
    assert engine.values.eval("jit.status()")[0] is True
    recorder = Recorder([])
    engine.debugging.debug_by(recorder)
    engine.debugging.request("breakpoints", str(path), 4, "i == 90", "", "")
    engine.inputs.enter(b"hot(100)")
    assert recorder.lines == [4]
    assert engine.values.eval("jit.status()")[0] is False
    engine.debugging.request("breakpoints")
    assert engine.values.eval("jit.status()")[0] is True
    engine.inputs.enter(b"hot(100)")
    assert recorder.lines == [4]


COROUTINES = data(__file__, "COROUTINES")


def test_depth_counts_in_each_coroutine(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "co.lua"
    path.write_text(COROUTINES)
    recorder = Recorder(["next", "next", "next", "next"])
    engine.debugging.request("breakpoints", str(path), 6, "", "", "")
    debugged(engine, path, recorder)
    assert recorder.lines == [6, 7, 8, 11]


def test_a_step_goes_into_a_coroutine(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "co.lua"
    path.write_text(COROUTINES)
    recorder = Recorder(["step", "step", "step"])
    engine.debugging.request("breakpoints", str(path), 6, "", "", "")
    debugged(engine, path, recorder)
    assert recorder.lines == [6, 2, 7, 3]


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [3, 6000])
def test_callbacks_of_apply_stop(engine: Engine, tmp_path: Path, size: int) -> None:
    path = tmp_path / "apply.lua"
    path.write_text(f"local t = torch.range(1, {size})\nt:apply(function(x)\n  local y = x + 1\n"
                    "  return y\nend)\nsum = t:sum()\n")  # fmt: skip
    recorder = Recorder([], ("evaluate", 1, "y = 0"))
    engine.debugging.request("breakpoints", str(path), 4, "x == 2", "", "")
    debugged(engine, path, recorder)
    assert recorder.lines == [4]
    assert recorder.stops[0][1].startswith("function <")
    assert engine.values["sum"] == size * (size + 1) / 2 + size - 3


def test_watched_values(engine: Engine, program: Path) -> None:
    seen: list[str] = []

    def debugger(stop: Stop) -> Dialogue:
        seen.append(stop.detail or stop.reason)
        if stop.reason == "breakpoint":
            assert (yield ("watch", 1, "total +"))[0] is False
            assert (yield ("watch", 1, "total")) == [True, "0"]
            yield ("breakpoints",)
        if len(seen) == 3:
            yield ("unwatch",)
        yield ("go", "continue", 1)

    engine.debugging.debug_by(debugger)
    engine.debugging.request("breakpoints", str(program), 7, "", "", "")
    engine.run(engine.compile_file(str(program)))
    assert seen == ["breakpoint", "total: 0 -> 2", "total: 2 -> 6"]


def test_a_program_is_ended_whatever_it_catches(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "catches.lua"
    path.write_text("while true do\n  pcall(function()\n    n = (n or 0) + 1\n  end)\nend\n")
    engine.debugging.request("breakpoints", str(path), 3, "", "", "")
    with pytest.raises(LuaError, match=r"\Athe program was ended in the debugger\Z"):
        debugged(engine, path, Recorder(["quit"]))
    assert engine.values["n"] is None
    engine.debugging.request("breakpoints")
    engine.inputs.enter(b"n = 5 n = n + 1")
    assert engine.values["n"] == 6


def test_steps_end_with_the_input(engine: Engine, program: Path) -> None:
    recorder = Recorder(["step"] * 100)
    engine.debugging.request("breakpoints", str(program), 10, "", "", "")
    debugged(engine, program, recorder)
    engine.debugging.request("breakpoints")
    before = len(recorder.stops)
    engine.inputs.enter(b"x = 1\nx = 2")
    assert len(recorder.stops) == before


@pytest.mark.parametrize("set_first", [True, False])
def test_the_programs_own_hook_is_not_lost(engine: Engine, program: Path, set_first: bool) -> None:
    engine.inputs.enter(b"calls, lines = 0, 0 function hook(e, l)\n"
                 b"if e == 'call' then calls = calls + 1 end\n"
                 b"local i = debug.getinfo(2, 'S') here = i.source end")  # fmt: skip
    start = b"debug.sethook(hook, 'c')"
    recorder = Recorder(["next"] * 3)
    engine.debugging.debug_by(recorder)
    if set_first:
        engine.inputs.enter(start)
    engine.debugging.request("breakpoints", str(program), 4, "", "", "")
    if not set_first:
        engine.inputs.enter(start)
    engine.run(engine.compile_file(str(program)))
    assert len(recorder.stops) > 3
    assert engine.values["calls"] > 3
    engine.debugging.request("breakpoints")
    engine.inputs.enter(b"f, mask = debug.gethook() same = f == hook calls = 0")
    assert engine.values["same"] is True and engine.values["mask"] == "c"
    engine.inputs.enter(b"(function() end)()")
    assert engine.values["calls"] > 0
    engine.inputs.enter(b"debug.sethook()")
    engine.inputs.enter(b"calls = 0 (function() end)()")
    assert engine.values["calls"] == 0


@pytest.mark.parametrize("source", data(__file__, "test_a_program_stops_itself"))
def test_a_program_stops_itself(engine: Engine, source: str) -> None:
    engine.debugging.offer_debugger()
    recorder = Recorder(["next"], ("evaluate", 1, "n"))
    engine.debugging.debug_by(recorder)
    engine.inputs.enter(f"local n = 1\n{source}\nn = 2\nm = n".encode())
    assert recorder.lines == [2, 3]
    assert [answer[1] for answer in recorder.answers] == ["1", "1"]
    assert engine.values["m"] == 2


def test_where_there_is_no_debugger(engine: Engine) -> None:
    with pytest.raises(LuaError) as caught:
        engine.inputs.enter(b"require('fb.debugger').enter()", b"=[1]")
    assert caught.value.message == (
        "[1]:1: there is no debugger here: it is at the prompt, and in scripts of th"
    )


def test_the_debugger_is_asked_about_uncaught_errors(engine: Engine) -> None:
    recorder = Recorder([], ("evaluate", 1, "x"))
    engine.debugging.debug_by(recorder)
    engine.debugging.request("errors", "uncaught")
    with pytest.raises(LuaError, match="bad"):
        engine.run(engine.compile(b"local x = 3\npcall(error, 'caught')\nerror('bad')"))
    assert recorder.stops == [("error", "main chunk", 3)]
    assert recorder.answers[0][1] == "3"


@pytest.mark.thorough
def test_a_thousand_lines_are_stepped_in_a_second(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "long.lua"
    path.write_text("local n = 0\nfor i = 1, 500 do\n  n = n + i\n  n = n - 1\nend\n")
    recorder = Recorder(["step"] * 1000)
    engine.debugging.request("enter", str(path))
    start = time.process_time()  # not of other processes
    debugged(engine, path, recorder)
    assert len(recorder.stops) > 1000
    assert time.process_time() - start < 1
