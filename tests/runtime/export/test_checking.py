"""What is written is held against the net, which runs in an engine with its classes."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from tests.runtime.export.nets import linear, module, tensor
from th_shell.runtime import Engine, Table, TorchObject
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch
from th_shell.runtime.export.checking import find_python
from th_shell.runtime.t7.tensors import tensor_of
from th_shell.runtime.t7.values import Function

#: As much of nn as the nets of these tests need.
NN = data(__file__, "NN")


@pytest.fixture
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        engine.run(NN)
        yield engine


def chain() -> Any:
    """A net of three layers."""
    return module("Sequential", linear(3, 4), module("Tanh"), linear(4, 2))


def test_what_agrees(tmp_path: Path, engine: Engine) -> None:
    outcome = to_onnx(chain(), tmp_path / "net.onnx", engine=engine).outcome
    assert outcome is not None
    assert outcome.inputs == {"input": (2, 3)}
    assert outcome.relative < 1e-6 < outcome.scale


def doubled() -> Any:
    """A layer that writes into its input."""
    return module("MulConstant", constant_scalar=2, inplace=True)


@pytest.mark.parametrize("given", [False, True])
def test_a_net_that_writes_into_its_input(tmp_path: Path, engine: Engine, given: bool) -> None:
    sample = tensor(5, 3)
    before = np.array(sample)
    options: dict[str, Any] = {"sample": sample} if given else {}
    net = module("Sequential", doubled(), linear(3, 4))
    outcome = to_onnx(net, tmp_path / "net.onnx", engine=engine, **options).outcome
    assert outcome is not None and outcome.relative < 1e-6
    np.testing.assert_array_equal(np.asarray(sample), before)


@pytest.mark.parametrize(
    "net",
    [
        module("ConcatTable", module("Abs"), module("Identity")),
        module("ConcatTable", module("Identity"), module("Abs")),
        module(
            "Sequential", module("Tanh"), module("ConcatTable", module("Identity"), module("Abs"))
        ),
    ],
    ids=["its input", "its input at last", "another's output"],
)
def test_what_a_net_overwrites_is_seen(tmp_path: Path, engine: Engine, net: Any) -> None:
    """What was written gets the input as it was, and is held against all that nn's net gives."""
    with pytest.raises(ExportError, match=r"^what was written differs from the net by [1-9]\S*, "):
        to_onnx(net, tmp_path / "net.onnx", engine=engine, input="1x30")


def test_a_sample(tmp_path: Path, engine: Engine) -> None:
    sample = Table({"input": tensor(5, 3), "output": 1})
    report = to_onnx(chain(), tmp_path / "net.onnx", engine=engine, sample=sample)
    assert report.outcome is not None
    assert report.outcome.inputs == {"input": (5, 3)}


def test_a_sample_of_another_net(tmp_path: Path, engine: Engine) -> None:
    sample = Table.of([tensor(5, 3), tensor(5, 3)])
    message = "^the sample has 2 tensors, and the net 1 inputs$"
    with pytest.raises(ExportError, match=message):
        to_onnx(chain(), tmp_path / "net.onnx", engine=engine, sample=sample)


def test_nothing_is_written_that_differs(tmp_path: Path, engine: Engine) -> None:
    treat = {"nn.Tanh": "nn.Sigmoid"}
    with pytest.raises(ExportError, match="^what was written differs from the net by [0-9.]+, wh"):
        to_onnx(chain(), tmp_path / "net.onnx", engine=engine, treat=treat)
    assert not list(tmp_path.iterdir())


def test_a_net_that_cannot_run_here(tmp_path: Path) -> None:
    with Engine() as engine:
        engine.run("package.path, package.cpath = '', ''")
        with pytest.raises(ExportError) as caught:
            to_onnx(chain(), tmp_path / "net.onnx", engine=engine)
    assert str(caught.value) == (
        "the check runs the net, which cannot be run here: 'nn' (layers of neural networks) is a "
        "package of Lua files: th --install nn brings it (--lua FILE runs a program that defines "
        "it, --no-check writes unchecked)"
    )


