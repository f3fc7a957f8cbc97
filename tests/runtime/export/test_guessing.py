"""Which sizes an input is found to have, where nobody says them."""

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.export.nets import conv, linear, module, tensor
from th_shell.runtime import Table, TorchObject
from th_shell.runtime.export import ExportError, describe, to_onnx, to_pytorch
from th_shell.runtime.export.checking import OnnxFile
from th_shell.runtime.export.guessing import find_graph


def chain(*modules: TorchObject) -> TorchObject:
    return module("Sequential", *modules)


def table(*items: Any) -> Table:
    return Table.of(items)


def view(*sizes: int, **fields: Any) -> TorchObject:
    return module("View", size=table(*sizes), **fields)


def frames(inputs: int, outputs: int, width: int) -> TorchObject:
    sizes = {"inputFrameSize": inputs, "outputFrameSize": outputs, "kW": width, "dW": 1}
    weight = tensor(outputs, inputs * width)
    return module("TemporalConvolution", weight=weight, bias=tensor(outputs), **sizes)


def swap(first: int, second: int) -> TorchObject:
    return module("Transpose", permutations=table(table(first, second)))


ROWS = {"weight": tensor(20, 4)}
EDGES = {name: 2 for name in ("pad_t", "pad_b", "pad_l", "pad_r")}
POOL = module("SpatialMaxPooling", kW=2, kH=2, dW=2, dH=2)
CUBES = {
    "nInputPlane": 1,
    "nOutputPlane": 2,
    "kT": 2,
    "kW": 2,
    "kH": 2,
    "weight": tensor(2, 1, 2, 2, 2),
}


@pytest.mark.parametrize(
    ("net", "sizes", "example"),
    [
        (chain(module("SpatialZeroPadding", **EDGES), conv(1, 2, 3)), "1 x ? x ?", "1 x 32 x 32"),
        (
            chain(module("Padding", dim=1, pad=2, nInputDim=3), conv(5, 2, 3)),
            "? x ? x ?",
            "3 x 32 x 32",
        ),
        (chain(module("Padding", dim=2, pad=4, nInputDim=2), linear(10, 2)), "?", "6"),
        (chain(view(784), linear(784, 2)), "? x ? x ?", "1 x 28 x 28"),
        (chain(view(-1, 7), linear(7, 2)), "7", "7"),
        (chain(view(-1, numInputDims=2), linear(40, 2)), "? x ?", "1 x 40"),
        (chain(module("Collapse", nInputDim=3), linear(48, 2)), "? x ? x ?", "3 x 4 x 4"),
        (chain(swap(2, 3), frames(6, 2, 3)), "6 x ?", "6 x 32"),
        (chain(module("Contiguous"), conv(3, 2, 3), POOL, view(18), linear(18, 2)), *[""] * 2),
        (chain(module("Mean", dimension=2), linear(6, 2)), "? x 6", "32 x 6"),
        (chain(module("LookupTable", **ROWS), view(20), linear(20, 2)), "5", "5"),
        (
            chain(module("LookupTable", **ROWS), module("Max", dimension=2), linear(4, 2)),
            "?",
            "32",
        ),
        (chain(module("Parallel", linear(5, 2), linear(5, 2), inputDimension=2)), *[""] * 2),
        (
            chain(
                module("SplitTable", dimension=2),
                module("ParallelTable", linear(5, 2), linear(5, 2)),
            ),
            "2 x 5",
            "2 x 5",
        ),
        (module("Bottle", linear(6, 3), nInputDim=2), "? x 6", "32 x 6"),
        (
            chain(module("VolumetricConvolution", **CUBES), view(54)),
            "1 x ? x ? x ?",
            "1 x 4 x 4 x 4",
        ),
    ],
)
def test_a_tensor(net: TorchObject, sizes: str, example: str) -> None:
    graph = find_graph(net, None, {}, ranked=True)
    (value,) = graph.inputs
    if sizes:
        assert value.sizes_text == f"batch x {sizes}"
        (shapes,) = islice(graph.examples or [{"input": value.shape}], 1)
        assert " x ".join(map(str, shapes["input"])) == f"batch x {example}"


def two(first: TorchObject, second: TorchObject, *more: TorchObject) -> TorchObject:
    return chain(module("ParallelTable", first, second), *more)


@pytest.mark.parametrize(
    ("net", "sizes"),
    [
        (two(linear(5, 2), linear(6, 2)), ["batch x 5", "batch x 6"]),
        (two(module("Identity"), linear(6, 4), module("CMulTable")), ["batch x 4", "batch x 6"]),
        (two(view(10), linear(6, 4)), ["batch x 10", "batch x 6"]),
        (chain(module("CAddTable"), linear(5, 2)), ["batch x 5", "batch x 5"]),
        (chain(module("JoinTable", dimension=2), linear(5, 2)), ["batch x ?", "batch x ?"]),
        (chain(module("FlattenTable"), module("CAddTable"), linear(5, 2)), ["batch x 5"] * 2),
        (chain(module("SelectTable", index=3), linear(5, 2)), ["batch x 5"]),
    ],
)
def test_a_table(net: TorchObject, sizes: list[str]) -> None:
    graph = find_graph(net, None, {}, ranked=True)
    assert [each.sizes_text for each in graph.inputs] == sizes


def test_examples_that_fit() -> None:
    (first, *_) = find_graph(
        chain(module("JoinTable", dimension=2), linear(10, 2)), None, {}, ranked=True
    ).examples
    assert first == {"input1": ("batch", 5), "input2": ("batch", 5)}


def test_what_is_taken_for_granted_is_said(tmp_path: Path) -> None:
    net = chain(view(784), linear(784, 2))
    report = to_onnx(net, tmp_path / "net.onnx", check=False)
    assert report.remarks == [
        "its input is taken to be batch x ? x ? x ?: --input says another one"
    ]
    assert to_pytorch(net, tmp_path / "net.pt", check=False).remarks == []  # takes any
    assert "reshape(-1, 784)" in (tmp_path / "net.py").read_text()
    known = chain(module("SpatialZeroPadding", **EDGES), conv(1, 2, 3))
    assert to_onnx(known, tmp_path / "net.onnx", check=False).remarks == []


def test_sizes_that_must_be_known(tmp_path: Path) -> None:
    net = chain(conv(3, 4, 3), module("SpatialAdaptiveMaxPooling", W=2, H=2))
    report = to_onnx(net, tmp_path / "net.onnx", check=False)
    assert report.remarks == [
        "its input is taken to be batch x 3 x 32 x 32: --input says another one"
    ]


def test_what_is_not_found() -> None:
    net = chain(module("JoinTable", dimension=2), conv(5, 2, 3), view(3), linear(4, 2))
    with pytest.raises(ExportError) as raised:
        find_graph(net, None, {}, ranked=True)
    assert str(raised.value) == (
        "nn.JoinTable at 1: how many inputs there are must be known (1x10,1x20 are two): "
        "give --input"
    )


def test_a_description_has_them() -> None:
    text = describe(chain(module("Padding", dim=1, pad=2), linear(10, 2)))
    assert text.splitlines()[1] == "  input: batch x ?"


def test_operators_that_take_floats_alone(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    to_onnx(conv(3, 4, 3), path, check=False, type="double")
    with pytest.raises(ExportError) as raised:
        OnnxFile(str(path), "float64").outputs({})
    assert str(raised.value) == (
        "onnxruntime fails: Could not find an implementation for Conv(11) node with name 'Conv_1' "
        "(leave out --type double: for floats it may have what it lacks)"
    )
