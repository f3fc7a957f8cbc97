"""How much memory a program takes: what is kept for later is bounded, and can be given back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_safety import run_script

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")

STATUS = """
local function megabytes(key)
  for line in io.lines('/proc/self/status') do
    local kilobytes = line:match('^' .. key .. ':%s+(%d+) kB')
    if kilobytes then return tonumber(kilobytes) / 1024 end
  end
end
"""
DRAWS = """
for i = 1, 5 do
  local output = torch.LongTensor(1000, 10000)
  local state = torch.multinomialAliasSetup(torch.Tensor{ 0.1, 0.4, 0.5 })
  output = torch.multinomialAlias(torch.LongTensor(output:nElement()), state)
  assert(output:min() == 1 and output:max() == 3)
end
print(megabytes('VmHWM') < 280 or megabytes('VmHWM'))
"""
TRIM = """
do
  local x = {}
  for i = 1, 30 do x[i] = torch.ones(2 ^ 20) end
end
collectgarbage()
collectgarbage()
print(megabytes('VmRSS') < 120 or megabytes('VmRSS'))
"""
OTHER_SIZES = """
for i = 1, 40 do local x = torch.ones(2 ^ 20 * i / 8) end
for i = 1, 40 do local x = torch.ones(2 ^ 20 * i / 8 + 1) end
print(megabytes('VmHWM') < 560 or megabytes('VmHWM'))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("source", [DRAWS, TRIM, OTHER_SIZES])
@pytest.mark.unguarded("memory is used up sooner")
def test_memory_is_bounded(tmp_path: Path, source: str) -> None:
    run = run_script(tmp_path, STATUS + source)
    assert (run.stdout, run.stderr, run.returncode) == ("true\t\n", "", 0)
