from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.data_files import data
from th_shell.runtime.shell import Token, tokens
from th_shell.tokens import Nesting, closing, opening, structure

BLOCKS = frozenset("function then do if repeat else elseif end until ( ) [ ] { }".split())


def words(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.text) for token in tokens(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x.y", [("name", "x"), ("sign", "."), ("name", "y")]),
        ("if x", [("keyword", "if"), ("name", "x")]),
        ("a..b", [("name", "a"), ("sign", ".."), ("name", "b")]),
        ("1..2", [("number", "1"), ("sign", ".."), ("number", "2")]),
        ("1e-5 0x1F .5", [("number", "1e-5"), ("number", "0x1F"), ("number", ".5")]),
        ("a==b", [("name", "a"), ("sign", "=="), ("name", "b")]),
        ("'a\\'b' c", [("string", "'a\\'b'"), ("name", "c")]),
        ("[[a]b]] c", [("string", "[[a]b]]"), ("name", "c")]),
        ("[=[a]]b]=] c", [("string", "[=[a]]b]=]"), ("name", "c")]),
        ("-- a\nb", [("comment", "-- a"), ("name", "b")]),
        ("-- a\f\rb", [("comment", "-- a\f"), ("name", "b")]),
        ("--[[ a\n]] b", [("comment", "--[[ a\n]]"), ("name", "b")]),
        ("'a\nb", [("sign", "'"), ("name", "a"), ("name", "b")]),
        ("'a\\\nb", [("string", "'a\\\nb")]),
        ("0xe+1 0x1p+4", [("number", "0xe"), ("sign", "+"), ("number", "1"), ("number", "0x1p+4")]),
        ("é_1", [("name", "é_1")]),
    ],
)
def test_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(("text", "is_open", "content"), data(__file__, "test_strings"))
def test_strings(text: str, is_open: bool, content: str) -> None:
    (token,) = tokens(text)
    assert (token.is_open, token.content) == (is_open, content)


@pytest.mark.parametrize(
    ("text", "is_open"), [("-- a", False), ("--[[ a", True), ("--[[ a ]]", False), ("--[ a", False)]
)
def test_comments(text: str, is_open: bool) -> None:
    (token,) = tokens(text)
    assert (token.kind, token.is_open) == ("comment", is_open)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("f(a, {1, [2] = 3})", 1, 13), ("f({}, [1])", 5, 7), ("f('(')", 1, 3)],
)
def test_brackets(text: str, first: int, last: int) -> None:
    code = tokens(text)
    assert closing(code, first) == last
    assert opening(code, last) == first


def test_brackets_without_a_partner() -> None:
    assert closing(tokens("f((1)"), 1) is None
    assert opening(tokens("1))"), 2) is None


LONG = "\n".join(
    f"local x{i} = f({i}, {{'end'}}) -- do\nif x then y = [[ end ]] else undo() end"
    for i in range(500)
)


def test_the_structure_is_some_of_the_tokens() -> None:
    def counts(token: Token) -> bool:
        return token.kind in ("comment", "string") or token.text in BLOCKS

    assert structure(LONG) == [token for token in tokens(LONG) if counts(token)]


def seconds(function: Callable[[str], object]) -> float:
    """The least time that a function takes for a long input."""
    taken = []
    for _ in range(5):
        start = time.process_time()
        function(LONG)
        taken.append(time.process_time() - start)
    return min(taken)


@pytest.mark.thorough
def test_the_structure_of_a_long_input_is_found_quickly() -> None:
    # Any of several may meet a busy machine.
    assert any(
        seconds(structure) < 0.9 * seconds(lambda text: list(tokens(text))) for _ in range(5)
    )


@pytest.mark.parametrize(("lines", "is_open"), data(__file__, "test_open"))
def test_open(lines: list[str], is_open: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.is_open is is_open


@pytest.mark.parametrize(
    ("lines", "goes_on"), data(__file__, "test_what_ends_with_an_operator_goes_on")
)
def test_what_ends_with_an_operator_goes_on(lines: list[str], goes_on: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.goes_on is goes_on
