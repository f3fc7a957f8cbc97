"""Where memory runs out there is an error, the session goes on and its values are kept."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOP = Path(__file__).parent.parent.parent
KILOBYTES = [200_000, 300_000, pytest.param(700_000, marks=pytest.mark.slow)]
LUA, TORCH = "not enough memory", "$ Torch: not enough memory"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v limits memory there")


def limited(kilobytes: int, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Run th in a process that gets no more memory than that."""
    command = f'ulimit -v {kilobytes}; exec "$@"'
    words = ["sh", "-c", command, "sh", sys.executable, "-m", "th_shell", *arguments]
    return subprocess.run(words, cwd=TOP, input=text, capture_output=True, text=True, timeout=120)


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


SESSION = """\
keep = torch.range(1, 5)
x = {} for i = 1, 1e9 do x[i] = function() return i end end
keep:sum()
x = nil
y = {} for i = 1, 1e9 do y[i] = {i} end
keep:sum()
y = nil
print((pcall(function() local s = {} for i = 1, 1e9 do s[i] = ('x'):rep(1e5) .. i end end)))
print((pcall(torch.ones, 1e10)))
t = {} for i = 1, 1e9 do t[i] = torch.ones(1e5) end
print(#t > 0, keep:sum(), torch.ones(3):add(1):sum())
"""


@pytest.mark.parametrize("kilobytes", KILOBYTES)
def test_the_session_goes_on(kilobytes: int) -> None:
    run = limited(kilobytes, "-i", text=SESSION)
    lines = [line for line in run.stdout.splitlines() if "ones" not in line and line[:1] != "\t"]
    errors = [line for line in lines if LUA in line]
    values = [line for line in lines if LUA not in line and "traceback" not in line]
    assert len(errors) == 3
    assert values == ["15\t", "15\t", "false\t", "false\t", "true\t15\t6\t"]
    assert (run.stderr, run.returncode) == ("", 0)
