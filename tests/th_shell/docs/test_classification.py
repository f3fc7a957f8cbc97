"""Text among code, and output in a block of its own."""

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Example
from th_shell.docs.reading.page import read as read_page
from th_shell.docs.running.evaluation import Runner

COMPILER = Compiler()


def read(folder: Path, text: str) -> list[Example]:
    page = folder / "page.md"
    page.write_text(text)
    return list(read_page(page, COMPILER).examples)


def kinds(examples: list[Example]) -> str:
    return " ".join(f"{e.kind.value}:{e.line}-{(e.documented or (0, e.last))[1]}" for e in examples)


@pytest.mark.parametrize(("lines", "found"), data(__file__, "test_text_among_code"))
def test_text_among_code(tmp_path: Path, lines: str, found: str) -> None:
    assert kinds(read(tmp_path, f"```\n{lines}\n```\n")) == found


@pytest.mark.parametrize(
    "lead",
    ["It prints:", "Output", "gives the output:", "Which will result in the following output :"],
)
def test_output_in_a_block_of_its_own(tmp_path: Path, lead: str) -> None:
    examples = read(tmp_path, f"```\nx = 1\nprint(x)\n```\n\n{lead}\n\n```\n 1\n 2\n```\n")
    assert kinds(examples) == "bare:2-2 bare:3-10"
    assert (examples[1].expected, examples[1].apart) == (" 1\n 2", True)


@pytest.mark.parametrize(("page", "found"), data(__file__, "test_text_that_is_no_output"))
def test_text_that_is_no_output(tmp_path: Path, page: str, found: str) -> None:
    assert kinds(read(tmp_path, page)) == found


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "verdict"), [("print(3)", "pass"), ("print(4)", "differs"), ("x = 3", "ran")]
)
def test_verdict_of_output_in_a_block_of_its_own(
    runner: Runner, tmp_path: Path, source: str, verdict: str
) -> None:
    read(tmp_path, f"```\n{source}\n```\n\nIt prints:\n\n```\n3\n```\n")
    page = tmp_path / "page.md"
    (result,) = check_page(read_page(page, COMPILER), runner).results
    assert result.verdict.value == verdict


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("source", "verdict"), data(__file__, "test_text_below_that_may_be_output")
)
@pytest.mark.parametrize("between", ["Text:", "The output `y` is:", "```sh\nf\n```\n\nIt prints:"])
def test_text_below_that_may_be_output(
    runner: Runner, tmp_path: Path, source: str, verdict: str, between: str
) -> None:
    text = f"```\n{source}\n```\n\n{between}\n\n```\nsome text and\n\n3\n```\n"
    if verdict == "pass":
        text = text.replace("some text and\n\n", "")
    (example,) = read(tmp_path, text)
    assert example.apart and not example.announced
    page = tmp_path / "page.md"
    (result,) = check_page(read_page(page, COMPILER), runner).results
    assert result.verdict.value == verdict


@pytest.mark.thorough
def test_an_error_that_the_page_has_shown_above(runner: Runner, tmp_path: Path) -> None:
    text = "```\n> error('no')\nno\n```\n\nAgain:\n\n```\nerror('no') -- fails\nerror('yes')\n```\n"
    page = tmp_path / "page.md"
    page.write_text(text)
    found = check_page(read_page(page, COMPILER), runner).results
    assert [result.verdict.value for result in found] == ["pass", "layout", "error"]


@pytest.mark.parametrize(
    "lead", ["You should see something like:", "It looks like this:", "This prints:"]
)
def test_announced_equations_are_output(lead: str, tmp_path: Path) -> None:
    examples = read(tmp_path, f"```\nprint('T = 1') -- some words\n```\n{lead}\n```\nT = 1\n```\n")
    (found,) = examples
    assert (found.expected, found.announced, found.value) == ("T = 1", True, None)


@pytest.mark.parametrize("text", ["luarocks install nn", "$ th x.lua", "# config.json\n[1, 2"])
def test_what_no_input_prints(text: str, tmp_path: Path) -> None:
    examples = read(tmp_path, f"```python\nprint(1)\n```\nIt gives:\n```python\n{text}\n```\n")
    assert [example.expected for example in examples][:1] == [""]
