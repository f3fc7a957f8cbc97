"""Small calls that Lua computes give what Python gives, also for nans, infinities and zeros.

Python gets the same numbers with gaps between them.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.conftest import run_text
from tests.data_files import data
from tests.runtime.thnn.test_recorded import FAMILIES, HERE, Answers, answers
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.core.memory import Memory
from th_shell.runtime.core.state import current
from th_shell.runtime.shell import Engine
from th_shell.runtime.thnn import table
from th_shell.runtime.thnn._jobs import is_recording
from th_shell.runtime.thnn.table import TABLE, Row

# Of these, all elements of the results follow from the same elements of the arguments.
EACH = re.compile(
    "Abs|ELU|Hard|Leaky|PReLU_up|Sigmoid|Soft(Plus|Shrink)|Sqrt|Square|Tanh|Threshold|LogSigmoid"
    "|(DistKLDiv|Margin|MSE|SmoothL1|SoftMargin|BCE)Criterion_updateG|L1Cost|Gated"
)


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as engine:
        yield engine


@contextmanager
def python_alone() -> Iterator[Engine]:
    """An engine of which Lua repeats no calls."""
    with pytest.MonkeyPatch.context() as patched, Engine() as engine:
        patched.setattr(table, "jobs", lambda *_: None)
        yield engine


def run(
    engine: Engine, capfd: pytest.CaptureFixture[str], family: str, *more: str, cases: str = "3 4"
) -> Answers:
    """The answers to calls: `cases` are a seed, and how many calls there are of a function."""
    arguments = [f"{HERE}/cases/{family}.lua", *cases.split(), "", *more]
    engine.set_arguments(b"run_cases.lua", [a.encode() for a in arguments])
    engine.call(engine.compile_file(f"{HERE}/run_cases.lua"))
    engine.flush()
    return answers(capfd.readouterr().out)


def differs(one: str, other: str, tolerance: float) -> bool:
    """Whether two lines differ: a tensor's position, sizes and elements, or an error."""
    if "error" in one or "error" in other:
        return one != other
    x, y = (np.array(line.split()[2:], float) for line in (one, other))
    same = x.shape == y.shape and np.allclose(x, y, tolerance, tolerance, equal_nan=True)
    return not same or bool((np.signbit(x) != np.signbit(y))[x == 0].any())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("family", "numbers"), data(__file__, "test_lua_computes_what_python_computes")
)
def test_lua_computes_what_python_computes(
    engine: Engine, capfd: pytest.CaptureFixture[str], family: str, numbers: str
) -> None:
    dense = run(engine, capfd, family, "dense", numbers)
    with python_alone() as other:
        gaps = run(other, capfd, family, "gaps", numbers)
    assert dense.keys() == gaps.keys() != set()
    wrong = [
        (head, *pair)
        for head, lines in dense.items()
        if numbers == "any" or EACH.match(head)
        for pair in zip(lines, gaps[head], strict=True)
        if differs(*pair, 4e-6 if " Float " in head else 1e-12)
    ]
    assert wrong == []


def counted(row: Row, calls: Counter[str]) -> Row:
    """A row that counts the calls that Python computes."""
    implementation: Callable[..., None] = row.implementation

    def call(*arguments: object) -> None:
        calls[row.name] += not is_recording()
        implementation(*arguments)

    return replace(row, implementation=call)


#: With these seeds Lua makes some call of each function, whatever numbers are special.
SEEDS = {family: 8 if family == "first" else 7 for family in FAMILIES}
REPEATED = ["pooling", "resampling", "convolutions", "convolutions_2", "first"]


# Of special numbers, those in gaps are other ones to HardTanh, and errors to BCECriterion.
@pytest.mark.thorough
@pytest.mark.parametrize(
    ("family", "numbers"),
    [
        *product(REPEATED, ["any", "special"]),
        ("activations", "any"),
        ("criterions", "any"),
    ],
)
def test_lua_repeats_the_jobs_of_python(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], family: str, numbers: str
) -> None:
    calls: Counter[str] = Counter()
    cases = f"{SEEDS[family]} 8"
    with python_alone() as engine:
        python = run(engine, capfd, family, "gaps", numbers, "3", cases=cases)
    with Engine() as engine:
        for name, row in TABLE.items():
            if row.repeats:
                monkeypatch.setitem(TABLE, name, counted(row, calls))
        lua = run(engine, capfd, family, "dense", numbers, "3", cases=cases)
    assert lua == python != {}
    # Lua makes the third call of each kind, but for those that end in an error.
    made = Counter(head.split()[0] for head in lua for _ in range(3))
    assert [name for name in calls if calls[name] == made[name]] == []


