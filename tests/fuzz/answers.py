"""The same operations beside a neighbour that is now busy, now not: always the same bytes."""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from th_shell.runtime.shell import Engine

_SETUP = """
local ffi = require 'ffi'
torch.manualSeed(1)
local function hash(x)
  x = x:contiguous()
  local bytes = x:nElement() * x:elementSize()
  local p, h = ffi.cast('const uint32_t *', torch.data(x)), 2166136261
  for i = 0, bytes / 4 - 1 do h = bit.bxor(bit.rol(h, 5), p[i]) end
  return bit.tohex(h)
end
local a, b, c = torch.randn(513, 511), torch.randn(511), torch.randn(513)
local s, v = torch.randn(300, 300), torch.randn(300003)
local big = torch.randn(512, 512)
local r = torch.randn(300, 3)
jobs = {
  { 'mv', function() return torch.mv(a, b) end },
  { 'mv of a transposed matrix', function() return torch.mv(a:t(), c) end },
  { 'mv of floats', function() return torch.mv(a:float(), b:float()) end },
  { 'addmv', function() return c:clone():addmv(0.3, 0.7, a, b) end },
  { 'addmv of a row', function() return torch.mv(v:view(1, -1), v) end },
  { 'inverse', function() return torch.inverse(s) end },
  { 'inverse of 512', function() return torch.inverse(big) end },
  { 'gesv', function() return (torch.gesv(r, s)) end },
  { 'mm', function() return torch.mm(s, s) end },
  { 'mm of floats', function() return torch.mm(s:float(), s:float()) end },
  { 'sum', function() return torch.Tensor{ v:sum(), v:mean(), v:std(), v:norm() } end },
  { 'sum along rows', function() return a:sum(1) end },
  { 'dot', function() return torch.Tensor{ v:dot(v), v:dist(v * 2) } end },
  { 'conv2', function() return torch.conv2(s, s:narrow(1, 1, 7):narrow(2, 1, 5)) end },
  { 'sort', function() return (torch.sort(v)) end },
  { 'svd', function() return (torch.svd(s:narrow(1, 1, 90))) end },
  { 'symeig', function() return (torch.symeig(s:narrow(2, 1, 90):narrow(1, 1, 90))) end },
  { 'exp', function() return torch.exp(v) end },
  { 'ger', function() return torch.ger(c, b) end },
  { 'potrf', function() return torch.potrf(torch.mm(s, s:t()):add(torch.eye(300) * 300)) end },
  { 'qr', function() return (torch.qr(s:narrow(2, 1, 100))) end },
  { 'random', function() torch.manualSeed(5) return torch.randn(100001) end },
}
local first = {}
function check(i, threads)
  torch.setnumthreads(threads)
  local name, f = unpack(jobs[i])
  local now = hash(f())
  local key = name .. ', ' .. threads .. ' threads'
  if not first[key] then
    first[key] = now
    print('ANSWER ' .. key .. ': ' .. now)
  elseif first[key] ~= now then
    print('FINDING another answer: ' .. key)
  end
end
"""

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
