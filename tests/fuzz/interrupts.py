"""Ctrl-C at random times while inputs run: the engine stops, keeps its values, and goes on.

The process under test runs inputs as a prompt does; another one sends it the signals.
"""

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.data_files import data
from th_shell.runtime.shell import Engine, Interrupted, LuaError

_SETUP = data(__file__, "_SETUP")

#: True where nothing was lost.
_CHECK = """assert(kept[1] == 5 and kept[2] == 'five' and kept[3]:sum() == 500500 and #names == 200
  and x:fill(1):sum() == 90000 and x:t():narrow(1, 2, 3):sum() == 900
  and torch.deserialize(torch.serialize(kept))[3][7] == 7);"""

#: Inputs that take some milliseconds each, in all parts of the engine.
_INPUTS = tuple(data(__file__, "_INPUTS"))


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
    with _signals(rng):  # before there are threads
        engine = Engine()
        engine.inputs.evaluate(_SETUP.encode())
        end = time.monotonic() + seconds
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
