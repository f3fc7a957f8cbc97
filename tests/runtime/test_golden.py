"""The recorded programs of the real Torch7, area by area, run by this interpreter's th.

The recording is no part of the repository: without it the tests are skipped.
"""

import json
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

TOP = Path(__file__).parent.parent.parent
SHARED = TOP.parent / "shared"
RUN, CASES = SHARED / "tools" / "golden_run.py", SHARED / "golden" / "torch7.jsonl"
AREAS = ["views", "index", "storage", "structure", "apply", "print", "construct", "ffi"]

pytestmark = pytest.mark.skipif(
    not (RUN.exists() and CASES.exists()), reason=f"there is no recording in {SHARED.name}/"
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("area", AREAS)
def test_every_case_agrees(area: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    rows = tmp_path / "rows.json"
    engine = f"{quote(sys.executable)} -m th_shell"
    command = [sys.executable, str(RUN), "grade", "--engine", engine, str(CASES)]
    options = ["--area", area, "--json", str(rows), "--show", "3"]
    run = subprocess.run([*command, *options], capture_output=True, text=True)
    results = json.loads(rows.read_text())
    assert results
    assert [row["id"] for row in results if not row["ok"]] == [], run.stdout
