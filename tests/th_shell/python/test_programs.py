"""Programs run as `python` runs them: the same is expected of both."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from tests.th_shell.conftest import Run

SCRIPT = data(__file__, "SCRIPT")
PROGRAMS = [
    SCRIPT,
    "import sys; sys.exit()",
    "import sys; sys.exit(3)",
    "import sys; sys.exit('bye')",
    "raise SystemExit",
    "def f():\n    return 1 / 0\n\nf()\n",
    "try:\n    {}[1]\nexcept KeyError:\n    raise ValueError('x')",
    "try:\n    {}[1]\nexcept KeyError as e:\n    raise ValueError('x') from e",
    "1 +",
    "# -*- coding: latin-1 -*-\nprint(len('\u00e4'))",
    "import atexit; atexit.register(print, 'end')\nprint(input(), input())",
    "import sys; sys.excepthook = lambda *error: print('hook', error[1])\n[][0]",
    "raise KeyboardInterrupt",
    "import os, signal; os.kill(os.getpid(), signal.SIGINT)\nwhile True: pass",
    "import gc; print(gc.isenabled())",
    "class C:\n    def __del__(self): print('deleted')\nc = C(); c.me = c",
    "import signal; print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGPIPE))",
    "import threading; threading.Thread(target=lambda: print(__name__)).start()",
    "from __future__ import annotations\nx: nothing = 1\nprint(x, __annotations__)",
]


def of_python(*args: str, input: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return run_python(*args, input=input, cwd=folder, timeout=60)


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.sample(1)
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_script(python: Run, tmp_path: Path, program: str) -> None:
    (tmp_path / "s.py").write_text(program, "utf-8")
    words = ("s.py", "a", "-c")
    expected = of_python(*words, input="1\n2\n", folder=tmp_path)
    assert outcome(python(*words, input="1\n2\n")) == outcome(expected)


@pytest.mark.sample(1)
@pytest.mark.parametrize("words", data(__file__, "test_other_programs"))
def test_other_programs(python: Run, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "helper.py").write_text("x = 5\nimport sys\nprint(sys.argv, __name__)")
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__main__.py").write_text(
        "import sys; print(sys.argv[1:], sys.path[0])"
    )
    text = "import sys; print(sys.argv, __name__)"
    expected = of_python(*words, input=text, folder=tmp_path)
    assert outcome(python(*words, input=text)) == outcome(expected)


def test_e_is_c(python: Run) -> None:
    assert python("-e", "import sys; print(sys.argv)", "a").stdout == "['-c', 'a']\n"


def test_ctrl_c_ends_a_program_as_it_ends_python(python: Run) -> None:
    done = python("-c", "import atexit; atexit.register(print, 'end'); raise KeyboardInterrupt")
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "end\n")


def test_a_closed_pipe_is_an_error_of_the_program(python: Run) -> None:
    line = "import os; r, w = os.pipe(); os.close(r)\ntry: os.write(w, b'x')\nexcept OSError as e: "
    assert python("-c", f"{line}print(e)").stdout == "[Errno 32] Broken pipe\n"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("no.py",), 2, "th: can't open file '{}/no.py': [Errno 2] No such file or directory"),
        (("-m", "no.such"), 1, "th: No module named no.such"),
        (
            ("--torch", "installed", "x.py"),
            1,
            f"th: --torch installed: {sys.executable} finds no module torch; "
            "install PyTorch there, or leave the option out",
        ),
    ],
)
def test_what_is_not_there(
    python: Run, tmp_path: Path, words: tuple[str, ...], status: int, message: str
) -> None:
    done = python(*words)
    assert outcome(done) == (status, "", message.format(tmp_path) + "\n")


def test_a_program_loads_nothing_that_it_does_not_need(environment: dict[str, str]) -> None:
    """Whether th has loaded more than a start needs; the environment loads modules as well."""
    heavy = "th_shell.runtime numpy lupa prompt_toolkit pygments argparse dataclasses zipfile"
    names = [*heavy.split(), "importlib.abc"]
    line = f"import sys; print([name for name in {names} if name in sys.modules])"
    done = run_python("-m", "th_shell", "--python", "-c", line, env=environment)
    assert done.stdout == "[]\n"


@pytest.mark.thorough
def test_a_traceback_has_the_programs_lines_alone(python: Run, tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("import torch\ntorch.tensor(object())\n")
    lines = python("s.py").stderr.splitlines()
    files = [line for line in lines if line.startswith("  File ")]
    assert files == [f'  File "{tmp_path}/s.py", line 2, in <module>']
    assert "th_shell/torch" in python("s.py", TH_DEBUG="1").stderr
