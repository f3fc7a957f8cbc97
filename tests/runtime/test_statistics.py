"""Variances, norms, extrema and the like of few elements are what Python gives, bit for bit.

What is compared, and how, is told in test_small.py.
"""

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.runtime.test_small import compare

STATISTICS = data(__file__, "STATISTICS")


@pytest.mark.sample(9)
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
