"""Where Lua's output goes in a Python program."""

import io
import os
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.runtime import Engine


@pytest.fixture(scope="module")
def engine_of_this() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@pytest.fixture
def lua(engine_of_this: Engine) -> Engine:
    return engine_of_this


def test_all_of_lua_s_ways(lua: Engine) -> None:
    with redirect_stdout(io.StringIO()) as text:
        lua.run("print(1, {2}) io.write('a', 5) io.stdout:write('é') io.output():write('\\255\\n')")
        lua.run("local out = io.stdout function write(...) out:write(...) end write('local')")
    assert text.getvalue() == "1\t{\n  1 : 2\n}\na5é\ufffd\nlocal"
    with redirect_stdout(io.StringIO()) as other:
        lua.run("write 'more'")
    assert other.getvalue() == "more" and text.getvalue().endswith("local")


def test_the_order_of_what_lua_and_python_print(lua: Engine) -> None:
    def within() -> str:
        with redirect_stdout(io.StringIO()) as text:
            lua.run("io.write 'inner'")
        return text.getvalue()

    lua["say"], lua["within"] = print, within
    with redirect_stdout(io.StringIO()) as text:
        lua.run("for i = 1, 3 do io.write(i) say('say', i) end io.write('<', within(), '>')")
    assert text.getvalue() == "1say 1\n2say 2\n3say 3\n<inner>"


def test_much_output(lua: Engine) -> None:
    with redirect_stdout(io.StringIO()) as text:
        lua.run("for i = 1, 30000 do io.write('0123456789\\n') end")
    assert text.getvalue() == "0123456789\n" * 30000


def test_a_file_of_the_engine_s_own() -> None:
    for file, expected in (
        (io.BytesIO(), b"\xff\n"),
        (io.StringIO(), "\ufffd\n"),
    ):
        with Engine(stdout=file) as lua, redirect_stdout(io.StringIO()) as other:
            lua.run("io.write('\\255\\n')")
            assert file.getvalue() == expected and other.getvalue() == ""


@pytest.mark.thorough
def test_it_comes_while_lua_runs(lua: Engine) -> None:
    seen: list[str] = []

    class File:
        def write(self, text: str) -> None:
            seen.append(text)

    lua["seen"] = lambda: len(seen)
    file: Any = File()
    with redirect_stdout(file):
        running = threading.Thread(
            target=lambda: lua.run("print 'now' while not stop do end", timeout=1), daemon=True
        )
        lua["stop"] = None
        threading.excepthook, before = (lambda *_: None), threading.excepthook
        running.start()
        while not seen and running.is_alive():
            time.sleep(0.01)
        assert running.is_alive()
        running.join()
        threading.excepthook = before
    assert "".join(seen) == "now\t\n"


def test_a_file_that_takes_nothing(lua: Engine) -> None:
    closed = io.StringIO()
    closed.close()
    with redirect_stdout(closed), pytest.raises(ValueError, match="^I/O operation on closed file"):
        lua.run("print(1)")
    assert lua.eval("1 + 1") == 2


def test_what_it_needs_is_given_back() -> None:
    def use() -> tuple[int, int]:
        with redirect_stdout(io.StringIO()), Engine() as lua:
            lua.run("print(1)")
        return len(os.listdir("/dev/fd")), threading.active_count()

    assert use() == use()


@pytest.mark.thorough
def test_a_process_s_own_output_and_a_fork_s() -> None:
    program = data(__file__, "test_a_process_s_own_output_and_a_fork_s")
    run = run_python("-Wignore", "-c", textwrap.dedent(program))
    lines = [line.strip() for line in run.stdout.splitlines()]
    assert sorted(lines) == ["again", "child", "own", "own", "parent", "parent"]
    assert run.stderr == ""


@pytest.mark.thorough
def test_the_order_where_both_have_buffers() -> None:
    program = """
        from th_shell import Engine
        engine = Engine()
        engine["say"] = lambda text: print(text, end=" ")
        print("1", end=" ")
        engine.run("io.write('2 ') print(3) io.write('4 ') say(5) io.write('6 ')")
        print("7", end=" ")
        engine["say"] = lambda: engine.run("io.write('9 ')")
        engine.run("io.write('8 ') say() error('10')")
    """
    run = run_python("-c", textwrap.dedent(program))
    assert run.stdout == "1 2 3\t\n4 5 6 7 8 9 "
    assert "10" in run.stderr
