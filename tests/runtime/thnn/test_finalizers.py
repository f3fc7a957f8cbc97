"""Functions of nn's backend that a finalizer calls in the middle of one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes import run_th

_SCRIPT = """
require 'nn.THNN'
torch.setnumthreads(1)
jit.off() -- so that every pointer is allocated
local THNN = torch.DoubleTensor.THNN
local function out() return torch.Tensor() end
local function leaky(x, slope)
  return torch.cmul(x, x:gt(0):double()) + torch.cmul(x, x:le(0):double()) * slope
end
local functions = {
  prelu = function(x, slope)
    local r, weight = out(), torch.Tensor{ slope }
    THNN.PReLU_updateOutput(x:cdata(), r:cdata(), weight:cdata(), 0)
    return weight[1] == slope and r:equal(leaky(x, slope))
  end,
  leaky = function(x, slope)
    local r = out()
    THNN.LeakyReLU_updateOutput(x:cdata(), r:cdata(), slope, false)
    return r:equal(leaky(x, slope))
  end,
  relu = function(x, value)
    local r = out()
    THNN.Threshold_updateOutput(x:cdata(), r:cdata(), value, value, false)
    return r:equal(torch.cmax(x, value))
  end,
  sigmoid = function(x)
    local r = out()
    THNN.Sigmoid_updateOutput(x:cdata(), r:cdata())
    return r:equal(torch.sigmoid(x))
  end,
}
local f = functions[arg[1]]
local calls, wrong = 0, 0
local function guard()
  getmetatable(newproxy(true)).__gc = function()
    calls = calls + 1
    if calls < 200 then guard() end
    local ok, right = pcall(f, torch.randn(7), 0.5)
    if not (ok and right) then wrong = wrong + 1 end
  end
end
collectgarbage('setpause', 0) collectgarbage('setstepmul', 10000) collectgarbage()
for _ = 1, 50 do guard() end
for i = 1, 60 do
  if not f(torch.randn(40), 0.25) then wrong = wrong + 1 end
end
io.write(wrong, calls > 0 and ' of many' or ' of none')
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["prelu", "leaky", "relu", "sigmoid"])
def test_finalizers_that_call_the_same_function(tmp_path: Path, name: str) -> None:
    script = tmp_path / "script.lua"
    script.write_text(_SCRIPT)
    run = run_th(script, name, timeout=120)
    assert (run.stdout, run.stderr) == ("0 of many", "")