# The last one is where a check of BCECriterion's input sees more than its result does.
@pytest.mark.thorough
@pytest.mark.parametrize("number", ["-1", "1e6", repr(1 + 5e-13)])
@pytest.mark.parametrize("family", FAMILIES)
def test_checks_of_elements_are_repeated(
    capfd: pytest.CaptureFixture[str], family: str, number: str
) -> None:
    """One element of a tensor is another one when the call is made for the third time."""
    with python_alone() as engine:
        python = run(engine, capfd, family, "dense", "any", "3", number, cases="5 5")
    with Engine() as engine:
        lua = run(engine, capfd, family, "dense", "any", "3", number, cases="5 5")
    assert first_lines(lua) == first_lines(python) != {}


def first_lines(found: Answers) -> Answers:
    """The same, where a call has failed without what it has left in its results."""
    return {
        head: lines[:1] if lines[0].startswith("error") else lines for head, lines in found.items()
    }


#: Where a recorded call has a table of its own; it is another memory each time.
TABLES = re.compile(r"\b\d+(?=:\d)")


@pytest.mark.thorough
@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_jobs_do_not_depend_on_elements(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], family: str
) -> None:
    recorded: dict[tuple[Any, ...], set[object]] = {}
    jobs = table.jobs

    def compare(name: str, *arguments: Any) -> str | None:
        for byte in (0, 0xBF, 0xFF):  # of doubles 0, -0.1 and a nan
            monkeypatch.setattr(current(Memory), "fill_pattern", byte)
            told = jobs(name, *arguments)
            recorded.setdefault((name, arguments), set()).add(told and TABLES.sub("", told))
        return told

    monkeypatch.setattr(table, "jobs", compare)
    with Engine() as engine:
        run(engine, capfd, family, "dense", "any", "2")
    assert [call for call, told in recorded.items() if len(told) > 1] == []


WITH_GAPS = data(__file__, "WITH_GAPS").encode()


def test_calls_with_gaps_are_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded: list[bool] = []
    row = TABLE["Tanh_updateOutput"]
    implementation: Callable[..., None] = row.implementation

    def call(*arguments: object) -> None:
        recorded.append(is_recording())
        implementation(*arguments)

    monkeypatch.setitem(TABLE, row.name, replace(row, implementation=call))
    with Engine() as engine:
        run_text(engine, WITH_GAPS)
    assert recorded == [True, False]


UNUSED = data(__file__, "UNUSED")


def test_gaps_of_tensors_that_no_job_reads_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: Counter[str] = Counter()
    row = TABLE["Tanh_updateGradInput"]
    monkeypatch.setitem(TABLE, row.name, counted(row, calls))
    with Engine() as engine:
        run_text(engine, UNUSED)
    assert calls[row.name] == 1


# No package is needed to call these functions.
MANY = data(__file__, "MANY")


def test_many_doubles_have_the_same_bits(engine: Engine, capfd: pytest.CaptureFixture[str]) -> None:
    engine.call(engine.compile(f"require 'nn.THNN'\n{MANY}".encode(), b"=lua"))
    engine.flush()
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 10
    assert [line for line in lines if not line.rstrip().endswith("true")] == []


_LARGE = data(__file__, "_LARGE")


def test_calls_of_many_elements_are_repeated_for_any_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    calls: Counter[str] = Counter()
    row = TABLE["Sigmoid_updateOutput"]
    monkeypatch.setitem(TABLE, row.name, counted(row, calls))
    with Engine() as engine:
        run_text(engine, f"require 'nn.THNN' {_LARGE}")
        engine.flush()
    assert capfd.readouterr().out == "1 1 1 true true"
    assert calls[row.name] == 3  # the first one each time that the number has changed
