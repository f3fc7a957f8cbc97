"""Which names of variables code reads, and which it gives a value."""

import pytest

from th_shell.docs.reading.lua_names import bound_names, read_names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("y, i = torch.max(x)", {"y", "i", "torch", "x"}),
        ("x = 1; y = 2", {"x", "y"}),
        ("f{a = 1, b = c; d = 2}", {"f", "c"}),
        ("t = {a = {b = c}, f(x, y), z}", {"t", "c", "f", "x", "y", "z"}),
        ("x.a, x['b'] = 1, 'y' -- z", {"x"}),
    ],
)
def test_names_that_code_uses(source: str, names: set[str]) -> None:
    assert read_names(source) == names


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("require 'nn'", {"nn"}),
        ('a = 1; require("image")', {"a", "image"}),
        ("class = require 'other'", {"class"}),
        ("f('require \\'nn\\'')", set()),
        ("-- require 'nn'", set()),
    ],
)
def test_names_that_get_a_value(source: str, names: set[str]) -> None:
    assert bound_names(source) == names
