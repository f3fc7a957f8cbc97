"""Pages of Python from end to end: by the engine of Python, with the conventions of doctest."""

import sys
from pathlib import Path
from shlex import quote

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.cli import main
from th_shell.docs.judging.python_output import comparable, comparable_outcome
from th_shell.docs.judging.verdicts import Result
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example, Kind
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Outcome, Runner
from th_shell.docs.settings.settings import NOTHING, Configuration, Layer, Settings

COMPILER = Compiler()


def check(runner: Runner, folder: Path, text: str, below: Layer = NOTHING) -> list[Result]:
    page = folder / "page.md"
    page.write_text(text)
    found = check_page(read(page, COMPILER, Configuration(below)), runner)
    assert not found.problem
    return list(found.results)


#: An error that is raised while another one is handled.
CHAIN = ">>> try:\n...     [][1]\n... except IndexError:\n...     raise ValueError('second')\n"
#: Examples that hold, and below each, examples of the same input that do not.
HOLDS = {
    ">>> 1 + 1\n2": [">>> 1 + 1\n3", ">>> 1 + 1\n2\n3"],
    ">>> 'a'\n'a'": [">>> 'a'\na"],
    ">>> 1 / 4\n0.25": [">>> 1 / 4\n0.3", ">>> 1 / 3\n0.333"],
    ">>> list(range(20))\n[0, 1, ..., 18, 19]": [">>> list(range(20))\n[0, 1, ..., 18, 20]"],
    ">>> print('a'); print(); print('b')\na\n<BLANKLINE>\nb": [">>> print('a')\na\n<BLANKLINE>\nb"],
    ">>> object()\n<object object at 0x7f16da2b2b50>": [">>> object()\n<object at 0x7f16da2b2b50>"],
    ">>> object()\n<object object at 0x...>": [">>> object()\n<objects object at 0x...>"],
    ">>> {'b', 'a', 'c'}\n{'c', 'b', 'a'}": [">>> {'b', 'a', 'c'}\n{'c', 'b', 'd'}"],
    ">>> [][1]\nTraceback (most recent call last):\n    ...\nIndexError: list index out of range": [
        ">>> [][1]\nTraceback (most recent call last):\n    ...\nIndexError: list index",
        ">>> [1][0]\nTraceback (most recent call last):\n    ...\nIndexError: list index",
    ],
    '>>> [][1]\nTraceback (most recent call last):\n  File "<stdin>", line 1, in <module>\n'
    "IndexError: ...": [">>> [][1]\nTraceback (most recent call last):\n  ...\nKeyError: ..."],
    ">>> [][1]\nIndexError: list index out of range": [
        ">>> [][1]\nIndexError",
        ">>> [][1]\n...",
        ">>> [][1]\nTraceback (most recent call last):\n    ...",
    ],
    f"{CHAIN}Traceback (most recent call last):\n  ...\nValueError: second": [
        f"{CHAIN}Traceback (most recent call last):\n  ...\nValueError: third",
        f"{CHAIN}Traceback (most recent call last):\n  ...\nIndexError: list index out of range",
    ],
    f"{CHAIN}Traceback (most recent call last):\n  ...\nIndexError: list index out of range\n\n"
    "During handling of the above exception, another exception occurred:\n\n"
    "Traceback (most recent call last):\n  ...\nValueError: second": [],
    ">>> 2.0\n2.0": [">>> 2.0\n2.1"],
    ">>> [][1]\n---------------------------------------------------------------------------\n"
    "IndexError                                Traceback (most recent call last)\n"
    "Cell In[1], line 1\n----> 1 [][1]\n\nIndexError: list index out of range": [],
    ">>> [][1]  # doctest: +IGNORE_EXCEPTION_DETAIL\nTraceback (most recent call last):\n"
    "IndexError: other words": [
        ">>> [][1]  # doctest: +IGNORE_EXCEPTION_DETAIL\nTraceback (most recent call last):\n"
        "KeyError: other words"
    ],
    ">>> [][1]  # doctest: +IGNORE_EXCEPTION_DETAIL\nTraceback (most recent call last):\n...\n"
    "IndexError": [
        ">>> [][1]  # doctest: +IGNORE_EXCEPTION_DETAIL\nTraceback (most recent call last):\n...\n"
        "KeyError"
    ],
    ">>> import typing; typing.Any  # doctest: +IGNORE_EXCEPTION_DETAIL\ntyping.Any": [],
    ">>> x = = 1\nSyntaxError: invalid syntax": [">>> x = = 1\nTypeError: invalid syntax"],
    ">>> import warnings; warnings.warn('soon'); 3\n3": [
        ">>> import warnings; warnings.warn('soon'); 3\n4"
    ],
    ">>> import warnings; warnings.warn('soon')\n__main__:1: UserWarning: soon": [
        ">>> import warnings; warnings.warn('soon')\n__main__:1: UserWarning: later",
        ">>> import warnings; warnings.warn('soon')\n__main__:1: FutureWarning: soon",
    ],
    ">>> 1\n1\n<Figure size 640x480 with 1 Axes>": [">>> 1\n1\n<Figure of size 640x480>"],
    ">>> float\n<class 'float'>": [">>> float\nfloat"],
    "In [1]: float\nOut[1]: float": ["In [1]: float\nOut[1]: int"],
    "In [1]: [float]\nOut[1]: [<class 'float'>]": [],
    "In [1]: 1\nOut[1]: 1": ["In [1]: 1\nOut[1]: 2"],
    "In [1]: import warnings\n   ...: warnings.warn('soon'); 3\n  warnings.warn('soon'); 3\n3": [
        "In [1]: import warnings\n   ...: print(2); 3\n  print(2); 3\n2\n3",
        "In [1]: import warnings\n   ...: warnings.warn('soon'); 3\n  warnings.warn('soon'); 3\n4",
    ],
}


