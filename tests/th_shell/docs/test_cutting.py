"""How a block is cut into inputs and the text under each."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data_files import data
from tests.th_shell.docs.conftest import read_page
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.cutting import cut
from th_shell.docs.reading.examples import Block, Example, Line

COMPILER = Compiler()


def cut_text(folder: Path, *lines: str) -> list[Example]:
    page = folder / "page.txt"
    page.write_text("\n".join(["```", *lines, "```", ""]))
    return cut(read_page(page).blocks, COMPILER)


def short(examples: list[Example]) -> list[tuple[int, str, str, str]]:
    return [(e.line, e.kind.value, e.source, e.expected) for e in examples]


@pytest.mark.parametrize("prompt", ["> ", "th> ", ">", "  > "])
def test_prompt_with_its_output(tmp_path: Path, prompt: str) -> None:
    found = cut_text(tmp_path, f"{prompt}x:size()", " 4", " 5", "[torch.LongStorage of size 2]")
    assert short(found) == [(2, "prompt", "x:size()", " 4\n 5\n[torch.LongStorage of size 2]")]


def test_prompt_with_continuations(tmp_path: Path) -> None:
    found = cut_text(
        tmp_path,
        "> for i = 1, 2 do",
        ">> print(i)",
        "end",
        "1",
        "2",
        "> function f()",
        ">",
        ">    return 7",
        "> end",
        "th> g(",
        "..> 1)",
    )
    assert short(found) == [
        (2, "prompt", "for i = 1, 2 do\nprint(i)\nend", "1\n2"),
        (7, "prompt", "function f()\n\n   return 7\nend", ""),
        (11, "prompt", "g(\n1)", ""),
    ]


def test_statements_each_with_what_stands_under_it(tmp_path: Path) -> None:
    found = cut_text(
        tmp_path,
        "x = torch.Tensor(2)",
        "x:apply(function()",
        "",
        "  return 1",
        "end) -- fill",
        "-- a comment ends an output",
        "print(x)",
        " 1",
        " 1",
        "[torch.DoubleTensor of size 2]",
    )
    assert short(found) == [
        (2, "bare", "x = torch.Tensor(2)", ""),
        (3, "bare", "x:apply(function()\n\n  return 1\nend) -- fill", ""),
        (8, "bare", "print(x)", " 1\n 1\n[torch.DoubleTensor of size 2]"),
    ]


@pytest.mark.parametrize(
    "output",
    data(__file__, "test_what_does_not_compile_as_a_statement_is_output"),
)
def test_what_does_not_compile_as_a_statement_is_output(tmp_path: Path, output: str) -> None:
    found = cut_text(tmp_path, "> f()", *output.split("\n"), "> g()")
    assert short(found)[0] == (2, "prompt", "f()", output)
    assert short(found)[1][1:] == ("prompt", "g()", "")


def test_fields_of_a_table_are_no_variables(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "> f({ a = 1, { b = 2 } })", "> f('a')", "a", "b")
    assert short(found)[1] == (3, "prompt", "f('a')", "a\nb")


def test_attributes_of_a_tag_are_output(tmp_path: Path) -> None:
    found = cut_text(
        tmp_path, "> x", "<frodo", "  type='hobbit'", "/>", "y = 1", "<unclosed", "z = 1"
    )
    assert short(found) == [
        (2, "prompt", "x", "<frodo\n  type='hobbit'\n/>"),
        (6, "bare", "y = 1", "<unclosed"),
        (8, "bare", "z = 1", ""),
    ]


def test_comment_ends_an_output_and_starts_none(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "> f()", "1", "-- words", "2", "--[[ more", "words ]]", "g()")
    assert short(found) == [
        (2, "prompt", "f()", "1"),
        (5, "text", "", "2"),
        (8, "bare", "g()", ""),
    ]


def test_empty_prompt_ends_an_output(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "> f()", ">", "> -- only words", "> g()")
    assert short(found) == [(2, "prompt", "f()", ""), (5, "prompt", "g()", "")]


def test_query_without_prompt(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "a, x = 1, 2", "x", "2", "y", "= y", "3")
    assert short(found) == [
        (2, "bare", "a, x = 1, 2", ""),
        (3, "prompt", "x", "2\ny"),
        (6, "prompt", "= y", "3"),
    ]


@pytest.mark.parametrize(
    ("statement", "runs_as"),
    data(__file__, "test_local_of_a_script_outlives_its_statement"),
)
def test_local_of_a_script_outlives_its_statement(
    tmp_path: Path, statement: str, runs_as: str
) -> None:
    assert short(cut_text(tmp_path, statement)) == [(2, "bare", runs_as, "")]


def test_local_at_a_prompt_stays_local(tmp_path: Path) -> None:
    assert short(cut_text(tmp_path, "> local x = 1")) == [(2, "prompt", "local x = 1", "")]


def test_shell_lines(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "$ echo Hi > a", "$ cat a", "Hi", "> $ ls", "a")
    assert short(found) == [
        (2, "shell", "echo Hi > a", ""),
        (3, "shell", "cat a", "Hi"),
        (5, "shell", "ls", "a"),
    ]


def test_input_that_never_ends_is_its_first_line(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "> f(1 +", "  +2)", "> g()")
    assert short(found) == [(2, "prompt", "f(1 +", "  +2)"), (4, "prompt", "g()", "")]


def test_text_without_an_input_is_kept(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "src:function(...)", "more text", "f()", "")
    assert short(found) == [
        (2, "text", "", "src:function(...)\nmore text"),
        (4, "bare", "f()", ""),
    ]


def test_input_across_a_page_break(tmp_path: Path) -> None:
    found = cut_text(
        tmp_path, "> f(function()", "```", "", "", "```", "end)", "1", "```", "```", "2"
    )
    assert short(found) == [(2, "prompt", "f(function()\nend)", "1\n2")]


def test_blocks_are_numbered(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "f()", "g()", "```", "text", "```", "h()")
    assert [e.block for e in found] == [0, 0, 1]


LINES = """\
x = torch.Tensor(2)|> x|th> x:apply(function()|end)| 1  2|5|prose, and more|{|}|= x|x|it's|
[torch.DoubleTensor of size 2]|$ cat a|>||f(|)|if x then|..> end|>> y|[[|]]|torch.DoubleTensor|
local y = 1|0.01 *""".replace("\n", "").split("|")


@pytest.mark.thorough
@given(lines=st.lists(st.sampled_from(LINES), max_size=12))
@settings(max_examples=300, deadline=None)
def test_no_line_is_lost(lines: list[str]) -> None:
    numbered = tuple(Line(number, text) for number, text in enumerate(lines, 2))
    found = cut([Block(1, len(lines) + 2, "", numbered)], COMPILER)
    assert [e.line for e in found] == sorted({e.line for e in found})
    words = " ".join(f"{e.source} {e.expected}" for e in found).split()
    assert sorted(_plain("".join(words))) == sorted(_plain("".join(lines)))


def _plain(text: str) -> str:
    # What may be a prompt, space or a `local` that is left out is not counted.
    text = "".join(text.replace("th>", "").split()).replace("local", "")
    return text.translate(dict.fromkeys(map(ord, ">.$=")))


@pytest.mark.parametrize("name", ["t7", "lua", "luajit", "torch"])
def test_prompts_with_the_name_of_a_shell(tmp_path: Path, name: str) -> None:
    found = cut_text(tmp_path, f"{name}> a = 10", f"{name}> =a", "10", f"{name}>")
    assert short(found) == [(2, "prompt", "a = 10", ""), (3, "prompt", "=a", "10")]


def test_prompt_of_a_continuation_below_a_complete_input(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "> t", ">>  :plus(2)", "3", "> t", ">>> no prompt")
    assert short(found) == [
        (2, "prompt", "t\n :plus(2)", "3"),
        (5, "prompt", "t", ">>> no prompt"),
    ]


def test_the_time_at_the_end_of_an_input_is_none_of_it(tmp_path: Path) -> None:
    assert short(cut_text(tmp_path, "th> i = 0     [0.0001s]")) == [(2, "prompt", "i = 0", "")]


def test_value_behind_an_arrow_on_a_line_of_its_own(tmp_path: Path) -> None:
    first, second = cut_text(tmp_path, "> x + 1", "=> 3", "> y", "=> 1", "2")
    assert first.value and (first.value.text, first.value.codes) == ("3", ("3",))
    assert (second.value, second.expected) == (None, "1\n2")


@pytest.mark.parametrize("output", [" 0.2500 -- 1,1", "T = 3"])
def test_output_that_compiles(tmp_path: Path, output: str) -> None:
    source = "print('T = ' .. T, s)"
    assert short(cut_text(tmp_path, f"> {source}", output)) == [(2, "prompt", source, output)]


def test_below_a_require_is_no_output(tmp_path: Path) -> None:
    found = cut_text(tmp_path, "require 'nn'", "[res] nn.f(a)")
    assert short(found) == [(2, "bare", "require 'nn'", ""), (3, "text", "", "[res] nn.f(a)")]


@pytest.mark.parametrize(
    "comment",
    data(__file__, "test_output_in_comments"),
)
def test_output_in_comments(tmp_path: Path, comment: tuple[str, ...]) -> None:
    (found,) = cut_text(tmp_path, "print(x) -- the sizes", *comment)
    assert found.value and found.value.text.split("\n") == [
        "1",
        "2",
        "[torch.LongStorage of size 2]",
    ]


def test_marked_values_behind_a_blank_line(tmp_path: Path) -> None:
    (found,) = cut_text(tmp_path, "f()", "", "--> 1 a", "--> 2 a")
    assert found.value and found.value.text == "1 a\n2 a"


def test_prose_behind_a_blank_line_is_no_value(tmp_path: Path) -> None:
    (found,) = cut_text(tmp_path, "print(x)", "", "-- 2 more ways", "-- 3", "--[[ and 4 ]]")
    assert found.value is None
