"""What inputs of a session print, and what they leave behind."""

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.th_shell.conftest import Run
from th_shell.config import Config
from th_shell.python.session import PythonSession, _MainThread

Printed = Callable[[], str]

PAGE = ">>> x = 3\n>>> for i in range(2):\n...     i\n0\n1\n>>> x\n4\n"
TRACEBACK = "Traceback (most recent call last):\n"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["1 + 2"], "3\n"),
        (["None"], ""),
        (["'a'; 2"], "'a'\n2\n"),
        (["x = 5", "x"], "5\n"),
        (["for i in range(2):\n    i"], "0\n1\n"),
        (["7", "_ + 1", "_", "_1"], "7\n8\n8\n7\n"),
        (["_ = 3", "8", "_"], "8\n3\n"),
        (["None", "2", "None", "_"], "2\n2\n"),
        (["from __future__ import annotations", "x: nothing = 1", "x"], "1\n"),
        (["import sys; sys.displayhook = print", "3", "None", "_2"], "3\nNone\n3\n"),
        (["x = []", "x", "x", "_3 is _2 is x"], "[]\n[]\nTrue\n"),
        (["'\\udc80'"], "'\\udc80'\n"),
        (["__name__"], "'__main__'\n"),
        ([PAGE], ">>> x = 3\n>>> for i in range(2):\n...     i\n0\n1\n✓\n>>> x\n3\n"
         "✗ page: 4 here: 3\n3 inputs: 1 as documented, 1 different, 1 without output\n"),
        ([">>> x = 3\n>>> x"], ">>> x = 3\n>>> x\n3\n"),
        ([">>> 1 / 0\nTraceback (most recent call last):\nZeroDivisionError: division by zero"],
         "✓\n1 input: 1 as documented\n"),
        ([">>> import random\n>>> x = random.random()\n>>> x * 1e9 // 1 > 2\n7"],
         ">>> import random\n>>> x = random.random()\n>>> x * 1e9 // 1 > 2\nTrue\n"
         "✗ page: 7 here: True\n3 inputs: 1 different, 2 without output\n"),
        ([">>> import random\n>>> x = [random.random()]\n>>> x\n[0.123]"], None),
        (["Words.\n\n```python\n>>> x = 3\n>>> x\n3\n```\n"],
         ">>> x = 3\n>>> x\n3\n✓\n2 inputs: 1 as documented, 1 without output\n"),
        ([">>> np.arange(2)\narray([0, 1])"],
         ">>> import numpy as np\narray([0, 1])\n✓\n1 input: 1 as documented\n"),
        ([">>> 5"], "5\n"),
        (["$ echo $x; echo '$x'", "_"], "\n$x\n'\\n$x\\n'\n"),
        (["x = 'a b'", "!printf '%s.' $x"], "a b."),
        (["x = []", "$ ls $x"], "$x is a list: only strings, numbers and booleans can stand in a "
         "command; $$x is the shell's own\n"),
        (["%pwd x"], "{folder}\n"),
        (["%tiem 1"], "%tiem: no such command; there is %time, %timeit\n"),
        (["1", "1/0", "%history"], "1\n1  1\n2! 1/0\n"),
    ],
)  # fmt: skip
def test_what_is_printed(
    session: PythonSession,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    write_to_descriptor: Callable[[], None],
    texts: list[str],
    expected: str | None,
) -> None:
    write_to_descriptor()
    monkeypatch.chdir(tmp_path)
    for text in texts:
        assert session.submit(text)
    if expected is None:
        assert "≈ layout" in capfd.readouterr().out
        return
    assert capfd.readouterr().out == expected.replace("{folder}", str(tmp_path))


def test_an_error_shows_the_programs_lines(session: PythonSession, printed: Printed) -> None:
    session.submit("def f(x):\n    return 1 / x")
    session.submit("f(0)")
    lines = [line for line in printed().splitlines() if set(line) - set(" ~^")]
    assert lines == [
        "Traceback (most recent call last):",
        '  File "<input 2>", line 1, in <module>',
        "    f(0)",
        '  File "<input 1>", line 2, in f',
        "    return 1 / x",
        "ZeroDivisionError: division by zero",
    ]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("1 +", "SyntaxError: invalid syntax"),
        ("raise ValueError('x')", "ValueError: x"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("x = '\0'", None),
    ],
)
def test_errors(session: PythonSession, printed: Printed, text: str, last: str | None) -> None:
    assert session.submit(text)
    shown = printed()
    assert "th_shell" not in shown
    assert last is None or shown.splitlines()[-1] == last
    assert session.has_failed


def test_an_error_ends_its_input_and_not_the_session(
    session: PythonSession, printed: Printed
) -> None:
    session.submit("print(1)\n1/0\nprint(2)")
    session.submit("3")
    shown = printed()
    assert "1\n" in shown and "3\n" in shown and "2\n" not in shown


def test_a_hook_of_the_program_shows_errors(
    session: PythonSession, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda *error: print("hook:", error[1]))
    session.submit("raise ValueError('x')")
    assert printed() == "hook: x\n"


def test_a_hook_that_fails(
    session: PythonSession, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "excepthook", lambda: None)
    session.submit("raise ValueError('x')")
    shown = printed()
    assert shown.startswith("Error in sys.excepthook:\n") and shown.endswith("ValueError: x\n")


def test_only_some_values_are_kept(session: PythonSession, printed: Printed) -> None:
    small = PythonSession({}, Config(results=2))
    for text in ("10", "20", "30", "_2 + _3", "_1"):
        small.submit(text)
    assert "NameError: name '_1' is not defined" in printed()


def test_a_debugger_stops_in_the_program(python: Run) -> None:
    done = python("-i", input="for i in range(2):\n    breakpoint()\n\np i\nc\nc\nprint(i)\n")
    places = re.findall(r"> (<input \d>|/\S+)\(\d+\)", done.stdout)
    assert places == ["<input 1>", "<input 1>"]
    assert done.stdout.endswith("1\n")


def test_exit_ends_a_session(session: PythonSession) -> None:
    assert not session.submit("exit")
    assert not session.submit("quit()")
    session.submit("exit = 3")
    assert session.submit("exit")


def test_a_program_may_end_the_session(session: PythonSession) -> None:
    with pytest.raises(SystemExit) as raised:
        session.submit("import sys; sys.exit(3)")
    assert raised.value.code == 3


def test_ctrl_c_stops_an_input_and_those_behind_it(
    session: PythonSession, printed: Printed
) -> None:
    before = signal.getsignal(signal.SIGINT)
    threading.Timer(0.1, os.kill, [os.getpid(), signal.SIGINT]).start()
    start = time.monotonic()
    assert session.submit(">>> import time\n>>> time.sleep(9)\n>>> print('more')\n")
    assert time.monotonic() - start < 5
    assert printed().endswith("KeyboardInterrupt\n")
    assert signal.getsignal(signal.SIGINT) is before


def test_what_runs_is_told(session: PythonSession) -> None:
    session.namespace["told"] = []
    session.namespace["running"] = _MainThread().running
    session.submit("def f():\n    told.append(running())\n\nf()")
    assert session.namespace["told"] == ["line 2 of <input 1>"]
