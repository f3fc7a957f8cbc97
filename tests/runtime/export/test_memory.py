"""What modules write into memory that others read: views, tensors in place, results used again."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from tests.runtime.export.nets import bare, module
from th_shell.runtime import Table, TorchObject
from th_shell.runtime.export import ExportError, to_onnx, to_pytorch

X: Any = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)


def doubled() -> TorchObject:
    """A layer that works in place."""
    return module("MulConstant", constant_scalar=2, inplace=True)


def chain(*modules: TorchObject) -> TorchObject:
    return module("Sequential", *modules)


def view(*sizes: int) -> TorchObject:
    return module("View", size=Table.of(sizes), numElements=int(np.prod(sizes)))


def split(dimension: int, *modules: TorchObject) -> TorchObject:
    """Modules for the entries of a table that a dimension of samples is split into."""
    table = module("SplitTable", dimension=dimension, nInputDims=2)
    return chain(table, *modules)


def second() -> TorchObject:
    return module("SelectTable", index=2)


def pointless() -> TorchObject:
    return module("Identity")


PLANE = X * [[[1], [2], [1]]]
COLUMN = X * [1, 2, 1, 1]
FLAT = {"size": Table.of([4]), "batchMode": True}
COPY = {"_type": "torch.FloatTensor"}
SWAP = Table.of([Table.of([2, 3])])

#: Modules, and what their input becomes.
CASES = {
    "View": (chain(view(12), doubled()), 2 * X),
    "View of a view": (chain(view(12), view(4, 3), doubled()), 2 * X),
    "Squeeze": (chain(module("Unsqueeze", pos=2), module("Squeeze", dim=2), doubled()), 2 * X),
    "Collapse": (chain(module("Collapse", nInputDim=2), doubled()), 2 * X),
    "Bottle": (module("Bottle", doubled(), nInputDim=2), 2 * X),
    "Bottle's result": (chain(module("Bottle", pointless(), nInputDim=2), doubled()), 2 * X),
    "SplitTable": (split(1, second(), doubled()), PLANE),
    "SplitTable of columns": (split(2, second(), doubled()), COLUMN),
    "a part of a view": (
        chain(view(4, 3), split(1, second(), doubled())),
        (X.reshape(2, 4, 3) * [[[1], [2], [1], [1]]]).reshape(X.shape),
    ),
    "a view of a part": (split(1, second(), view(2, 2), doubled()), PLANE),
    "ParallelTable": (
        split(1, module("ParallelTable", pointless(), doubled(), module("Tanh"))),
        PLANE,
    ),
    "NarrowTable": (
        split(
            1,
            module("NarrowTable", offset=2, length=2),
            module("ParallelTable", doubled(), pointless()),
        ),
        PLANE,
    ),
    "MapTable": (split(1, module("MapTable", doubled()), module("JoinTable", dimension=2)), 2 * X),
    "JoinTable copies": (split(1, module("JoinTable", dimension=2), doubled()), X),
    "Parallel": (
        module(
            "Parallel",
            pointless(),
            doubled(),
            pointless(),
            inputDimension=2,
            outputDimension=2,
        ),
        PLANE,
    ),
    "Replicate": (
        chain(module("Replicate", nfeatures=2, dim=2), module("ReLU", inplace=True)),
        np.maximum(X, 0),
    ),
    "Replicate and a copy": (
        chain(module("Replicate", nfeatures=2, dim=2), module("Contiguous"), doubled()),
        X,
    ),
    "Contiguous": (chain(module("Contiguous"), doubled()), 2 * X),
    "Reshape of what is no row copies": (
        split(2, second(), module("Reshape", size=Table.of([3]), batchMode=True), doubled()),
        X,
    ),
    "Reshape of a row": (split(1, second(), module("Reshape", **FLAT), doubled()), X),
    "Select copies": (chain(module("Select", dimension=2, index=2), doubled()), X),
    "Narrow copies": (chain(module("Narrow", dimension=2, index=2), doubled()), X),
    "Transpose copies": (chain(module("Transpose", permutations=SWAP), doubled()), X),
    "Copy copies": (chain(module("Tanh"), module("Copy", **COPY), doubled()), X),
    "Dropout copies": (chain(module("Dropout", p=0), doubled()), X),
    "Concat copies": (chain(module("Concat", pointless(), dimension=2), doubled()), X),
    "CAddTable": (
        chain(
            module("ConcatTable", pointless(), pointless(), view(3, 4)),
            module("CAddTable", inplace=True),
        ),
        4 * X,
    ),
}


def _beside(made: TorchObject) -> TorchObject:
    """A module, and what its input is when it has run."""
    return module("ConcatTable", made, pointless())


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_in_place(name: str, tmp_path: Path) -> None:
    made, wanted = CASES[name]
    to_onnx(_beside(made), tmp_path / "net.onnx", check=False, input="1x3x4")
    session = onnxruntime.InferenceSession(str(tmp_path / "net.onnx"))
    np.testing.assert_allclose(session.run(None, {"input": X})[-1], wanted, 1e-6)


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", CASES)
def test_what_is_written_in_place_pytorch(name: str, tmp_path: Path) -> None:
    import torch

    made, wanted = CASES[name]
    to_pytorch(_beside(made), tmp_path / "net.pt", check=False, input="1x3x4")
    space: dict[str, Any] = {"__name__": "net"}
    exec(compile((tmp_path / "net.py").read_text(), "net.py", "exec"), space)
    found = space["Model"]()(torch.from_numpy(X))[-1]
    np.testing.assert_allclose(found.numpy(), wanted, 1e-6)


def test_numbers_that_are_changed_several_times(tmp_path: Path) -> None:
    net = chain(module("Replicate", nfeatures=2, dim=2), doubled())
    message = "^nn.MulConstant at 2: changes in place, several times, what nn.Replicate repeats$"
    with pytest.raises(ExportError, match=message):
        to_onnx(net, tmp_path / "net.onnx", check=False, input="1x3x4")


def _outputs(net: TorchObject, folder: Path) -> Sequence[Any]:
    to_onnx(net, folder / "net.onnx", check=False, input="1x3x4")
    found: Sequence[Any] = onnxruntime.InferenceSession(str(folder / "net.onnx")).run(
        None, {"input": X}
    )
    return found


@pytest.mark.parametrize("used", [pointless(), view(12), module("ReLU", inplace=True)])
def test_one_that_has_no_memory_of_its_own_is_used_twice(used: Any, tmp_path: Path) -> None:
    net = chain(
        module("ConcatTable", module("Abs"), module("Exp")),
        module("ParallelTable", used, used),
        module("JoinTable", dimension=2),
    )
    passes = used.torch_typename == "nn.Identity"  # others have a tensor that shows the last one
    wanted = np.concatenate([abs(X) if passes else np.exp(X), np.exp(X)], 1)
    (found,) = _outputs(net, tmp_path)
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, 1e-6)


def test_a_result_is_overwritten_by_the_next_ones(tmp_path: Path) -> None:
    used = module("Exp")
    branches = [chain(used, view(12)), chain(module("Abs"), used), chain(used, doubled())]
    for found in _outputs(module("ConcatTable", *branches), tmp_path):
        np.testing.assert_allclose(found.reshape(X.shape), 2 * np.exp(X), 1e-6)


def test_sizes_that_are_not_known(tmp_path: Path) -> None:
    flat = module("View", size=Table.of([-1]), numInputDims=2)
    net = module("ConcatTable", chain(flat, doubled()), pointless())
    to_pytorch(net, tmp_path / "net.pt", check=False)
    assert bare((tmp_path / "net.py").read_text()).endswith("""\
        product = x.flatten(1) * 2
        return product, product.reshape_as(x)
""")


def test_an_entry_of_a_table_of_one(tmp_path: Path) -> None:
    net = chain(module("SplitTable", dimension=2), module("SelectTable", index=1), module("Tanh"))
    to_pytorch(net, tmp_path / "net.pt", check=False, input="1x1x4")
    assert "torch.tanh(x[:, 0])" in (tmp_path / "net.py").read_text()
    table = module("ParallelTable", module("Tanh"))
    net = chain(module("SplitTable", dimension=2), table, module("JoinTable", dimension=2))
    to_pytorch(net, tmp_path / "net.pt", check=False, input="1x1x4")
    assert "torch.tanh(x[:, 0])" in (tmp_path / "net.py").read_text()