@pytest.mark.thorough
@pytest.mark.parametrize("example", HOLDS)
def test_what_holds(runner: Runner, tmp_path: Path, example: str) -> None:
    blocks = [example, *HOLDS[example]]
    page = "\n\nText.\n\n".join(f"```\n{block}\n```" for block in blocks)
    found = check(runner, tmp_path, page)
    assert [result.failed for result in found] == [False] + [True] * len(HOLDS[example])
    assert found[0].verdict.value == "pass"


@pytest.mark.thorough
def test_what_depends_on_chance(runner: Runner, tmp_path: Path) -> None:
    page = data(__file__, "test_what_depends_on_chance")
    found = check(runner, tmp_path, page)
    shown = [result.verdict.value for result in found if result.example.expected]
    assert shown == ["layout", "differs", "layout", "layout", "layout", "pass"]


@pytest.mark.thorough
def test_names_that_the_page_never_binds(runner: Runner, tmp_path: Path) -> None:
    page = (
        ">>> y = x + 1\n>>> y\n2\n>>> len(z)\n1\n>>> a = 1\n>>> z(a)\n>>> a\n2\n"
        ">>> A\n1\n>>> del a\n>>> a\n1"
    )
    found = check(runner, tmp_path, f"```\n{page}\n```\n")
    assert [(r.verdict.value, r.note) for r in found] == [
        ("fragment", "the page gives no value to: x"),
        ("fragment", "follows from line 2"),
        ("fragment", "the page gives no value to: z"),
        ("ran", ""),
        ("fragment", "the page gives no value to: z"),
        ("differs", ""),
        ("healed", "a small letter became a capital one: A"),
        ("ran", ""),
        ("error", ""),
    ]


@pytest.mark.thorough
def test_a_class_does_not_mean_a_variable(runner: Runner, tmp_path: Path) -> None:
    page = ">>> a = 1\n>>> A()\n<A>\n>>> rowId = 1\n>>> rowid + 1\n2"
    found = check(runner, tmp_path, f"```\n{page}\n```\n")
    assert [result.verdict.value for result in found] == ["ran", "fragment", "ran", "error"]


@pytest.mark.thorough
def test_modules_are_not_spoilt(runner: Runner, tmp_path: Path) -> None:
    page = "```\n>>> import math\n>>> math.fsum(x)\n3\n>>> math.sqrt(4)\n3.0\n```\n"
    found = [r.verdict.value for r in check(runner, tmp_path, page)]
    assert found == ["ran", "fragment", "differs"]


