"""Several engines in one process share nothing, and give back what they held."""

import gc
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from tests.data_files import data
from tests.processes import run_python
from th_shell.runtime.compute import blas_threads, thread_pool
from th_shell.runtime.compute.generator import Generator
from th_shell.runtime.core import state
from th_shell.runtime.shell import Engine, LuaError
from th_shell.torch.base import quiet

TOP = Path(__file__).parents[3]


def quiet_sum() -> object:
    """A sum that overflows, computed as for PyTorch's face."""
    return quiet.quietly.run(np.add, np.float32(3e38), np.float32(3e38))


@pytest.fixture
def two() -> Iterator[tuple[Engine, Engine]]:
    """Two engines that are closed afterwards."""
    with Engine() as first, Engine() as second:
        yield first, second


def answer(engine: Engine, expression: str, capfd: pytest.CaptureFixture[str]) -> str:
    """What an engine prints for an expression."""
    engine.inputs.evaluate(expression.encode())
    engine.flush()
    return capfd.readouterr().out.strip()


def test_default_type_seed_and_threads_are_each_engines_own(
    two: tuple[Engine, Engine], capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = two
    first.inputs.evaluate(
        b"torch.setdefaulttensortype('torch.FloatTensor'); torch.setnumthreads(1);"
    )
    second.inputs.evaluate(b"torch.setnumthreads(3); torch.manualSeed(7);")
    first.inputs.evaluate(b"torch.manualSeed(7);")
    alternate = [answer(engine, "torch.random(1e6)", capfd) for _ in range(4) for engine in two]
    assert alternate[::2] == alternate[1::2] and len(set(alternate)) == 4
    assert answer(first, "torch.type(torch.ones(2))", capfd) == "torch.FloatTensor"
    assert answer(second, "torch.type(torch.ones(2))", capfd) == "torch.DoubleTensor"
    assert answer(first, "torch.type(torch.randn(200000):sort())", capfd) == "torch.FloatTensor"
    assert [answer(engine, "torch.getnumthreads()", capfd) for engine in two] == ["1", "3"]


def test_an_engine_within_a_call_of_another(
    two: tuple[Engine, Engine], capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = two
    first.inputs.evaluate(b"torch.setdefaulttensortype('torch.IntTensor');")
    use = b"local x = torch.randperm(3000) x:sort() print(x:type(), x:sum());"
    first.inputs.evaluate(
        b"torch.randperm(3000):sort()[7]", before_values=lambda: second.inputs.evaluate(use)
    )
    first.flush()
    assert capfd.readouterr().out == "torch.DoubleTensor\t4501500\t\n7\t\n"


_WORK = data(__file__, "_WORK").encode()


@pytest.mark.thorough
def test_engines_in_threads(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)

    def run(engine: Engine, kind: str, seed: int) -> None:
        engine.inputs.evaluate(f"torch.setdefaulttensortype('torch.{kind}Tensor');".encode())
        engine.inputs.evaluate(b"torch.setnumthreads(%d);" % (1 + seed))
        source = _WORK.replace(b"SEED", b"%d" % seed)
        try:
            engine.run(engine.compile(source))
        except LuaError as error:
            failures.append(error.message)

    failures: list[str] = []
    jobs = [("Double", 0), ("Float", 1), ("Double", 2)]
    alone = []
    for kind, seed in jobs:
        with Engine() as engine:
            run(engine, kind, seed)
            alone.append(answer(engine, "result", capfd))
    engines = [Engine() for _ in jobs]
    threads = [
        threading.Thread(target=run, args=(engine, *job))
        for engine, job in zip(engines, jobs, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [answer(engine, "result", capfd) for engine in engines] == alone
    assert len(set(alone)) == 3
    for engine in engines:
        engine.close()


def test_engines_take_turns_with_the_threads_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_threads, "PROCESSORS", 4)
    np.ones((2, 2)) @ np.ones((2, 2))
    before = [library.num_threads for library in blas_threads._libraries()]
    begun, go_on = threading.Event(), threading.Event()
    seen: list[int] = []
    with blas_threads.many_threads(4):  # this thread lives on, as one that has set numbers
        pass

    def first() -> None:
        with blas_threads.many_threads(2):
            assert blas_threads._libraries()[0].num_threads == 2
            begun.set()
            go_on.wait(10)

    def second() -> None:
        with blas_threads.many_threads(3):
            seen.append(blas_threads._libraries()[0].num_threads)

    threads = [threading.Thread(target=run) for run in (first, second)]
    threads[0].start()
    assert begun.wait(10)
    threads[1].start()
    threads[1].join(0.05)
    assert seen == []
    go_on.set()
    for thread in threads:
        thread.join()
    assert seen == [3]
    assert [library.num_threads for library in blas_threads._libraries()] == before


_THREADS_OF_BLAS = data(__file__, "_THREADS_OF_BLAS")


@pytest.mark.parametrize("before", ["import numpy", "import th_shell; th_shell.Engine().run('')"])
def test_blas_has_one_thread_in_engines_and_the_programs_number_outside(before: str) -> None:
    program = f"{before}\n{_THREADS_OF_BLAS}"
    run = run_python("-c", program, env={**os.environ, "OPENBLAS_NUM_THREADS": "2"})
    if run.stdout.startswith("no"):
        pytest.skip("numpy has no OpenBLAS")
    assert (run.stdout, run.stderr) == ("1 2 1 1 2 1 2\n", "")


def test_a_fork_waits_for_the_threads_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_threads, "PROCESSORS", 2)
    begun, ended = threading.Event(), threading.Event()

    def compute() -> None:
        with blas_threads.many_threads(2):
            begun.set()
            time.sleep(0.2)
            ended.set()

    thread = threading.Thread(target=compute)
    thread.start()
    assert begun.wait(10)
    child = os.fork()
    if child == 0:
        with blas_threads.many_threads(2):  # a child may compute, too
            os._exit(0 if ended.is_set() else 1)
    assert os.waitpid(child, 0)[1] == 0
    thread.join()


def workers() -> int:
    """The threads of all engines in this process."""
    return sum(thread.name == "torch" for thread in threading.enumerate())


def test_a_closed_engine_has_no_threads_and_runs_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(thread_pool, "free_threads", lambda count: count)
    before = workers()
    engine = Engine()
    engine.inputs.evaluate(b"torch.setnumthreads(3) x = torch.rand(2e5):add(1)")
    assert workers() == before + 2
    engine.close()
    engine.close()
    assert workers() == before
    with pytest.raises(LuaError, match="^the engine is closed$"):
        engine.inputs.evaluate(b"x")


def test_an_engine_ends_with_its_last_reference() -> None:
    engine = Engine()
    engine.inputs.evaluate(b"x = torch.rand(1000):sort()")
    gone = weakref.ref(engine)
    del engine
    gc.collect()
    assert gone() is None


def test_numpys_settings_stay_the_programs() -> None:
    with np.errstate(all="raise"), Engine() as engine:
        engine.inputs.evaluate(b"x = torch.zeros(3):cdiv(torch.zeros(3))")
        with pytest.raises(FloatingPointError):
            np.log(np.zeros(2))


_MANY = data(__file__, "_MANY")


@pytest.mark.thorough
@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="the system tells no memory")
@pytest.mark.unguarded("memory is used up sooner")
def test_closed_engines_give_their_memory_back() -> None:
    printed = run_python("-c", _MANY, cwd=TOP, timeout=120)
    assert printed.stderr == ""
    grown, threads = map(int, printed.stdout.split())
    assert grown < 24 and threads == 1


@pytest.mark.parametrize(
    "module, called, use",
    [(state, "State", lambda: state.current(Generator)), (quiet, "_make_calm", quiet_sum)],
)
def test_an_engine_may_be_collected_while_a_thread_is_set_up(
    module: ModuleType, called: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a thread makes at its first use allocates, and that may start Python's collector."""
    engine = Engine()
    engine.inputs.evaluate(b"x = torch.ones(3)")
    make, closed = getattr(module, called), list[bool]()

    def collect_and_make() -> object:
        if not closed:
            engine.close()
            quiet_sum()
            closed.append(True)
        return make()

    monkeypatch.setattr(module, called, collect_and_make)
    with ThreadPoolExecutor(1) as new_thread:
        new_thread.submit(use).result()
    assert closed
