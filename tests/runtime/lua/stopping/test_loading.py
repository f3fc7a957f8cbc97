"""What programs see of the counters in what they load: nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.shell import Engine, LuaError

CLOSURE = (
    "local a, b = 1, 2 local function f() for i = 1, 3 do a = a + b end return a end "
    "local function g() while a < b do a = a + 1 end end "
)

# LuaJIT compiles calls behind others whose arguments took more slots: what these have left there
# must not be taken for frames in use.
COMPILED = data(__file__, "COMPILED")

PROGRAMS = {
    "compiled calls behind others": COMPILED,
    "counts of upvalues": CLOSURE
    + "for _, h in ipairs{f, g, loadstring('while x do end'), print} do "
    "print(debug.getinfo(h, 'u').nups, debug.getinfo(h).nups) end",
    "of functions at levels": CLOSURE
    + "local function h() for i = 1, 1 do local t = debug.getinfo(1) "
    "print(t.nups, t.name, t.currentline, t.func == h) end return a end h() "
    "print(debug.getinfo(1).what, debug.getinfo(1, 'u').nups, debug.getinfo(100), "
    "debug.getinfo(-1))",
    "in coroutines": "local c = coroutine.create(function() for i = 1, 2 do coroutine.yield() end "
    "end) coroutine.resume(c) local t = debug.getinfo(c, 1, 'lu') print(t.nups, t.currentline)",
    "values of upvalues": CLOSURE + "for i = 0, 6 do print(i, debug.getupvalue(f, i)) end "
    "print(select('#', debug.getupvalue(f, 3)), select('#', debug.getupvalue(f, 1)))",
    "setting upvalues": CLOSURE
    + "print(debug.setupvalue(f, 1, 10), debug.setupvalue(f, 3, 10), debug.setupvalue(f, 4, 1)) "
    "print(f())",
    "identities of upvalues": CLOSURE
    + "print(debug.upvalueid(f, 1) == debug.upvalueid(g, 1), pcall(debug.upvalueid, f, 3)) "
    "print(pcall(debug.upvalueid, f, 4))",
    # Without the compiler: LuaJIT itself loses an assignment to a joined upvalue in about one of
    # a hundred compiled loops.
    "joining upvalues": "jit.off(true, true) "
    + CLOSURE
    + "local c = 50 local function h() while false do end return c end "
    "debug.upvaluejoin(f, 1, h, 1) print(f(), h(), a) print(pcall(debug.upvaluejoin, f, 3, h, 1)) "
    "print(pcall(debug.upvaluejoin, f, 1, h, 2))",
    "local variables": "for i = 1, 2 do local x = i * 2 while x < 5 do local y = x x = x + 1 "
    "print(debug.getlocal(1, 4), debug.getlocal(1, 5), debug.getlocal(1, 6)) end end",
    "lines": "local function f(x)\n\n  while x\n  do\n    x = not x\n  end\n  for i = 1, 2 do\n"
    "  end\nend\nlocal t = {}\nfor line in pairs(debug.getinfo(f, 'L').activelines) do t[#t + "
    "1] = line end\n"
    "table.sort(t)\nprint(table.concat(t, ' '))",
    "hooks of lines": "local lines = {}\ndebug.sethook(function(_, line)\n"
    "if debug.getinfo(2, 'S').source == '=program' then lines[#lines + 1] = line end\n"
    "end, 'l')\nfor i = 1, 3 do\n  local k = 0\n  while k < 2 do\n    k = k + 1\n  end\nend\n"
    "debug.sethook()\nprint(table.concat(lines, ' '))",
    "the hook": "print(debug.gethook()) local f = function() end debug.sethook(f, '', 1000) "
    "print(debug.gethook() == f, select(2, debug.gethook())) debug.sethook() "
    "print(debug.gethook())",
    "environments": "local f = loadstring('while not done do inner = 1 done = true end "
    "return inner') local env = {} setfenv(f, env) "
    "print(f(), env.inner, inner, getfenv(f) == env, getfenv(1) == _G) "
    "print(load('for i = 1, 2 do within = i end return within', 'c', 't', env)(), "
    "env.within, within)",
    "arguments": "print(loadstring('for i = 1, 2 do end return ...')(1, nil, 3))",
    "syntax errors": "print(loadstring('while do', '=x')) print(load('x x', '@file'))",
    "wrong arguments": "for _, f in ipairs{loadstring, load, loadfile, dofile, string.dump, "
    "debug.getinfo, debug.getupvalue} do print(pcall(f, {})) end",
    "errors in loops": "local f = loadstring('\\n\\nwhile true do\\n  local x = y.z\\nend', "
    "'@file.lua')"
    " print(pcall(f)) print(xpcall(f, debug.traceback))",
    "levels of errors": "local f = loadstring('for i = 1, 2 do error(\"a\", 1) end', '=in') "
    "print(pcall(f)) print(pcall(loadstring('for i = 1, 2 do error(\"a\", 2) end', '=in')))",
    "chunks in parts": "local parts = {'for i = 1, 3 do ', 'n = (n or 0) + i ', 'end return n'} "
    "local i = 0 print(load(function() i = i + 1 return parts[i] end)())",
    "bytecode": CLOSURE + "local h = loadstring(string.dump(f)) print(debug.getinfo(h, 'u').nups, "
    "debug.getupvalue(h, 1), debug.getupvalue(h, 2)) print(pcall(h)) "
    "debug.setupvalue(h, 1, 5) debug.setupvalue(h, 2, 6) print(h())",
    "stripped bytecode": "local f = loadstring(string.dump(loadstring("
    "'local n = 0 for i = 1, 4 do n = n + i end return n, ...'), true)) print(f(7))",
    "functions in files": CLOSURE
    + "local h = torch.deserialize(torch.serialize(f)) print(h(), debug.getinfo(h, 'u').nups, f())",
    "functions that share upvalues in files": CLOSURE
    + "local t = torch.deserialize(torch.serialize{f, g}) t[1]() "
    "print(debug.upvalueid(t[1], 1) == debug.upvalueid(t[2], 1), t[1]())",
    "what LuaJIT tells": "print(require('jit.util').funcinfo(function() end).upvalues)",
}


@pytest.fixture(scope="module")
def engines() -> Iterator[tuple[Engine, Engine]]:
    """One that puts counters into what it loads, and one without: the programs' globals alone."""
    with Engine() as counting, Engine() as plain:
        counting.count_loops()
        yield counting, plain


