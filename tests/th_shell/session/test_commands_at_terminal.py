from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.th_shell.terminals import Terminal
from th_shell.session.system_commands import plain_text


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"a\r\nb\r\n", b"a\nb\n"),
        (b"\x1b[1;32mgreen\x1b[0m\tx", b"green\tx"),
        (b"a\x1b[?1049hscreen\x1b[2J\x1b[?1049lb", b"ab"),
        (b"a\x1b[?1049hleft open", b"a"),
        (b"\x1b]0;title\x07x\x1b(B\x08", b"x"),
        ("é".encode(), "é".encode()),
    ],
)
def test_what_is_kept_of_the_output(output: bytes, expected: bytes) -> None:
    assert plain_text(output) == expected


@pytest.mark.thorough
def test_a_command_has_the_terminal(
    command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    terminal = Terminal()
    with terminal.running(command, env=environment, cwd=tmp_path) as program:
        terminal.until(b"th> ")
        terminal.press(b"$ test -t 0 && test -t 1 && tty </dev/tty >/dev/null && echo ter''minal\r")
        terminal.until(b"terminal\r\n")
        terminal.until(b"th> ")
        terminal.press(b"_LAST .. '|'\r")
        terminal.until(b"terminal\r\n|")
        terminal.until(b"th> ")
        terminal.press(b"$ yes | head -n 1; echo en''d\r")
        assert b"Broken pipe" not in terminal.until(b"end\r\n")
        terminal.until(b"th> ")
        terminal.press(b"$ echo rea''dy; read word; echo got $word\r")
        terminal.until(b"ready\r\n")
        terminal.press(b"this\r")
        terminal.until(b"got this\r\n")
        terminal.until(b"th> ")
        terminal.press(b"$ echo rea''dy; sleep 60\r")
        terminal.until(b"ready\r\n")
        time.sleep(0.3)  # a shell that is just about to start a command may miss Ctrl-C
        terminal.press(b"\x03")
        terminal.until(b"th> ")
        terminal.press(b"6 * 7\r")
        terminal.until(b"42\t\r\n")
        terminal.until(b"th> ")
        terminal.press(b"\x04")
        assert program.wait(20) == 0
    terminal.close()
