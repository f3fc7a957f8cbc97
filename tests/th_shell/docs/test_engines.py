"""Other engines than the runtime: a command that runs Lua."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from shlex import quote, split

import pytest

from th_shell.docs.cli import main
from th_shell.docs.running.processes import Engine, Reply, Run, Starter, lua_engine

TH = f"{quote(sys.executable)} -m th_shell"


@pytest.fixture
def run(starter: Starter) -> Iterator[Run]:
    """A run of the engine for any Lua; the Lua is that of th, which behaves as any."""
    run = starter.start(replace(lua_engine(split(TH)), memory=0), 0)
    run.ask("begin", b"seed 1\nclock 100000000\n")
    yield run
    run.close()


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "reply"),
    [
        ("1 + 1", Reply("2\t\n")),
        ("= 1, nil", Reply("1\tnil\t\n")),
        ("1 + 1;", Reply()),
        ("return 5", Reply("5\t\n")),
        ("(function() print('a') return 'b' end)()", Reply("a\t\nb\t\n", "a\t\n")),
        ("print('a') error('bad')", Reply("a\t\n", "a\t\n", "stdin:1: bad")),
        ("x = = 1", Reply(error="stdin:1: unexpected symbol near '='")),
        ("\x1bLJ\x02", Reply(error="attempt to load chunk with wrong mode")),
        ("error({})", None),
        ("io.read()", Reply("nil\t\n")),
        ("os.time() > 1.8e9", Reply("true\t\n")),
        ("torch.rand(1)[1] < 0.418", Reply("true\t\n")),
    ],
)
def test_inputs(run: Run, source: str, reply: Reply | None) -> None:
    found = run.ask("input", source.encode())
    if reply is None:
        assert found.error is not None and found.error.startswith("table: 0x")
    elif reply.printed or reply.error:
        assert found == Reply(reply.output, reply.printed, reply.error)
    else:
        assert (found.output, found.error) == (reply.output, None)


LOST = (
    "io os debug string table print torch _G error setmetatable tonumber type pcall select".split()
)
HARM = [
    *(f"{name} = nil" for name in LOST),
    "setmetatable(_G, {__index = error, __newindex = error}) return nil",
    "debug.setmetatable('', nil) return nil",
    "for name in pairs(string) do string[name] = nil end",
    "local methods = getmetatable(io.stdout).__index for name in pairs(methods) do "
    "methods[name] = nil end",
    "debug.setmetatable(io.stdout, nil)",
    "io.stdout:close()",
    "os.execute('exec 1>&- 3>&- 4>&-')",
    "os.time, os.date = nil, nil",
]


@pytest.fixture(scope="module", params=["runtime", "lua"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Our engine, and the one for any Lua, run by a plain Lua where there is one."""
    if request.param == "runtime":
        return Engine()
    found = [name for name in ("lua5.1", "luajit", "lua") if shutil.which(name)]
    if not found:
        pytest.skip("there is no Lua")
    return replace(lua_engine(found[:1]), memory=0)


@pytest.mark.sample(13)
@pytest.mark.parametrize("harm", HARM)
def test_an_engine_needs_nothing_that_a_page_can_take_away(
    starter: Starter, engine: Engine, harm: str
) -> None:
    run = starter.start(engine, 0)
    run.ask("begin", b"seed 1\nclock 100\n")
    run.ask("block")
    run.ask("input", harm.encode())
    run.ask("block")
    assert run.ask("input", b"1 + 1").output.split() == ["2"]
    assert run.ask("input", b"return 5").output.split() == ["5"]
    syntax, failure = run.ask("input", b"x = = 1"), run.ask("input", b"local t = nil; t.x = 1")
    assert syntax.error == "stdin:1: unexpected symbol near '='"
    assert failure.error == "stdin:1: attempt to index local 't' (a nil value)"
    run.close()


@pytest.mark.thorough
def test_code_behind_an_input(run: Run) -> None:
    run.ask("input", b"torch.zeros(1)")
    run.ask("run", b"_LAST:fill(7) print(3)")
    assert run.ask("input", b"_LAST[1]").output == "7\t\n"


PAGE = "```\n> x = 2\n> x\n2\n> x * 2\n5\n> y\nboom\n```\n"


@pytest.mark.thorough
def test_a_page(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert main(["--engine", TH, str(page)]) == 1
    counts = capfd.readouterr().out.splitlines()[-1].partition(": ")[2]
    assert counts == "checked 2 of 4 examples: 1 pass, 1 ran, 1 differs, 1 fragment"


@pytest.mark.thorough
def test_a_prelude(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page, prelude = tmp_path / "page.md", tmp_path / "prelude.lua"
    page.write_text("```\n> y\n3\n```\n")
    prelude.write_text("y = 3")
    assert main(["--prelude", str(prelude), str(page)]) == 0
    prelude.write_text("error('none')")
    assert main(["--prelude", str(prelude), str(page)]) == 1
    assert "the prelude fails: stdin:1: none" in capfd.readouterr().out
