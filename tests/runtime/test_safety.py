"""No Lua program that stays away from raw pointers crashes, or reads or writes wrong memory.

The programs of safety.txt run in a process of their own: one that dies fails alone.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th
from tests.transcripts import Entry, ask, cases, normal, read, wrong

HERE = Path(__file__).parent
TOP = HERE.parent.parent


@pytest.fixture(scope="module")
def answers() -> dict[str, str]:
    """What each program of the transcript prints ('DIED' where the process ended with it)."""
    sources = ["\n".join(entry.source) for entry in read(HERE / "safety.txt")]
    printed = ask([sys.executable, "-m", "th_shell"], sources)
    return dict(zip(sources, map(normal, printed), strict=True))


@pytest.mark.sample(2)
@pytest.mark.parametrize("programs", cases("safety", HERE))
def test_clear_error_or_right_data(answers: dict[str, str], programs: list[Entry]) -> None:
    assert wrong(programs, answers.__getitem__) == ""


def run_script(tmp_path: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Run a Lua script in a process of its own."""
    script = tmp_path / "script.lua"
    script.write_text(source)
    return run_th(script, timeout=120)


MEMORY = data(__file__, "MEMORY")


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
@pytest.mark.parametrize("count", [1000, pytest.param(20000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "make",
    [
        "torch.Tensor(1024 * 1024)",
        "torch.DoubleStorage(1024 * 1024)",
        "torch.Tensor():resize(1024, 1024):view(1024 * 1024)",
        "torch.FloatTensor(1, 2 * 1024 * 1024):t():select(2, 1)",
    ],
)
def test_temporaries_run_in_bounded_memory(tmp_path: Path, make: str, count: int) -> None:
    source = MEMORY.replace("COUNT", str(count)).replace("torch.Tensor(1024 * 1024)", make)
    if "Storage" in make:
        source = source.replace("keep = x:narrow(1, 5, 3)", "keep = torch.DoubleStorage(x, 5, 3)")
    run = run_script(tmp_path, source)
    assert (run.stdout, run.stderr, run.returncode) == (f"{count}\ttrue\t\n", "", 0)


STORAGES = data(__file__, "STORAGES")


@pytest.mark.thorough
def test_storages_that_come_again_while_the_collector_runs(tmp_path: Path) -> None:
    run = run_script(tmp_path, STORAGES)
    assert (run.stdout, run.stderr, run.returncode) == ("0\t\n", "", 0)
