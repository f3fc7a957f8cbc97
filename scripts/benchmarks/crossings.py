"""Times calls between a Python program and an engine's Lua against plain lupa, in one run.

    scripts/bench crossings

Printed are microseconds of one call, table or number, and the ratio; the best of many short rounds
counts, of both in turn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from lupa import luajit21

from th_shell.runtime import Engine

_ROUNDS, _CALLS = 300, 100
_SETUP = """
    function same(x) return x end
    list, named = {}, { a = 1 }
    for i = 1, 1000 do list[i] = i end
    function calls(n) for i = 1, n do callback(i) end end
"""
_NESTED = [[n, n + 1] for n in range(100)]
_NUMBERS = list(range(1000))

Work = Callable[[], Any]


def _rows(same: Any, named: Any, calls: Any, take: Any, give: Any) -> list[tuple[str, int, Work]]:
    """Names, units of work, and the work. take, give: pass a list to Lua, and one back."""
    return [
        ("f(1)", 1, lambda: same(1)),
        ("f('text')", 1, lambda: same("text")),
        ('t["a"]', 1, lambda: named["a"]),
        ("callback(1), in a loop of Lua", 100, lambda: calls(100)),
        ("nested lists to Lua", 100, lambda: take(_NESTED)),
        ("numbers to Lua", 1000, lambda: take(_NUMBERS)),
        ("numbers from Lua", 1000, give),
    ]


def _ours() -> list[tuple[str, int, Work]]:
    lua = Engine()
    lua["callback"] = lambda x: x
    lua.run(_SETUP)
    numbers = lua["list"]
    same = lua["same"]
    return _rows(same, lua["named"], lua["calls"], same, numbers.to_python)


def _plain() -> list[tuple[str, int, Work]]:
    lua = luajit21.LuaRuntime()
    globals_of_lua = lua.globals()
    globals_of_lua.callback = lambda x: x
    lua.execute(_SETUP)

    def take(value: Any) -> Any:
        return lua.table_from(value, recursive=True)

    return _rows(
        globals_of_lua.same,
        globals_of_lua.named,
        globals_of_lua.calls,
        take,
        lambda: list(globals_of_lua.list.values()),
    )


def _best(*works: Work) -> list[float]:
    best = [math.inf] * len(works)
    for _ in range(_ROUNDS):
        for i, work in enumerate(works):
            count = 1 if best[i] > 2e-4 else _CALLS
            start = time.perf_counter()
            for _ in range(count):
                work()
            best[i] = min(best[i], (time.perf_counter() - start) / count)
    return best


def main(_: list[str]) -> None:
    """Print the table."""
    for (name, unit, ours), (_, _, plain) in zip(_ours(), _plain(), strict=True):
        here, there = _best(ours, plain)
        print(f"{name:32}{here * 1e6 / unit:9.3f}{there * 1e6 / unit:9.3f}{here / there:7.1f}")
