"""`%debug` and `%profile` of the Python prompt."""

import re
import sys
from collections.abc import Callable

import pytest

from tests.th_shell.conftest import Run
from th_shell.python.session import PythonSession

Printed = Callable[[], str]

FAILING = "import torch\ndef h(a): return a.view(3, 7)\n\nh(torch.ones(4))\n"


@pytest.mark.thorough
def test_the_last_error_is_looked_into_by_pdb(python: Run) -> None:
    done = python("-i", input=FAILING + "%debug\np a.shape\nup\nq\n6 * 7\n")
    assert done.stdout == (
        "> <input 2>(1)h()\n-> def h(a): return a.view(3, 7)\n"  # no frame of ours is in it
        "(Pdb) torch.Size([4])\n"
        "(Pdb) > <input 3>(1)<module>()\n-> h(torch.ones(4))\n"
        "(Pdb) 42\n"
    )


def test_without_an_error(
    session: PythonSession, printed: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(sys, "last_traceback", raising=False)
    session.submit("%debug")
    session.submit("%debug f()")
    assert printed() == (
        "%debug: no error that has lines of the program was raised\n"
        "%debug: it takes nothing; breakpoint() stops a program\n"
    )


def test_the_functions_that_take_long(session: PythonSession, printed: Printed) -> None:
    session.submit("import json\ndef g(i): return len(json.dumps([i]))\n")
    session.submit("def f(n): return [g(i) for i in range(n)][-1]\n")
    printed()
    session.submit("%profile f(50)")
    shown = printed()
    assert shown.startswith("4\n")
    assert re.search(r"\n +50 .*<input \d>:\d\(g\)\n", shown)
    assert re.search(r"\n +1 .*<input \d>:\d\(f\)\n", shown)
    assert re.search(r"\n +50 .*json.__init__.py:\d+\(dumps\)\n", shown)
    assert "th_shell" not in shown and "runtime" not in shown


@pytest.mark.thorough
def test_torch_is_one_row(python: Run) -> None:
    done = python(
        "-i",
        input="import torch\ndef f(n): return [torch.ones(3).sum() for _ in range(n)]\n\n"
        "x = f(1)\n%profile x = f(20)\n",
    )
    assert re.search(r"\n +40 .*\{torch\}\n", done.stdout)
    assert "th_shell" not in done.stdout and "/runtime/" not in done.stdout


def test_what_cannot_be_profiled(session: PythonSession, printed: Printed) -> None:
    session.submit("%profile")
    assert printed() == "%profile: what is to be run? As in: %profile train()\n"