@pytest.mark.thorough
def test_a_file_that_a_fragment_would_have_made(runner: Runner, tmp_path: Path) -> None:
    page = (
        "```\n>>> f = open('none/such', 'w')\n>>> open('none/such').read()\n'a'\n"
        ">>> open('such')\n>>> _ = open('such', 'w')\n>>> open('there', 'w').close()\n"
        ">>> open('there', 'q')\n```\n"
    )
    found = [r.verdict.value for r in check(runner, tmp_path, page)]
    assert found == ["fragment", "fragment", "fragment", "ran", "ran", "error"]


@pytest.mark.thorough
def test_all_names_of_a_module_are_unknown(runner: Runner, tmp_path: Path) -> None:
    page = "```\n>>> from math import *\n>>> sqrt(4)\n3.0\n>>> sqart(4)\n2.0\n```\n"
    assert [r.verdict.value for r in check(runner, tmp_path, page)] == ["ran", "differs", "error"]


@pytest.mark.thorough
def test_a_page_of_two_languages(runner: Runner, tmp_path: Path) -> None:
    page = (
        "```lua\n> x = 2\n```\n\n```python\n>>> x = 'a'\n```\n\nText.\n\n"
        "```lua\n> x * 2\n4\n```\n\n```python\nx += 'b'\n```\n\n```python\n>>> x\n'ab'\n```\n"
    )
    found = check(runner, tmp_path, page)
    assert [r.verdict.value for r in found] == ["ran", "ran", "pass", "ran", "pass"]
    assert [r.example.language for r in found] == ["lua", "python", "lua", "python", "python"]


@pytest.mark.thorough
def test_a_process_that_ends(runner: Runner, tmp_path: Path) -> None:
    page = "```\n>>> x = 1\n>>> import os; os._exit(3)\n>>> x\n1\n```\n"
    found = check(runner, tmp_path, page)
    assert [r.verdict.value for r in found] == ["ran", "error", "pass"]
    assert found[1].note == "the process ended with status 3 in this input"


def test_results_show_the_page_and_the_whole_error(runner: Runner, tmp_path: Path) -> None:
    (result,) = check(runner, tmp_path, "```\n>>> 1 / 0\n...\n1.5\n```\n")
    assert result.example.expected == "...\n1.5"
    assert result.got.startswith('Traceback (most recent call last):\n  File "<input 1>", line 1')


@pytest.mark.thorough
def test_strict(runner: Runner, tmp_path: Path) -> None:
    page = "```\n>>> 1\n```\n\n```python\nIn [1]: 2\n```\n\n```python\nprint(3)\n```\n"
    found = check(runner, tmp_path, page, Layer(Settings(strict=True)))
    assert [r.verdict.value for r in found] == ["differs", "differs", "ran"]


@pytest.mark.parametrize(("expected", "output", "shown"), data(__file__, "test_what_is_compared"))
def test_what_is_compared(expected: str, output: str, shown: str) -> None:
    example = Example(1, 0, Kind.PROMPT, "f()", expected, language="python")
    assert comparable_outcome(example, Outcome(output)).output == shown
    lua = Example(1, 0, Kind.PROMPT, "f()", expected)
    assert comparable_outcome(lua, Outcome(output)).output == output
    assert comparable(lua) is lua


# -- the command line


PAGE = data(__file__, "PAGE")

#: A command that runs the engine's script with one argument more.
COMMAND = data(__file__, "COMMAND")


@pytest.mark.thorough
def test_engines_and_preludes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page, command, prelude = tmp_path / "page.md", tmp_path / "command.py", tmp_path / "prelude.py"
    page.write_text(PAGE)
    command.write_text(COMMAND)
    prelude.write_text("y = 5")
    lua = f"{quote(sys.executable)} -m th_shell"
    python = f"python: {quote(sys.executable)} {command} -"
    assert main(["--engine", lua, "--engine", python, "--prelude", str(prelude), str(page)]) == 0
    counts = capfd.readouterr().out.partition(": ")[2]
    assert counts == "checked 3 of 4 examples: 3 pass, 1 ran\n"
    prelude.write_text("1 / 0")
    assert main(["--prelude", str(prelude), str(page)]) == 1
    assert "ZeroDivisionError: division by zero" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("engine", "problem"),
    data(__file__, "test_wrong_engines"),
)
def test_wrong_engines(engine: str, problem: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--engine", engine, "page.md"])
    assert capfd.readouterr().err.endswith(f"th-docs: error: {problem}\n")
