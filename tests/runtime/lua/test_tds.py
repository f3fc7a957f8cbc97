"""The package tds: vectors of which few places have values."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

FEW = "local v = require('tds').Vec() v[7], v[1e9] = 'a', 'b' "


@pytest.mark.parametrize(
    ("source", "printed"), data(__file__, "test_what_has_no_value_takes_no_time")
)
def test_what_has_no_value_takes_no_time(lua: Lua, source: str, printed: str) -> None:
    assert lua(FEW + source) == printed


@pytest.mark.parametrize("gap", [1, 100])
def test_vectors_as_lists(lua: Lua, gap: int) -> None:
    """Random steps, in a vector and in a list with a field for each place."""
    lua(f"""
        local v, list, n, random = require('tds').Vec(), {{}}, 0, math.random
        local steps = {{
          function(at, x) v[at], list[at], n = x, x, math.max(n, at) end,
          function(at, x)
            v:insert(at, x)
            for i = n, at, -1 do list[i + 1] = list[i] end
            list[at], n = x, math.max(n + 1, at)
          end,
          function(at)
            v:remove(at)
            for i = at, n do list[i] = list[i + 1] end
            n = at <= n and n - 1 or n
          end,
          function(at)
            v:resize(at)
            for i = at + 1, n do list[i] = nil end
            n = at
          end,
          function()
            v:sort(function(a, b) return (a or 50) < (b or 50) end)
            local sorted = {{}}
            for i = 1, n do sorted[i] = list[i] or 50 end
            table.sort(sorted)
            for i = 1, n do list[i] = sorted[i] ~= 50 and sorted[i] or nil end
          end,
        }}
        for _ = 1, 300 do
          steps[random(#steps)](random(30) * {gap}, random(3) > 1 and random(99) + 0.5 or nil)
          assert(#v == n)
          for i = 1, n + 1 do assert(v[i] == list[i]) end
        end
    """)
