"""How many processors there are for a process: its affinity, and the quota of its container."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.core import machine

TOP = Path(__file__).parent.parent.parent

Files = dict[str, str]

# What the files say, and the quota.
SYSTEMS: dict[str, tuple[Files, float | None]] = {
    "nothing": ({}, None),
    "version 2": (
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "150000 100000\n"},
        1.5,
    ),
    "version 2 without a limit": (
        {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"},
        None,
    ),
    "a group of its own": (
        {
            "proc/self/cgroup": "0::/user.slice/job:3\n",
            "sys/fs/cgroup/user.slice/job:3/cpu.max": "50000 100000\n",
            "sys/fs/cgroup/cpu.max": "400000 100000\n",
        },
        0.5,
    ),
    "a limit of the group around it": (
        {
            "proc/self/cgroup": "0::/pods/one/init\n",
            "sys/fs/cgroup/pods/one/init/cpu.max": "max 100000\n",
            "sys/fs/cgroup/pods/one/cpu.max": "200000 100000\n",
            "sys/fs/cgroup/pods/cpu.max": "800000 100000\n",
        },
        2,
    ),
    "a name from outside": (
        {"proc/self/cgroup": "0::/docker/4f2a\n", "sys/fs/cgroup/cpu.max": "300000 100000\n"},
        3,
    ),
    "somebody else's": (
        {"proc/self/cgroup": "0::/mine\n", "sys/fs/cgroup/other/cpu.max": "100000 100000\n"},
        None,
    ),
    "version 1": (
        {
            "proc/self/cgroup": "5:cpuset:/a\n4:cpu,cpuacct:/a/b\n1:name=systemd:/\n0::/\n",
            "sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us": "250000\n",
            "sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
        },
        2.5,
    ),
    "version 1 without a limit": (
        {
            "proc/self/cgroup": "2:cpuacct:/\n1:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        None,
    ),
    "version 1 from outside": (
        {
            "proc/self/cgroup": "1:cpu:/docker/4f2a\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "30000\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "50000\n",
        },
        0.6,
    ),
    "nonsense": (
        {"proc/self/cgroup": "\n::\n0::/\nx\n", "sys/fs/cgroup/cpu.max": "1 0\n"},
        None,
    ),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_quota(name: str, tmp_path: Path) -> None:
    files, quota = SYSTEMS[name]
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    assert machine.quota(str(tmp_path)) == quota


@pytest.mark.parametrize(
    ("allowed", "quota", "count"),
    [(4, None, 4), (4, 1.5, 2), (4, 2.0, 2), (4, 0.1, 1), (2, 8.0, 2), (1, 1.01, 1)],
)
def test_count(allowed: int, quota: float | None, count: int) -> None:
    assert thread_pool._count(allowed, quota) == count


@pytest.mark.thorough
def test_threads_are_those_of_the_quota() -> None:
    program = data(__file__, "test_threads_are_those_of_the_quota")
    run = run_python("-c", program, cwd=TOP, timeout=60)
    assert (run.stdout, run.stderr) == ("3 3", "")
