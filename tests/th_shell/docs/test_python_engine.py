"""The engine for pages of Python, by itself and by the Python of other environments."""

import ast
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from th_shell.docs.running import python_engine as python_engine_file
from th_shell.docs.running.processes import LostError, Reply, Run, Starter, python_engine

OTHERS = ("python3.8", "python3.9", "python3.12", "python3.13", "python3.14")


@pytest.fixture(scope="module")
def run(starter: Starter) -> Iterator[Run]:
    run = starter.start(python_engine(), 0)
    run.ask("begin", b"seed 1\nfill 0\nclock 100000000\n")
    yield run
    run.close()


def ask(run: Run, name: str, source: str, seconds: float = 20) -> Reply:
    return run.ask(name, source.encode(), seconds)


@pytest.mark.parametrize(
    ("source", "reply"),
    [
        ("1 + 1", Reply("2\n", "2\n")),
        ("x = 3", Reply()),
        ("None", Reply()),
        ("1; 2", Reply("1\n2\n", "1\n2\n")),
        ("for i in range(2): i", Reply("0\n1\n", "0\n1\n")),
        ("# nothing", Reply()),
        ("print('é')", Reply("é\n", "é\n")),
        (r"print('\udcff')", Reply("\udcff\n", "\udcff\n")),
        ("input()", None),
        ("__name__", Reply("'__main__'\n", "'__main__'\n")),
        ("import sys; sys.stderr.write('a\\n'); print('b')", Reply("a\n2\nb\n", "a\n2\nb\n")),
        ("import os; os.system('echo c') and 1", Reply("c\n0\n", "c\n0\n")),
    ],
)
def test_inputs(run: Run, source: str, reply: Reply | None) -> None:
    found = ask(run, "input", source)
    if reply is None:
        assert found.error is not None
        assert found.error.endswith("\nEOFError: EOF when reading a line")
    else:
        assert found == reply


@pytest.mark.parametrize(
    ("source", "reply"),
    [
        ("print(1)\n2", Reply("1\n2\n", "1\n")),
        ("3\n4", Reply("4\n", "")),
        ("y = 5\nfor i in range(2):\n    i", Reply()),
        ("None", Reply()),
        ("# nothing", Reply()),
        ("def f():\n    return 6\n\nf()", Reply("6\n", "")),
    ],
)
def test_cells(run: Run, source: str, reply: Reply) -> None:
    assert ask(run, "cell", source) == reply


def test_errors_are_told_as_python_tells_them(run: Run) -> None:
    found = ask(run, "cell", "def f():\n    raise ValueError('bad')\n\nf()")
    assert found.error is not None
    lines = [line for line in found.error.split("\n") if "~" not in line and "^" not in line]
    name = lines[1].partition('"')[2].partition('"')[0]
    assert lines == [
        "Traceback (most recent call last):",
        f'  File "{name}", line 4, in <module>',
        "    f()",
        f'  File "{name}", line 2, in f',
        "    raise ValueError('bad')",
        "ValueError: bad",
    ]


#: How Python tells of an error whose message cannot be made.
UNPRINTABLE = (
    "<exception str() failed>" if sys.version_info >= (3, 11) else "<unprintable E object>"
)


