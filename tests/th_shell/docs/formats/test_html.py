"""Which parts of an HTML page are code, and in which lines it stands."""

import pytest

from tests.data_files import data
from th_shell.docs.reading.formats import html


def found(page: str) -> list[tuple[str, str, list[tuple[int, str]]]]:
    return [
        (block.heading, block.language, [(line.number, line.text) for line in block.lines])
        for block in html.find(page.split("\n"))
    ]


def test_lines_without_tags_and_with_their_numbers() -> None:
    page = data(__file__, "test_lines_without_tags_and_with_their_numbers")
    assert found(page) == [
        ("Big title", "", [(4, "> x = '&''"), (5, ""), (6, "> x"), (7, "&'")]),
    ]


@pytest.mark.parametrize(("page", "language"), data(__file__, "test_language"))
def test_language(page: str, language: str) -> None:
    assert found(page) == [("", language, [(1, "x")])]


def test_code_on_the_lines_of_the_tags() -> None:
    assert found("<pre>x = 1\ny = 2</pre>") == [("", "", [(1, "x = 1"), (2, "y = 2")])]


def test_heading_holds_for_what_is_below_it() -> None:
    page = "<pre>a</pre><h2>One</h2><pre>b</pre><pre>c</pre><h3>Two &amp; <a>3</a></h3><pre>d</pre>"
    assert [heading for heading, _, _ in found(page)] == ["", "One", "One", "Two & 3"]


def test_element_without_an_end() -> None:
    assert found("<pre>a\n<h2>b</h2>\n<pre>c\n") == [
        ("", "", [(1, "a"), (2, "b")]),
        ("", "", [(3, "c")]),
    ]


def test_line_breaks_and_spaces() -> None:
    (block,) = html.find(["<pre>a&nbsp;b<br>c</pre>"])
    assert [line.text for line in block.lines] == ["a b", "c"]
    assert (block.opening, block.closing) == (1, 1)


def test_page_without_code() -> None:
    assert found("<p>th> x</p><code>y</code>") == []
