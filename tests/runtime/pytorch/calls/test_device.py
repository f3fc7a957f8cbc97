"""torch.device: what it reads, how it prints, and its errors."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from th_shell.torch.calls.device import NO_DRIVER, check_device, device

FORMS = "expected one of:\n * (torch.device device)\n{} * (str type, int index = -1)\n"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (device("cpu"), "device(type='cpu')"),
        (device("cpu", 0), "device(type='cpu', index=0)"),
        (device("cuda:1"), "device(type='cuda', index=1)"),
        (device(b"cuda:1"), "device(type='cuda', index=1)"),
        (device(type="cuda", index=1), "device(type='cuda', index=1)"),
        (device(device="cuda:1"), "device(type='cuda', index=1)"),
        (device(device("meta")), "device(type='meta')"),
        (device(1), "device(type='cuda', index=1)"),
        (device("cpu", None), "device(type='cpu')"),
        (device("cuda:128"), "device(type='cuda', index=65408)"),
        (device("cuda:255"), "device(type='cuda')"),
        (copy.deepcopy(device("cuda:1")), "device(type='cuda', index=1)"),
        (pickle.loads(pickle.dumps(device("cuda:1"))), "device(type='cuda', index=1)"),
        (pickle.loads(pickle.dumps(device("cuda:128"))), "device(type='cuda', index=65408)"),
        (device, "<class 'torch.device'>"),
    ],
)
def test_text(made: object, text: str) -> None:
    assert repr(made) == text


@pytest.mark.parametrize("text", ["cpu", "cpu:0", "cuda:1", "cuda:-128"])
def test_short_text(text: str) -> None:
    name, _, index = text.partition(":")
    made = device(text if "-" not in text else "cuda:128")
    assert (str(made), made.type, made.index) == (text, name, int(index) if index else None)


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
    (lambda: device(""), RuntimeError, "Device string must not be empty"),
    (lambda: device("cuda:01"), RuntimeError, "Invalid device string: 'cuda:01'"),
    (lambda: device("cuda:-1"), RuntimeError, "Invalid device string: 'cuda:-1'"),
    (lambda: device("cuda:"), RuntimeError, "Invalid device string: 'cuda:'"),
    (
        lambda: device("cuda:2147483648"),
        RuntimeError,
        "Could not parse device index '2147483648' in device string 'cuda:2147483648'",
    ),
    (lambda: device(-1), RuntimeError, "Device index must not be negative"),
    (lambda: device("cuda", -1), RuntimeError, "Device index must not be negative"),
    (
        lambda: device("cuda:1", 1),
        RuntimeError,
        "type (string) must not include an index because index was passed explicitly: cuda:1",
    ),
    (
        lambda: device("cpu", "0"),
        TypeError,
        "device(): argument 'index' (position 2) must be int, not str",
    ),
    (
        lambda: device("cpu", True),
        TypeError,
        "device(): argument 'index' (position 2) must be int, not bool",
    ),
    (
        lambda: device("cpu", type="cuda"),
        TypeError,
        "device() got multiple values for argument 'type'",
    ),
    (
        lambda: device(None),
        TypeError,
        "device() received an invalid combination of arguments - got (NoneType), but "
        + FORMS.format(""),
    ),
    (
        lambda: device(),
        TypeError,
        "device() received an invalid combination of arguments - got (), but " + FORMS.format(""),
    ),
    (lambda: device("cpu") < device("cuda"), TypeError, "comparison not implemented"),
    (
        lambda: device("cpu") < 3,
        TypeError,
        "'<' not supported between instances of 'torch.device' and 'int'",
    ),
    (
        lambda: setattr(device("cpu"), "type", "cuda"),
        AttributeError,
        "attribute 'type' of 'torch.device' objects is not writable",
    ),
    (
        lambda: check_device("meta"),
        NotImplementedError,
        "tensors on the device 'meta' are not provided here",
    ),
    (lambda: check_device("cuda"), RuntimeError, NO_DRIVER),
    (lambda: device("cuda").__enter__(), RuntimeError, NO_DRIVER),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_errors(call: Callable[[], object], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message


@pytest.mark.parametrize("value", [None, "cpu", device("cpu:0")])
def test_the_processor_is_there(value: Any) -> None:
    check_device(value)
    with device("cpu") as entered:
        assert entered == device("cpu")
