"""Operations that call Lua, in coroutines and in finalizers.

In processes of their own: where a call disturbs what waits, the process may end.
"""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th

# What goes by a function of Lua's: a kernel, a job, a collection.
_OPERATIONS = data(__file__, "_OPERATIONS")

_FINALIZERS = data(__file__, "_FINALIZERS")

_COROUTINES = data(__file__, "_COROUTINES")


@pytest.mark.thorough
@pytest.mark.parametrize("count", [100, pytest.param(1500, marks=pytest.mark.slow)])
@pytest.mark.parametrize("operation", _OPERATIONS.values(), ids=_OPERATIONS)
@pytest.mark.parametrize("program", [_FINALIZERS, _COROUTINES], ids=["finalizers", "coroutines"])
def test_lua_goes_on_after_calls(program: str, operation: str, count: int, tmp_path: Path) -> None:
    count = count // 8 if "300000" in operation else count
    source = program.format(count=count, operation=operation) + "io.write('fine')"
    assert _run(source, tmp_path) == ("fine", "", 0)


def _run(source: str, folder: Path) -> tuple[str, str, int]:
    script = folder / "script.lua"
    script.write_text(source)
    done = run_th(script, timeout=120)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.sample(1)
@pytest.mark.parametrize(("table", "shown"), [("local kept", "..."), ("kept", "")])
def test_finalizers_at_the_end_of_a_program(table: str, shown: str, tmp_path: Path) -> None:
    # What is in use to the end is finalized when torch is gone.
    source = f"""
        {table} = {{}}
        for i = 1, 3 do
          kept[i] = newproxy(true)
          getmetatable(kept[i]).__gc = function() torch.randn(30):sort() io.write('.') end
        end
    """
    assert _run(source, tmp_path) == (shown, "", 0)
