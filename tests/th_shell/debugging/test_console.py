"""The debugger at the prompt: `%debug`, `%break`, `%run -d`, and what is typed behind `debug>`."""

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th
from tests.th_shell.terminals import CONTROLLED, Terminal

FAILING = "local function f(a) local z = torch.ones(2, 3) error('bad') end\nf(3)\n"
ERROR = data(__file__, "ERROR")
PROGRAM = data(__file__, "PROGRAM")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.lua").write_text(PROGRAM)
    return tmp_path


@pytest.fixture
def typed(folder: Path) -> Callable[..., str]:
    """What `th -i` prints for inputs."""

    def run(*inputs: str) -> str:
        done = run_th("-i", input="".join(f"{one}\n" for one in inputs), cwd=folder)
        assert done.returncode == 0 and done.stderr == ""
        return done.stdout

    return run


@pytest.mark.thorough
def test_the_frames_of_an_error(typed: Callable[..., str]) -> None:
    shown = typed(FAILING, "%debug", "where", "who", "z:sum()", "a, z:size(1)", "up", "up", "who",
                  "down", "down", "nonsense(", "a +", "quit", "1 + 1")  # fmt: skip
    assert shown == ERROR + (data(__file__, "test_the_frames_of_an_error"))


@pytest.mark.thorough
def test_without_an_error(typed: Callable[..., str]) -> None:
    refused = "%debug: no frames of an error are kept\n"
    assert typed("%debug") == refused
    assert typed("error('')", "%debug -c", "%debug").endswith(refused)
    assert typed("error('')", "%reset -f", "%debug").endswith(refused)
    assert typed("%debug x") == "%debug: it takes nothing; %run -d runs a file line by line\n"


def test_the_end_of_the_input_ends_it(typed: Callable[..., str]) -> None:
    assert typed(FAILING, "%debug") == ERROR + "stdin:1 in f\n"


def test_control_codes_are_digits(typed: Callable[..., str]) -> None:
    shown = typed("local s = 'a\\27[2J' error(s)", "%debug", "who", "error('\\27x')")
    assert "\x1b" not in shown
    assert shown.endswith('local    s  "a [2J"\n\\027x\n')


@pytest.mark.thorough
def test_a_program_line_by_line(typed: Callable[..., str]) -> None:
    shown = typed("%run -d program.lua", "next", "", "list", "next", "step", "where", "n",
                  "finish", "continue", "5")  # fmt: skip
    assert shown == (data(__file__, "test_a_program_line_by_line"))


def test_breakpoints(typed: Callable[..., str]) -> None:
    shown = typed("%break program.lua:4 if n == 2", "%break program.lua:6", "%break",
                  "%break -c 2", "%break -c 7", "%break nowhere", "%break program.lua:4 if n ==",
                  "%break other.lua:1", "%break", "%run program.lua", "double = 100", "c",
                  "%break -c", "%break")  # fmt: skip
    assert shown == (data(__file__, "test_breakpoints"))


def test_a_line_of_an_input(typed: Callable[..., str]) -> None:
    shown = typed("%break [7]:2", "%break stdin:2", "function f()\n  return 1\nend", "f()", "c")
    assert shown.startswith("1  [7]:2\n2  stdin:2; no such file")
    assert shown.endswith("stdin:2 in f\n1\t\n")


def test_watched_values(typed: Callable[..., str]) -> None:
    shown = typed("%break program.lua:7", "%run program.lua", "break -c", "watch total",
                  "watch 1 +", "continue", "watch", "continue")  # fmt: skip
    assert shown == (
        "1  program.lua:7\n"
        "program.lua:7 in main chunk\n    7  for i = 1, 3 do\n"
        "removed: 1 breakpoint\nwatching total: 0\n"
        "unexpected symbol near '<eof>'\n"
        "total: 0 -> 2\n"
        "program.lua:8 in main chunk\n    8    add(i)\n"
        "12\t\n"
    )


@pytest.mark.thorough
def test_as_pdbs_users_type(typed: Callable[..., str]) -> None:
    shown = typed("%break program.lua:5", "%run program.lua", "p total, n", "args", "? torch.trace",
                  "%pwd", "ll", "break -c all", "c")  # fmt: skip
    before, _, behind = shown.partition("2\t1\t\n")
    assert before.endswith("program.lua:5 in add\n    5    return total\n")
    assert behind.startswith("local    double  2\nlocal    n       1\nupvalue  total   2\n")
    assert "torch.trace(" in behind and "->    5    return total\n" in behind
    assert behind.endswith("   10  print(total)\nremoved: 1 breakpoint\n12\t\n")


def test_values_are_watched_until_the_program_has_ended(typed: Callable[..., str]) -> None:
    shown = typed("x = 1", "debugger()", "watch x", "c", "x = 2", "print((jit.status()))")
    assert shown == "stdin:1 in main chunk\nwatching x: 1\ntrue\t\n"


