"""Which comments of a Lua source have examples."""

from pathlib import Path

import pytest

from tests.data_files import data
from th_shell.docs.checking import check_page
from th_shell.docs.reading.compiler import Compiler
from th_shell.docs.reading.examples import Block
from th_shell.docs.reading.formats import lua
from th_shell.docs.reading.page import read
from th_shell.docs.running.evaluation import Runner


def found(source: str) -> list[tuple[str, list[tuple[int, str]]]]:
    blocks = lua.find(source.split("\n"))
    return [(block.heading, [(line.number, line.text) for line in block.lines]) for block in blocks]


def test_usage_reaches_to_the_next_tag() -> None:
    source = data(__file__, "test_usage_reaches_to_the_next_tag")
    assert found(source) == [
        ("M.add", [(3, "x = add(1, 2) --> 3"), (4, "if x then"), (5, "  print(x)"), (6, "end")]),
        ("M.add", [(7, "y = add(x, 1)")]),
    ]


@pytest.mark.parametrize(
    ("opening", "closing"), [("--[[", "]]"), ("--[==[--", "]==]"), ("--[[--", "--]]")]
)
def test_long_comments(opening: str, closing: str) -> None:
    source = f"{opening} Text\n@usage\nx = 1\n@see y\n```lua\ny = 2\n```\n{closing}\nlocal f = 1"
    assert [lines for _, lines in found(source)] == [[(2, ""), (3, "x = 1")], [(6, "y = 2")]]


def test_indented_code_is_read_in_documentation_only() -> None:
    source = "--- Doc.\n--\n--     x = 1\n--     > x\n\n-- Note.\n--\n--     y = 2\n"
    assert found(source) == [("", [(3, "x = 1"), (4, "> x")])]


def test_prompts_in_any_comment() -> None:
    assert found("local x\n  -- th> f(1)\n  -- 2\n\n  -- Text\n") == [
        ("", [(2, "th> f(1)"), (3, "2")])
    ]


@pytest.mark.parametrize(
    "code",
    ["s = '-- @usage x = 1'", 's = "--[["', "s = [[\n-- @usage x = 1\n]]", "s = [=[ -- ]] ]=]"],
)
def test_strings_are_no_comments(code: str) -> None:
    assert found(f"{code}\n-- @usage y = 2") == [("", [(code.count("\n") + 2, "y = 2")])]


def test_heading_is_what_the_documentation_declares() -> None:
    source = data(__file__, "test_heading_is_what_the_documentation_declares")
    assert [heading for heading, _ in found(source)] == ["one", "one", "M.two", "M.two"]


def test_comment_without_an_end_reaches_to_the_end() -> None:
    assert found("x = 1 --[[\n@usage y = 2") == [("", [(2, "y = 2")])]


SCRIPTS = {
    "print(x) -- 3": True,
    "print(x) -- the next one": False,
    "x = f(1) --> 3": True,
    "x = f(1) -- 3": False,
    "print(x) -- Ausgabe: 3": True,
    "print(x) -- returns 3": True,
    "x = f(1) -- returns 3": False,
    "print(x)\n-- 3": True,
    "x = 1\n-- 3": False,
    "print(x)\n--[[\n3\n]]": True,
    "print(x)\n--[[\nall of it\n]]": False,
    "print('-- 3')": False,
    "print(x) -- 3\nreturn x -- the module": False,
}


@pytest.mark.parametrize(("source", "is_script"), SCRIPTS.items())
def test_a_source_that_tells_values_is_a_script(source: str, is_script: bool) -> None:
    assert bool(found(source)) is is_script


def test_language_of_a_fence() -> None:
    (block,) = lua.find(["--- Text", "-- ```sh", "-- ls", "-- ```"])
    assert isinstance(block, Block)
    assert block.language == "sh"


def test_the_module_that_is_documented_is_loaded(tmp_path: Path, runner: Runner) -> None:
    page = tmp_path / "some" / "list.lua"
    page.parent.mkdir()
    page.write_text(
        "--- Lists.\n-- @classmod some.list\nlocal list = {}\n--- the first\n"
        "-- @usage > list.first({4})\n-- 4\nfunction list.first(x) return x[1] end\nreturn list\n"
    )
    (found,) = check_page(read(page, Compiler()), runner).results
    assert (found.example.source, found.verdict.value) == ("list.first({4})", "pass")
