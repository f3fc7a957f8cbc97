"""What is open behind lines of Lua."""

import pytest

from th_shell.nesting import Nesting


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
    ],
)
def test_open(lines: list[str], is_open: bool) -> None:
    nesting = Nesting()
    for line in lines:
        nesting.add(line)
    assert nesting.is_open is is_open
