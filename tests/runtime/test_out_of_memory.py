"""Where memory runs out there is an error, the session goes on and its values are kept."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_python

TOP = Path(__file__).parent.parent.parent
KILOBYTES = [
    220_000,
    *(pytest.param(most, marks=pytest.mark.slow) for most in (300_000, 700_000)),
]
LUA, TORCH = "not enough memory", "$ Torch: not enough memory"

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v limits memory there"),
    pytest.mark.unguarded("memory is used up sooner"),
]


def limited(kilobytes: int, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run th in a process that gets no more memory than that."""
    command = f'ulimit -v {kilobytes}; exec "$@"'
    words = ["sh", "-c", command, "sh", sys.executable, "-m", "th_shell", *arguments]
    return subprocess.run(words, cwd=TOP, input=text, capture_output=True, text=True, timeout=120)


@pytest.mark.thorough
@pytest.mark.parametrize("kilobytes", KILOBYTES)
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("local t = {} for i = 1, 1e9 do t[i] = {i} end", LUA),
        ("local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e5) .. i end", LUA),
        ("local s = 'x' while true do s = s .. s end", LUA),
        ("t = {} for i = 1, 1e9 do t[i] = function() return i end end", LUA),
        ("local t = {} for i = 1, 1e9 do t[i] = torch.ones(1e5) end", TORCH),
        ("local x, t = torch.ones(2e6), {} for i = 1, 1e9 do t[i] = x * 2 end", TORCH),
        ("torch.ones(1e10)", TORCH),
    ],
)
def test_error_of_a_script(kilobytes: int, source: str, message: str) -> None:
    run = limited(kilobytes, "-e", source)
    assert run.stdout == ""
    assert message in run.stderr
    assert "Traceback" not in run.stderr
    assert run.returncode == 1


COMPILED = data(__file__, "COMPILED")


@pytest.mark.thorough
def test_what_luajit_compiles_meanwhile() -> None:
    run = limited(100_000, "-e", COMPILED)
    assert (run.stdout, run.stderr, run.returncode) == (f"{LUA}\t\n", "", 0)


SESSION = data(__file__, "SESSION")


@pytest.mark.thorough
@pytest.mark.parametrize("kilobytes", KILOBYTES)
def test_the_session_goes_on(kilobytes: int) -> None:
    run = limited(kilobytes, "-i", text=SESSION)
    lines = [line for line in run.stdout.splitlines() if "ones" not in line and line[:1] != "\t"]
    errors = [line for line in lines if LUA in line]
    values = [line for line in lines if LUA not in line and "traceback" not in line]
    assert len(errors) == 3
    assert values == ["15\t", "15\t", "false\t", "false\t", "true\t15\t6\t"]
    assert (run.stderr, run.returncode) == ("", 0)


ENGINE = data(__file__, "ENGINE")


def run_engine(program: str) -> subprocess.CompletedProcess[str]:
    return run_python("-c", ENGINE + program, cwd=TOP, timeout=120)


@pytest.mark.thorough
def test_argument_that_lua_has_no_memory_for() -> None:
    run = run_engine("""
text = bytes(100 << 20)
limit(50 << 20)
attempt(engine.inputs.keep, text)
engine.inputs.enter(b"1 + 1")
""")
    assert (run.stdout, run.stderr, run.returncode) == (f"{LUA}\n2\t\n", "", 0)


@pytest.mark.thorough
def test_small_tensor_has_garbage_collected() -> None:
    run = run_engine("""
limit(100 << 20)
engine.inputs.enter(b"x = torch.ByteTensor(70 * 2 ^ 20)  y = {}")
engine.inputs.enter(b"x = nil  for i = 1, 500 do y[i] = torch.ones(1e4) end")
engine.inputs.enter(b"#y")
""")
    assert (run.stdout, run.stderr, run.returncode) == ("500\t\n", "", 0)


@pytest.mark.thorough
def test_room_is_left_though_the_program_keeps_its_values() -> None:
    run = run_engine("""
limit(30 << 20)
for name in ("x", "y", "z"):
    attempt(engine.inputs.enter, f"for i = 1, 1e9 do {name} = {{{name}}} end".encode())  # a list
    mmap.mmap(-1, 1 << 20).close()
    engine.inputs.enter(b"torch.ones(1e4):sum()")
""")
    assert (run.stdout, run.stderr, run.returncode) == (f"{LUA}\n10000\t\n" * 3, "", 0)


@pytest.mark.thorough
def test_source_that_lua_has_no_memory_for_is_no_syntax_error() -> None:
    run = run_engine(data(__file__, "test_source_that_lua_has_no_memory_for_is_no_syntax_error"))
    expected = f"False {LUA}\n2\t\n"
    assert (run.stdout, run.stderr, run.returncode) == (expected, "", 0)
