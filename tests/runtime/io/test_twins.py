"""Objects of classes that are not here: tensors of GPUs, modules of cudnn, and any others."""

from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.runtime.io.torch7_files import FILES, mode_of

#: In the text of an ascii file: what another class's name is written for.
RENAMED = data(__file__, "RENAMED")


def said(lua: Lua, capfd: pytest.CaptureFixture[str], source: str) -> str:
    """What a program writes to the standard error."""
    lua.engine.run(lua.engine.compile((RENAMED + source).encode(), b"=lua"))
    return capfd.readouterr().err


def test_tensors_of_gpus(lua: Lua, capfd: pytest.CaptureFixture[str]) -> None:
    source = """
        local x = torch.FloatTensor{{1, 2}, {3, 4}}
        local text = of_gpu(torch.serialize({x, x:t(), x:storage(), torch.ones(2)}, 'ascii'))
        y = torch.deserialize(text, 'ascii')
        assert(torch.type(y[1]) == 'torch.FloatTensor' and torch.type(y[3]) == 'torch.FloatStorage')
        y[3][2] = 7
        assert(y[1][1][2] == 7 and y[2][2][1] == 7 and y[4]:type() == 'torch.DoubleTensor')
    """
    assert said(lua, capfd, source) == (
        "th: read for this processor: 2 torch.CudaTensor as torch.FloatTensor\n"
    )


def test_modules_of_cudnn_become_those_of_nn(lua: Lua, capfd: pytest.CaptureFixture[str]) -> None:
    source = data(__file__, "test_modules_of_cudnn_become_those_of_nn")
    assert said(lua, capfd, source) == "th: read for this processor: cudnn.ReLU as nn.ReLU\n"


@pytest.mark.parametrize("name", [n for n in FILES if n.startswith("mlp")])
def test_stubs_are_written_again(
    name: str, lua: Lua, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "old").write_bytes(FILES[name])
    mode = mode_of(name)
    source = f"""
        m = torch.load('{tmp_path}/old', '{mode}')
        assert(torch.type(m) == 'nn.Sequential' and m.modules[1].weight:size(1) == 4)
        torch.save('{tmp_path}/new', m, '{mode}')
    """
    assert said(lua, capfd, source) == (
        "th: classes that are not here, of which only the fields are kept: nn.Sequential, "
        "2 nn.Linear, nn.Tanh, nn.LogSoftMax; require 'nn' before the file is read\n"
    )
    assert len((tmp_path / "new").read_bytes()) == len(FILES[name])


def test_a_program_that_catches_errors_gets_the_references(lua: Lua) -> None:
    lua.run(data(__file__, "test_a_program_that_catches_errors_gets_the_references"))


def test_changed_stubs(lua: Lua) -> None:
    lua.run(data(__file__, "test_changed_stubs"))


def test_a_class_with_a_format_of_its_own(lua: Lua) -> None:
    assert "unknown Torch class <torch.Foo>, whose objects have a format of their own" in lua.error(
        r"torch.deserialize('4 1 3\nV 1\n9\ntorch.Foo\n1 5\n', 'ascii')"
    )
