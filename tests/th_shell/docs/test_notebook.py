"""Jupyter notebooks: their cells with outputs, and the lines of the file where these stand."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.th_shell.docs.conftest import read_page
from tests.th_shell.docs.test_strange_pages import judged, words
from th_shell.docs.cli import main
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.cutting import cut
from th_shell.docs.reading.examples import Example
from th_shell.docs.running.evaluation import Runner
from th_shell.docs.settings.settings import PageError

Cell = dict[str, Any]


def code(source: str, *outputs: Cell, tags: tuple[str, ...] = ()) -> Cell:
    return {
        "cell_type": "code",
        "execution_count": 1,
        "metadata": {"tags": list(tags)},
        "outputs": list(outputs),
        "source": source.splitlines(True),
    }


def text(source: str) -> Cell:
    return {"cell_type": "markdown", "metadata": {}, "source": source.splitlines(True)}


def printed(content: str) -> Cell:
    return {"name": "stdout", "output_type": "stream", "text": content.splitlines(True)}


def value(content: str, **others: str) -> Cell:
    data = {"text/plain": content.splitlines(True), **others}
    return {"data": data, "execution_count": 1, "metadata": {}, "output_type": "execute_result"}


def error(name: str, message: str) -> Cell:
    return {"ename": name, "evalue": message, "output_type": "error", "traceback": ["\x1b[31m?"]}


def write(folder: Path, *cells: Cell, language: str = "python", **layout: Any) -> Path:
    page = folder / "page.ipynb"
    kernel = {"display_name": "any", "language": language, "name": "any"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4}
    page.write_text(json.dumps(notebook, **(layout or {"indent": 1})))
    return page


def read(page: Path) -> list[Example]:
    return cut(read_page(page).blocks, Compiler())


def test_cells_and_their_outputs(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        text("# Numbers\n\nText.\n## Sums ##\n"),
        code("x = 1\nprint(x)\nx + 1", printed("1\n"), value("2")),
        code("# nothing"),
        text("More."),
        code("1 / 0", error("ZeroDivisionError", "division by zero")),
        code("raise StopIteration", error("StopIteration", "")),
        code("plot()", value("<Figure size 640x480>", **{"image/png": "iVBORw0KGgo="})),
    )
    found = read(page)
    assert [(e.source, e.expected) for e in found] == [
        ("x = 1\nprint(x)\nx + 1", "1\n2"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise StopIteration", "StopIteration"),
        ("plot()", ""),
    ]
    assert {(e.kind.value, e.language, e.heading) for e in found} == {("cell", "python", "Sums")}


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    page = write(tmp_path, code("x = 1\nx", value("1")))
    lines = page.read_text().split("\n")
    (example,) = read(page)
    assert [lines[at - 1].strip() for at in (example.line, example.last)] == ['"x = 1\\n",', '"x"']
    assert example.documented is not None
    assert [lines[at - 1].strip() for at in example.documented] == ['"1"', '"1"']


def test_a_file_of_one_line(tmp_path: Path) -> None:
    page = write(tmp_path, code("x = 1"), code("x", value("1")), separators=(",", ":"))
    assert [(e.line, e.source, e.expected) for e in read(page)] == [(1, "x = 1", ""), (1, "x", "1")]


def test_source_that_is_one_string(tmp_path: Path) -> None:
    cell = {"cell_type": "code", "metadata": {}, "outputs": [printed("3\n")], "source": "x = 3\nx"}
    (example,) = read(write(tmp_path, cell))
    assert (example.source, example.expected) == ("x = 3\nx", "3")


def test_output_in_several_pieces(tmp_path: Path) -> None:
    stream = {"name": "stdout", "output_type": "stream", "text": ["a", "b\n", "c"]}
    (example,) = read(write(tmp_path, code("f()", stream)))
    assert example.expected == "ab\nc"


def test_skipped_cells(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        text("Long.\n\n<!-- th-docs: skip -->\n"),
        code("a"),
        code("b", tags=("skip-execution",)),
        code("c"),
    )
    assert [bool(example.settings.skip) for example in read(page)] == [True, True, False]


@pytest.mark.thorough
def test_kernel_of_lua(tmp_path: Path) -> None:
    page = write(
        tmp_path,
        code("local x = torch.ones(2)\nprint(x:sum())", printed("2\t\n")),
        code("-- nothing"),
        code("y = 3\nreturn y", value("3")),
        language="lua",
    )
    assert [e.language for e in read(page)] == ["lua", "lua"]
    assert main([str(page)]) == 0


def test_kernel_without_an_engine(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = write(tmp_path, code("1"), language="julia")
    assert main([str(page)]) == 5
    assert capfd.readouterr().out == f"{page}: no examples; 1 block in other languages\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "{",
            "not a notebook: Expecting property name enclosed in double quotes: "
            "line 1 column 2 (char 1)",
        ),
        ("[]", "not a notebook of format 3 or 4, with cells and their sources"),
        ('{"metadata": {}}', "not a notebook of format 3 or 4, with cells and their sources"),
        (
            '{"metadata": {}, "cells": [{"cell_type": "code", "source": 1}]}',
            "not a notebook of format 3 or 4, with cells and their sources",
        ),
        ("[" * 100_000, "not a notebook of format 3 or 4, with cells and their sources"),
    ],
)
def test_what_is_no_notebook(
    tmp_path: Path, content: str, problem: str, capfd: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.ipynb"
    page.write_text(content)
    with pytest.raises(PageError) as raised:
        read(page)
    assert str(raised.value) == problem
    assert main([str(page)]) == 1
    assert capfd.readouterr().out == f"FAIL {page}: {problem}\n{page}: not checked\n"


@pytest.mark.thorough
def test_results_of_a_notebook(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    page = write(
        tmp_path,
        code("%matplotlib inline\nimport math\nfor i in (1, 2):\n    math.sqrt(i)"),
        code("print('a')\nmath.pi", printed("a\n"), value("3.141592653589793")),
        code("math.sqrt(-1)", error("ValueError", "math domain error")),
        code("{'b', 'a'}", value("{'a', 'b'}")),
        code("print(1)\n2", printed("1\n")),
        code("1 + 1", value("3")),
    )
    assert main([str(page)]) == 1
    *_, counts = capfd.readouterr().out.splitlines()
    assert counts == f"{page}: checked 5 of 6 examples: 3 pass, 1 ran, 2 differs"


def test_notebook_of_format_3(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Sums"]},
        {
            "cell_type": "code",
            "input": ["print(1)\n", "1 + 1"],
            "language": "python",
            "outputs": [
                {"output_type": "stream", "stream": "stdout", "text": ["1\n"]},
                {"output_type": "pyout", "prompt_number": 1, "text": ["2"]},
                {"output_type": "display_data", "png": "iVBO", "text": ["a picture"]},
                {"output_type": "pyerr", "ename": "E", "evalue": "why", "traceback": []},
            ],
        },
    ]
    page = tmp_path / "page.ipynb"
    notebook = {"metadata": {"language": "lua"}, "nbformat": 3, "worksheets": [{"cells": cells}]}
    page.write_text(json.dumps(notebook))
    (found,) = read(page)
    assert (found.heading, found.language) == ("Sums", "lua")
    assert (found.source, found.expected) == ("print(1)\n1 + 1", "1\n2\nE: why")


def test_a_line_may_end_in_the_next_output(tmp_path: Path) -> None:
    loop = code("x", value("1\t"), value("\n2\n"), value("\n3"), printed("\n4\n"))
    (found,) = read(write(tmp_path, loop))
    assert found.expected == "1\t\n2\n\n3\n\n4"


def test_a_result_that_the_kernel_of_torch_has_cut_goes_on_in_the_next_one(tmp_path: Path) -> None:
    (found,) = read(write(tmp_path, code("x", value("a = 1\n  "), value("b = 2\n"))))
    assert found.expected == "a = 1\n  b = 2"


def test_cells_of_lua_may_tell_values_in_comments(runner: Runner, tmp_path: Path) -> None:
    sources = ["x = 1 -- one", "print(x) --> 1\nprint(x) --> 2", "x = x + 1"]
    page = write(tmp_path, *map(code, sources), language="lua")
    found = words(judged(runner, tmp_path, page.name, page.read_text()))
    assert found == "ran pass differs ran"


@pytest.mark.thorough
def test_the_kernel_of_torch_has_its_package(runner: Runner, tmp_path: Path) -> None:
    sources = ["x = itorch.image(torch.rand(3, 8, 8))", "itorch.nosuch()", "x = other.image(3)"]
    page = write(tmp_path, *map(code, sources), language="lua")
    found = words(judged(runner, tmp_path, page.name, page.read_text()))
    assert found == "ran error fragment"


LUA_CELLS = "In [1]: x = torch.ones(2)\nIn [2]: x:sum()\nOut[2]: 2\nIn [3]: ?torch.ones\n"


@pytest.mark.parametrize("fence", ["```", "```lua", "```python", None])
def test_cells_of_lua_by_what_compiles(tmp_path: Path, fence: str | None) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"{fence}\n{LUA_CELLS}```\n" if fence else LUA_CELLS)
    found = cut(read_page(page).blocks, Compiler())
    assert {example.language for example in found} == {"lua"}
    assert [(example.source, example.expected) for example in found] == [
        ("x = torch.ones(2)", ""),
        ("x:sum()", "2"),
        ("?torch.ones", ""),
    ]


def test_cells_of_python_by_what_compiles(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\nIn [1]: import os\nIn [2]: x:sum()\n```\n")
    assert {example.language for example in cut(read_page(page).blocks, Compiler())} == {"python"}
