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
  pool = function(x)
    local image, r, at, back = x:view(1, 1, x:size(1)), out(), torch.LongTensor(), out()
    for _ = 1, 2 do -- Lua does what Python does the first time
      THNN.SpatialMaxPooling_updateOutput(image:cdata(), r:cdata(), at:cdata(),
        2, 1, 1, 1, 0, 0, false)
      THNN.SpatialMaxPooling_updateGradInput(image:cdata(), r:cdata(), back:cdata(), at:cdata(),
        2, 1, 1, 1, 0, 0, false)
    end
    local count = x:size(1) - 1
    return r:view(count):equal(torch.cmax(x:narrow(1, 1, count), x:narrow(1, 2, count)))
      and math.abs(back:sum() - r:sum()) < 1e-9
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
@pytest.mark.parametrize("name", ["prelu", "leaky", "relu", "pool", "sigmoid"])
def test_finalizers_that_call_the_same_function(tmp_path: Path, name: str) -> None:
    script = tmp_path / "script.lua"
    script.write_text(_SCRIPT)
    run = run_th(script, name, timeout=120)
    assert (run.stdout, run.stderr) == ("0 of many", "")


@pytest.mark.slow
def test_finalizers_that_resize_tensors_of_a_repeated_call(tmp_path: Path) -> None:
    script = tmp_path / "script.lua"
    script.write_text("""
        require 'nn.THNN'
        local THNN = torch.DoubleTensor.THNN
        local x, r, at = torch.rand(2, 4, 4), torch.Tensor(), torch.LongTensor()
        local function pool()
          THNN.SpatialMaxPooling_updateOutput(x:cdata(), r:cdata(), at:cdata(), 2, 2, 2, 2, 0, 0,
            false)
        end
        local calls, wrong = 0, 0
        local function guard()
          getmetatable(newproxy(true)).__gc = function()
            calls = calls + 1
            if calls < 150 then guard() end
            r:resize(calls * 100) at:resize(calls * 100)
            r:resize(2, 2, 2) at:resize(2, 2, 2)
          end
        end
        pool() pool()
        jit.off() -- so that every pointer is allocated
        collectgarbage('setpause', 0) collectgarbage('setstepmul', 10000)
        for _ = 1, 30 do guard() end
        for _ = 1, 100 do
          x:uniform()
          local before = calls
          pool()
          local right = r:max() == x:max() and at:min() >= 1 and at:max() <= 16
          if calls == before and not right then wrong = wrong + 1 end
        end
        io.write(wrong, calls > 10 and ' of many' or ' of few')""")
    run = run_th(script, timeout=120)
    assert (run.stdout, run.stderr) == ("0 of many", "")
