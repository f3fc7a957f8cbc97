"""torch.finfo and torch.iinfo tell what PyTorch 2.15 does."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.data_files import data
from th_shell.torch.base.dtypes import DTYPES, dtype, float32, float64, set_default_dtype
from th_shell.torch.classes.limits import finfo, iinfo

TYPES: dict[str, dtype] = {kind.name: kind for kind in DTYPES}


@pytest.mark.parametrize(("name", "text"), data(__file__, "test_text"))
def test_text(name: str, text: str) -> None:
    made = iinfo(TYPES[name]) if "int" in name else finfo(TYPES[name])
    assert repr(made) == str(made) == text


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_fields_are_numpys(name: str) -> None:
    made, theirs = finfo(TYPES[name]), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "smallest_normal", "tiny"):
        assert getattr(made, field) == getattr(theirs, field)
    assert (made.dtype, type(made.max)) == (name, float)


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64", "uint32", "uint64"])
def test_whole_numbers_are_numpys(name: str) -> None:
    made, theirs = iinfo(type=TYPES[name]), np.iinfo(name)
    assert (made.bits, made.min, made.max) == (theirs.bits, theirs.min, theirs.max)
    assert made.dtype == name


def test_types_that_are_not_named() -> None:
    assert finfo() == finfo(float32)
    assert finfo(float) == finfo(float64) != finfo(float32)
    assert iinfo(int) == iinfo(TYPES["int64"]) != finfo(float64)
    assert len({finfo(), finfo(float32), iinfo(int)}) == 2
    set_default_dtype(float64)
    try:
        assert finfo().bits == 64
    finally:
        set_default_dtype(float32)


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: finfo(TYPES["int32"]),
        TypeError,
        "torch.finfo() requires a floating point input type. "
        "Use torch.iinfo to handle 'torch.finfo'",
    ),
    (
        lambda: iinfo(float32),
        TypeError,
        "torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'",
    ),
    (lambda: iinfo(bool), TypeError, "torch.bool is not supported by torch.iinfo"),
    (lambda: iinfo(), TypeError, 'iinfo() missing 1 required positional arguments: "type"'),
    (
        lambda: iinfo(3),
        TypeError,
        "iinfo(): argument 'type' (position 1) must be torch.dtype, not int",
    ),
    (
        lambda: finfo(type="float32"),
        TypeError,
        "finfo(): argument 'type' must be torch.dtype, not str",
    ),
    (
        lambda: finfo(1.5, 3),
        TypeError,
        "finfo() received an invalid combination of arguments - got (float, int), but expected "
        "one of:\n * (torch.dtype type)\n * ()\n",
    ),
    (
        lambda: iinfo(TYPES["int8"]).eps,
        AttributeError,
        "'torch.iinfo' object has no attribute 'eps'",
    ),
    (
        lambda: setattr(finfo(), "max", 3),
        AttributeError,
        "attribute 'max' of 'torch.finfo' objects is not writable",
    ),
    (lambda: copy.copy(finfo()), TypeError, "cannot pickle 'torch.finfo' object"),
]


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_errors(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error) as raised:
        call()
    assert str(raised.value) == message
