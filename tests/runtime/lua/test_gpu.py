"""Programs for GPUs: errors that say there is none, and the processor in the place of one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.shell import Engine, LuaError

ADVICE = (
    "run without it, as many programs do with -gpuid -1; or let th --gpu-as-cpu compute on the "
    "processor"
)

#: As much of nn as the packages need.
NN = data(__file__, "NN")


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


@pytest.mark.sample(6)
@pytest.mark.parametrize("program", data(__file__, "test_the_processor_in_the_place_of_a_gpu"))
def test_the_processor_in_the_place_of_a_gpu(gpu: Engine, program: str) -> None:
    gpu.run(gpu.compile(program.encode()))


@pytest.mark.parametrize(("call", "given"), data(__file__, "test_defaults_are_those_of_cudnn"))
def test_defaults_are_those_of_cudnn(gpu: Engine, call: str, given: str) -> None:
    gpu.run(gpu.compile(b"require 'cudnn'"))
    assert gpu.values.eval(f"table.concat(cudnn.{call}.given, ' ')") == given


@pytest.mark.parametrize(("call", "message"), data(__file__, "test_what_the_processor_does_not_do"))
def test_what_the_processor_does_not_do(gpu: Engine, call: str, message: str) -> None:
    with pytest.raises(LuaError) as caught:
        gpu.run(gpu.compile(f"require 'cudnn' cudnn.{call}".encode()))
    assert caught.value.message.endswith(message)


def test_groups_of_planes(gpu: Engine) -> None:
    program = data(__file__, "test_groups_of_planes")
    gpu.run(gpu.compile(program.encode()))


def test_groups_of_planes_in_files(
    gpu: Engine, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = """
        require 'cudnn'
        local module, x = cudnn.SpatialConvolution(4, 6, 2, 2, 1, 1, 0, 0, 2), torch.rand(4, 5, 5)
        torch.save('PATH', {module, x, module:updateOutput(x)})
    """
    gpu.run(gpu.compile(program.replace("PATH", f"{tmp_path}/m.t7").encode()))
    with Engine() as engine:
        program = """
            require 'nn'
            local module, x, y = unpack(torch.load('PATH'))
            assert(torch.type(module) == 'nn.SpatialConvolution')
            assert(module:updateOutput(x):equal(y))
        """
        engine.run(engine.compile(f"{NN}{program}".replace("PATH", f"{tmp_path}/m.t7").encode()))
    assert capfd.readouterr().err == (
        "th: read for this processor: cudnn.SpatialConvolution as nn.SpatialConvolution\n"
    )