def _printed(engine: Engine, source: str, capture: pytest.CaptureFixture[str]) -> str:
    capture.readouterr()
    try:
        engine.run(engine.compile(source.encode(), b"=program"))
        end = ""
    except LuaError as error:
        end = f"{error.message}\n{error.traceback}"
    engine.flush()
    return capture.readouterr().out + end


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_print_the_same(
    name: str, engines: tuple[Engine, Engine], capfd: pytest.CaptureFixture[str]
) -> None:
    counting, plain = engines
    expected = _printed(plain, PROGRAMS[name], capfd)
    assert _printed(counting, PROGRAMS[name], capfd) == expected != ""


def test_bytecode_is_that_of_the_source(
    engines: tuple[Engine, Engine], capfd: pytest.CaptureFixture[str]
) -> None:
    counting, plain = engines
    source = "print((string.dump({}):gsub('.', function(c) return c:byte() .. ' ' end)))"
    for f in ("function(n) for i = 1, n do local k = i while k > 1 do k = k - 1 end end end",):
        text = source.format(f)
        assert _printed(counting, text, capfd) == _printed(plain, text, capfd)


FILE = "local n = 0\nfor i = 1, 3 do n = n + i end\nif ... == 'fail' then error('failed') end\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.lua").write_text("#!/usr/bin/th\n" + FILE + "return n, ...\n")
    (tmp_path / "module.lua").write_text(FILE + "return {n = n, name = ...}\n")
    (tmp_path / "wrong.lua").write_text("while do\n")
    (tmp_path / "fails.lua").write_text("for i = 1, 2 do\n  local x = nothing.field\nend\n")
    (tmp_path / "here.lua").write_text("for i = 1, 1 do end print(paths.thisfile())\n")
    (tmp_path / "includes.lua").write_text("for i = 1, 1 do end include('here.lua')\n")
    return tmp_path


LOADING = data(__file__, "LOADING")


@pytest.mark.parametrize("name", LOADING)
@pytest.mark.usefixtures("folder")
def test_files_are_loaded_as_without(
    name: str, engines: tuple[Engine, Engine], capfd: pytest.CaptureFixture[str]
) -> None:
    counting, plain = engines
    for engine in engines:
        _printed(
            engine, "for _, m in ipairs{'module', 'fails'} do package.loaded[m] = nil end", capfd
        )
    expected = _printed(plain, LOADING[name], capfd)
    assert _printed(counting, LOADING[name], capfd) == expected != ""


def test_what_runs_without_a_prompt_has_no_counters(lua: Lua) -> None:
    # LuaJIT's own list of a function's instructions: a turn has an addition and the jump.
    program = (
        "local util = require('jit.util') local f = loadstring('while true do x = 1 end') "
        "return util.funcinfo(f).bytecodes"
    )
    assert int(lua(program)) < 10
