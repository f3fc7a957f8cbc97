from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from th_shell.options import USAGE
from th_shell.terminal.banner import BANNER

Run = Callable[..., "subprocess.CompletedProcess[str]"]

BOOM = """\
local function f()
  error('boom')
end
io.write('before ')
f()
"""
TRACEBACK = """\
stack traceback:
	[C]: in function 'error'
	{0}:2: in function 'f'
	{0}:5: in main chunk
"""


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help(th: Run, option: str) -> None:
    assert outcome(th(option)) == (0, USAGE, "")


def test_an_unknown_option_prints_the_usage(th: Run) -> None:
    assert outcome(th("-z")) == (2, "", f"th: unrecognized option -z\n{USAGE}")


def test_a_statement(th: Run) -> None:
    assert outcome(th("-e", "print(1)")) == (0, "1\t\n", "")


def test_statements_run_before_the_script_in_their_order(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_text("print(x, arg[0], arg[1], #arg, ...)")
    done = th("-e", "x = 1", "-e", "x = x + 1", "a.lua", "-h")
    assert outcome(done) == (0, "2\ta.lua\t-h\t1\t\n", "")


def test_arguments_without_a_script(th: Run) -> None:
    assert th("-e", "print(arg[0], arg[1], #arg)").stdout == "th\t-e\t2\t\n"


@pytest.mark.parametrize("words", [["-l", "lib"], ["-llib"]])
def test_a_library(th: Run, tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "lib.lua").write_text("loaded = 'yes'")
    assert outcome(th(*words, "-e", "print(loaded)")) == (0, "yes\t\n", "")


def test_without_a_library_it_goes_on(th: Run) -> None:
    done = th("-lnowhere", "-e", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\t\n")
    assert done.stderr.startswith("could not load nowhere, skipping\nmodule 'nowhere' not found:")


def test_an_error_in_a_script(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_text(BOOM)
    expected = "th: a.lua:2: boom\n" + TRACEBACK.format("a.lua")
    assert outcome(th("a.lua")) == (1, "before ", expected)


def test_a_script_from_the_standard_input(th: Run) -> None:
    expected = "th: stdin:2: boom\n" + TRACEBACK.format("stdin")
    assert outcome(th(input=BOOM)) == (1, "before ", expected)
    assert outcome(th("-", "a", input="#!/usr/bin/th -\nprint(arg[1])")) == (0, "a\t\n", "")
    assert outcome(th(input="")) == (0, "", "")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("x = = 1", "(command line):1: unexpected symbol near '='"),
        ("for i = 1, 2 do", "(command line):1: 'end' expected near '<eof>'"),
    ],
)
def test_a_syntax_error(th: Run, statement: str, message: str) -> None:
    assert outcome(th("-e", statement)) == (1, "", f"th: {message}\n")


def test_a_script_that_is_not_there(th: Run) -> None:
    message = "th: cannot open nowhere.lua: No such file or directory\n"
    assert outcome(th("nowhere.lua")) == (1, "", message)


@pytest.mark.parametrize(("value", "status"), [("3", 3), ("", 0), ("true", 0), ("false", 1)])
def test_os_exit_gives_the_status_and_writes_what_is_buffered(
    th: Run, value: str, status: int
) -> None:
    done = th("-e", f"io.write('out') io.stderr:write('err') os.exit({value})")
    assert outcome(done) == (status, "out", "err")


def test_the_startup_file(th: Run, tmp_path: Path) -> None:
    (tmp_path / "start.lua").write_text("started = 'yes'")
    source = "print(started)"
    assert th(input=source, TREPLSTARTUP="start.lua").stdout == "yes\t\n"
    assert th("-e", source, TREPLSTARTUP="start.lua").stdout == "nil\t\n"


def test_the_prompt_behind_a_script_without_a_terminal(th: Run, tmp_path: Path) -> None:
    (tmp_path / "a.lua").write_text("x = 1")
    done = th("-i", "a.lua", input="x + 1\nerror('a', 0)\nio.read()\na line\nx")
    assert done.stderr == ""
    assert done.stdout.replace("\n\t", " ").splitlines() == [
        "2\t",
        "a",
        "stack traceback: [C]: in function 'error' stdin:1: in main chunk",
        "a line\t",
        "1\t",
    ]


def test_a_closed_pipe_ends_it_quietly(command: list[str], environment: dict[str, str]) -> None:
    program = subprocess.Popen(
        [*command, "-e", "while true do print(1) end"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert program.stdout is not None and program.stderr is not None
    program.stdout.readline()
    program.stdout.close()
    assert program.wait(60) == -signal.SIGPIPE
    assert program.stderr.read() == b""
    program.stderr.close()


def test_ctrl_c_ends_a_compiled_loop_in_a_script(
    command: list[str], environment: dict[str, str]
) -> None:
    source = "print(1) io.stdout:flush() local i = 0 while true do i = i + 1 end"
    with subprocess.Popen(
        [*command, "-e", source],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stdout is not None and program.stderr is not None
        program.stdout.readline()
        program.send_signal(signal.SIGINT)
        assert program.wait(60) == -signal.SIGINT
        assert program.stderr.read() == b""


class Terminal:
    """The far end of a terminal: keys in, and out what it shows, without colours."""

    def __init__(self) -> None:
        self._fd, self.theirs = pty.openpty()
        self._shown = b""

    def press(self, keys: bytes) -> None:
        os.write(self._fd, keys)

    def until(self, wanted: bytes) -> bytes:
        """What it showed since the last call, up to and with some text."""
        while wanted not in self._shown:
            assert select.select([self._fd], [], [], 60)[0], self._shown
            self._shown += os.read(self._fd, 4096)
            self._shown = re.sub(rb"\x1b\[[0-9;?]*[a-zA-Z]", b"", self._shown)
        before, _, self._shown = self._shown.partition(wanted)
        return before + wanted

    def close(self) -> None:
        os.close(self._fd)
        os.close(self.theirs)


def test_a_terminal(command: list[str], environment: dict[str, str]) -> None:
    terminal = Terminal()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.theirs)
    with subprocess.Popen(command, env=environment, **streams) as program:
        assert terminal.until(b"th> ").startswith(BANNER.replace("\n", "\r\n").encode())
        terminal.press(b"6 *\r")
        terminal.until(b"..> ")
        terminal.press(b"7\r")
        terminal.until(b"42\t\r\n")
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(60) == 0
    terminal.close()


def test_a_statement_loads_nothing_of_the_terminal(environment: dict[str, str]) -> None:
    source = """
import sys
from th_shell.cli import main
main(["-e", "x = 1"])
print([m for m in ("argparse", "prompt_toolkit", "pygments") if m in sys.modules])
"""
    done = subprocess.run(
        [sys.executable, "-c", source], env=environment, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_it_starts_fast(command: list[str], environment: dict[str, str]) -> None:
    def seconds(words: list[str]) -> float:
        start = time.perf_counter()
        subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - start

    # In turn, because other tests run beside this one: only the fastest of each says something.
    numpy, th = [], []
    for _ in range(20):
        numpy.append(seconds([sys.executable, "-c", "import numpy"]))
        th.append(seconds([*command, "-e", "print(1)"]))
        if len(th) >= 3 and min(th) <= 2.5 * min(numpy):
            break
    assert min(th) <= 2.5 * min(numpy)
