"""Programs for GPUs: errors that say there is none, and the processor in the place of one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runtime import Engine, LuaError
from tests.conftest import Lua

ADVICE = (
    "run without it, as many programs do with -gpuid -1; or let th --gpu-as-cpu compute on the "
    "processor"
)

#: As much of nn as the packages need.
NN = """
    package.preload.nn = function()
      nn = { utils = {} }
      function nn.utils.recursiveType(_, name) return name end
      local Module = torch.class('nn.Module')
      function Module:__init() self.modules = {} end
      function Module:type(name) self.kind = name return self end
      torch.class('nn.Criterion', 'nn.Module')
      torch.class('nn.Container', 'nn.Module')
      local Double, parent = torch.class('nn.SpatialConvolution', 'nn.Module')
      function Double:__init(factor) parent.__init(self) self.factor = factor end
      function Double:updateOutput(input) return input * self.factor end
      return nn
    end
"""


@pytest.fixture
def gpu() -> Iterator[Engine]:
    """An engine whose processor stands for GPUs."""
    with Engine() as engine:
        engine.run(engine.compile(NN.encode() + b"torch.gpuascpu()"))
        yield engine


@pytest.mark.parametrize("name", ["cutorch", "cunn", "cudnn"])
def test_packages_say_that_there_is_no_gpu(lua: Lua, name: str) -> None:
    message = f"{name} is for GPUs, and there is none here: {ADVICE}"
    assert lua(f"select(2, pcall(require, '{name}'))").strip() == message


def test_tensors_say_that_there_is_no_gpu(lua: Lua) -> None:
    assert lua.error("torch.ones(2):cuda()") == f"there is no GPU here: {ADVICE}"
    with pytest.raises(LuaError, match="attempt to call method 'cudaLong'"):
        lua("torch.ones(2):cudaLong()")


@pytest.mark.parametrize(
    "program",
    [
        "assert(torch.ones(2):cuda():type() == 'torch.FloatTensor')",
        "local x = torch.FloatTensor(2) assert(x:cuda() == x and x:type('torch.CudaTensor') == x)",
        "assert(torch.ones(2):cudaLong():type() == 'torch.LongTensor')",
        "assert(torch.CudaTensor(3):type() == 'torch.FloatTensor')",
        "torch.setdefaulttensortype('torch.CudaTensor') assert(torch.Tensor == torch.FloatTensor)",
        "require 'cutorch' cutorch.setDevice(1) assert(cutorch.getDeviceCount() == 1)",
        "require 'cutorch' assert(not pcall(cutorch.setDevice, 2)) cutorch.synchronize()",
        "require 'cutorch' cutorch.manualSeed(5) assert(torch.initialSeed() == 5)",
        "require 'cunn' assert(cutorch and nn.Criterion():cuda().kind == 'torch.FloatTensor')",
        "require 'cunn' assert(nn.Module():type('torch.CudaTensor').kind == 'torch.FloatTensor')",
        "require 'cunn'"
        " assert(nn.utils.recursiveType(2, 'torch.CudaTensor') == 'torch.FloatTensor')",
        "require 'cudnn' local m = cudnn.SpatialConvolution(2)"
        " assert(torch.type(m) == 'cudnn.SpatialConvolution' and m:updateOutput(4) == 8)",
        "require 'cudnn' assert(cudnn.NoSuchLayer == nil and cudnn.convert(7) == 7)",
        "require 'cudnn' assert(cudnn.version >= 4000)",
        "require 'cunn' local m = nn.DataParallelTable(1):add(nn.SpatialConvolution(3), {1, 2})"
        " assert(m:updateOutput(2) == 6 and m.output == 6 and not pcall(m.add, m, m))",
    ],
)
def test_the_processor_in_the_place_of_a_gpu(gpu: Engine, program: str) -> None:
    gpu.run(gpu.compile(program.encode()))


def test_groups_of_planes_are_an_error(gpu: Engine) -> None:
    program = b"require 'cudnn' cudnn.SpatialConvolution(2, 2, 3, 3, 1, 1, 0, 0, 2)"
    message = "cudnn.SpatialConvolution with groups is not there on the processor"
    with pytest.raises(LuaError, match=message):
        gpu.run(gpu.compile(program))