def test_a_net_that_fails(tmp_path: Path, engine: Engine) -> None:
    net = module("Sequential", linear(3, 4), module("Tanh"))
    engine.run("nn.Tanh.updateOutput = function() error('no, 3') end")
    with pytest.raises(ExportError, match="^the net fails on random inputs: .*no, 3$"):
        to_onnx(net, tmp_path / "net.onnx", engine=engine)


def python(path: Path, status: int = 0) -> Path:
    """Something that can import PyTorch, as far as its status says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho no torch, 3 >&2\nexit {status}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def no_pythons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no Python that has PyTorch."""
    monkeypatch.setattr("th_shell.runtime.export.checking.find_spec", lambda name: None)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "none"))
    monkeypatch.setenv("CONDA_PREFIX", str(python(tmp_path / "conda/bin/python", 1).parents[1]))
    monkeypatch.setenv("PATH", str(tmp_path))


UNCHECKED = (
    "no Python with PyTorch is here ($VIRTUAL_ENV, $CONDA_PREFIX, python3); --python PATH names one"
)


@pytest.mark.usefixtures("no_pythons")
def test_without_pytorch(tmp_path: Path) -> None:
    assert to_pytorch(chain(), tmp_path / "net.pt").unchecked == UNCHECKED
    with pytest.raises(ExportError, match=f"^not checked: {re.escape(UNCHECKED)}$"):
        to_pytorch(chain(), tmp_path / "other.pt", require_check=True)
    assert {each.name for each in tmp_path.iterdir()} == {"conda", "net.pt", "net.py"}


@pytest.mark.usefixtures("no_pythons")
@pytest.mark.parametrize("place", ["none/bin/python", "conda/bin/python", "python3"])
def test_the_python_that_has_pytorch(tmp_path: Path, place: str) -> None:
    assert find_python(None) is None
    made = python(tmp_path / place)
    assert find_python(None) == str(made)
    assert find_python(str(made)) == str(made)


def test_a_python_that_is_named(tmp_path: Path) -> None:
    other, none = python(tmp_path / "other", 1), tmp_path / "none"
    for named, reason in ((other, "no torch, 3"), (none, "No such file or directory")):
        with pytest.raises(ExportError, match=f"^{named} cannot run what is written: {reason}$"):
            to_pytorch(chain(), tmp_path / "net.pt", python=str(named))
    assert list(tmp_path.iterdir()) == [other]
    with pytest.raises(ValueError, match="^python is for to_pytorch: ONNX files run in this one$"):
        to_onnx(chain(), tmp_path / "net.onnx", python="python3")


