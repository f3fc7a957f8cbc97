"""Ctrl-C that is pressed behind an input stops it, whatever is still to be loaded for it."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.typeahead import get_typeahead
from prompt_toolkit.keys import Keys

from tests.data_files import data
from tests.th_shell.terminals import Terminal
from th_shell.python.session import PythonSession
from th_shell.runtime.shell import Engine
from th_shell.session.interrupt import EARLY, calm
from th_shell.session.session import Session
from th_shell.terminal.repl import _take_ahead

# A th at a terminal of its own, whose keys are signals; what the engine gets takes longer.
START = data(__file__, "START")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("delay", "pause"), [(0, 0), (0, 0.05), (0, 0.3), (1.5, 0), (1.5, 0.5), (1.5, 1.2), (0, 1)]
)
@pytest.mark.parametrize(
    ("words", "prompt", "keys", "told"),
    [
        ([], b"th> ", b"while true do end\r", b"interrupted!\r\n"),
        (["--python"], b">>> ", b"while True: pass\r\r", b"KeyboardInterrupt\r\n"),
    ],
)
def test_ctrl_c_behind_an_input(
    terminal: Terminal,
    environment: dict[str, str],
    words: list[str],
    prompt: bytes,
    keys: bytes,
    told: bytes,
    delay: float,
    pause: float,
) -> None:
    command = [sys.executable, "-c", START.format(delay=delay, words=words)]
    with terminal.running(command, env=environment, start_new_session=True):
        terminal.until(prompt)
        for _ in range(2):  # the first input, and one when all is there
            terminal.press(keys)
            time.sleep(pause)
            terminal.press(b"\x03")
            terminal.until(told)
            terminal.until(prompt)
        terminal.press(b"6 * 7\r")
        terminal.until(b"42")


def test_what_is_pressed_behind_ctrl_c_is_kept() -> None:
    with create_pipe_input() as keyboard:
        keyboard.send_text("1\r\x032\r\x033\r")
        EARLY.take()
        _take_ahead(keyboard)
        assert [key.key for key in get_typeahead(keyboard)] == ["3", Keys.ControlM]
        assert EARLY.take() and not EARLY.take()
        keyboard.send_text("4\r")
        _take_ahead(keyboard)
        assert [key.key for key in get_typeahead(keyboard)] == ["4", Keys.ControlM]
        assert not EARLY.take()


@pytest.fixture
def session() -> Iterator[Session]:
    with Engine() as engine:
        yield Session(engine)


def test_an_input_that_was_interrupted_early_does_nothing(
    session: Session, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Nor do those behind it; the next one runs."""
    made = tmp_path / "made"
    with calm():
        os.kill(os.getpid(), signal.SIGINT)
        assert session.submit(f"io.open('{made}', 'w')\nprint(1)")
        assert session.submit("6 * 7")
    assert capfd.readouterr().out == "interrupted!\n42\t\n" and not made.exists()


def test_a_page_that_was_interrupted_early(
    session: Session, capfd: pytest.CaptureFixture[str]
) -> None:
    EARLY.press()
    assert session.submit("> x = 1\n> x\n1\n> print('y')\ny\n")
    assert "interrupted!" in capfd.readouterr().out
    assert session.engine.variables.names("x") == {}


def test_a_command_has_its_ctrl_c_for_itself(
    session: Session, capfd: pytest.CaptureFixture[str]
) -> None:
    with calm():
        session.submit("$ kill -INT $$PPID\n6 * 7")
    assert "42\t\n" in capfd.readouterr().out


def test_inputs_of_python(capfd: pytest.CaptureFixture[str]) -> None:
    session = PythonSession({}, watched=True)
    EARLY.press()
    assert session.submit("print(1)\nprint(2)")
    assert session.submit("print(3)")
    read = capfd.readouterr()
    assert read.out == "3\n" and "KeyboardInterrupt" in read.err
