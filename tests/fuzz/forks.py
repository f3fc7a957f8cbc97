"""Forks of a program that embeds the engine, while its threads are busy or about to sleep.

A child computes what its parent does, and ends in time; so does its child.
"""

import os
import random
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable

from tests.data_files import data
from th_shell.runtime.shell import Engine

_SETUP = data(__file__, "_SETUP")

#: For a child's own engine.
_FRESH = data(__file__, "_FRESH").encode()

_JOBS = 10
_MOST = 800  # megabytes that a child may hold
_SECONDS = 20  # for a child


def work(seed: str, seconds: float) -> dict[str, int]:
    """Fork after large operations, for some seconds."""
    rng = random.Random(seed)
    engine = Engine()
    engine.run(engine.compile(_SETUP.encode()))
    forks = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = rng.randint(1, _JOBS)
        engine.run(engine.compile(b"for i = 1, %d do run(%d) end" % (rng.randint(1, 3), job)))
        if rng.random() < 0.5:
            time.sleep(rng.expovariate(1000))
        if rng.random() < 0.3:
            _fork_beside(engine, rng, job)
        else:
            _fork(engine, rng, rng.choice((0, 0, 1, 2, 8)))
        forks += 1
    return {"forks": forks}


def _fork_beside(engine: Engine, rng: random.Random, job: int) -> None:
    """Fork while another thread computes; the child makes an engine of its own."""
    source = b"for i = 1, 5 do run(%d) end" % job
    thread = threading.Thread(target=lambda: engine.run(engine.compile(source)))
    thread.start()
    time.sleep(rng.uniform(0, 0.02))
    _forked(_fresh, f"while another thread runs job {job}", _SECONDS)
    thread.join()


def _fresh() -> None:
    engine = Engine()
    engine.run(engine.compile(_FRESH))


def _fork(engine: Engine, rng: random.Random, depth: int) -> None:
    """Fork, and let the child work with the engine that it has from its parent, and fork."""
    jobs = [rng.randint(1, _JOBS) for _ in range(3)]

    def work() -> None:
        for job in jobs:
            engine.run(engine.compile(b"check(%d)" % job))
        if (held := _held()) > _MOST:
            print(f"FINDING a forked child holds much: {held} MB", flush=True)
        if depth:
            _fork(engine, rng, depth - 1)

    _forked(work, f"that runs jobs {jobs}", _SECONDS * (depth + 1))


def _held() -> int:
    """Megabytes of memory that this process holds."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def _forked(work: Callable[[], None], what: str, seconds: float) -> None:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        status = 3
        try:
            work()
            status = 0
        except BaseException as error:
            print(f"FINDING a forked child {what} raises {error}", flush=True)
        finally:
            os._exit(status)
    status = _wait(child, seconds)
    if status != 0:
        print(f"FINDING a forked child {what} {_ended(status)}", flush=True)


def _wait(child: int, seconds: float) -> int | None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return status
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _ended(status: int | None) -> str:
    if status is None:
        return "hangs"
    if os.WIFSIGNALED(status):
        return f"died of {signal.Signals(os.WTERMSIG(status)).name}"
    return "fails"
