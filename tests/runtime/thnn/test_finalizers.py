"""Functions of nn's backend that a finalizer calls in the middle of one of them."""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th

_SCRIPT = data(__file__, "_SCRIPT")


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
