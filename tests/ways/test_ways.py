"""All ways to compute a call give the same bits: formula, small function, Python, numpy, jobs.

For each row of the table of operations: at sizes one below, at and one above the limits of the
code, for all element types and layouts, used and empty destinations, one to three threads, and
with Python's own limits out of reach or at few elements. harness.lua tells the ways of a call.
"""

from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest

from tests.limits import Limits, limits
from tests.ways.calls import IN_TURN, LEFT_OUT, Call, calls, goes_to_python
from th_shell.runtime import Engine
from th_shell.runtime.compute.thread_pool import LARGE  # where most ways end
from th_shell.runtime.shell import TABLE

HARNESS = (Path(__file__).parent / "harness.lua").read_bytes()
PARTS = 8  # of the calls, which are tested apart
BATCH = 300  # calls after which differences are looked for
#: Sizes that are tested besides those at limits.
FEW = (1, 7, 12, 31, 60, 5, 24)  # as many as there are types
SHARED = (6, 12, 30, 60, 90, 24, 1000, LARGE + 20)  # of tensors that share memory
LEAST = 1000  # of limits at which all calls are tested: smaller ones are met by other sizes


#: The folders whose modules compute the calls.
ROOMS = ("core/", "calls/", "compute/", "ops/", "lua/core", "lua/tensor")


def sizes() -> list[int]:
    """The limits at which calls are tested."""
    return sorted(
        {size for name, size in limits().items() if name.startswith(ROOMS) and size >= LEAST}
    )


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    engine = Engine()
    limit = Limits("compute", "ops")
    engine["set_limits"] = lambda size: limit.set(size or None)
    engine.run(HARNESS)
    yield engine
    limit.set(None)
    engine.close()


def cases(part: int, turns: int) -> Iterator[tuple[int, str]]:
    """Sizes and calls of run_case in harness.lua: for each call few elements, LARGE, another limit.

    So each call meets all limits, one off in both directions, as turns go on; with one turn, the
    calls of a part meet them together. Where work is shared among threads is, above all, where
    tensors are contiguous: so every other time LARGE is met in that layout, otherwise in any.
    """
    others = cycle(product(sizes(), (0, 1, -1)))
    large = cycle((LARGE, LARGE + 1, LARGE - 1))
    at, is_dense = part, False
    for call in calls()[part::PARTS]:
        for _ in range(turns):
            for size in (*FEW, sum(next(others))):
                at += 1
                yield size, lua_call(call, at, size)
            at += 1
            is_dense = not is_dense
            yield LARGE, lua_call(call, at, next(large), 30 * at if is_dense else at)
        at += 1  # so that a call meets other types and layouts than the one before


def lua_call(
    call: Call, at: int, size: int, place: int | None = None, function: str = "run_case"
) -> str:
    kind = call.types[at % len(call.types)] if call.types else "Double"
    rough = call.rough or "false"
    words = f"'{call.name}', '{call.space}', [[{call.words}]], '{kind}'"
    return f"{function}({words}, {place or at}, {size}, {rough})"


def check(engine: Engine, part: int, turns: int, capfd: pytest.CaptureFixture[str]) -> None:
    """Run the calls of a part, those with few elements first: most errors show there."""
    lines = [text for _, text in sorted(cases(part, turns), key=lambda case: case[0])]
    for start in range(0, len(lines), BATCH):
        engine.run("\n".join(lines[start : start + BATCH]))
        assert capfd.readouterr().out == ""


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_all_ways_agree(engine: Engine, part: int, capfd: pytest.CaptureFixture[str]) -> None:
    check(engine, part, 1, capfd)


def rounded_by_layout() -> set[str]:
    """Return the names of functions whose last digits, or bits of nans, go by numpy's layout.

    On processors with AVX512 numpy computes elements one by one where an operand's memory lies
    among that of the result, and else several at once, by other formulas.
    """
    x = np.random.RandomState(0).randn(1000) * 3
    with np.errstate(invalid="ignore"):
        return {
            name
            for name in ("tan", "log")
            for f in [getattr(np, name)]
            if f(x[::-1]).tobytes() != f(x)[::-1].tobytes()
        }


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_operands_that_share_memory_are_read_as_if_copied_first(
    engine: Engine, part: int, capfd: pytest.CaptureFixture[str]
) -> None:
    left_out = rounded_by_layout()
    lines = [
        f"{lua_call(call, at, size, function='run_shared_case')[:-1]}, {in_turn})"
        for call in calls()[part::PARTS]
        if call.name not in left_out
        for in_turn in [str(call.name in IN_TURN).lower()]
        for at, size in enumerate(SHARED, part)
    ]
    for start in range(0, len(lines), BATCH):
        engine.run("\n".join(lines[start : start + BATCH]))
        assert capfd.readouterr().out == ""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_all_ways_agree_at_all_sizes(
    engine: Engine, part: int, capfd: pytest.CaptureFixture[str]
) -> None:
    check(engine, part, 10, capfd)


def test_each_row_is_called() -> None:
    left_out = {name for names in LEFT_OUT.values() for name in names.split()}
    assert {call.name for call in calls()} | left_out == set(TABLE)


@pytest.mark.thorough
def test_each_call_computes_something(engine: Engine) -> None:
    tries = [(at, size) for at in (0, 4, 5) for size in (12, 60, 300)]
    wrong = [
        call
        for call in calls()
        if not any(engine.eval(lua_call(call, at, size, function="succeeds")) for at, size in tries)
    ]
    assert wrong == []


@pytest.mark.thorough
def test_few_elements_are_computed_without_python(engine: Engine) -> None:
    in_python = [
        call
        for call in calls()
        if engine.eval(lua_call(call, -1, 24, 30, function="reaches_python"))
    ]
    assert [call for call in in_python if not goes_to_python(call)] == []