@pytest.mark.parametrize(
    ("source", "last"),
    [
        ("x = = 1", "SyntaxError: invalid syntax"),
        ("exit()", "SystemExit: None"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("raise type('E', (Exception,), {'__str__': lambda _: 1 / 0})", UNPRINTABLE),
        ("import none_such", "ModuleNotFoundError: No module named 'none_such'"),
    ],
)
def test_errors(run: Run, source: str, last: str) -> None:
    found = ask(run, "input", source)
    assert found.error is not None and found.error.split("\n")[-1].endswith(last)
    assert "python_engine.py" not in found.error


def test_names_and_future_statements_live_on(run: Run) -> None:
    ask(run, "input", "from __future__ import annotations")
    ask(run, "run", "def g(x: none_such): pass")
    assert ask(run, "input", "g.__annotations__").output == "{'x': 'none_such'}\n"
    ask(run, "input", "class A: pass")
    assert ask(run, "input", "import pickle; type(pickle.loads(pickle.dumps(A()))) is A") == Reply(
        "True\n", "True\n"
    )


def test_sources_can_be_read(run: Run) -> None:
    ask(run, "cell", "def h():\n    return 1\n")
    found = ask(run, "input", "import inspect; print(inspect.getsource(h))")
    assert found.output == "def h():\n    return 1\n\n"


def test_a_warning_is_shown_once(run: Run) -> None:
    ask(run, "input", "import warnings")
    shown = [ask(run, "input", "warnings.warn('soon')").output for _ in range(2)]
    assert shown[0].partition(":")[2].startswith("1: UserWarning: soon\n")
    assert shown[1] == ""


def test_the_clock_is_put_forward(run: Run) -> None:
    now = ask(
        run,
        "input",
        "import time; time.time(), time.time_ns() // 10**9, time.mktime(time.localtime())",
    )
    later = [float(number) - time.time() for number in now.output.strip("()\n").split(",")]
    assert later == pytest.approx([1e8] * 3, abs=30)
    assert ask(run, "input", "time.strftime('%Y') == time.ctime()[-4:]").output == "True\n"
    ask(run, "input", "from datetime import date, datetime, timezone")
    moments = "datetime.now(), datetime.utcnow(), datetime.now(timezone.utc), datetime.today()"
    dates = ask(run, "input", f"{{at.date() for at in ({moments})}} == {{date.today()}}")
    assert dates.output == "True\n"
    assert ask(run, "input", "datetime.now()").output.startswith("datetime.datetime(2")


def test_a_copy_of_the_process_does_not_answer(run: Run) -> None:
    assert ask(run, "input", "import os; _ = os.fork()") == Reply()
    assert ask(run, "input", "1") == Reply("1\n", "1\n")


@pytest.mark.thorough
def test_an_input_that_is_stopped(run: Run) -> None:
    found = ask(run, "input", "while True: pass", 0.3)
    assert (found.late, found.error) == (True, "KeyboardInterrupt")
    assert ask(run, "input", "1") == Reply("1\n", "1\n")


@pytest.mark.thorough
def test_a_limit_does_not_count_what_other_processes_take(run: Run) -> None:
    core = min(os.sched_getaffinity(0))
    ask(run, "input", f"import os, time; os.sched_setaffinity(0, {{{core}}})")
    busy = f"import os; os.sched_setaffinity(0, {{{core}}})\nwhile True: pass"
    works = "while time.process_time() < end: pass"
    others = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(3)]
    try:
        ask(run, "input", "end = time.process_time() + 0.6")
        reply = ask(run, "input", works, 0.9)
        assert ask(run, "input", "time.sleep(60)", 0.3).late
    finally:
        for other in others:
            other.kill()
            other.wait()
    assert reply == Reply()


def test_an_end_of_the_process(starter: Starter) -> None:
    run = starter.start(python_engine(), 0)
    with pytest.raises(LostError) as raised:
        ask(run, "input", "import os; os._exit(3)")
    assert str(raised.value) == "ended with status 3"
    run.close()


@pytest.mark.thorough
def test_random_numbers_depend_on_the_seed(starter: Starter) -> None:
    numbers = []
    for seed in (b"1", b"2", b"1"):
        run = starter.start(python_engine(), 0)
        run.ask("begin", b"seed " + seed)
        numbers.append(ask(run, "input", "import random; random.random()").output)
        run.close()
    assert numbers[0] == numbers[2] != numbers[1]


FAKE = """
numbers = []
def manual_seed(seed):
    numbers.append(seed)
"""


def test_torch_is_seeded_where_it_is_imported(starter: Starter) -> None:
    run = starter.start(python_engine(has_torch_alias=False), 0)
    run.ask("begin", b"seed 7")
    ask(run, "input", f"open('torch.py', 'w').write({FAKE!r})")
    assert ask(run, "input", "import torch; torch.numbers").output == "[7]\n"
    assert ask(run, "input", "import torch; torch.numbers").output == "[7]\n"
    run.close()


