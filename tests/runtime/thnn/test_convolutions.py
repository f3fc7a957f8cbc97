"""Convolutions of nn's backend where the recorded calls do not reach: threads, memory, BLAS."""

import re
from collections.abc import Callable, Iterator

import pytest

from tests.data_files import data
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.shell import Engine
from th_shell.runtime.thnn import _columns, _jobs

# call(name, …) calls a function of nn's backend for doubles, try(name, …) prints its error, too;
# show(…) prints tensors.
PRELUDE = data(__file__, "PRELUDE")

Run = Callable[[str], str]


@pytest.fixture(scope="module")
def engine() -> Iterator[Engine]:
    with Engine() as made:
        made.call(made.compile(PRELUDE.encode()))
        yield made


@pytest.fixture
def run(engine: Engine, capfd: pytest.CaptureFixture[str]) -> Run:
    def run_source(source: str) -> str:
        engine.call(engine.compile(source.encode()))
        engine.flush()
        return re.sub(r"\t$", "", capfd.readouterr().out, flags=re.MULTILINE)

    return run_source


def close(ours: str, others: str) -> bool:
    """Whether lines of numbers are the same but for the last digits."""
    if len(ours.split()) != len(others.split()):
        return False
    pairs = zip(map(float, ours.split()), map(float, others.split()), strict=True)
    return all(abs(a - b) <= 1e-9 * max(1, abs(b)) for a, b in pairs)


def test_without_blas_convolutions_say_what_they_need(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_jobs, "find_blas", lambda name, size: None)
    needed = "nn needs BLAS's gemm, which cannot be called: install numpy from PyPI"
    assert needed in run("print(select(2, pcall(layers, 1, 5, show)))")


def test_samples_in_slices_give_the_same(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = run("layers(2, 5, show)")
    monkeypatch.setattr(_columns, "_INTERRUPT", 1)
    assert close(run("layers(2, 5, show)"), expected)


@pytest.mark.thorough
@pytest.mark.parametrize("samples", [1, 5])
def test_threads_give_what_one_gives(
    samples: int, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bits whichever threads do the shares; with other shares the last digits differ."""
    sums = f"""
        layers({samples}, 16, function(...)
          for _, t in ipairs{{ ... }} do
            local n = t:nElement()
            print(('%.17g %.17g'):format(t:sum(), torch.dot(t:view(-1), torch.range(1, n))))
          end
        end)"""
    monkeypatch.setattr(_jobs, "LARGE", 5_000)
    expected = run(f"torch.setnumthreads(1) {sums}")
    for count in (2, 3):
        answers = []
        for free in (count, 1):
            monkeypatch.setattr(thread_pool, "free_threads", lambda _, free=free: free)
            answers.append(run(f"torch.setnumthreads({count}) {sums}"))
        assert answers[0] == answers[1]
        assert close(answers[0], expected)


def test_nans_of_all_bits_are_copied_and_added(run: Run) -> None:
    source = data(__file__, "test_nans_of_all_bits_are_copied_and_added")
    assert run(source).split() == ["4", "4", "4", "2", "2", "4"]


def test_the_result_may_be_the_input(run: Run) -> None:
    source = data(__file__, "test_the_result_may_be_the_input")
    assert run(source).split() == ["true", "true", "0"]


WRONG = data(__file__, "WRONG")


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_would_reach_beyond_memory_is_an_error(arguments: str, message: str, run: Run) -> None:
    source = f"""
        local x, w, g = torch.ones(2, 2, 4, 4), torch.ones(2, 2, 3, 3), torch.ones(2, 2, 2, 2)
        local out = torch.zeros(3)
        try({arguments})
        print(out:size(1), w:sum())"""
    answer = run(source).splitlines()
    assert re.sub(r"^bad argument #\d to '.*' \((.*)\)$", r"\1", answer[0]) == message
    assert answer[1].split() == ["3", "36"]
