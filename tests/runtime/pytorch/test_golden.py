"""The recorded programs of PyTorch 2.15, run by this interpreter's ``th --python``.

The recording is no part of the repository: without it the test is skipped.
"""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from tests.processes import run_python

TOP = Path(__file__).parents[3]
SHARED = TOP.parent / "shared"
RUN, CASES = SHARED / "tools" / "py_run.py", SHARED / "golden" / "pytorch.jsonl"
#: Programs whose errors have other words: one needs what is not provided.
OTHER_WORDS = {"errors-0", "broadcast-7"}

pytestmark = [
    pytest.mark.skipif(
        not (RUN.exists() and CASES.exists()), reason=f"there is no recording in {SHARED.name}/"
    ),
    pytest.mark.skipif(
        np.__version__.startswith("1."), reason="it was recorded with numpy 2, which prints types"
    ),
]


def words(text: str) -> list[str]:
    """A text without its spaces, and without what addresses are."""
    return re.sub(r"0x[0-9a-f]+|\b\d{12,}\b", "ADDRESS", text).split()


@pytest.mark.thorough
def test_every_program_prints_what_it_does_in_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    run = run_python("-m", "th_shell", "--python", str(RUN), str(CASES))
    printed = {case["id"]: case["out"] for case in map(json.loads, run.stdout.splitlines())}
    wanted = {case["id"]: case["out"] for case in map(json.loads, CASES.read_text().splitlines())}
    differ = {name for name, out in wanted.items() if words(printed.get(name, "")) != words(out)}
    assert differ == OTHER_WORDS, run.stderr
