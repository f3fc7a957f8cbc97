"""Markdown: indented code and headings; what the parser is not given changes nothing."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.data_files import data
from tests.th_shell.docs.conftest import read_page
from th_shell.docs.reading.examples import Block
from th_shell.docs.reading.formats import markdown


def find(text: str) -> list[Block]:
    return list(markdown.find(text.split("\n")))


def contents(blocks: list[Block]) -> list[list[tuple[int, str]]]:
    return [[(line.number, line.text) for line in block.lines] for block in blocks]


def test_indented_code_is_a_block_without_its_margin() -> None:
    (block,) = find("Text:\n\n    > x = 1\n    > x\n\n      1\n\nMore\n")
    assert contents([block]) == [[(3, "> x = 1"), (4, "> x"), (5, ""), (6, "  1")]]
    assert (block.opening, block.closing, block.language) == (2, 7, "")


@pytest.mark.parametrize("text", ["Text\n    x = 1\n", "- item\n\n      x = 1\n"])
def test_indented_text_of_a_paragraph_or_an_item_is_as_commonmark_says(text: str) -> None:
    tokens = [token for token in MarkdownIt().parse(text) if token.type == "code_block"]
    assert len(find(text)) == len(tokens)


def test_code_in_an_item_loses_the_margin_of_the_item() -> None:
    assert contents(find("- item\n\n      x = 1\n\nText\n\n    y = 2\n")) == [
        [(3, "x = 1")],
        [(7, "y = 2")],
    ]


@pytest.mark.parametrize(("heading", "text"), data(__file__, "test_heading"))
def test_heading(heading: str, text: str) -> None:
    (block,) = find(f"{heading}\n\n```\nx\n```\n")
    assert block.heading == text


def test_heading_holds_for_all_blocks_below_it() -> None:
    text = "    a\n\n# One\n\n    b\n\nText\n\n    c\n\n## Two ##\n\n    d"
    assert [block.heading for block in find(text)] == ["", "One", "One", "Two"]


def test_prompt_outside_of_code() -> None:
    text = "# Sum\n\nth> 1 + 2\n3\n\n  1  2\n[torch.DoubleTensor of size 1x2]\n\nText th> x\n"
    (block,) = find(text)
    assert contents([block]) == [
        [
            (3, "th> 1 + 2"),
            (4, "3"),
            (5, ""),
            (6, "  1  2"),
            (7, "[torch.DoubleTensor of size 1x2]"),
        ]
    ]
    assert (block.heading, block.language) == ("Sum", "th")


def test_prompt_within_code_is_one_example(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```\nth> 1\n```\n\n    th> 2\n\nText\n\nth> 3\n```c\nth> 4\n```\n")
    assert contents(read_page(page).blocks) == [[(2, "th> 1")], [(5, "th> 2")], [(9, "th> 3")]]


TEXTS = """\
|text|more text|Text > x|- item|- Item|1. item|  more|    code|      code|```|``` lua|~~~|> quote
> ```
# Title|===|---|***|<!--|-->|<textarea>|</textarea>|<div>|[a]: b|\ttab|* * *|x|\f|+ | text
    - x|    text|> text|>     code|- ```|  ```|-     code|<script>|</script>"""
LINES = TEXTS.replace("\n", "|").split("|")


@pytest.mark.thorough
@given(lines=st.lists(st.sampled_from(LINES), max_size=14))
@example(lines=["```", "text", "", ""])
@settings(max_examples=150, deadline=None)
def test_blocks_are_those_of_the_whole_page(lines: list[str]) -> None:
    found = [
        (block.language, [line.text for line in block.lines]) for block in markdown.find(lines)
    ]
    whole = [
        (token.info.strip(), token.content.removesuffix("\n").split("\n"))
        for token in MarkdownIt().parse("\n".join(lines))
        if token.type in ("fence", "code_block")
    ]
    assert found == whole


@pytest.mark.thorough
@given(lines=st.lists(st.sampled_from(LINES), max_size=14))
@settings(max_examples=100, deadline=None)
def test_lines_have_their_numbers(lines: list[str]) -> None:
    for block in markdown.find(lines):
        for line in block.lines:
            whole = lines[line.number - 1] if line.number <= len(lines) else ""
            assert whole.strip().endswith(line.text.strip())


def test_a_shell_of_lua_in_the_block_of_a_terminal(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```bash\ncd x\nth\n\nth> 1\n```\n```sh\n$ lua\n> 2\n```\n```bash\n> f\n```\n")
    assert contents(read_page(page).blocks) == [[(5, "th> 1")], [(9, "> 2")]]


def test_a_page_that_is_shown_is_not_run(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "````\n<!-- th-docs: setup\nx = 1\n-->\n```lua\n> x\n```\n````\n```\n> 1\n```\n"
    )
    found = read_page(page)
    assert (contents(found.blocks), found.unread) == ([[(10, "> 1")]], 1)


OTHER_MARKS = {
    "````{tip}\n```{doctest} a\n>>> x\n```\n````\n\n```{a}\nx\n```": [
        ("doctest", 3, ">>> x"),
        ("a", 8, "x"),
    ],
    "{% highlight lua %}\nx = 3\n{% endhighlight %}": [("lua", 2, "x = 3")],
    "- a\n\n  {% highlight lua linenos %}\n  x = 3\n  {% endhighlight %}": [("lua", 4, "x = 3")],
    "```lua\n{% raw %}\nx = 3\n```": [("lua", 2, "\nx = 3")],
    "```lua\nx = '{% raw %}'\n```": [("lua", 2, "x = '{% raw %}'")],
    "!!! note\n\n    ```lua\n    x = 3\n    ```\n\n> y": [("lua", 4, "x = 3")],
    '=== "Lua"\n\n    ```lua\n    x = 3\n    ```\n': [("lua", 4, "x = 3")],
    "Title\n===\n\n    x = 3": [("", 4, "x = 3")],
    "[source,lua]\n----\nx = 3\n----\n\n----\ny\n----": [("lua", 3, "x = 3")],
}


@pytest.mark.parametrize(("page", "blocks"), OTHER_MARKS.items())
def test_code_with_other_marks(page: str, blocks: list[tuple[str, int, str]]) -> None:
    found = [
        (block.language, block.lines[0].number, "\n".join(line.text for line in block.lines))
        for block in find(page)
    ]
    assert found == blocks
