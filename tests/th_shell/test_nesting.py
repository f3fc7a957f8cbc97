"""What is open behind lines of Lua."""

import pytest

from th_shell.tokens import Nesting


@pytest.mark.parametrize(
    ("lines", "is_open"),
    [
        ([], False),
        (["f("], True),
        (["f(", ")"], False),
        (["x = {1, [2] = {"], True),
        (["x = {1, [2] = {", "}}"], False),
        (["for i = 1, 2 do"], True),
        (["for i = 1, 2 do", "end"], False),
        (["if a then", "elseif b then", "else", "end"], False),
        (["repeat"], True),
        (["repeat", "until x"], False),
        (["local function f() return function() end"], True),
        (["x = [==[ (", "]] {", "]==]"], False),
        (["x = [["], True),
        (["--[[ (", "("], True),
        (["--[[ (", "]] ("], True),
        (["--[[ (", "]]"], False),
        (["-- ("], False),
        (["x = '(' .. \"{\" .. '\\'('"], False),
        (["it's ("], True),
        (["end"], False),
        (["doing endless iffy functional"], False),
        (["x[y[1]]"], False),
        (["x = 'a \\", "( ' .. y"], False),
        (["x = 'a \\", "b \\"], True),
        (["x = 'a \\", "b' .. f("], True),
    ],
)
def test_open(lines: list[str], is_open: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.is_open is is_open


@pytest.mark.parametrize(
    ("lines", "goes_on"),
    [
        (["x ="], True),
        (["x = 1 +"], True),
        (["x = 1 + -- one"], True),
        (["x = 1 +", "", "-- two"], True),
        (["x = 1 +", "2"], False),
        (["x = a and"], True),
        (["x = land"], False),
        (["f(a)", "  :g(),"], True),
        (["x = a .."], True),
        (["x = ..."], False),
        (["x:"], True),
        (["::x::"], False),
        (["x = '+'"], False),
        (["x = [[+", "]]"], False),
        (["f("], True),
    ],
)
def test_what_ends_with_an_operator_goes_on(lines: list[str], goes_on: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.goes_on is goes_on
