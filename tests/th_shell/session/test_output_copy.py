"""Reading the standard output while it is shown, in a process of its own: it has only one."""

import os
import pty
import subprocess
import sys

import pytest

from tests.data_files import data
from tests.th_shell.conftest import TOP

PROGRAM = data(__file__, "PROGRAM")


def run(code: str, terminal: bool) -> bytes:
    """What a program prints on a terminal or into a pipe."""
    ours, theirs = pty.openpty() if terminal else os.pipe()
    command = [sys.executable, "-c", PROGRAM.format(code=code)]
    with subprocess.Popen(command, stdout=theirs, cwd=TOP) as program:
        os.close(theirs)
        found = b""
        try:
            while part := os.read(ours, 4096):
                found += part
        except OSError:
            pass  # the terminal's end
        os.close(ours)
        assert program.wait(timeout=30) == 0
    return found.replace(b"\r\n", b"\n")


@pytest.mark.thorough
@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "with Copy() as copy:\n say('a')\n first = copy.text()\n copy.clear()\n say('b\\n')\n"
            " second = copy.text()\nprint(first, second)",
            b"ab\nb'a' b'b\\n'\n",
        ),
        (
            "with Copy() as copy:\n copy.clear(shown=False)\n say('hidden')\n text = copy.text()\n"
            " copy.clear()\nprint(text)",
            b"b'hidden'\n",
        ),
        (
            "with Copy() as copy:\n subprocess.run(['echo', 'child'])\n text = copy.text()\n"
            "print(text)",
            b"child\nb'child\\n'\n",
        ),
        ("with Copy() as copy:\n say('\\0a\\0\\0' * 3)", b"\0a\0\0" * 3),
        (
            "try:\n with Copy() as copy:\n  raise KeyError\nexcept KeyError:\n say('restored')",
            b"restored",
        ),
        pytest.param(
            "def files():\n return len(os.listdir('/proc/self/fd'))\n"
            "before = files()\n"
            "with Copy() as copy:\n say('y' * 300000)\n assert len(copy.text()) == 300000\n"
            "for _ in range(20):\n with Copy():\n  pass\n"
            "end = time.time() + 20\n"  # the threads close files when they have read all
            "while files() > before and time.time() < end:\n time.sleep(0.02)\n"
            "say(str(files() - before))",
            b"y" * 300000 + b"0",
            id="much output",
        ),
    ],
)
def test_output_is_read_and_shown(terminal: bool, code: str, expected: bytes) -> None:
    assert run(code, terminal) == expected


@pytest.mark.sample(1)
@pytest.mark.parametrize("terminal", [True, False])
def test_programs_see_a_terminal_where_there_is_one(terminal: bool) -> None:
    code = "with Copy():\n say(str(os.isatty(1)))"
    assert run(code, terminal) == str(terminal).encode()


@pytest.mark.thorough
def test_what_a_child_prints_later_is_shown() -> None:
    code = "with Copy():\n child = subprocess.Popen('sleep 0.3; echo late', shell=True)\n"
    assert run(code + "child.wait()\ntime.sleep(0.2)", True) == b"late\n"
