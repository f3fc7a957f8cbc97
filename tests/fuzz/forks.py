"""Forks of a program that embeds the engine, while its threads are busy or about to sleep.

A child computes what its parent does, and ends in time; so does its child.
"""

from __future__ import annotations

import os
import random
import signal
import time

from runtime import Engine

__all__ = ["work"]

_SETUP = """
torch.setnumthreads(2)
torch.manualSeed(1)
a, b, c = torch.randn(400, 400), torch.randn(400), torch.randn(500000)
s = torch.randn(90, 90)
jobs = {
  function() return c + c end, function() return c:clone():exp() end,
  function() return torch.mv(a, b) end, function() return torch.mm(a, a) end,
  function() return (torch.svd(s)) end, function() return torch.inverse(s) end,
  function() return (torch.sort(c)) end, function() return torch.conv2(a, s:narrow(1, 1, 5)) end,
  function() return a:t():clone() end, function() return torch.randn(200000) end,
}
function run(i)
  torch.manualSeed(i)
  return jobs[i]()
end
expected = {}
for i = 1, #jobs do expected[i] = run(i):clone() end
function check(i)
  local distance = (run(i) - expected[i]):abs():max()
  if not (distance < 1e-6) then error('job ' .. i .. ' is off by ' .. distance) end
end
"""

_JOBS = 10
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
        _fork(engine, rng, rng.choice((0, 0, 1, 2)))
        forks += 1
    return {"forks": forks}


def _fork(engine: Engine, rng: random.Random, depth: int) -> None:
    jobs = [rng.randint(1, _JOBS) for _ in range(3)]
    child = os.fork()
    if not child:
        status = 3
        try:
            status = _child(engine, rng, jobs, depth)
        finally:
            os._exit(status)
    status = _wait(child, _SECONDS * (depth + 1))
    if status != 0:
        print(f"FINDING a forked child that runs jobs {jobs} {_ended(status)}", flush=True)


def _child(engine: Engine, rng: random.Random, jobs: list[int], depth: int) -> int:
    for job in jobs:
        engine.run(engine.compile(b"check(%d)" % job))
    if depth:
        _fork(engine, rng, depth - 1)
    return 0


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
