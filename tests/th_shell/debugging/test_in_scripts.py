"""What a script opens while it runs: the prompt with its locals, and the debugger."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th
from tests.th_shell.terminals import CONTROLLED, Terminal

SCRIPT = data(__file__, "SCRIPT")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs a script with lines of input."""

    def run(text: str, *lines: str) -> tuple[int, str, str]:
        (tmp_path / "script.lua").write_text(text)
        typed = "".join(f"{line}\n" for line in lines)
        done = run_th("script.lua", input=typed, cwd=tmp_path)
        return done.returncode, done.stdout, done.stderr

    return run


Run = Callable[..., "tuple[int, str, str]"]


@pytest.mark.thorough
@pytest.mark.parametrize("call", ["require 'trepl'()", "th.prompt()", "require('trepl')()"])
def test_the_prompt_uses_the_locals_of_the_function(run: Run, call: str) -> None:
    assert run(
        SCRIPT.replace("{call}", call),
        "x, y, up", "y = 100", "up = 50", "local x = 7", "x", "function g() return y end", "y = 11",
        "g()", "nothing",
    ) == (0, "3\t6\t6\t\n7\t\n11\t\nnil\t\nafter\t3\t11\t50\t\n", "")  # fmt: skip


@pytest.mark.thorough
def test_an_error_at_the_prompt_does_not_end_the_script(run: Run) -> None:
    status, shown, _ = run(SCRIPT.replace("{call}", "th.prompt()"), "error('a')", "y .. {}", "y y")
    assert status == 0
    assert shown == (
        "stdin:1: a\nstack traceback:\n\t[C]: in function 'error'\n\tstdin:1: in main chunk\n"
        "stdin:1: attempt to concatenate a table value\n"
        "stack traceback:\n\tstdin:1: in main chunk\n"
        "syntax error: stdin:1: '=' expected near 'y'\n"
        "after\t3\t6\t6\t\n"
    )


@pytest.mark.thorough
def test_the_end_of_the_input_goes_on(run: Run) -> None:
    assert run(SCRIPT.replace("{call}", "th.prompt() th.prompt()")) == (0, "after\t3\t6\t6\t\n", "")


@pytest.mark.thorough
def test_prompts_one_in_the_other(run: Run) -> None:
    status, shown, _ = run(
        SCRIPT.replace("{call}", "th.prompt()"),
        "h = function() local inner = 9 th.prompt() return inner end", "h()", "inner", "inner = 10",
        "exit", "y", "exit",
    )  # fmt: skip
    assert (status, shown) == (0, "9\t\n10\t\n6\t\nafter\t3\t6\t6\t\n")


@pytest.mark.thorough
def test_where_no_prompt_can_be_opened(run: Run) -> None:
    _, shown, _ = run("print(coroutine.resume(coroutine.create(function() th.prompt() end)))")
    assert shown == "false\tscript.lua:1: the prompt cannot be opened in a coroutine\t\n"
    done = run_th("-i", input="th.prompt()\n")
    assert done.stdout.startswith(
        "stdin:1: the prompt is opened by `th`, or in a script that it runs; "
        "at the prompt debugger() stops a function\n"
    )


@pytest.mark.thorough
def test_the_debugger_in_a_script(run: Run) -> None:
    assert run(
        SCRIPT.replace("{call}", "require('fb.debugger').enter()"),
        "where", "y", "y = 9", "next", "continue",
    ) == (
        0,
        "script.lua:5 in f\n    5    require('fb.debugger').enter()\n"
        "->  0  script.lua:5 in f\n    1  script.lua:8 in main chunk\n"
        "6\t\n"
        "script.lua:6 in f\n    6    print('after', x, y, up)\n"
        "after\t3\t9\t6\t\n",
        "",
    )  # fmt: skip
    status, _, errors = run(SCRIPT.replace("{call}", "require('mobdebug').start()"), "quit")
    assert status == 1
    assert errors.startswith("th: the program was ended in the debugger\n")


def test_a_module_of_the_users_comes_first(run: Run, tmp_path: Path) -> None:
    (tmp_path / "mobdebug.lua").write_text("return { start = function() print('mine') end }")
    assert run("require('mobdebug').start()") == (0, "mine\t\n", "")


@pytest.mark.thorough
def test_at_a_terminal(tmp_path: Path, command: list[str], environment: dict[str, str]) -> None:
    (tmp_path / "script.lua").write_text(SCRIPT.replace("{call}", "th.prompt()"))
    terminal = Terminal()
    words = [command[0], "-c", CONTROLLED, *command[1:], "script.lua"]
    with terminal.running(words, env=environment, cwd=tmp_path, start_new_session=True) as program:
        for keys, shown in (
            (b"", b"script.lua:5: the prompt; Ctrl-D goes on\r\n"),
            (b"", b"th> "),
            (b"print('go' .. y) while true do end\r", b"go6\t\r\n"),
            (b"\x03", b"interrupted!\r\n"),
            (b"", b"th> "),
            (b"y = 12\r", b"s]\r\n"),
            (b"", b"th> "),
            (b"\x04", b"after\t3\t12\t6\t\r\n"),
        ):
            if keys == b"\x03":
                time.sleep(0.3)
            terminal.press(keys)
            terminal.until(shown)
        assert program.wait(20) == 0
    terminal.close()
