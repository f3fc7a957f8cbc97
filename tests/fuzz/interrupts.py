"""Ctrl-C at random times while inputs run: the engine stops, keeps its values, and goes on.

The process under test runs inputs as a prompt does; another one sends it the signals.
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from th_shell.runtime.shell import Engine, Interrupted, LuaError

_SETUP = """
kept = { 5, 'five', torch.range(1, 1000) }
x, y = torch.ones(300, 300), torch.randn(100000)
names = {}
for i = 1, 200 do names[i] = 'name ' .. i end
"""

#: True where nothing was lost.
_CHECK = """assert(kept[1] == 5 and kept[2] == 'five' and kept[3]:sum() == 500500 and #names == 200
  and x:fill(1):sum() == 90000 and x:t():narrow(1, 2, 3):sum() == 900
  and torch.deserialize(torch.serialize(kept))[3][7] == 7);"""

#: Inputs that take some milliseconds each, in all parts of the engine.
_INPUTS = (
    "for i = 1, 3e5 do kept[1] = 5 end",
    "local t = {} for i = 1, 5e4 do t[i] = {i} end",
    "for i = 1, 2000 do x:add(1) end",
    "for i = 1, 200 do local z = x:t() + x end",
    "for i = 1, 2000 do local z = torch.Tensor(10):fill(i):narrow(1, 2, 3):storage() end",
    "for i = 1, 20 do y:sort() end",
    "for i = 1, 3 do torch.svd(x:narrow(1, 1, 60)) end",
    "for i = 1, 5 do torch.inverse(torch.randn(120, 120)) end",
    "for i = 1, 10 do torch.mm(x, x) end",
    "for i = 1, 10 do torch.randn(200000) end",
    "for i = 1, 5 do torch.conv2(x, torch.ones(5, 5)) end",
    "for i = 1, 5 do torch.randperm(100000) end",
    "x:apply(function(v) return v + 1 end)",
    "x:clone():apply(function(v) for i = 1, 10 do v = v + 1 end return v end)",
    "x:map(x:clone(), function(a, b) return a + b end)",
    "for i = 1, 5 do tostring(x) end",
    "for i = 1, 3 do x:totable() end",
    "for i = 1, 20 do torch.deserialize(torch.serialize(x)) end",
    "for i = 1, 3 do torch.deserialize(torch.serialize(x, 'ascii'), 'ascii') end",
    "torch.save('file', x) torch.load('file')",
    "for i = 1, 3000 do pcall(error, 'x') end",
    "for i = 1, 500 do pcall(x.add, x, 'x') end",
    "coroutine.wrap(function() for i = 1, 1e5 do kept[1] = 5 end end)()",
    "table.sort(names, function(a, b) return #a > #b end)",
    "string.rep('x', 1000000):gsub('x', 'y')",
    "for i = 1, 10 do collectgarbage() end",
    "x:index(1, torch.randperm(300):long())",
    "for i = 1, 10 do y:gt(0) y:cumsum() y:median() y:topk(10) end",
    "local f = torch.MemoryFile() for i = 1, 2000 do f:writeDouble(i) end",
    "torch.multinomial(torch.rand(100), 10000, true)",
)


@contextmanager
def _signals(rng: random.Random) -> Iterator[None]:
    """Another process that sends this one SIGINT, at random times."""
    target = os.getpid()
    sender = os.fork()
    if not sender:
        while os.getppid() == target:
            time.sleep(rng.expovariate(1 / rng.choice((0.001, 0.005, 0.03))))
            os.kill(target, signal.SIGINT)
        os._exit(0)
    try:
        yield
    finally:
        os.kill(sender, signal.SIGKILL)
        os.waitpid(sender, 0)


def work(seed: str, seconds: float) -> dict[str, int]:
    """Run inputs that are interrupted, for some seconds."""
    signal.signal(signal.SIGINT, lambda *_: None)  # between inputs
    rng = random.Random(seed)
    inputs = stopped = 0
    end = time.monotonic() + seconds
    with _signals(rng):  # before there are threads
        engine = Engine()
        engine.inputs.evaluate(_SETUP.encode())
        while time.monotonic() < end:
            source = rng.choice(_INPUTS)
            inputs += 1
            stopped += _interrupted(engine, source)
            _check(engine, source)
    return {"inputs": inputs, "stopped": stopped}


def _interrupted(engine: Engine, source: str) -> bool:
    try:
        with engine.interruptible():
            engine.inputs.evaluate(source.encode() + b";")
    except Interrupted:
        return True
    except LuaError as error:
        print(f"FINDING {source!r} raised {error.message!r} {error.traceback!r}", flush=True)
    except BaseException as error:
        print(f"FINDING {source!r} let {type(error).__name__} out: {error}", flush=True)
    return False


def _check(engine: Engine, source: str) -> None:
    try:
        engine.inputs.evaluate(_CHECK.encode())
    except BaseException as error:
        print(f"FINDING after {source!r} was stopped: {error}", flush=True)
        engine.inputs.evaluate(_SETUP.encode())
