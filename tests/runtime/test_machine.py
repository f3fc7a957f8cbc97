"""The memory that the machine has, and what happens where an allocation does not fit into it."""

import sys
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.processes import run_python
from th_shell.runtime.core import machine
from th_shell.runtime.core.machine import memory_left

TOP = Path(__file__).parents[2]
GROUP = "sys/fs/cgroup"

# The files of a system -> the bytes that are left in its groups.
GROUPS: dict[str, tuple[dict[str, str], int | None]] = {
    "no groups": ({}, None),
    "no limit": (
        {
            "proc/self/cgroup": "0::/a\n",
            f"{GROUP}/a/memory.max": "max\n",
            f"{GROUP}/a/memory.current": "5\n",
        },
        None,
    ),
    "a limit": (
        {
            "proc/self/cgroup": "0::/a\n",
            f"{GROUP}/a/memory.max": "1000\n",
            f"{GROUP}/a/memory.current": "300\n",
            f"{GROUP}/a/memory.stat": "anon 100\ninactive_file 50\n",
        },
        750,
    ),
    "of a group around": (
        {
            "proc/self/cgroup": "0::/a/b\n",
            f"{GROUP}/a/b/memory.max": "1000\n",
            f"{GROUP}/a/b/memory.current": "300\n",
            f"{GROUP}/a/memory.max": "400\n",
            f"{GROUP}/a/memory.current": "390\n",
        },
        10,
    ),
    "exceeded": (
        {
            "proc/self/cgroup": "0::/\n",
            f"{GROUP}/memory.max": "10\n",
            f"{GROUP}/memory.current": "30\n",
        },
        0,
    ),
    "of version 1": (
        {
            "proc/self/cgroup": "4:memory:/x\n1:cpu:/y\n0::/\n",
            f"{GROUP}/memory/x/memory.limit_in_bytes": "5000\n",
            f"{GROUP}/memory/x/memory.usage_in_bytes": "1000\n",
            f"{GROUP}/memory/x/memory.stat": "inactive_file 7\ntotal_inactive_file 500\n",
        },
        4500,
    ),
    "nonsense": (
        {
            "proc/self/cgroup": "\n::\n0::/\n",
            f"{GROUP}/memory.max": "1 2\n",
            f"{GROUP}/memory.current": "x\n",
        },
        None,
    ),
}


def _system(root: Path, files: dict[str, str]) -> str:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return str(root)


@pytest.mark.parametrize("name", GROUPS)
def test_memory_left(name: str, tmp_path: Path) -> None:
    files, left = GROUPS[name]
    assert memory_left(_system(tmp_path, files)) == left


@pytest.mark.parametrize(
    ("meminfo", "group", "expected"),
    [
        ("MemTotal: 9 kB\nMemAvailable:   4 kB\nSwapFree:  2 kB\n", None, 6 << 10),
        ("MemAvailable:   4 kB\n", "1000", 1000),
        ("MemAvailable:   4 kB\n", "9000", 4 << 10),
        ("MemTotal: 9 kB\n", "1000", None),
        ("MemAvailable: much\n", None, None),
        (None, "1000", None),
    ],
)
def test_available(
    meminfo: str | None, group: str | None, expected: int | None, tmp_path: Path
) -> None:
    files = {} if meminfo is None else {"proc/meminfo": meminfo}
    if group is not None:
        files |= {
            "proc/self/cgroup": "0::/\n",
            f"{GROUP}/memory.max": group,
            f"{GROUP}/memory.current": "0",
        }
    assert machine.available(_system(tmp_path, files)) == expected


# The machine has 400 MB left, of which the process may take 264.
PROGRAM = data(__file__, "PROGRAM")

# Inputs, and how many GB the error tells; None for Lua's own memory.
TOO_LARGE: list[tuple[str, int | None]] = [
    ("x = torch.Tensor(1e12)", 7450),
    ("x = torch.Tensor(3e8):fill(1)", 2),
    ("x = torch.Tensor(10):resize(3e8)", 2),
    ("x = torch.zeros(10):repeatTensor(3e7)", 2),
    ("x = torch.zeros(1e7) y = torch.cat{x, x, x, x}", 0),
    # Nothing of these is written: it counts as if it were.
    ("t = {} for i = 1, 100 do t[i] = torch.Tensor(1e6) end", 0),
    ("t = {} for i = 1, 10 do t[i] = torch.Tensor(1e7) end", 0),
    ("s = ('x'):rep(1e9)", None),
    ("t = {} for i = 1, 1000 do t[i] = ('x'):rep(1e6) .. i end", None),
]


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much memory there is")
def test_what_does_not_fit_is_an_error() -> None:
    inputs, printed = ["kept = torch.ones(2)"], ""
    for source, size in TOO_LARGE:
        inputs += [source, "t, x, y = nil;", "=torch.Tensor(1e7):fill(1):sum() + kept:sum()"]
        what = "not enough memory"
        if size is not None:
            what = f"stdin:1: $ Torch: {what}: you tried to allocate {size}GB. Buy new RAM!"
        printed += f"{what}\n10000002\t\n"
    run = run_python("-c", PROGRAM, *inputs, cwd=TOP, timeout=60)
    assert (run.stdout, run.stderr) == (printed, "")


@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much memory there is")
def test_a_limit_of_the_user_stays() -> None:
    import resource

    program = (
        "import resource; from th_shell.runtime.core import machine\n"
        "machine.available = lambda root='': 400 << 30\n"
        "machine.limit_data(); print(resource.getrlimit(resource.RLIMIT_DATA)[0])\n"
    )
    run = run_python(
        "-c",
        program,
        cwd=TOP,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 8 << 30)),
    )
    assert run.stdout == f"{4 << 30}\n"


# Sets a limit of data with little room, and runs inputs; a line for each says what became of it.
LITTLE_ROOM = data(__file__, "LITTLE_ROOM")


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not count what is mapped")
def test_blas_needs_room_under_a_limit_of_data() -> None:
    inputs = ["torch.mm(x, x):sum()", "torch.mv(x, v):sum()", "torch.inverse(x):sum()"]
    run = run_python("-c", LITTLE_ROOM, *inputs, cwd=TOP, timeout=60)
    error = "stdin:1: $ Torch: not enough memory. Buy new RAM!\n"
    assert (run.stdout, run.stderr) == (error * 3 + "600\t\n" * 3, "")


# Prints the soft limit that commands have, started in each way, and then the process's own.
COMMANDS = data(__file__, "COMMANDS")


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="Linux tells how much memory there is")
def test_commands_do_not_have_the_limit_of_the_process() -> None:
    import resource

    run = run_python(
        "-c",
        COMMANDS,
        cwd=TOP,
        timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 8 << 30)),
    )
    kilobytes = 4 << 20
    lines = f"{kilobytes}\n" * 2 + f"{kilobytes}\t\n1\t\n{4 << 30}\nTrue\n"
    assert (run.stdout, run.stderr) == (lines, "")


def test_wrong_arguments_of_commands_are_named(lua: Lua) -> None:
    for call in ("io.popen({})", "os.execute({})"):
        name = call.split("(")[0].split(".")[1]
        text = f"bad argument #1 to '{name}' (string expected, got table)"
        assert lua.error(call) == text
