"""Threads of a program that compute at the same time, and processes that it forks meanwhile."""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest

import th_shell.torch as torch
from th_shell.runtime.compute import thread_pool
from th_shell.runtime.compute.thread_pool import LARGE
from th_shell.torch.tensors import large_arrays

_MANY = 4 * LARGE


@pytest.fixture(autouse=True)
def switching() -> Iterator[None]:
    """Python's threads take turns often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def in_threads(count: int, work: Callable[[], None]) -> None:
    """Do work in several threads at once. Raises the first error."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def test_threads_that_begin_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    monkeypatch.setattr(large_arrays, "threads", large_arrays._Threads())
    large_arrays.threads.pool.count = 3

    def work() -> None:
        assert bool((torch.ones(_MANY) + 1 == 2).all())

    in_threads(8, work)
    pool = large_arrays.threads.pool
    assert len(pool._threads) == 2
    pool.close()


def test_storage_that_another_thread_resizes() -> None:
    tensor = torch.ones(_MANY)

    def work() -> None:
        for number in range(40):
            try:
                tensor.add_(1)
                tensor.untyped_storage().resize_(4 * (number % 2 * _MANY))
                tensor.resize_(1).resize_(_MANY)
            except RuntimeError as error:
                assert "setStorage: sizes" in str(error)

    in_threads(3, work)


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_process_that_is_forked_while_another_thread_computes() -> None:
    ending = threading.Event()
    tensor = torch.ones(_MANY)

    def work() -> None:
        while not ending.is_set():
            _ = tensor + 1
            torch.randn(1000)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            time.sleep(0.01)
            assert _answer_of_child(tensor) == 0
    finally:
        ending.set()
        thread.join()


def _answer_of_child(tensor: torch.Tensor) -> int:
    child = os.fork()
    if not child:
        is_right = bool((tensor + 1 == 2).all()) and torch.randn(1000).shape == (1000,)
        os._exit(0 if is_right else 1)
    for _ in range(2000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.005)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -1