@pytest.mark.thorough
def test_torch_is_that_of_this_project(run: Run) -> None:
    assert ask(run, "input", "import sys, torch; torch is sys.modules['th_shell.torch']") == Reply(
        "True\n", "True\n"
    )
    assert ask(run, "input", "sys.argv[1:]").output == "[]\n"


@pytest.mark.thorough
def test_errors_of_torch_tell_the_lines_of_the_page(run: Run) -> None:
    error = ask(run, "input", "import torch; torch.ones(2, 3) + torch.ones(2)").error or ""
    lines = error.split("\n")
    assert lines[0] == "Traceback (most recent call last):"
    assert [line for line in lines if line.startswith("  File ")] == [lines[1]]
    assert lines[1].endswith(", line 1, in <module>")
    assert lines[-1].startswith("RuntimeError: The size of tensor a (3) must match")


#: What depends on the seed, on new memory, and on addresses.
BY_CHANCE = (
    "torch.rand(2).tolist()",
    *(f"torch.empty({size}).numpy().tobytes()[:8]" for size in (3, 100, 5000)),
    *(f"numpy.empty({size}, 'u1').tobytes()[:8]" for size in (3, 100, 5000)),
    "id(torch.ones(1))",
)


@pytest.mark.thorough
@pytest.mark.unguarded("new memory is 0")
def test_what_differs_between_runs(starter: Starter) -> None:
    shown = []
    for seed, fill in ((1, 0), (2, 63)):
        filled = {"MALLOC_PERTURB_": str(fill ^ 0xFF)}
        run = starter.start(replace(python_engine(), environment=filled), 0)
        run.ask("begin", b"seed %d" % seed)
        ask(run, "run", "import numpy, torch")
        shown.append([ask(run, "input", code).output for code in BY_CHANCE])
        run.close()
    same = [code for code, *texts in zip(BY_CHANCE, *shown, strict=True) if len(set(texts)) == 1]
    assert same == []


def test_the_page_finds_no_modules_of_ours(run: Run) -> None:
    paths = ask(run, "input", "import sys; [p for p in sys.path if 'running' in p], sys.path[0]")
    assert paths.output == "([], '')\n"
    assert ask(run, "input", "import lua_engine, worker").error is not None


@pytest.mark.thorough
@pytest.mark.parametrize("name", OTHERS)
def test_by_another_python(starter: Starter, name: str) -> None:
    command = shutil.which(name)
    works = command and subprocess.run([command, "-c", ""], capture_output=True).returncode == 0
    if not command or not works:
        pytest.skip(f"needs {name}")
    run = starter.start(python_engine([command]), 0)
    run.ask("begin", b"seed 1\nclock 5\n")
    assert ask(run, "cell", "print(1)\n2") == Reply("1\n2\n", "1\n")
    error = ask(run, "input", "x = = 1").error
    assert error is not None and error.endswith("\nSyntaxError: invalid syntax")
    version = ask(run, "input", "import sys; print(*sys.version_info[:2], sep='.')").output
    assert f"python{version.strip()}" == name
    run.close()


def test_the_engine_needs_nothing_but_the_standard_library(tmp_path: Path) -> None:
    copy = tmp_path / "engine.py"
    shutil.copy(python_engine().command[1], copy)
    code = f"import runpy; runpy.run_path({str(copy)!r}, run_name='engine')"
    subprocess.run([sys.executable, "-I", "-S", "-c", code], check=True, timeout=60)


def test_any_python_from_3_8_on_reads_its_file() -> None:
    file = Path(python_engine_file.__file__).read_text("utf-8")
    body = ast.parse(file, feature_version=(3, 8)).body
    futures = [node for node in body if isinstance(node, ast.ImportFrom)]
    assert (futures[0].module, futures[0].names[0].name) == ("__future__", "annotations")
