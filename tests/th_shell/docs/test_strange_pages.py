"""Pages as projects write them whose authors do not know th-docs: nothing wrong passes unnoticed.

Each page has texts that its program prints, and others: what is judged of each is in the table.
"""

import json
from pathlib import Path
from textwrap import dedent

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.judging.verdicts import Result
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner

COMPILER = Compiler()


def judged(runner: Runner, folder: Path, name: str, text: str) -> list[Result]:
    page = folder / name
    page.write_text(text)
    return list(check_page(read(page, COMPILER), runner).results)


def words(results: list[Result]) -> str:
    return " ".join(result.verdict.value for result in results)


def lua(text: str) -> str:
    return f"```lua\n{dedent(text).strip()}\n```\n"


def python(text: str) -> str:
    return f"```python\n{dedent(text).strip()}\n```\n"


def shown(label: str, output: str, lead: str = "This prints:") -> str:
    return f"```lua\nprint(2 + 2)\n```\n\n{lead}\n\n```{label}\n{output}\n```\n"


NAMES = data(__file__, "NAMES")


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "verdicts"), NAMES.items())
def test_names_without_values(runner: Runner, tmp_path: Path, page: str, verdicts: str) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


@pytest.mark.thorough
def test_what_follows_from_a_failure_names_its_line(runner: Runner, tmp_path: Path) -> None:
    page = python(">>> import nosuch\n>>> nosuch.x\n1\n>>> y = nosuch.x\n>>> y\n2\n>>> 1\n1")
    results = judged(runner, tmp_path, "page.md", page)
    assert words(results) == "fragment fragment fragment fragment pass"
    assert {result.note for result in results[1:4]} == {"follows from line 2"}


VALUES = data(__file__, "VALUES")


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "verdicts"), VALUES.items())
def test_values_as_other_prompts_show_them(
    runner: Runner, tmp_path: Path, page: str, verdicts: str
) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


MADE = "> tds = require 'tds'\n> tds.Vec(torch.rand(2), '{}')\ntds.Vec[2]{{\n    1 :  0.1665\n"
SIZED = "        [torch.DoubleTensor of size 2]\n\n    2 : b\n}"
#: Outputs that depend on chance, or on the time.
CHANGING = {
    f"{MADE.format('b')}         0.8750\n{SIZED}": "ran layout",
    f"{MADE.format('c')}         0.8750\n{SIZED}": "ran differs",
    f"{MADE.format('b')}{SIZED}": "ran damaged",
    "> os.date('!%Y-%m-%dT%H:%M:%SZ')\n2013-05-11T21:23:58Z": "layout",
    "> os.date('!%Y-%m-%dT%H:%M:%SZ')\n2013-05-11 21:23Z": "differs",
    "> os.date('!%c')\nTue Mar 11 10:00:00 2003": "layout",
    "> os.date('!%c')\nTue 11 10:00:00 2003 words": "differs",
    "> os.date('!%x %X')\n05/11/13 21:23:58": "layout",
}


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "verdicts"), CHANGING.items())
def test_outputs_that_no_run_prints_again(
    runner: Runner, tmp_path: Path, page: str, verdicts: str
) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


@pytest.mark.thorough
def test_an_input_that_a_terminal_has_wrapped(runner: Runner, tmp_path: Path) -> None:
    def page(width: int) -> str:
        typed = "th> torch.ones(2):sum() -- the sum of so many ones as there are"
        text = f"{typed[:width]}\n{typed[width:]}\n2\n{'[0.0596s]':>{39}}\n"
        return f"{text}th> 1 + 1\n2\n{'[0.0001s]':>{39}}\n"

    assert words(judged(runner, tmp_path, "page.txt", page(40))) == "pass pass"
    assert words(judged(runner, tmp_path, "page.txt", page(41))) == "healed pass"


NOTHING_SHOWN = data(__file__, "NOTHING_SHOWN")


@pytest.mark.sample(2)
@pytest.mark.parametrize(("page", "verdicts"), NOTHING_SHOWN.items())
def test_pages_that_show_nothing(runner: Runner, tmp_path: Path, page: str, verdicts: str) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


@pytest.mark.thorough
@pytest.mark.parametrize("label", ["text", "output", "console", "none", ""])
def test_outputs_in_fences_of_their_own(runner: Runner, tmp_path: Path, label: str) -> None:
    assert words(judged(runner, tmp_path, "a.md", shown(label, "5"))) == "differs"
    assert words(judged(runner, tmp_path, "b.md", shown(label, "4"))) == "pass"
    unannounced = words(judged(runner, tmp_path, "c.md", shown(label, "5", "It adds.")))
    assert unannounced == ("differs" if label == "output" else "ran")


def test_a_fence_of_the_shell_is_no_output(runner: Runner, tmp_path: Path) -> None:
    assert words(judged(runner, tmp_path, "page.md", shown("console", "$ ls\n4"))) == "ran"


