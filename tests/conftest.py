"""What all tests share: one Lua engine a process, and what it prints."""

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Generator, Iterator
from functools import cache
from inspect import isfunction
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import settings

from tests import GUARDED
from tests.needs import missing
from th_shell.runtime.compute import luajit
from th_shell.runtime.shell import PROCESSORS, Engine, LuaError

# The tests start hundreds of processes: let these, and pytest, find modules that are compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What programs print must not depend on where the tests run: Sphinx colours what it prints
# where $CI is set, and Python and C keep no text back where $PYTHONUNBUFFERED is.
for variable in ("CI", "FORCE_COLOR", "NO_COLOR", "PYTHONUNBUFFERED"):
    os.environ.pop(variable, None)

# In the background, where Ctrl-C is ignored, tests press it all the same.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine may take its time for any example.
settings.register_profile("th", deadline=None)
settings.load_profile("th")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are processors: many tests wait for other processes."""
    return PROCESSORS + 1


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, obj: object) -> list[pytest.Item] | None:
    """Make no cases of a test that is left out as a whole, unless somebody names one."""
    config = collector.config
    if not isfunction(obj) or any("::" in word for word in config.args):
        return None
    marks = {mark.name for mark in getattr(obj, "pytestmark", ())} & {"slow", "thorough"}
    return [] if any(f"not {name}" in config.option.markexpr for name in marks) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark cases beyond the sample; skip tests of what is otherwise in guard mode (tests/guard)."""
    _mark_beyond_samples(items)
    for item in items if GUARDED else ():
        if mark := item.get_closest_marker("unguarded"):
            item.add_marker(pytest.mark.skip(reason=f"in guard mode {mark.args[0]}"))


def _mark_beyond_samples(items: list[pytest.Item]) -> None:
    """Mark `thorough` the cases of tests marked `sample(count)`, but count of them, spread evenly.

    Which these are depends on a test's cases alone, so that all workers agree.
    """
    cases: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("sample"):
            cases.setdefault((item.path, item.nodeid.partition("[")[0]), []).append(item)
    for several in cases.values():
        (count,) = next(several[0].iter_markers("sample")).args
        kept = {len(several) * i // count for i in range(count)}
        for number, item in enumerate(several):
            if number not in kept:
                item.add_marker("thorough")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs what is not here."""
    names = [name for mark in item.iter_markers("needs") for name in mark.args]
    if absent := missing(names):
        pytest.skip(f"needs {', '.join(absent)}: scripts/check --torch")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let Python's collector pass over the tests themselves: they are many, and all stay."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker tell of a test that passes only its call: one message, where there were five.

    Where somebody asks for times, it tells of what is before and after the call, too.
    """
    options = item.config.option
    if not hasattr(item.config, "workerinput") or options.durations or options.xmlpath:
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


@pytest.fixture(scope="session", autouse=True)
def compiled_once() -> Iterator[None]:
    """Let the many engines that tests make in this process share what compiles from Lua's text."""
    read = luajit._source
    dump = luajit._new_state().eval(b"function(s, n) return string.dump(loadstring(s, n)) end")

    @cache
    def compiled(name: bytes) -> bytes:
        return bytes(dump(read(name), b"=[th] %s.lua" % name))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(luajit, "_source", compiled)
        yield


#: Sets what programs expect.
FRESH = b"torch.setdefaulttensortype('torch.DoubleTensor') torch.manualSeed(1)"


def run_text(engine: Engine, text: str | bytes) -> None:
    """Run a text, as a program."""
    engine.run(engine.compile(text if isinstance(text, bytes) else text.encode(), b"=lua"))


class Lua:
    """Runs Lua in the process's engine and returns what it prints.

    Captures what reaches the file descriptor, so C-level writes count.
    """

    def __init__(self, engine: Engine, capture: pytest.CaptureFixture[str]) -> None:
        self.engine = engine
        self._capture = capture

    def __call__(self, source: str) -> str:
        """Evaluate an input as the prompt does; raises LuaError."""
        self.engine.inputs.evaluate(source.encode(), b"=lua")
        return self.output()

    def run(self, source: str) -> str:
        """Run a chunk as a script does: LuaJIT may compile it; raises LuaError."""
        self.engine.run(self.engine.compile(source.encode(), b"=lua"))
        return self.output()

    def output(self) -> str:
        """What was printed since the last look."""
        self.engine.flush()
        return self._capture.readouterr().out

    def error(self, source: str) -> str:
        """The message of the error that an input raises, without the position in its text."""
        with pytest.raises(LuaError) as caught:
            self(source)
        return re.sub(r"^lua:\d+: ", "", caught.value.message)

    def answer(self, source: str) -> str:
        """What an input prints, or 'error: ' and the message."""
        try:
            return self(source)
        except LuaError as error:
            return f"{self.output()}error: {error.message}\n"

    def answer_anew(self, source: str) -> str:
        """The same, with the default tensor type and a fixed seed."""
        self.engine.run(self.engine.compile(FRESH))
        return self.answer(source)


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The engine: one a process, which operations that tests call by themselves work for, too."""
    engine = Engine()
    with engine._lua.active():
        yield engine


@pytest.fixture(scope="session")
def fresh(engine: Engine) -> Callable[[], None]:
    """Sets the default tensor type and a fixed seed."""
    chunk = engine.compile(FRESH)
    return lambda: engine.run(chunk)


@pytest.fixture
def lua(
    engine: Engine, fresh: Callable[[], None], capfd: pytest.CaptureFixture[str]
) -> Iterator[Lua]:
    """Lua with the default tensor type and a fixed seed."""
    fresh()
    yield Lua(engine, capfd)
    fresh()
