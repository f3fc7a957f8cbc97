"""Pages that nobody writes: they neither end th-docs nor keep it busy, and nothing passes."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.data_files import data
from tests.th_shell.docs.conftest import read_page
from th_shell.docs.judging.comparison import agrees, agrees_within
from th_shell.docs.judging.plausibility import implausible
from th_shell.docs.judging.printout import bare_message, only_rows, precision, printed_tensors
from th_shell.docs.reading.comment_values import comment_of
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.lua_names import bound_names, read_names
from th_shell.docs.reading.page import read, read_text
from th_shell.docs.settings.directives import find_comments
from th_shell.docs.settings.settings import PageError

_MANY = 30_000
_SECONDS = 2.0  # what took time in proportion to the square of these sizes took minutes


@pytest.mark.parametrize(
    "work",
    [
        lambda: agrees("a", "1" * _MANY + "x"),
        lambda: only_rows("1" * _MANY + " x"),
        lambda: agrees("1\n...\n" * 8 + "2", "1 " * 400),
        lambda: agrees("...\n" * 3000 + "2", "1 " * 400),
        lambda: bare_message("a" * _MANY * 3),
        lambda: read_names("[[" * _MANY),
        lambda: read_names("--[[ a\n" * _MANY),
        lambda: bound_names("a, " * _MANY),
        lambda: bound_names("function " * _MANY),
        lambda: comment_of("[[" * _MANY + "--> 3"),
    ],
)
def test_long_texts_take_little_time(work: Callable[[], object]) -> None:
    start = time.monotonic()
    work()
    assert time.monotonic() - start < _SECONDS


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "```lua\n" + "a, " * _MANY + "\n```"),
        ("page.txt", "# " + " #" * _MANY + "x"),
        ("page.lua", "--[[" + "-" * _MANY * 3 + "x]]"),
    ],
)
def test_pages_with_long_lines_take_little_time(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    start = time.monotonic()
    read(tmp_path / name, Compiler())
    assert time.monotonic() - start < _SECONDS


@pytest.mark.parametrize(
    "text",
    [
        f"```lua\n{'-' * _MANY}x th-docs\n```",
        f"{'<!-- a ' * _MANY}th-docs",
        f"{' '.join('`' * count for count in range(1000))}x th-docs",
    ],
)
def test_long_marks_before_a_directive_take_little_time(text: str) -> None:
    start = time.monotonic()
    assert find_comments(read_text(text, "page.md")) == []
    assert time.monotonic() - start < _SECONDS


@pytest.mark.parametrize(
    ("number", "unit"),
    [("1.25", 0.01), ("1.5e3", 100.0), ("7", 0.0), ("1.5e999", 0.0), (f"1.5e{'9' * 5000}", 0.0)],
)
def test_units_of_odd_numbers(number: str, unit: float) -> None:
    assert precision(number) == pytest.approx(unit)
    assert not agrees(number, "3")


def test_a_tensor_of_more_elements_than_memory_holds() -> None:
    (tensor,) = printed_tensors(" 1\n[torch.DoubleTensor of size 100000x100000]")
    assert tensor.problem == "1 numbers for 10000000000 elements"


@pytest.mark.parametrize("places", ["size", "Columns"])
def test_sizes_of_thousands_of_digits_are_text(places: str) -> None:
    digits = "9" * 5000
    text = {
        "size": f" 1\n[torch.DoubleTensor of size {digits}]",
        "Columns": f"Columns {digits} to 2",
    }
    assert not list(printed_tensors(text[places]))


@pytest.mark.parametrize(
    ("expected", "got", "is_right"), data(__file__, "test_several_marks_for_any_text")
)
def test_several_marks_for_any_text(expected: str, got: str, is_right: bool) -> None:
    assert agrees(expected, got) is is_right


def test_a_number_that_becomes_infinite_does_not_widen_the_others() -> None:
    assert not agrees_within("5 6", "1 7", "inf 7")


def test_numbers_whose_squares_are_none() -> None:
    runs = [[1.7e308 * (-1) ** i, -1.7e308, 1.0, 2.0] for i in range(7)]
    assert isinstance(implausible([1.0, 2.0, 3.0, 4.0], runs), str)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("page.rst", "* " * 2000 + "x", "its lists or margins are nested too deep"),
        (
            "page.ipynb",
            '{"cells": [], "metadata": {"a": ' + "9" * 5000 + "}}",
            "not a notebook of format 3 or 4, with cells and their sources",
        ),
    ],
)
def test_pages_that_their_parsers_give_up(
    name: str, text: str, problem: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(PageError) as caught:
        read_page(tmp_path / name)
    assert str(caught.value) == problem


@pytest.mark.parametrize("section", ["<![abc[ ]]>", "<![if IE]>", "<![]>", "<![CDATA[<pre>]]>"])
def test_sections_that_html_does_not_know_are_skipped(section: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(f"<p>\n{section}<pre>x = 3</pre>")
    (block,) = read_page(tmp_path / "page.html").blocks
    assert [line.text for line in block.lines] == ["x = 3"]


def test_numbers_of_lines_beside_code_are_none_of_it(tmp_path: Path) -> None:
    cells = '<td class="gutter"><pre><span>1</span>\n2</pre><td><pre>{}x = 3\ny = 4</pre>'
    page = f"<table><tr>{cells}</table><pre>1\n2</pre>"
    (tmp_path / "page.html").write_text(page.format('<span class="lineno">1 </span>'))
    blocks = read_page(tmp_path / "page.html").blocks
    texts = [[line.text for line in block.lines] for block in blocks]
    assert texts == [["x = 3", "y = 4"], ["1", "2"]]


def test_a_nul_in_a_page_stands_for_no_text(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_bytes(b"```lua\n> 'a'\n\0\n```\n")
    (example,) = read(tmp_path / "page.md", Compiler()).examples
    assert example.expected == "\N{REPLACEMENT CHARACTER}"


def test_half_a_character_in_a_notebook(tmp_path: Path) -> None:
    text = (
        '{"cells": [{"cell_type": "code", "source": ["print(\'\\ud800\\u0000\')"]}],'
        ' "metadata": {"kernelspec": {"language": "lua"}}}'
    )
    (tmp_path / "page.ipynb").write_text(text)
    (example,) = read(tmp_path / "page.ipynb", Compiler()).examples
    assert example.source == "print('\ufffd\ufffd')"
