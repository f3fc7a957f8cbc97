"""torch.device: names of devices, of which there is the processor alone."""

import copy
import pickle
from collections.abc import Callable

import pytest

from th_shell.torch.base.device import NO_DRIVER, check_device, device


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (device("cpu"), "device(type='cpu')"),
        (device("cpu", 0), "device(type='cpu', index=0)"),
        (device("cuda:1"), "device(type='cuda', index=1)"),
        (device(type="cuda", index=1), "device(type='cuda', index=1)"),
        (device(device("meta")), "device(type='meta')"),
        (device(1), "device(type='cuda', index=1)"),
        (copy.deepcopy(device("cuda:1")), "device(type='cuda', index=1)"),
        (pickle.loads(pickle.dumps(device("cuda:1"))), "device(type='cuda', index=1)"),
        (device, "<class 'torch.device'>"),
    ],
)
def test_text(made: object, text: str) -> None:
    assert repr(made) == text


@pytest.mark.parametrize("text", ["cpu", "cpu:0", "cuda:1"])
def test_short_text(text: str) -> None:
    assert str(device(text)) == text


def test_comparison() -> None:
    assert device("cuda:1") == device("cuda", 1)
    assert device("cpu") != device("cpu:0")
    assert device("cpu") != "cpu"
    assert {device("cpu"): 1}[device("cpu")] == 1


WRONG: list[tuple[Callable[[], object], type[Exception], str]] = [
    (
        lambda: device("foo:1"),
        RuntimeError,
        "Expected one of cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, "
        "xla, lazy, vulkan, mps, meta, hpu, mtia, privateuseone device type at start of device "
        "string: foo",
    ),
    (lambda: device("cuda:-1"), RuntimeError, "Invalid device string: 'cuda:-1'"),
    (
        lambda: check_device("meta"),
        NotImplementedError,
        "tensors on the device 'meta' are not provided here",
    ),
    (lambda: check_device("cuda"), RuntimeError, NO_DRIVER),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_errors(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
