"""The package tds: vectors of which few places have values."""

from __future__ import annotations

import pytest

from tests.conftest import Lua

FEW = "local v = require('tds').Vec() v[7], v[1e9] = 'a', 'b' "


@pytest.mark.parametrize(
    ("source", "printed"),
    [
        ("v:resize(0) print(#v, v[7])", "0\tnil\t\n"),
        ("v:resize(8) print(#v, v[7])", "8\ta\t\n"),
        ("v:insert(3, 'c') print(#v, v[3], v[8], v[1e9 + 1])", "1000000001\tc\ta\tb\t\n"),
        ("v:remove(3) print(#v, v[6], v[1e9 - 1])", "999999999\ta\tb\t\n"),
        ("v:remove() v:remove() v:insert('c') print(#v, v[999999999])", "999999999\tc\t\n"),
        (
            "v:sort(function(x, y) return (x or '') > (y or '') end) print(#v, v[1], v[2], v[3])",
            "1000000000\tb\ta\tnil\t\n",
        ),
        (
            "v:sort(function(x, y) return (x or '') < (y or '') end) print(v[1], v[1e9])",
            "nil\tb\t\n",
        ),
        ("print(v:concat(',', 6, 8), v:concat('', 1e9, 1e9 + 1))", "nil,a,nil\tbnil\t\n"),
        ("print(pcall(v.concat, v))", "false\tnot enough memory\t\n"),
        ("print(pcall(v.concat, v, ',', 1, 1e12))", "false\tnot enough memory\t\n"),
        ("for i, x in pairs(v) do if x then print(i, x) break end end", "7\ta\t\n"),
        ("print(select(2, tostring(v):gsub('nil', '')))", "19\t\n"),
    ],
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
