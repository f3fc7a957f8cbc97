"""Variances, norms, extrema and the like of few elements are what Python gives, bit for bit.

What is compared, and how, is told in test_small.py.
"""

from __future__ import annotations

import pytest

from tests.conftest import Lua
from tests.runtime.test_small import compare

STATISTICS = {
    "var": "return T(k, l), m > 3",
    "std": "return T(k * l)",
    "torch.var": "return T(k, l), random(0, 3), m > 3",
    "torch.std": "return R(1, k), T(l, k), 1",
    "torch.var ": "return C(2, k, l), random(1, 3)",
    "dist": "return T(k, l), T(k, l), m > 3 and random(0, 3) or nil",
    "renorm": "return m > 2 and C(k, l) or R(k, l), random(0, 3), random(0, 2), random() * 2",
    "torch.renorm": "return C(m, k, l), random(1, 2), random(1, 3), 1",
    "torch.renorm ": "return R(k, l), T(k, l), 2, 1, random() * 2",
    "trace": "return T(k, l)",
    "equal": "local t = T(k, l) return t, m > 2 and t or T(k, l)",
    "cumsum": "local r = R(k, l) return r, m > 3 and r or T(k, l), random(1, 2)",
    "torch.cumprod": "return C(m, k, l), random(1, 3)",
    "torch.max": "return F(k, l), random(1, 2)",
    "torch.min": "return T(k, l), random(1, 2)",
    "min": "return F(k, l)",
}


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *((kind, name) for name in STATISTICS for kind in ("Double", "Float")),
        *((kind, "equal") for kind in ("Byte", "Short", "Long")),
    ],
)
def test_statistics(lua: Lua, kind: str, name: str) -> None:
    compare(lua, kind, name, STATISTICS[name])


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth(lua: Lua, name: str) -> None:
    compare(lua, "Byte", name, "return m > 2 and mask(k, l) or mask(1, 1)")
