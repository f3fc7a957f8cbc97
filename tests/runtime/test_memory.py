"""How much memory a program takes: what is kept for later is bounded, and can be given back."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.runtime.test_safety import run_script

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")

STATUS = data(__file__, "STATUS")
DRAWS = data(__file__, "DRAWS")
TRIM = data(__file__, "TRIM")
OTHER_SIZES = data(__file__, "OTHER_SIZES")


@pytest.mark.thorough
@pytest.mark.parametrize("source", [DRAWS, TRIM, OTHER_SIZES])
@pytest.mark.unguarded("memory is used up sooner")
def test_memory_is_bounded(tmp_path: Path, source: str) -> None:
    run = run_script(tmp_path, STATUS + source)
    assert (run.stdout, run.stderr, run.returncode) == ("true\t\n", "", 0)
