"""Patterns and readers of outside text take linear time."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.patterns.pumping import slow_text
from tests.processes import run_python
from th_shell.runtime.shell import Engine

TOP = Path(__file__).parents[2]


@pytest.mark.thorough
def test_all_patterns_are_linear() -> None:
    """Pump every pattern of the product, in a process of its own, which takes minutes."""
    found = run_python("-m", "tests.patterns", cwd=TOP, check=True, timeout=2400)
    said = json.loads(found.stdout)
    assert (said["unknown"], said["slow"]) == ([], [])
    assert said["count"] > 300


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("pattern", "flags", "walk"),
    [
        (r"^\s*x\s*$", re.M, "search"),
        (r"a\s*,?\s*b", 0, "match"),
        (r"\w+\(", 0, "search"),
        (r"<[^>]*>", 0, "finditer"),
        (r"(?:a|b|ab)*c", 0, "match"),
        (r"x(?=.*y)", 0, "finditer"),
    ],
)
def test_slow_patterns_are_found(pattern: str, flags: int, walk: str) -> None:
    assert slow_text(re.compile(pattern, flags), walk) is not None


@pytest.mark.parametrize(
    ("pattern", "flags", "walk"),
    [
        (r"^[^\S\n]*x[^\S\n]*$", re.M, "search"),
        (r"a\s*(?:,\s*)?b", 0, "match"),
        (r"(?<!\w)\w+\(", 0, "search"),
        (r"<[^<>]*>", 0, "finditer"),
        (r"\d{1,18}x", 0, "search"),
    ],
)
def test_linear_patterns_are_not(pattern: str, flags: int, walk: str) -> None:
    assert slow_text(re.compile(pattern, flags), walk) is None


_REQUIRED = b"""
sys, paths, gnuplot = require 'sys', require 'paths', require 'gnuplot'
print = function() end
"""


def grows(call: Callable[[int], object], size: int = 5000) -> bool:
    """Whether a call takes far more than four times as long for four times as much."""

    def took(size: int) -> float:
        start = time.thread_time()
        call(size)
        return time.thread_time() - start

    first = min(took(size) for _ in range(3))
    return min(took(4 * size) for _ in range(2)) > max(0.04, 8 * first)


@pytest.mark.parametrize("call", data(__file__, "test_lua_is_linear"))
def test_lua_is_linear(call: str) -> None:
    engine = Engine()
    source = f"local n = ... {call}"
    engine.run(engine.compile(_REQUIRED))
    assert not grows(lambda n: engine.run(engine.compile(source.replace("...", str(n)).encode())))