@pytest.mark.needs("torch")
def test_another_python_runs_it(
    tmp_path: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files of the folder that is open, and of its own, are none of its modules."""
    (tmp_path / "numpy.py").write_text("raise SystemExit(3)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    options: dict[str, Any] = {"engine": engine, "python": sys.executable, "require_check": True}
    outcome = to_pytorch(chain(), tmp_path / "net.pt", **options).outcome
    assert outcome is not None and outcome.relative < 1e-6 < outcome.scale


def test_without_onnx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "th_shell.runtime.export.conversion.find_spec",
        lambda name: None if name == "onnxruntime" else sys,
    )
    report = to_onnx(chain(), tmp_path / "net.onnx")
    assert report.unchecked == "it needs onnxruntime: pip install 'th-shell[export]'"
    monkeypatch.setattr("th_shell.runtime.export.conversion.find_spec", lambda name: None)
    message = "^writing ONNX needs the library onnx: pip install 'th-shell\\[export\\]'$"
    with pytest.raises(ExportError, match=message):
        to_onnx(chain(), tmp_path / "net.onnx")


def test_numbers_that_are_not_there(tmp_path: Path, engine: Engine) -> None:
    net = chain()
    np.asarray(net.modules[1].weight)[:] = np.nan
    outcome = to_onnx(net, tmp_path / "net.onnx", engine=engine).outcome
    assert outcome is not None and outcome.difference == 0


def test_the_net_is_left_as_it_was(tmp_path: Path, engine: Engine) -> None:
    engine.run("""
        function nn.Tanh:updateOutput(x)
          return self.output:resizeAs(x):copy(x):tanh()
        end
    """)
    net = chain()
    net.modules[2].output = kept = tensor(2, 4)
    before = np.array(kept)
    report = to_onnx(net, tmp_path / "net.onnx", engine=engine)
    assert report.outcome is not None
    np.testing.assert_array_equal(np.asarray(net.modules[2].output), before)


#: Of rnn: a module for each step of a table, and a table in the opposite order.
RNN = data(__file__, "RNN")


def steps(last: Any) -> Any:
    """A net whose input and output are tables of any length."""
    return module("Sequential", module("ReverseTable"), module("Sequencer", last))


def test_tables_of_any_length(tmp_path: Path, engine: Engine) -> None:
    engine.run(RNN)
    net = steps(linear(3, 2))
    outcome = to_onnx(net, tmp_path / "net.onnx", engine=engine, input="timexbatchx3").outcome
    assert outcome is not None
    assert outcome.inputs == {"input": (3, 2, 3)}
    assert outcome.relative < 1e-6 < outcome.scale


def test_a_sample_that_is_a_table_of_steps(tmp_path: Path, engine: Engine) -> None:
    engine.run(RNN)
    sample = Table.of([tensor(2, 3) for _ in range(4)])
    report = to_onnx(steps(linear(3, 2)), tmp_path / "net.onnx", engine=engine, sample=sample)
    assert report.outcome is not None
    assert report.outcome.inputs == {"input": (4, 2, 3)}


#: A class that reads what old files have its way, and one of a user's whose room is made once.
READERS = data(__file__, "READERS")


def one_hot() -> TorchObject:
    """A module of the user's, with a field by whose name nn's classes mean room to compute in."""
    eye = tensor_of(np.eye(3, dtype=np.float32))
    return TorchObject("OneHot", {"outputSize": 3, "_eye": eye, "_type": "torch.FloatTensor"})


@pytest.mark.parametrize("kind", ["nn", "cudnn"])
def test_classes_read_the_net_that_is_run(tmp_path: Path, engine: Engine, kind: str) -> None:
    engine.run(READERS)
    inverse = tensor_of(np.array([0.5, 2.0], np.float32))
    fields = {"running_mean": tensor(2), "running_std": inverse, "eps": 0.1}
    net = TorchObject(f"{kind}.BatchNormalization", fields, version=1)
    outcome = to_onnx(net, tmp_path / "net.onnx", engine=engine).outcome
    assert outcome is not None and outcome.relative < 1e-6 < outcome.scale


def test_no_field_of_the_net_is_emptied(tmp_path: Path, engine: Engine) -> None:
    engine.run(READERS)
    outcome = to_onnx(one_hot(), tmp_path / "net.onnx", engine=engine, input="n").outcome
    assert outcome is not None and (outcome.difference, outcome.scale) == (0, 1)


def test_functions_in_the_file(tmp_path: Path, engine: Engine) -> None:
    net = chain()
    net.modules[1].hook = Function(b"code that does not run", Table())
    assert to_onnx(net, tmp_path / "net.onnx", engine=engine).outcome is not None


def test_a_sample_on_which_the_net_fails(tmp_path: Path, engine: Engine) -> None:
    engine.run("nn.Tanh.updateOutput = function() error('no, 3') end")
    with pytest.raises(ExportError, match="^the net fails on this input: .*no, 3$"):
        to_onnx(chain(), tmp_path / "net.onnx", engine=engine, sample=tensor(2, 3))
