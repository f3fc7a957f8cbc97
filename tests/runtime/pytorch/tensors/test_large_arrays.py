"""Large operations: shared out to threads or not, at any load, results have the same bits."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import th_shell.torch as torch
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.runtime.core.dtypes import Array
from th_shell.torch.tensors.large_arrays import compute_into, share, threads
from th_shell.torch.tensors.tensor import wrap

MANY = LARGE + 321  # which is no whole number of vectors


@pytest.fixture(autouse=True)
def three_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def _values(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


A, B = _values(0, MANY), _values(1, MANY)
M = _values(2, 300, MANY // 300)
R = _values(4, MANY, 3)
T, S = M.reshape(30, 10, -1), _values(3, 40, 5, 20, 30)
COMPUTED: dict[str, tuple[Callable[[], Any], Any]] = {
    "sum": (lambda: wrap(A) + wrap(B), A + B),
    "number": (lambda: wrap(A) * 2.5, A * np.float32(2.5)),
    "comparison": (lambda: wrap(A) < wrap(B), A < B),
    "one operand": (lambda: wrap(A).exp(), np.exp(A)),
    "rows": (lambda: wrap(M) + wrap(M[0]), M + M[0]),
    "columns": (lambda: wrap(M) - wrap(M[:, :1]), M - M[:, :1]),
    "transposed": (lambda: wrap(M.T) * wrap(M.T), M.T * M.T),
    "three dimensions": (lambda: wrap(T) * wrap(T[:, :1]), T * T[:, :1]),
    "short rows": (lambda: wrap(R) + wrap(R[0]), R + R[0]),
    "more dimensions": (lambda: wrap(S) + wrap(S[:1, :, :1]), S + S[:1, :, :1]),
    "chosen": (lambda: torch.where(wrap(A > 0), wrap(A), wrap(B)), np.where(A > 0, A, B)),
    "masked": (lambda: wrap(A)[wrap(A > 0)], A[A > 0]),
    "masked rows": (lambda: wrap(M)[wrap(M[:, 0] > 0)], M[M[:, 0] > 0]),
    "zeros": (lambda: torch.zeros(3 * MANY), np.zeros(3 * MANY, np.float32)),
    "zeros with a sign": (
        lambda: 1 / torch.full((3 * MANY,), -0.0),
        np.full(3 * MANY, -np.inf, "f"),
    ),
    "steps": (lambda: wrap(np.repeat(A, 2)[::2]) + 1, A + np.float32(1)),
    "whole numbers": (lambda: wrap(A.astype(np.int64)) * 3, A.astype(np.int64) * 3),
    "no ufunc": (lambda: wrap(A).relu(), np.maximum(A, 0)),
    "in place": (lambda: wrap(A.copy()).mul_(wrap(B)), A * B),
    "in place, itself": (lambda: (t := wrap(A.copy())).add_(t), A + A),
    "in place, infinite": (lambda: wrap(A.copy()).div_(0), np.copysign(np.float32(np.inf), A)),
}


@pytest.mark.sample(21)
@pytest.mark.parametrize("name", COMPUTED)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_computes_what_numpy_does(name: str, count: int) -> None:
    compute, expected = COMPUTED[name]
    torch.set_num_threads(count)
    found = compute().array
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_operands_that_overlap_are_read_before_they_are_written() -> None:
    values = A.copy()
    before, after = wrap(values[:-1]), wrap(values[1:])  # their storages do not tell it
    after.add_(before)
    np.testing.assert_array_equal(values[1:], A[1:] + A[:-1])


@pytest.mark.parametrize("compute", [np.exp, np.tanh, lambda x: np.tanh(x) * x])
def test_has_the_same_bits_at_any_load(compute: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    values = _values(3, 5 * MANY)
    outs = []
    for free in (3, 1):
        monkeypatch.setattr(thread_pool, "free_threads", lambda count, free=free: free)
        out = np.empty_like(values)
        compute_into(compute, [values], out)
        outs.append(out.tobytes())
    assert outs[0] == outs[1]


@pytest.mark.parametrize(("count", "elements"), [(1, MANY), (7, MANY), (1000, MANY), (50, 50)])
@pytest.mark.parametrize("piece", [0, 1, 13])
def test_slices_make_up_the_range(count: int, elements: int, piece: int) -> None:
    done = np.zeros(count, int)
    sizes = []

    def compute(at: slice) -> None:
        done[at] += 1
        sizes.append(at.stop - at.start)

    share(compute, count, elements, piece)
    assert (done == 1).all()
    assert not piece or max(sizes) <= piece


def test_nothing_to_do_is_no_slice() -> None:
    share(lambda at: pytest.fail(f"computes {at}"), 0, MANY)


def test_an_error_of_a_slice_is_raised() -> None:
    def fail(at: slice) -> None:
        if at.start:
            raise ValueError("not this slice")

    with pytest.raises(ValueError, match="^not this slice$"):
        share(fail, 1000, MANY, 500)
    assert (wrap(A) + 1).array[0] == A[0] + np.float32(1)  # the threads work on


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_computes_in_a_forked_process() -> None:
    expected = np.exp(A)
    wrap(A).exp()  # threads have started
    read, write = os.pipe()
    child = os.fork()
    if not child:
        same = bool((wrap(A).exp().array == expected).all())
        os.write(write, b"same" if same else b"other")
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answer:
        assert answer.read() == b"same"
    os.waitpid(child, 0)
    assert (wrap(A).exp().array == expected).all()


def test_memory_of_dead_tensors_is_not_that_of_living_ones() -> None:
    size = 1 << 19
    first = wrap(np.ones(size, np.float32)) * 2
    view = (first + 1)[1:]  # keeps the memory of a tensor that nothing else refers to
    later = [first * 5 for _ in range(4)]
    assert (view.array == 3).all()
    assert all((t.array == 10).all() for t in later)


def test_counts_threads() -> None:
    torch.set_num_threads(2)
    assert torch.get_num_threads() == threads.pool.count == 2
    with pytest.raises(RuntimeError, match="^set_num_threads expects a positive integer$"):
        torch.set_num_threads(0)
