"""An engine whose Lua state is made later, by the first use or by another thread."""

import os
import threading

import pytest

from th_shell.runtime.shell import Engine, LuaError


def test_the_first_use_starts_it() -> None:
    prepared: list[Engine] = []
    engine = Engine(prepared.append)
    assert prepared == []
    engine.inputs.check_syntax(b"x = 1")
    engine.start()
    assert prepared == [engine]


def test_it_is_prepared_before_others_use_it() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def prepare(engine: Engine) -> None:
        begun.set()
        assert go_on.wait(10)
        engine.run(engine.compile(b"prepared = true"))

    engine = Engine(prepare)
    thread = threading.Thread(target=engine.start)
    thread.start()
    assert begun.wait(10)
    threading.Timer(0.1, go_on.set).start()
    engine.run(engine.compile(b"assert(prepared)"))
    thread.join()


def test_it_runs_where_it_was_not_started() -> None:
    engine = Engine(lambda engine: None)
    thread = threading.Thread(target=engine.start)
    thread.start()
    thread.join()
    engine.run(engine.compile(b"assert(torch.ones(2, 2):sum() == 4)"))


def test_an_error_is_that_of_each_use(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: bytes) -> bytes:
        raise MemoryError

    engine = Engine(lambda engine: None)
    with monkeypatch.context() as patched:
        patched.setenv("XDG_CACHE_HOME", os.devnull)  # without bytecode
        patched.setattr("th_shell.runtime.compute.luajit._source", fail)
        for _ in range(2):
            with pytest.raises(LuaError, match="^not enough memory$"):
                engine.variables.names("")
    assert engine.variables.names("")["torch"] == "table"


def test_it_may_be_closed_before() -> None:
    engine = Engine(lambda engine: None)
    engine.close()
    with pytest.raises(LuaError, match="^the engine is closed$"):
        engine.variables.names("")