def test_a_condition_that_fails_stops_and_says_so(typed: Callable[..., str]) -> None:
    shown = typed("%break program.lua:4 if n.x.y", "%run program.lua", "%break -c", "c")
    assert shown == (
        "1  program.lua:4 if n.x.y\n"
        "the condition fails: attempt to index global 'n' (a number value)\n"
        "program.lua:4 in add\n    4    total = total + double\n"
        "removed: 1 breakpoint\n12\t\n"
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize("line", [900, 10**20])
def test_a_line_behind_the_end_of_a_file(typed: Callable[..., str], line: int) -> None:
    assert (
        typed(f"%break program.lua:{line}") == f"1  program.lua:{line}; line {line} has no code\n"
    )


def test_a_program_that_has_ended_goes_on_nowhere(typed: Callable[..., str]) -> None:
    shown = typed("n = 5 error('')", "%debug", "n", "next", "step", "watch x", "break a.lua:1")
    assert shown.endswith(
        "5\t\n"
        "next: the program has ended\n"
        "step: the program has ended\n"
        "watch: the program has ended\n"
        "break: the program has ended\n"
    )


def test_a_variable_hides_a_short_name(typed: Callable[..., str]) -> None:
    shown = typed("local n = 7 local c = 8 debugger()", "n", "c", "w", "continue")
    assert shown == "stdin:1 in main chunk\n7\t\n8\t\n->  0  stdin:1 in main chunk\n"


def test_quit_ends_the_program(typed: Callable[..., str]) -> None:
    shown = typed("pcall(debugger) x = 1", "quit", "x")
    assert shown == ("stdin:1 in main chunk\nthe program was ended in the debugger\nnil\t\n")


@pytest.mark.thorough
def test_help(typed: Callable[..., str]) -> None:
    after_error = typed("error('')", "%debug", "help")
    assert "where" in after_error and "continue" not in after_error
    assert "watch x.y" in typed("debugger()", "help")


# -- at terminals


@pytest.fixture
def terminal(folder: Path) -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["xterm", "dumb"])
def test_at_a_terminal(
    terminal: Terminal,
    command: list[str],
    environment: dict[str, str],
    folder: Path,
    kind: str,
) -> None:
    (folder / "long.lua").write_text("n = 0\nwhile true do\n  n = n + 1\nend\n")
    words = [command[0], "-c", CONTROLLED, *command[1:]]
    with terminal.running(
        words, env=environment | {"TERM": kind}, cwd=folder, start_new_session=True
    ):
        for keys, shown in (
            (b"", b"th> "),
            (b"error({})\r", b"traceback"),
            (b"", b"th> "),
            (b"%debug\r", b"debug>"),
            (b"6 * 7\r", b"42\t\r\n"),
            (b"", b"debug>"),
            (b"print('go' * 2)\r", b"attempt to"),
            (b"", b"debug>"),
            (b"print('go' .. 2) while true do end\r", b"go2\t\r\n"),
            (b"\x03", b"interrupted!"),
            (b"", b"debug>"),
            (b"quit\r", b"th> "),
            (b"%run -d long.lua\r", b"n = 0"),
            (b"", b"debug>"),
            (b"continue\r", b"continue"),
            (b"", b"\r\n"),
            (b"\x03", b"long.lua:3 in main chunk"),
            (b"", b"debug>"),
            (b"p n > 0\r", b"true\t"),
            (b"", b"debug>"),
            (b"\x1b[A\r", b"true\t"),  # Up brings it back
            (b"", b"debug>"),
            (b"q\r", b"the program was ended in the debugger\r\n"),
            (b"", b"th> "),
            (b"n > 0\r", b"true\t"),
            (b"", b"th> "),
            (b"debugger() n = 8\r", b"\n    1  debugger() n = 8\r\n"),  # it still runs
            (b"", b"debug>"),
            (b"quit\r", b"th> "),
        ):
            if keys == b"\x03":
                time.sleep(0.3)  # as a person needs: it is no key of the line before
            terminal.press(keys)
            assert terminal.shows(shown, 10), (keys, terminal.raw)
            terminal.until(shown)


@pytest.mark.thorough
def test_what_a_long_step_runs_is_told(typed: Callable[..., str], folder: Path) -> None:
    (folder / "long.lua").write_text(
        "local function f()\n  local t = os.time()\n  while os.time() < t + 3 do\n"
        "    x = 1\n  end\nend\nf()\nx = 2\n"
    )
    shown = typed("%run -d long.lua", "next", "next", "c")
    assert re.search(r"\nlong\.lua:[34] runs; Ctrl-C stops there\nlong\.lua:8 in main", shown)
