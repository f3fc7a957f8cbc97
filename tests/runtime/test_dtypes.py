"""C's conversions between element types, which all places must agree on.

The expected numbers are the reference's: those of a copy between tensors.
"""

import numpy as np
import pytest

from tests.conftest import Lua
from tests.data_files import data
from th_shell.runtime.core.dtypes import (
    BYTE,
    CHAR,
    DOUBLE,
    DTYPES,
    FLOAT,
    INT,
    LONG,
    SHORT,
    DType,
    cast,
    cast_scalar,
)

NAN, INF = float("nan"), float("inf")
INT_MIN, LONG_MIN = -(2**31), -(2**63)
CASES = [
    # number, Byte, Char, Short, Int, Long
    (0.0, 0, 0, 0, 0, 0),
    (1.9, 1, 1, 1, 1, 1),
    (-1.9, 255, -1, -1, -1, -1),
    (127.0, 127, 127, 127, 127, 127),
    (128.0, 128, -128, 128, 128, 128),
    (-129.0, 127, 127, -129, -129, -129),
    (255.9, 255, -1, 255, 255, 255),
    (300.0, 44, 44, 300, 300, 300),
    (40000.0, 64, 64, -25536, 40000, 40000),
    (2.0**31 - 1, 255, -1, -1, 2**31 - 1, 2**31 - 1),
    (2.0**31, 0, 0, 0, INT_MIN, 2**31),
    (-(2.0**31), 0, 0, 0, INT_MIN, INT_MIN),
    (-(2.0**31) - 0.5, 0, 0, 0, INT_MIN, INT_MIN),
    (3e9 + 7, 0, 0, 0, INT_MIN, 3000000007),
    (2.0**53, 0, 0, 0, INT_MIN, 2**53),
    (1e19, 0, 0, 0, INT_MIN, LONG_MIN),
    (-1e19, 0, 0, 0, INT_MIN, LONG_MIN),
    (INF, 0, 0, 0, INT_MIN, LONG_MIN),
    (-INF, 0, 0, 0, INT_MIN, LONG_MIN),
    (NAN, 0, 0, 0, INT_MIN, LONG_MIN),
]
WHOLE = (BYTE, CHAR, SHORT, INT, LONG)
NUMBERS = [case[0] for case in CASES]


@pytest.mark.parametrize("at", range(len(WHOLE)), ids=[dtype.name for dtype in WHOLE])
class TestFromDouble:
    def test_array(self, at: int) -> None:
        values = cast(np.array(NUMBERS), WHOLE[at])
        assert values.dtype == WHOLE[at].numpy
        assert values.tolist() == [case[at + 1] for case in CASES]

    def test_scalar(self, at: int) -> None:
        assert [cast_scalar(v, WHOLE[at]) for v in NUMBERS] == [case[at + 1] for case in CASES]

    @pytest.mark.sample(18)
    @pytest.mark.parametrize("write", data(__file__, "test_in_lua"))
    def test_in_lua(self, lua: Lua, at: int, write: str) -> None:
        dtype = WHOLE[at]
        numbers = ", ".join(_lua(v) for v in NUMBERS)
        lua(f"v = {{ {numbers} }} {write.replace('{t}', dtype.name)} result = x:storage();")
        printed = lua("for i = 1, #v do io.write(('%.0f '):format(result[i])) end")
        expected = [case[at + 1] for case in CASES]
        if dtype is LONG:  # Lua numbers are doubles
            assert [float(n) for n in printed.split()] == [float(n) for n in expected]
        else:
            assert [int(n) for n in printed.split()] == expected


def _lua(value: float) -> str:
    if value != value:
        return "0/0"
    return f"{'-' if value < 0 else ''}1/0" if abs(value) == INF else repr(value)


@pytest.mark.parametrize("source", WHOLE, ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("target", WHOLE, ids=lambda dtype: dtype.name)
def test_whole_numbers_wrap(source: DType, target: DType) -> None:
    limits, allowed = np.iinfo(source.numpy), np.iinfo(target.numpy)
    values = [int(limits.min), int(limits.max), 1, 0]
    for before, after in zip(values, cast(np.array(values, source.numpy), target), strict=True):
        assert (before - int(after)) % (1 << 8 * target.size) == 0
        assert allowed.min <= after <= allowed.max


def test_same_type_shares_memory() -> None:
    values = np.zeros(3)
    cast(values, DOUBLE)[1] = 5
    assert values.tolist() == [0, 5, 0]


def test_floats_round_to_the_nearest() -> None:
    assert cast_scalar(0.1, FLOAT) == 0.10000000149011612
    assert cast_scalar(1e300, FLOAT) == INF
    assert cast(np.array([0.1, -1e300]), FLOAT).tolist() == [0.10000000149011612, -INF]


@pytest.mark.parametrize(("name", "size"), data(__file__, "test_names_and_sizes"))
def test_names_and_sizes(name: str, size: int) -> None:
    dtype = next(dtype for dtype in DTYPES if dtype.name == name)
    assert (dtype.size, dtype.tensor_name, dtype.storage_name) == (
        size,
        f"torch.{name}Tensor",
        f"torch.{name}Storage",
    )
    assert DTYPES[dtype.index] is dtype
