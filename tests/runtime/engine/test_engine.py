"""The embedded LuaJIT: running code, errors, bytes, output."""

import re
import resource
import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest
from lupa import luajit21

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.core.tensor import Tensor
from th_shell.runtime.shell import Engine, LuaError, LuaSyntaxError

TOP = Path(__file__).parents[3]


class TestEvaluate:
    @pytest.mark.parametrize(("source", "printed"), data(__file__, "test_prints_values"))
    def test_prints_values(self, lua: Lua, source: str, printed: str) -> None:
        assert lua(source) == printed

    def test_keeps_values(self, lua: Lua) -> None:
        lua("41 + 1")
        assert lua("_LAST, _RESULTS[#_RESULTS]") == "42\t42\t\n"

    def test_does_not_keep_silenced_values(self, lua: Lua) -> None:
        lua("1")
        lua("2;")
        assert lua("_LAST") == "1\t\n"

    def test_called_between_output_and_values(self, lua: Lua) -> None:
        source = b"(function() io.write('out ') return 7 end)()"
        lua.engine.inputs.evaluate(source, before_values=lambda: lua.engine.write("-> "))
        assert lua.output() == "out -> 7\t\n"

    def test_globals_live_on(self, lua: Lua) -> None:
        lua("engine_global = torch.ones(2)")
        lua("engine_global:fill(4);")
        assert lua("engine_global[2]") == "4\t\n"


