"""The names that Python programs import from th_shell."""

import pytest

import th_shell
from tests.processes import run_python
from th_shell import runtime


def test_they_are_those_of_the_runtime() -> None:
    for name in th_shell.__all__:
        assert getattr(th_shell, name) is getattr(runtime, name)
    assert set(th_shell.__all__) == set(runtime.__all__)


@pytest.mark.thorough
def test_the_runtime_is_loaded_when_they_are_asked_for() -> None:
    code = (
        "import sys, th_shell; print('th_shell.runtime' in sys.modules);"
        "from th_shell import Engine, load;"
        "print('th_shell.runtime' in sys.modules, Engine().eval('1'))"
    )
    done = run_python("-c", code)
    assert done.stdout + done.stderr == "False\nTrue 1\n"


def test_there_are_no_others() -> None:
    with pytest.raises(AttributeError, match="^module 'th_shell' has no attribute 'Chunk'$"):
        th_shell.Chunk  # noqa: B018
