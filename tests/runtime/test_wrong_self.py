"""Every method of every class, called with an object of every other class as its self.

What comes of it is an error or a right result: never a wrong read or write, an internal error, or
a message that shows a place in our own Lua. The calls are made in a process of their own.
"""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.runtime.test_safety import run_script

WALK = data(__file__, "WALK")


LEFT = ("Byte", "Char", "Short", "Int", "Long", "Float", "Half")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "part",
    [
        "DoubleTensor",
        "LongStorage",
        "File",
        "Generator",
        "Timer",
        "Tester",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in (*(f"{dtype}Tensor" for dtype in LEFT), "Storage")
        ),
    ],
)
def test_error_or_right_data(tmp_path: Path, part: str) -> None:
    head = f"local PART, SCRATCH = {part!r}, 'scratch' require('lfs').chdir({str(tmp_path)!r})\n"
    run = run_script(tmp_path, head + WALK)
    assert (run.stdout, run.returncode) == ("", 0)
    assert run.stderr.endswith("done")  # before it there is what shells say to PipeFile's commands
