"""Random numbers: the reference's streams to the last bit, however they are asked for."""

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import Lua
from tests.transcripts import Entry, cases, wrong
from th_shell.runtime.compute import libm
from th_shell.runtime.compute.generator import STATE_SIZE, Generator
from th_shell.runtime.compute.thread_pool import LARGE, ThreadPool
from th_shell.runtime.core.dtypes import DOUBLE, FLOAT, INT, DType
from th_shell.runtime.core.state import current
from th_shell.runtime.core.tensor import TENSOR_CLASSES, Tensor
from th_shell.runtime.ops import random

SEEDS = st.integers(0, 2**64 - 1)
#: Draws of one number, and what draws as many as are asked for.
DRAWS: dict[str, tuple[Callable[[Generator], float], Callable[[Generator, Tensor], None]]] = {
    "uniform": (
        lambda g: random.uniform_number(g, -1, 3),
        lambda g, r: random.uniform(r, g, -1, 3),
    ),
    "normal": (
        lambda g: random.normal_number(g, 2, 0.5),
        lambda g, r: random.normal(r, g, 2, 0.5),
    ),
    "exponential": (
        lambda g: random.exponential_number(g, 0.7),
        lambda g, r: random.exponential(r, g, 0.7),
    ),
    "cauchy": (
        lambda g: random.cauchy_number(g, 1, 2),
        lambda g, r: random.cauchy(r, g, 1, 2),
    ),
    "logNormal": (
        lambda g: random.log_normal_number(g, 0.1, 0.2),
        lambda g, r: random.log_normal(r, g, 0.1, 0.2),
    ),
    "geometric": (
        lambda g: random.geometric_number(g, 0.3),
        lambda g, r: random.geometric(r, g, 0.3),
    ),
    "bernoulli": (
        lambda g: random.bernoulli_number(g, 0.4),
        lambda g, r: random.bernoulli(r, g, 0.4),
    ),
    "random up to": (
        lambda g: random.random_up_to_number(g, 1000),
        lambda g, r: random.random_up_to(r, g, 1000),
    ),
    "random between": (
        lambda g: random.random_between_number(g, 5, 9),
        lambda g, r: random.random_between(r, g, 5, 9),
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize("programs", cases("random"))
def test_as_the_reference(lua: Lua, programs: list[Entry]) -> None:
    assert wrong(programs, lua.answer_anew) == ""


def generator(seed: int = 1) -> Generator:
    made = Generator()
    made.manual_seed(seed)
    return made


def new(count: int, dtype: DType = DOUBLE) -> Tensor:
    return TENSOR_CLASSES[dtype.index].new((count,) if count else ())


@pytest.mark.thorough
@given(SEEDS, st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), st.integers(0, 9))))
def test_tensors_take_what_single_numbers_would(seed: int, calls: list[tuple[str, int]]) -> None:
    one, many = generator(seed), generator(seed)
    for name, count in calls:
        single, fill = DRAWS[name]
        r = new(count)
        fill(many, r)
        assert r.array.tolist() == [single(one) for _ in range(count)]
    assert one.state == many.state


@pytest.mark.thorough
@given(SEEDS, st.lists(st.tuples(st.sampled_from(sorted(DRAWS)), st.integers(0, 9))))
def test_states_go_on_where_they_were_taken(seed: int, calls: list[tuple[str, int]]) -> None:
    here, there = generator(seed), generator()
    for name, count in calls:
        there.state = here.state
        assert there.state == here.state and len(here.state) == STATE_SIZE
        for g in (here, there):
            DRAWS[name][1](g, new(count))
        assert there.state == here.state


@pytest.mark.sample(18)
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("dtype", [DOUBLE, FLOAT, INT], ids=lambda dtype: dtype.name)
@pytest.mark.parametrize("kept", [False, True], ids=["even", "odd"])
def test_blocks_and_threads_do_not_show(
    monkeypatch: pytest.MonkeyPatch, name: str, dtype: DType, kept: bool
) -> None:
    answers = []
    for count in (1, 2):
        monkeypatch.setattr(current(ThreadPool), "count", count)
        monkeypatch.setattr(random, "LARGE", count * LARGE // 2)
        g, r = generator(), new(LARGE + 5_001, dtype)
        if kept:
            g.normal_number()
        DRAWS[name][1](g, r)
        answers.append((r.array.tobytes(), g.state))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", DRAWS)
def test_elements_of_any_layout_are_filled_in_order(name: str) -> None:
    flat = new(60)
    DRAWS[name][1](generator(), flat)
    wide = TENSOR_CLASSES[DOUBLE.index].new((6, 20))
    wide.array[...] = -7
    view = wide.narrow(1, 3, 10).transpose(0, 1)
    DRAWS[name][1](generator(), view)
    assert view.array.reshape(-1).tolist() == flat.array.tolist()
    assert (wide.array[:, [0, 1, 2, *range(13, 20)]] == -7).all()


@pytest.mark.parametrize("name", ["log", "exp", "tan"])
def test_functions_are_the_c_librarys(name: str) -> None:
    x = generator().uniform(20_000) + 2.0**-40
    exact = [getattr(math, name)(value) for value in x.tolist()]
    assert getattr(libm, name)(x).tolist() == exact


def test_normal_numbers_are_made_of_the_c_librarys_sine_and_cosine() -> None:
    numbers, draws = generator().normal(20_000), generator().uniform(20_000)
    for at in range(0, 20_000, 2):
        x, y = draws[at : at + 2].tolist()
        radius = math.sqrt(-2 * math.log(1 - y))
        pair = [radius * math.cos(2 * math.pi * x), radius * math.sin(2 * math.pi * x)]
        assert numbers[at : at + 2].tolist() == pair


def test_bad_states_change_nothing() -> None:
    g = generator()
    before = g.state
    for at, value in ((8, 0), (8, 626), (12, 0), (16, 626)):
        state = np.frombuffer(before, np.uint8).copy()
        state[at : at + 4].view(np.int32)[0] = value
        with pytest.raises(ValueError, match="not a state"):
            g.state = state.tobytes()
    assert g.state == before


def test_unseeded_generators_differ() -> None:
    assert Generator().word() != Generator().word() or Generator().word() != Generator().word()
    assert 0 <= Generator().seed < 2**53


@pytest.mark.thorough
def test_numpy_random_is_imported_with_the_first_draw() -> None:
    early = "import numpy, sys; sys.exit('numpy.random' in sys.modules)"
    if subprocess.run([sys.executable, "-c", early]).returncode:
        pytest.skip("this numpy imports numpy.random by itself")
    program = (
        "import sys; from th_shell.runtime.shell import Engine; engine = Engine();"
        "engine.inputs.evaluate(b'torch.manualSeed(1)'); assert 'numpy.random' not in sys.modules;"
        "engine.inputs.evaluate(b'torch.random();'); assert 'numpy.random' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "output", ["torch.LongTensor(1000, 700)", "torch.LongTensor(700, 1000):t()"]
)
def test_alias_draws_in_pieces(lua: Lua, output: str) -> None:
    # The sum of all draws weighted by their places, as it is where they are made at once.
    lua("torch.manualSeed(5) alias_state = torch.multinomialAliasSetup(torch.Tensor{.1,.5,.2,.2})")
    lua(f"alias_draws = torch.multinomialAlias({output}, alias_state):double();")
    lua("alias_draws:cmul(torch.range(1, 700000):resize(1000, 700));")
    assert lua("('%d'):format(alias_draws:sum())") == "551270218689\t\n"
