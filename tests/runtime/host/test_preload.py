"""What is loaded ahead of time."""

import subprocess
import sys

import pytest

SHOW = """\
import sys
import th_shell.runtime.shell
before = set(sys.modules)
th_shell.runtime.shell.{function}()
print({module!r} in before, {module!r} in sys.modules)
"""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "module"),
    [("preload_random", "numpy.random"), ("preload_lapack", "scipy.linalg.lapack")],
)
def test_what_operations_load_at_their_first_use(function: str, module: str) -> None:
    code = SHOW.format(function=function, module=module)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    before, after = run.stdout.split()
    assert after == "True"
    assert before == "False" or module == "numpy.random"  # which older numpy loads itself