PYTHON = data(__file__, "PYTHON")


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "verdicts"), PYTHON.items())
def test_outputs_of_python_are_texts(
    runner: Runner, tmp_path: Path, page: str, verdicts: str
) -> None:
    assert words(judged(runner, tmp_path, "page.md", python(page))) == verdicts


@pytest.mark.thorough
def test_a_tolerance_is_proposed(runner: Runner, tmp_path: Path) -> None:
    page = python(">>> 0.1 + 0.2\n0.3\n>>> 1/3\n0.333\n>>> 1/3\n0.34")
    notes = [result.note for result in judged(runner, tmp_path, "page.md", page)]
    proposal = "only last digits differ: rtol=1e-14 takes them as equal"
    assert notes == [proposal, proposal, ""]


def test_tolerance_on_request(runner: Runner, tmp_path: Path) -> None:
    page = "<!-- th-docs page: rtol=0.5 -->\n\n" + python(">>> 1/3\n0.4")
    assert words(judged(runner, tmp_path, "page.md", page)) == "pass"


@pytest.mark.thorough
@pytest.mark.parametrize(("info", "form"), data(__file__, "test_fences_of_python"))
def test_fences_of_python(runner: Runner, tmp_path: Path, info: str, form: str) -> None:
    def page(output: str) -> str:
        return f"```{info}\n{form.format('1 + 1', output)}\n```\n"

    assert words(judged(runner, tmp_path, "a.md", page("2"))) == "pass"
    assert words(judged(runner, tmp_path, "b.md", page("3"))) == "differs"


@pytest.mark.thorough
def test_directives_of_sphinx(runner: Runner, tmp_path: Path) -> None:
    text = data(__file__, "test_directives_of_sphinx")
    found = words(judged(runner, tmp_path, "page.rst", dedent(text)))
    assert found == "pass fragment ran skipped differs ran pass"


COMMENTS = data(__file__, "COMMENTS")


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "verdicts"), COMMENTS.items())
def test_values_in_comments(runner: Runner, tmp_path: Path, page: str, verdicts: str) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(page))) == verdicts


@pytest.mark.thorough
def test_an_input_goes_on_as_lua_reads_it(runner: Runner, tmp_path: Path) -> None:
    page = lua(data(__file__, "test_an_input_goes_on_as_lua_reads_it"))
    results = judged(runner, tmp_path, "page.md", page)
    assert words(results) == "ran ran ran ran ran pass ran pass differs pass pass"


@pytest.mark.thorough
def test_values_in_no_order(runner: Runner, tmp_path: Path) -> None:
    page = lua(data(__file__, "test_values_in_no_order"))
    results = judged(runner, tmp_path, "page.md", page)[2:]
    for result in (results.pop(2), results.pop(0)):
        assert result.verdict.value in ("layout", "pass")  # by the order of this run
    assert words(results) == "differs differs pass differs"


@pytest.mark.thorough
def test_random_numbers_of_lua_itself(runner: Runner, tmp_path: Path) -> None:
    page = lua(data(__file__, "test_random_numbers_of_lua_itself"))
    assert words(judged(runner, tmp_path, "page.md", page)) == "layout differs ran differs"


def cell(source: str, output: str = "", *tags: str, value: str = "") -> dict[str, object]:
    outputs: list[object] = []
    if output:
        outputs.append({"output_type": "stream", "name": "stdout", "text": [output]})
    if value:
        outputs.append({"output_type": "execute_result", "data": {"text/plain": [value]}})
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {"tags": tags},
        "source": source.splitlines(True),
        "outputs": outputs,
    }


def notebook(*cells: dict[str, object]) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


TIMES = "CPU times: user 1 s\nWall time: 3 µs\n"
LOOPS = "3.49 µs ± 46.9 ns per loop (mean ± std. dev. of 7 runs, 10 loops each)\n"
#: Cells, their printed texts and values, and the verdicts.
CELLS = {
    ("%timeit 1 + 1", "10 loops, best of 3: 1.2 µs per loop\n", ""): "",
    ("%%timeit\n1 + 1", LOOPS, ""): "ran",
    ("x = 3\n%timeit x\nx", LOOPS, "3"): "pass",
    ("x = 3\n%timeit x\nx", LOOPS, "4"): "differs",
    ("%time x = 3\nx", TIMES, "3"): "pass",
    ("%time 1 + 1", TIMES, "3"): "differs",
    ("%%time\nprint(1)", f"1\n{TIMES}", ""): "pass",
    ("files = !ls\nprint(1)", "1\n", ""): "pass",
    ("print(1)\n5;  # not shown", "1\n", ""): "pass",
    ("5;", "5\n", ""): "differs",
    ("iter([])", "", "<list_iterator at 0x104722400>"): "pass",
    ("iter([])", "", "<tuple_iterator at 0x104722400>"): "differs",
    ("def f(x): return x\nf", "", "<function __main__.f(x)>"): "pass",
    ("def f(x): return x\nf", "", "<function __main__.g(x)>"): "differs",
    ("5;", "<IPython.core.display.HTML object>\n", ""): "ran",
}


