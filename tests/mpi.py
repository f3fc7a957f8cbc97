"""Whether MPI is here, which the package mpi needs, and mpirun, which starts several processes."""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

TOP = Path(__file__).parents[1]
#: Lets Open MPI run as root, as tests in containers do.
_AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


@cache
def missing_mpi() -> str:
    """Why MPI cannot be used; '' where it can."""
    command = [sys.executable, "-I", "-c", "import mpi4py.MPI"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def _mpirun() -> str | None:
    """mpirun of this Python's environment, whose MPI mpi4py takes; otherwise that of the system."""
    folder = Path(sys.executable).parent
    return shutil.which("mpirun", path=os.pathsep.join([str(folder), os.environ["PATH"]]))


def missing_mpirun() -> str:
    """Why several processes cannot be started; '' where they can."""
    return missing_mpi() or ("" if _mpirun() else "there is no mpirun")


def started_together(count: int, *words: str | Path, cwd: Path = TOP) -> subprocess.Popen[str]:
    """Start th in several processes; more than there are processors are allowed."""
    mpirun = _mpirun() or "mpirun"
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True).stdout
    options = ["--oversubscribe"] if "Open MPI" in version else []
    command = [mpirun, *options, "-n", str(count), sys.executable, "-I", "-m", "th_shell"]
    return subprocess.Popen(
        [*command, *map(str, words)],
        env={**os.environ, **_AS_ROOT},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_together(count: int, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run th in several processes, to their ends."""
    with started_together(count, *words) as process:
        printed = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, *printed)
