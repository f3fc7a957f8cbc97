"""The same operations beside a neighbour that is now busy, now not: always the same bytes."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.data_files import data
from th_shell.runtime.shell import Engine

_SETUP = data(__file__, "_SETUP")

_JOBS = 22
_PAUSE = 0.02


@contextmanager
def _neighbour(rng: random.Random) -> Iterator[None]:
    """Two processes that compute, and a third that stops and continues them."""
    parent = os.getpid()
    busy = [_forked_loop(parent) for _ in range(os.cpu_count() or 1)]
    switch = os.fork()
    if not switch:
        state = signal.SIGSTOP
        while os.getppid() == parent:
            for pid in busy:
                os.kill(pid, state)
            state = signal.SIGCONT if state == signal.SIGSTOP else signal.SIGSTOP
            time.sleep(rng.expovariate(1 / _PAUSE))
        os._exit(0)
    try:
        yield
    finally:
        for pid in (switch, *busy):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _forked_loop(parent: int) -> int:
    pid = os.fork()
    if not pid:
        while os.getppid() == parent:
            sum(range(100000))
        os._exit(0)
    return pid


def work(seed: str, seconds: float) -> dict[str, int]:
    """Compute the same things again and again, for some seconds."""
    rng = random.Random(seed)
    answers = 0
    end = time.monotonic() + seconds
    with _neighbour(rng):
        engine = Engine()
        engine.run(engine.compile(_SETUP.encode()))
        while not answers or time.monotonic() < end:
            job, threads = rng.randint(1, _JOBS), rng.choice((1, 2))
            for _ in range(rng.randint(2, 8)):
                engine.run(engine.compile(b"check(%d, %d)" % (job, threads)))
                answers += 1
    engine.flush()
    return {"answers": answers}
