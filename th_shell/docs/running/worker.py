"""The engine for pages of Torch7: answers the protocol's requests by this project's runtime."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from th_shell.docs.running import protocol
from th_shell.packages.place import search_users_tree
from th_shell.runtime.shell import Engine, Interrupted, LuaError

_BEGIN = Path(__file__).with_name("begin.lua")
#: Code such as most pages have: its first run is slow, since it loads modules.
_REHEARSAL = """\
local x = torch.rand(3)
tostring(x + 1)
tostring(torch.Tensor(2, 2):fill(1):t())
x[1] = 2
pcall(error, 'x')
"""


_SHORT = 99  # bytes: blanks around `nil`


def new_engine() -> Engine:
    """Return an engine for pages, which finds the user's packages."""
    engine = Engine()
    search_users_tree(engine)
    return engine


def rehearse(engine: Engine) -> None:
    """Do what most pages do, so that all forks of this process have loaded it.

    Leaves the engine unchanged, except for the seed, which `serve` sets anew, and the buffer of
    files.
    """
    engine.run(engine.compile(_REHEARSAL.encode()))


def serve(engine: Engine) -> None:
    """Answer requests until there are no more."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    requests = open(protocol.REQUESTS, "rb", closefd=False)
    worker, process = _Worker(engine), os.getpid()
    with suppress(OSError):  # the page has closed these files
        while request := protocol.read_message(requests):
            with engine.interruptible():
                for one in protocol.single_requests(request):
                    reply = worker.answer(one)
                    if os.getpid() != process:  # a copy of this process, which the page has made
                        os._exit(0)
                    protocol.write_message(protocol.REPLIES, reply)
                    if reply.name != "done":
                        break


class _Worker:
    """Answers requests by methods of their names: `do_run` answers `run`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._printed = 0  # bytes, before the last reply

    def answer(self, request: protocol.Message) -> protocol.Message:
        """Do what a request asks for, flush what it prints, and return the reply."""
        is_shown = request.name == "shown"
        act = getattr(self, f"do_{'input' if is_shown else request.name}", None)
        error: bytes | None = None
        try:
            if act:
                act(request.body)
        except Interrupted:
            error = b"interrupted!"
        except LuaError as failure:
            error = failure.message.encode("utf-8", "surrogateescape")
        self._engine.flush()
        if error is not None:
            return protocol.Message("error", error)
        before, self._printed = self._printed, os.fstat(1).st_size
        is_silent = is_shown and self._is_nothing(before)
        return protocol.Message("silent" if is_silent else "done", b"%d" % self._printed)

    def _is_nothing(self, start: int) -> bool:
        """Tell whether nothing was printed from a position on, or nil."""
        size = self._printed - start
        return size < _SHORT and os.pread(1, max(size, 0), start).strip() in (b"", b"nil")

    def do_begin(self, body: bytes) -> None:
        """Begin a run with a seed, a fill of memory, a clock and an order of fields."""
        numbers = {name: int(number) for name, number in map(str.split, body.decode().splitlines())}
        self._engine.set_fill_pattern(numbers.get("fill"))
        self._engine.set_seed(numbers.get("seed", 1))
        self.do_run(b"io.stdout:setvbuf('no') arg = {[0] = 'th'}")
        self._engine.put_clocks_forward(numbers.get("clock", 0), numbers.get("step", 0))
        self._engine.run(self._engine.compile(_BEGIN.read_bytes()), body + b"forward 1\n")

    def do_block(self, _: bytes) -> None:
        self._engine.set_default_type("torch.DoubleTensor")

    def do_seed(self, number: bytes) -> None:
        self.do_run(b"math.randomseed(%d) torch.manualSeed(%d)" % (int(number), int(number)))

    def do_run(self, source: bytes) -> None:
        self._engine.run(self._engine.compile(source))

    def do_input(self, source: bytes) -> None:
        self._engine.inputs.evaluate(source, before_values=self._before_values)

    def _before_values(self) -> None:
        """Tell th-docs that the values come next, behind what is printed so far."""
        self._engine.flush()
        printed = b"%d" % os.fstat(1).st_size
        protocol.write_message(protocol.REPLIES, protocol.Message("values", printed))
