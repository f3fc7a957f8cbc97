"""The first prompt takes keys before the editor and the engine are loaded."""

import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.th_shell.terminals import Terminal
from tests.th_shell.typists import paste

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def start(terminal: Terminal, command: list[str], environment: dict[str, str]) -> Iterator[Start]:
    """Starts a th at the terminal, and waits for its prompt."""
    programs: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.theirs)
        programs.append(subprocess.Popen(command, env=environment, **streams))
        terminal.until(b"th> ")
        return programs[-1]

    yield start
    for program in programs:
        program.kill()
        program.wait()


def leave(terminal: Terminal, program: subprocess.Popen[bytes]) -> None:
    terminal.until(b"th> ")
    terminal.press(b"\x04")
    assert program.wait(60) == 0


SHOW = data(__file__, "SHOW")


def test_what_it_does_without(terminal: Terminal, environment: dict[str, str]) -> None:
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.theirs)
    assert subprocess.run([sys.executable, "-c", SHOW], env=environment, **streams).returncode == 0
    terminal.until(b"th> ")
    assert terminal.until(b"\n") == b"[]\r\n"


EDITOR = data(__file__, "EDITOR")


@pytest.mark.thorough
@pytest.mark.unguarded("numpy is loaded from the start")
def test_what_the_editor_does_without(environment: dict[str, str]) -> None:
    done = run_python("-c", EDITOR, env=environment)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        (b"6 * 7\r", b"\r\n42\t\r\n"),
        (b"6 *\r7\r", b"\r\n42\t\r\n"),
        (b"x\x7f\x7f6 * 7\r", b"\r\n42\t\r\n"),
        (b"\x03\x03\x03\x036 * 7\r", b"\r\n42\t\r\n"),
        (b"torch.ones(1)\r", b"\r\n 1\r\n[torch.DoubleTensor of dimension 1]\r\n"),
        (b"math.flo\t(42.5)\r", b"\r\n42\t\r\n"),
        (b"arg[0]\r", b"\r\nth\t\r\n"),
        (b"os.getenv('OPENBLAS_NUM_THREADS')\r", b"\r\nnil\t\r\n"),
    ],
)
def test_keys_that_are_pressed_at_once(
    terminal: Terminal, start: Start, keys: bytes, shown: bytes
) -> None:
    program = start()
    terminal.press(keys)
    terminal.until(shown)
    leave(terminal, program)


PAGE = data(__file__, "PAGE")


@pytest.mark.thorough
def test_a_page_that_is_pasted_at_once(terminal: Terminal, start: Start) -> None:
    program = start()
    assert b"\x1b[?2004h" in terminal.raw
    terminal.press(paste(PAGE * 50).encode() + b"\r")
    terminal.until(b"50 inputs: 50 as documented")
    leave(terminal, program)


@pytest.mark.thorough
def test_keys_that_are_no_letters_are_not_echoed(terminal: Terminal, start: Start) -> None:
    program = start()
    terminal.press(b"6 7\x1b[D\x1b[D * \x1b[F\r")
    terminal.until(b"\r\n42\t\r\n")
    assert b"^[" not in terminal.raw
    assert terminal.raw.count(b"\x1b[D") == 0
    leave(terminal, program)


@pytest.mark.thorough
def test_a_character_that_comes_in_parts(terminal: Terminal, start: Start) -> None:
    program = start()
    for part in (b"print('\xe2", b"\x82\xac', 6 * 7)\r"):
        terminal.press(part)
        time.sleep(0.01)
    terminal.until("\r\n€\t42\t\r\n".encode())
    leave(terminal, program)


READ = data(__file__, "READ")


@pytest.mark.parametrize(
    ("keys", "shown"),
    [(b"6 * 7", b"6 * 7"), (b"6\x1b[D", b""), (b"x" * 200, b""), ("€".encode(), b"")],
)
def test_letters_are_shown_before_the_editor_is_there(
    terminal: Terminal, environment: dict[str, str], keys: bytes, shown: bytes
) -> None:
    with terminal.running([sys.executable, "-c", READ], env=environment) as program:
        terminal.until(b"th> ")
        terminal.press(keys)
        assert terminal.until(b"\n") == shown + ascii(keys.decode()).encode() + b"\r\n"
        assert program.wait(60) == 0


@pytest.mark.thorough
def test_leaving_at_once(terminal: Terminal, start: Start) -> None:
    before = termios.tcgetattr(terminal.theirs)
    program = start()
    terminal.press(b"\x04")
    assert program.wait(60) == 0
    assert termios.tcgetattr(terminal.theirs) == before


@pytest.mark.thorough
def test_signals_while_it_loads(terminal: Terminal, start: Start) -> None:
    program = start()
    for _ in range(20):
        os.kill(program.pid, signal.SIGINT)
        time.sleep(0.005)
    terminal.press(b"6 * 7\r")
    terminal.until(b"\r\n42\t\r\n")
    leave(terminal, program)


@pytest.mark.thorough
def test_the_history_comes_with_the_engine(
    terminal: Terminal, start: Start, environment: dict[str, str]
) -> None:
    Path(environment["TREPL_HISTORY"]).write_text("for i = 7, 8 do\nprint(i)\nend\n")
    program = start()
    terminal.press(b"\x1b[A")
    terminal.until(b"..> end")
    terminal.press(b"\r")
    terminal.until(b"7\t\r\n8\t\r\n")
    leave(terminal, program)


@pytest.mark.parametrize("delay", [0, 0.2, 0.6])
@pytest.mark.parametrize(
    "keys",
    [
        b"\x1b[A\r",
        b"\x03\x1b[A\r",
        b"\x10\r",
        b"\x127*6\r\r",
        b"nil\r\x1b[A\x1b[A\r",
        b"prin\x1b[A\r",
    ],
)
@pytest.mark.thorough
def test_keys_wait_for_a_long_history(
    terminal: Terminal, start: Start, environment: dict[str, str], keys: bytes, delay: float
) -> None:
    old = "".join(f"x{n} = {n}\n" for n in range(10_000))
    Path(environment["TREPL_HISTORY"]).write_text(old + "print(7*6, 'last')\n")
    program = start()
    time.sleep(delay)
    terminal.press(keys)
    terminal.until(b"42\tlast")
    leave(terminal, program)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("missing", "message"),
    [("lupa", b"th needs LuaJIT 2.1 in lupa"), ("prompt_toolkit", b"import of prompt_toolkit")],
)
def test_what_cannot_be_loaded(
    terminal: Terminal, environment: dict[str, str], missing: str, message: bytes
) -> None:
    before = termios.tcgetattr(terminal.theirs)
    code = f"import sys; sys.modules[{missing!r}] = None; from th_shell.cli import main; main([])"
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal.theirs)
    subprocess.run([sys.executable, "-c", code], env=environment, **streams, check=True)
    terminal.until(b"th> \r\nth: " + message)
    assert termios.tcgetattr(terminal.theirs) == before
