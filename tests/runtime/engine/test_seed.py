"""Engine.set_seed: the default random stream, before and after it is there."""

import pytest

from tests.conftest import run_text
from tests.processes import run_python
from th_shell.runtime.shell import Engine

DRAW = "return function() return torch.initialSeed(), torch.random(1, 1000) end"


def test_a_seed_is_that_of_manual_seed() -> None:
    with Engine() as engine:
        engine.set_seed(7)
        draw = engine.values.eval(DRAW)
        first = draw()
        run_text(engine, "torch.manualSeed(7)")
        assert draw() == first
        assert first[0] == 7
        engine.set_seed(7)
        assert draw() == first


@pytest.mark.thorough
def test_a_seed_and_a_fill_pattern_load_nothing() -> None:
    code = (
        "import sys, th_shell.runtime.shell\nengine = th_shell.runtime.shell.Engine()\n"
        "engine.set_seed(7)\nengine.set_fill_pattern(63)\nprint('numpy' in sys.modules)\n"
        "engine.run(engine.compile(b'print(torch.initialSeed(), torch.Tensor(1)[1] > 0)'))"
    )
    found = run_python("-I", "-c", code, check=True)
    assert found.stdout == "7\ttrue\t\nFalse\n"
