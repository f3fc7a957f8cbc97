"""numpy, and what needs it, is loaded when a program first needs it; whatever happens then."""

import sys

import pytest

from tests.data_files import data
from tests.processes import run_python

pytestmark = pytest.mark.unguarded("numpy is loaded from the start")

# What takes long to load. The finder of an editable installation loads some of the rest.
HEAVY = data(__file__, "HEAVY")

START = data(__file__, "START")

#: Tells each import of numpy to a function `noticed`.
NOTICE = data(__file__, "NOTICE")


def run(code: str, *options: str) -> str:
    done = run_python(*options, "-c", START + code, timeout=60)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.sample(1)
@pytest.mark.parametrize("source", data(__file__, "test_what_needs_no_numpy"))
def test_what_needs_no_numpy(source: str) -> None:
    code = f"""
def loaded():
    print([m for m in {HEAVY!r}.split() if m in sys.modules])
import atexit
atexit.register(loaded)
run(Engine(), b{source!r})
"""
    expected = "[]\n" if "tmpname" not in source else "['tempfile']\n"
    assert run(code).endswith("" if "os.exit" in source else expected)


@pytest.mark.thorough
def test_the_first_tensor_loads_it() -> None:
    code = "run(Engine(), b'x = torch.ones(2)') \nprint('numpy' in sys.modules)"
    assert run(code) == "True\n"


@pytest.mark.thorough
def test_an_engine_loads_it_when_it_is_told() -> None:
    code = "Engine().load() \nprint('numpy' in sys.modules, 'th_shell.runtime.ops' in sys.modules)"
    assert run(code) == "True True\n"


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ALL", "DOUBLE", "Row", "TABLE"])
def test_the_door_loads_it(name: str) -> None:
    code = f"from th_shell.runtime.shell import {name}\n"
    code += f"print('th_shell.runtime.ops' in sys.modules, bool({name}))"
    assert run(code) == "True True\n"


def test_what_the_door_has_without_it() -> None:
    names = "PROCESSORS, Engine, Interrupted, LuaError, LuaSyntaxError, Replacement"
    assert (
        run(f"from th_shell.runtime.shell import {names} \nprint('numpy' in sys.modules)")
        == "False\n"
    )


def test_the_door_has_nothing_else() -> None:
    code = "print(hasattr(runtime, 'numpy'), 'numpy' in sys.modules)"
    assert run(code) == "False False\n"


@pytest.mark.thorough
def test_numbers_behave_as_in_c_from_the_first_operation_on() -> None:
    source = b"local x = torch.ones(600) print(x:div(0):sum(), (x - x):sum())"
    assert run(f"run(Engine(), {source!r})", "-W", "error") == "inf\tnan\t\n"


@pytest.mark.thorough
def test_numbers_of_the_caller_stay_its_own() -> None:
    code = """
run(Engine(), b"torch.ones(2)")
import numpy
print(numpy.geterr()["divide"])
"""
    assert run(code) == "warn\n"


def test_without_numpy() -> None:
    code = """
sys.modules["numpy"] = None
engine = Engine()
run(engine, b"print(1)")
for _ in range(2):
    run(engine, b"x = torch.ones(2)")
run(engine, b"print(2)")
"""
    error = "numpy cannot be loaded: import of numpy halted; None in sys.modules"
    assert run(code) == f"1\t\nerror: stdin:1: {error}\nerror: stdin:1: {error}\n2\t\n"


def test_without_memory_for_it() -> None:
    code = """
def noticed():
    raise MemoryError
engine = Engine()
run(engine, b"x = torch.ones(2)")
run(engine, b"print(x)")
"""
    expected = "error: stdin:1: $ Torch: not enough memory. Buy new RAM!\nnil\t\n"
    assert run(NOTICE + code) == expected


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS limits memory there")
def test_it_is_not_begun_without_memory_for_all_of_it() -> None:
    code = data(__file__, "test_it_is_not_begun_without_memory_for_all_of_it")
    expected = "1\t\nerror: stdin:1: $ Torch: not enough memory. Buy new RAM!\n2\t\n"
    assert run(code) == expected


#: Lets there be no descriptor from `exhaust` to `release` on.
DESCRIPTORS = data(__file__, "DESCRIPTORS")


@pytest.mark.thorough
@pytest.mark.parametrize("free", range(4))
def test_without_descriptors_for_it(free: int) -> None:
    code = f"""
engine = Engine()
exhaust()
for _ in range({free}):
    os.close(taken.pop())
run(engine, b"x = torch.ones(2)")
run(engine, b"x = torch.ones(2)")
release()
run(engine, b"print(torch.ones(2):sum())")
"""
    assert run(DESCRIPTORS + code) == 2 * "error: stdin:1: Too many open files\n" + "2\t\n"


# What loads something at its first use, of Python, of numpy and scipy, or of Lua.
FIRST_USES = [
    *("torch.inverse(torch.eye(3))", "torch.svd(torch.rand(3, 3))", "torch.rand(2e5):add(1)"),
    *("torch.sort(torch.rand(50))", "torch.randn(3)", "torch.rand(2, 2):std(1)"),
    "local x = torch.rand(300, 300) torch.mm(x, x)",
    "require 'image' image.scale(torch.rand(1, 5, 5), 3, 3)",
    "local t = require 'threads' t.Threads(1):terminate()",
    "require 'nn.THNN'",
    *(f"require '{name}'" for name in "cjson gnuplot signal tds csvigo lfs md5 socket".split()),
    "require 'sys' sys.execute('true')",
]


@pytest.mark.thorough
def test_what_has_failed_can_be_tried_again() -> None:
    code = f"""
engine = Engine()
run(engine, b"torch.ones(1)")
exhaust()
for source in 2 * {FIRST_USES!r}:
    print(source)
    run(engine, source.encode())
release()
print("again")
for source in {FIRST_USES!r}:
    run(engine, source.encode())
"""
    failed, again = run(DESCRIPTORS + code).split("again\n")
    assert again == ""
    for source, answer in zip(*2 * [iter(failed.splitlines())], strict=True):
        assert answer.endswith("Too many open files"), source


#: Lets one import fail, or one source of Lua, which `fail` tells.
FAILING = data(__file__, "FAILING")


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "source"), data(__file__, "test_one_part_fails_once"))
def test_one_part_fails_once(name: str, source: str) -> None:
    code = f"""
engine = Engine()
fail = {name!r}
run(engine, {source.encode()!r})
run(engine, {source.encode()!r})
run(engine, b"local x = torch.rand(2e5) assert(torch.sort(x)[1] == x:min())")
"""
    told = run(FAILING + code).replace("stdin:1: ", "")  # which errors in Lua's require lack
    assert told == "error: $ Torch: not enough memory. Buy new RAM!\n"


@pytest.mark.thorough
def test_threads_that_need_it_at_once() -> None:
    code = data(__file__, "test_threads_that_need_it_at_once")
    assert run(code) == ""


@pytest.mark.thorough
def test_ctrl_c_waits_until_it_is_loaded() -> None:
    code = data(__file__, "test_ctrl_c_waits_until_it_is_loaded")
    assert run(NOTICE + code) == "interrupted! True\n2\t\n"


@pytest.mark.thorough
def test_a_fork_waits_until_it_is_loaded() -> None:
    code = data(__file__, "test_a_fork_waits_until_it_is_loaded")
    # From 3.12 on, Python warns of a fork beside a thread, where it notices that.
    assert run(NOTICE + code, "-Wignore") == "2\t\n2\t\n"
