"""Classes that are not known: what is said of them, and stubs in their places."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.data_files import data
from tests.runtime.export.nets import bare, linear, module, tensor
from th_shell.runtime import TorchObject
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch


def scale(*sizes: int, **fields: Any) -> TorchObject:
    plain = {"alpha": 0.5, "type": "full", "train": False, "class": "x"}
    tensors = {"weight": tensor(*sizes), "gradWeight": tensor(*sizes), "mask": tensor(sizes[0])}
    return TorchObject("my.Scale-2", {**plain, **tensors, "output": tensor(9), **fields})


SOURCE = data(__file__, "SOURCE")


@pytest.mark.thorough
def test_stubs(tmp_path: Path) -> None:
    others = [scale(4, 4), scale(5, 4, alpha=0.25, evil='"\nimport x'), scale(4, 4, number=1)]
    net = module("Sequential", linear(3, 4), *others, linear(4, 2))
    report = to_pytorch(net, tmp_path / "net.pt", stub=True)
    assert report.unchecked == "my.Scale-2 is a stub"
    assert bare((tmp_path / "net.py").read_text()) == SOURCE
    for words in (["check"], ["format", "--check"]):
        subprocess.run([sys.executable, "-m", "ruff", *words, tmp_path / "net.py"], check=True)


@pytest.mark.thorough
def test_a_net_that_is_a_stub(tmp_path: Path) -> None:
    net = TorchObject("my.Model", {"gradInput": tensor(1), "number": 3})
    report = to_pytorch(net, tmp_path / "net.pt", stub=True)
    assert report.unchecked == "my.Model is a stub"
    assert "class Model2(nn.Module):" in (tmp_path / "net.py").read_text()


@pytest.mark.thorough
def test_what_stands_within_a_stub(tmp_path: Path) -> None:
    inner = module("Sequential", linear(3, 4))
    fields = {
        "modules": inner.modules,
        "a b": 1,
        1: tensor(2),
        "a_b": tensor(5),
        "gradA_b": tensor(5),
    }
    net = module("Sequential", TorchObject("my.Block", fields))
    to_pytorch(net, tmp_path / "net.pt", stub=True)
    text = (tmp_path / "net.py").read_text()
    lines = [line.strip() for line in text.splitlines() if line.startswith("        self.")]
    assert lines == [
        "self.a_b = a_b",
        "self.modules_1_weight = nn.Parameter(torch.empty(modules_1_weight))",
        "self.modules_1_bias = nn.Parameter(torch.empty(modules_1_bias))",
        'self.register_buffer("_1", torch.empty(_1))',
        "self.a_b_ = nn.Parameter(torch.empty(a_b_))",
        "self.block = Block(",
    ]


@pytest.mark.thorough
def test_a_known_class_is_no_stub(tmp_path: Path) -> None:
    net = module("Sequential", module("Linear"))
    with pytest.raises(ExportError, match="^nn.Linear at 1: its field weight is no tensor$"):
        to_pytorch(net, tmp_path / "net.pt", stub=True)
    with pytest.raises(ValueError) as raised:
        to_onnx(module("Tanh"), tmp_path / "net.onnx", stub=True)
    assert str(raised.value) == (
        "stub is for to_pytorch: ONNX has no place for what is to be written"
    )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"a": 1, "output": tensor(3), "_type": "x"}, "its fields are a, _type"),
        ({}, "its fields are none"),
        (
            {"modules": module("Sequential", module("Tanh")).modules},
            "its fields are modules. If it is a container, --treat my.X=nn.Sequential says so",
        ),
        (
            {"modules": module("Sequential", module("Tanh")).modules, "dimension": 2},
            "its fields are modules, dimension. If it is a container, --treat my.X=nn.Concat says "
            "so",
        ),
    ],
)
def test_an_unknown_class(tmp_path: Path, fields: Any, message: str) -> None:
    net = module("Sequential", module("Tanh"), TorchObject("my.X", fields))
    with pytest.raises(ExportError) as raised:
        to_onnx(net, tmp_path / "net.onnx")
    assert str(raised.value) == (
        f"my.X at 2: this class is not known here; {message}. --stub leaves its place empty in a "
        ".pt file's source"
    )
    assert not list(tmp_path.iterdir())


def test_names_that_are_words_of_python(tmp_path: Path) -> None:
    from th_shell.runtime.export.python_text import is_attribute, is_name

    words = ("x", "class", "F", "sum", "")
    assert [is_name(word) for word in words] == [True, False, False, False, False]
    assert is_attribute("sum")
    assert not is_attribute("type") and is_attribute("hidden")