@pytest.mark.sample(1)
@pytest.mark.parametrize(("shown", "verdict"), CELLS.items())
def test_what_notebooks_show(
    runner: Runner, tmp_path: Path, shown: tuple[str, str, str], verdict: str
) -> None:
    source, output, value = shown
    text = notebook(cell(source, output, value=value))
    assert words(judged(runner, tmp_path, "page.ipynb", text)) == verdict


@pytest.mark.thorough
def test_marks_of_nbval(runner: Runner, tmp_path: Path) -> None:
    cells = [
        cell("# NBVAL_IGNORE_OUTPUT\nprint(1)", "2"),
        cell("# NBVAL_CHECK_OUTPUT\nprint(1)", "2"),
        cell("print(1)", "2", "nbval-ignore-output"),
        cell("# NBVAL_SKIP\nprint(1)", "2"),
        cell("1 / 0", "", "raises-exception"),
        cell("1 / 0", "", "nbval-raises-exception"),
    ]
    found = words(judged(runner, tmp_path, "page.ipynb", notebook(*cells)))
    assert found == "ran differs ran skipped layout layout"


def python_prompts(shown: int, left_out: int = 1) -> str:
    return python(">>> 1 + 1\n2\n" * shown + ">>> 1 + 2\n\n" * left_out)


def lua_prompts(shown: int, last: str) -> str:
    return lua("> 1 + 1\n2\n" * shown + last)


def lua_comments(shown: int, last: str) -> str:
    return lua("math.max(1, 2) --> 2\n" * shown + last)


OMISSIONS = {
    python_prompts(1): "differs",
    python_prompts(2, 3): "ran",
    python(">>> 1\n1\n>>> 2  # a comment"): "differs",
    python(">>> 1\n1\n>>> object()"): "ran",
    python(">>> 1\n1\n>>> import random\n>>> random.random()"): "ran",
    "<!-- th-docs page: strict=false -->\n" + python_prompts(1): "ran",
    lua_prompts(5, "> 1 + 2"): "differs",
    lua_prompts(4, "> 1 + 2"): "ran",
    lua_prompts(5, "> 1 + 2\n> 2 + 2"): "ran",
    lua_prompts(5, "> 1 + 2\n> x = 3\n> x"): "differs",
    lua_prompts(5, "> x = {3}\n> 1 + 2\n> x[1]"): "differs",
    lua_prompts(5, "> x = 3\n> x\n> x"): "ran",
    lua_prompts(5, "> 1 + 2 -- a sum"): "ran",
    lua_prompts(5, "> x = print(3)"): "ran",
    lua_prompts(5, "> require 'torch'"): "ran",
    lua_prompts(5, "> torch.rand(2)"): "ran",
    lua_prompts(5, "> = 1 + 1\n2\n> math.max(1, 3)"): "ran",
    lua_comments(5, "math.max(1, 3)"): "differs",
    lua_comments(5, "(function(x) return x end)(3)"): "differs",
    lua_comments(5, "-- the larger one is 3\nmath.max(1, 3)"): "ran",
    lua_comments(5, "-- Returns 3\nmath.max(1, 3)"): "ran",
    lua_comments(4, "math.max(1, 2)\n--> 2\nmath.max(1, 3)"): "differs",
    lua_comments(5, "print(math.max(1, 3))"): "ran",
    # By chance: twice the same is printed sometimes.
    lua_prompts(5, "> math.random(2)"): "ran",
}


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "verdict"), OMISSIONS.items())
def test_a_page_that_shows_outputs_has_to_show_all(
    runner: Runner, tmp_path: Path, page: str, verdict: str
) -> None:
    assert judged(runner, tmp_path, "page.md", page)[-1].verdict.value == verdict


BELOW_BLANK_LINES = data(__file__, "BELOW_BLANK_LINES")


@pytest.mark.sample(1)
@pytest.mark.parametrize(("code", "verdict"), BELOW_BLANK_LINES.items())
def test_a_value_below_a_blank_line(
    runner: Runner, tmp_path: Path, code: str, verdict: str
) -> None:
    assert words(judged(runner, tmp_path, "page.md", lua(code))) == verdict


@pytest.mark.thorough
def test_the_order_of_fields_in_a_comment(runner: Runner, tmp_path: Path) -> None:
    fields = "for k, v in pairs {one = 1, two = 2, three = 3} do print(k, v) end\n"
    right, wrong = "--> one 1\n--> two 2\n--> three 3\n", "--> one 1\n--> two 2\n--> three 4\n"
    found = judged(runner, tmp_path, "page.md", lua(fields + right + fields + wrong))
    assert words(found) in ("layout differs", "pass differs")  # by the order of this run
