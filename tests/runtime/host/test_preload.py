"""What is loaded ahead of time."""

import pytest

from tests.data_files import data
from tests.processes import run_python

SHOW = data(__file__, "SHOW")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("function", "module"),
    [("preload_random", "numpy.random"), ("preload_lapack", "scipy.linalg.lapack")],
)
def test_what_operations_load_at_their_first_use(function: str, module: str) -> None:
    code = SHOW.format(function=function, module=module)
    run = run_python("-c", code, check=True)
    before, after = run.stdout.split()
    assert after == "True"
    assert before == "False" or module == "numpy.random"  # which older numpy loads itself