class TestSyntax:
    @pytest.mark.parametrize(
        ("source", "incomplete"), data(__file__, "test_tells_what_is_missing_from_what_is_wrong")
    )
    def test_tells_what_is_missing_from_what_is_wrong(
        self, engine: Engine, source: str, incomplete: bool
    ) -> None:
        with pytest.raises(LuaSyntaxError) as caught:
            engine.inputs.check_syntax(source.encode())
        assert caught.value.incomplete is incomplete
        assert re.match(r"stdin:[12]: .* near ", caught.value.message)

    @pytest.mark.parametrize("source", ["1", "= 1", "x = 1", "f(x)", "", "-- c", "1;", "return 1"])
    def test_complete(self, engine: Engine, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """LuaJIT tells it alone: a history has thousands of such lines."""
        monkeypatch.setattr("th_shell.runtime.engine.inputs.read", None)
        engine.inputs.check_syntax(source.encode())

    def test_an_expression_behind_statements(self, engine: Engine) -> None:
        engine.inputs.check_syntax(b"x = 1; x")

    def test_message(self, engine: Engine) -> None:
        with pytest.raises(LuaSyntaxError) as caught:
            engine.compile(b"x = = 1", b"=lua")
        assert caught.value.message == "lua:1: unexpected symbol near '='"

    @pytest.mark.parametrize("run", ["compile", "run", "eval", "inputs.enter", "inputs.evaluate"])
    def test_bytecode_is_no_source(self, run: str) -> None:
        with Engine() as engine:
            values = engine.values  # as a Python program has it, whose loops are counted
            bytecode = values.eval("string.dump(function() ran = true end)").encode()
            with pytest.raises(LuaError) as caught:
                attrgetter(run)(values if run in ("run", "eval") else engine)(bytecode)
            assert caught.value.message == "attempt to load chunk with wrong mode"
            assert values.eval("ran") is None

    def test_file_that_is_missing(self, engine: Engine, tmp_path: Path) -> None:
        path = str(tmp_path / "missing.lua")
        with pytest.raises(LuaSyntaxError) as caught:
            engine.compile_file(path)
        assert caught.value.message == f"cannot open {path}: No such file or directory"

    def test_file_with_a_first_line_for_the_shell(self, lua: Lua, tmp_path: Path) -> None:
        path = tmp_path / "script.lua"
        path.write_text("#!/usr/bin/env th\nprint(select('#', ...), ...)\n")
        lua.engine.run(lua.engine.compile_file(str(path)), b"a", b"b")
        assert lua.output() == "2\ta\tb\t\n"


class TestErrors:
    @pytest.mark.parametrize(
        ("source", "message"), data(__file__, "test_message_with_the_users_line")
    )
    def test_message_with_the_users_line(self, lua: Lua, source: str, message: str) -> None:
        with pytest.raises(LuaError) as caught:
            lua(source)
        assert caught.value.message == message

    def test_pcall_gives_the_string(self, lua: Lua) -> None:
        lua("function pcalled() torch.ones(3):narrow(1, 9, 1) end;")
        message = "lua:1: bad argument #2 to 'narrow' (out of range)"
        assert lua("pcall(pcalled)") == f"false\t{message}\t\n"
        assert lua("type(select(2, pcall(pcalled)))") == "string\t\n"

    def test_traceback_shows_the_users_frames_only(self, lua: Lua) -> None:
        source = "local function inner()\n  torch.ones(2):view(3)\nend\ninner()\n"
        with pytest.raises(LuaError) as caught:
            lua(source)
        lines = caught.value.traceback.splitlines()
        assert lines[0] == "stack traceback:"
        assert "\tlua:4: in main chunk" in lines
        assert not [line for line in lines if "[th]" in line]
        assert [line for line in lines if line.startswith("\tlua:2: in function ")]

    def test_engine_goes_on_after_an_error(self, lua: Lua) -> None:
        lua.error("error('x')")
        assert lua("1") == "1\t\n"

    def test_deep_recursion(self, lua: Lua) -> None:
        assert "stack overflow" in lua.error("local function f() return 1 + f() end f()")


class TestErrorsThatLuaDoesNotReport:
    """What the embedding library raises reaches the caller as a LuaError, too."""

    @pytest.mark.parametrize(
        ("error", "message"),
        [
            (MemoryError(), "not enough memory"),
            (luajit21.LuaMemoryError("no room"), "not enough memory"),
            (luajit21.LuaError(b"error in error handling"), "not enough memory"),
            (luajit21.LuaError(b"from \xff Lua"), "from \udcff Lua"),
            (RecursionError("deep"), "internal error: RecursionError: deep"),
            (SystemError("broken"), "internal error: SystemError: broken"),
        ],
    )
    @pytest.mark.parametrize("method", ["compile", "compile_file", "run", "write", "flush"])
    def test_of_every_kind(
        self,
        engine: Engine,
        monkeypatch: pytest.MonkeyPatch,
        method: str,
        error: Exception,
        message: str,
    ) -> None:
        def fail(*_: object) -> None:
            raise error

        arguments = {"compile": [b"x = 1"], "compile_file": ["x"], "run": [fail], "write": [""]}
        monkeypatch.setitem(engine._lua.functions, method.encode(), fail)
        with pytest.raises(LuaError) as caught:
            getattr(engine, method)(*arguments.get(method, []))
        assert caught.value.message.startswith(message)


class TestInternalErrors:
    def test_are_lua_errors(self, lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("TH_TRACEBACK", raising=False)
        monkeypatch.setattr(Tensor, "transpose", _broken)
        assert lua.error("local y = torch.ones(2, 3):transpose('1', '2')") == (
            "internal error: ZeroDivisionError: boom\n(set TH_TRACEBACK=1 for where it comes from)"
        )

    def test_can_show_where_they_come_from(self, lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("TH_TRACEBACK", "1")
        monkeypatch.setattr(Tensor, "transpose", _broken)
        message = lua.error("local y = torch.ones(2, 3):transpose('1', '2')")
        assert message.startswith("internal error: Traceback (most recent call last):\n")
        assert message.endswith("ZeroDivisionError: boom\n")

    def test_memory(self, lua: Lua, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(Tensor, "transpose", _exhausted)
        message = lua.error("local y = torch.ones(2, 3):transpose('1', '2')")
        assert message == "$ Torch: not enough memory. Buy new RAM!"


def _broken(*_: object) -> None:
    raise ZeroDivisionError("boom")


def _exhausted(*_: object) -> None:
    raise MemoryError


class TestBytes:
    def test_binary_strings_survive(self, lua: Lua) -> None:
        lua("bytes = {} for i = 0, 255 do bytes[#bytes + 1] = string.char(i) end")
        lua("bytes = table.concat(bytes) storage = torch.ByteStorage():string(bytes);")
        assert lua("#bytes, #storage, storage:string() == bytes") == "256\t256\ttrue\t\n"
        assert lua("storage[1], storage[129], storage[256]") == "0\t128\t255\t\n"

    @pytest.mark.parametrize("text", ["é", "日本語", "🔥", "a\tb", "\x7f"])
    def test_text_in_and_out(self, lua: Lua, text: str) -> None:
        assert lua(f"'{text}'") == f"{text}\t\n"
        assert lua(f"#'{text}'") == f"{len(text.encode())}\t\n"

    def test_zero_bytes(self, lua: Lua) -> None:
        assert lua("io.write('a\\0b') and #'a\\0b' and nil") == "a\0bnil\t\n"

    def test_error_with_bytes_that_are_no_text(self, lua: Lua) -> None:
        with pytest.raises(LuaError) as caught:
            lua("error('\\255', 0)")
        assert caught.value.message.encode("utf-8", "surrogateescape") == b"\xff"

    def test_bytes_in_a_message_from_python(self, lua: Lua) -> None:
        with pytest.raises(LuaError) as caught:
            lua("torch.ByteStorage('/missing/\\200')")
        assert "unable to open file </missing/" in caught.value.message

    def test_arguments_are_bytes(self, engine: Engine, lua: Lua) -> None:
        engine.run(engine.compile(b"print(#..., (...):byte(1, -1))"), b"\xff\0\x80")
        assert lua.output() == "3\t255\t0\t128\t\n"

    def test_negative_zero(self, lua: Lua) -> None:
        assert lua("1 / torch.Tensor(1):fill(-0)[1], 1 / torch.Tensor{-0}[1]") == "-inf\t-inf\t\n"
        assert lua("1 / torch.ones(1):mul(-0)[1], 1 / (-torch.zeros(1))[1]") == "-inf\t-inf\t\n"
        assert lua("1 / torch.Tensor(1):fill('-0')[1]") == "-inf\t\n"

    def test_whole_numbers_beyond_32_bits(self, lua: Lua) -> None:
        assert lua(
            "torch.LongTensor{2^53}[1] == 2^53, torch.LongTensor(1):fill(2^62)[1] == 2^62"
        ) == ("true\ttrue\t\n")


ORDER = data(__file__, "ORDER")
ORDERED = (
    "0 python\n1 print\t\n2 write\n3 puts\n4 file\n5 printf\n"
    " 1\n[torch.DoubleTensor of dimension 1]\n\n6 print\t\n7 no end of line8 python\n9 print\t\n"
)
HOST = data(__file__, "HOST")


@pytest.mark.thorough
@pytest.mark.parametrize("where", ["pipe", "file"])
def test_output_comes_in_order(tmp_path: Path, where: str) -> None:
    command = [sys.executable, "-c", HOST.format(order=ORDER.encode())]
    if where == "pipe":
        assert subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, text=True).stdout == ORDERED
        return
    path = tmp_path / "out"
    with path.open("wb") as out:
        subprocess.run(command, cwd=TOP, stdout=out, check=True)
    assert path.read_text() == ORDERED


def test_output_of_programs_comes_in_order(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("io.write('1\\n') os.execute('echo 2') print(3) os.execute('echo 4')")
    command = [sys.executable, "-m", "th_shell", str(script)]
    run = subprocess.run(command, cwd=TOP, stdout=subprocess.PIPE, text=True)
    assert run.stdout == "1\n2\n3\t\n4\n"


class TestNames:
    def test_globals(self, engine: Engine) -> None:
        names = engine.variables.names("")
        assert (names["torch"], names["print"], names["_VERSION"]) == (
            "table",
            "function",
            "string",
        )
        assert "python" not in names

    def test_fields_and_methods(self, engine: Engine, lua: Lua) -> None:
        lua("names_x = torch.ones(2) names_t = { a = 1, ['b c'] = 2, d = { e = print } }")
        assert engine.variables.names("torch")["zeros"] == "function"
        assert engine.variables.names("names_x")["narrow"] == "function"
        assert engine.variables.names("names_t") == {"a": "number", "d": "table"}
        assert engine.variables.names("names_t.d") == {"e": "function"}
        assert engine.variables.names("names_t.missing") == {}

    def test_no_metamethod_runs(self, engine: Engine, lua: Lua) -> None:
        lua("names_m = setmetatable({}, { __index = function() error('ran') end })")
        assert engine.variables.names("names_m.x") == {}


class TestEnvironment:
    def test_no_way_to_python(self, lua: Lua) -> None:
        assert lua("python, package.loaded.python, rawget(_G, 'python')") == "nil\tnil\tnil\t\n"
        assert lua("pcall(require, 'python')").startswith("false\t")

    def test_arguments(self, engine: Engine, lua: Lua) -> None:
        engine.set_arguments(b"script.lua", [b"a", b"\xff"])
        assert lua("arg[0], arg[1], #arg[2], #arg") == "script.lua\ta\t1\t2\t\n"
        lua("arg = nil")  # with it, programs take themselves for scripts and print colours

    def test_require(self, engine: Engine) -> None:
        engine.require(b"torch")
        with pytest.raises(LuaError, match="^module 'no.such.library' not found:"):
            engine.require(b"no.such.library")

    def test_unknown_globals_are_nil(self, lua: Lua) -> None:
        assert lua("no_such_global") == "nil\t\n"


def test_an_input_needs_no_new_pages_of_the_system(engine: Engine) -> None:
    engine.inputs.evaluate(b"x = 1")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        engine.inputs.evaluate(b"x = 1")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 1000


MODULE = data(__file__, "MODULE").encode()


def test_functions_for_a_front_end() -> None:
    engine = Engine()
    functions = engine.module(MODULE, b"=module", lambda text: text * 2)
    assert engine.call(functions[b"twice"], b"ab") == b"abab"
    with pytest.raises(LuaError) as caught:
        engine.call(functions[b"fail"])
    assert caught.value.message == "bad"
    with pytest.raises(LuaSyntaxError):
        engine.module(b"= =", b"=module")


def test_errors_of_a_front_ends_functions_are_lua_errors() -> None:
    engine = Engine()
    functions = engine.module(MODULE, b"=[th] module", lambda text: text.nothing)
    with pytest.raises(LuaError, match="^internal error: AttributeError: "):
        engine.call(functions[b"twice"], b"ab")


@pytest.mark.parametrize(
    ("source", "printed", "kept"),
    [
        (b"1, 'x'", "1\tx\t\n", b"2 1 x"),
        (b"'hidden'", "", b"1 hidden"),
        (b"1;", "", b""),
        (b"x = 1", "", b"0"),
    ],
)
def test_values_are_received_before_they_are_printed(
    capfd: pytest.CaptureFixture[str], source: bytes, printed: str, kept: bytes
) -> None:
    engine = Engine()
    functions = engine.module(MODULE, b"=module", lambda text: text)
    engine.inputs.set_receiver(functions[b"receive"])
    engine.inputs.evaluate(source)
    engine.flush()
    assert capfd.readouterr().out == printed
    assert engine.call(functions[b"kept"]) == kept
