"""A process that saves over a good file is killed, or has no room: the file stays good."""

import os
import random
import resource
import signal
import time

from tests.data_files import data
from th_shell.runtime.shell import Engine, LuaError

_SAVE = data(__file__, "_SAVE")

_LOAD = data(__file__, "_LOAD")

_SIZES = (10, 1000, 20000, 200000)


def work(seed: str, seconds: float) -> dict[str, int]:
    """Kill savers, for some seconds."""
    rng = random.Random(seed)
    engine = Engine()
    save, load = engine.compile(_SAVE.encode()), engine.compile(_LOAD.encode())
    end, rounds, from_ = time.monotonic() + seconds, 0, 1
    while time.monotonic() < end:
        mode, size = rng.choice((b"binary", b"binary", b"ascii")), rng.choice(_SIZES)
        room = rng.choice((None, None, None, rng.randint(1, size * 8)))
        engine.run(engine.compile(b"torch.save('good.t7', {1, torch.ones(9)}, '%s')" % mode))
        saver = os.fork()
        if not saver:
            _save(engine, save, (b"%d" % from_, b"%d" % size, mode), room)
        time.sleep(rng.uniform(0.005, 0.08))
        os.kill(saver, signal.SIGKILL)
        os.waitpid(saver, 0)
        try:
            engine.run(load, mode)
        except LuaError as error:
            how = "there was no room" if room is not None else "its saver was killed"
            print(f"FINDING a saved file of {size} ({mode.decode()}) is lost: {how}: {error}")
            from_ = 1
        rounds += 1
        from_ += 1
        _clear()
    return {"rounds": rounds}


def _save(engine: Engine, save: object, args: tuple[bytes, ...], room: int | None) -> None:
    """Save until killed, or until there is no room; then wait for the end."""
    if room is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
    try:
        engine.run(save, *args)
    except LuaError:
        pass
    time.sleep(60)
    os._exit(0)


def _clear() -> None:
    """Remove what killed savers left beside the file."""
    for name in os.listdir():
        if name.startswith((".good", "good.t7.", "tmp")):
            os.unlink(name)
