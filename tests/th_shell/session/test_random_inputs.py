from __future__ import annotations

import pytest

from th_shell.session.random_inputs import Chance


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        (["x = torch.rand(2)", "x", "y"], "110"),
        (["x = torch.rand(2)", "y = x + 1", "z = 1", "y", "z"], "11010"),
        (["x = torch.rand(2)", "x = torch.ones(2)", "x"], "100"),
        (["x = torch.rand(2)", "x = x + 1", "x"], "111"),
        (["x = torch.zeros(2)", "x:uniform()", "x"], "011"),
        (["x = torch.zeros(2)", "x:add(torch.randn(2))", "x"], "011"),
        (["x = torch.Tensor(2)", "x", "x:fill(1)", "x"], "1110"),
        (["x = torch.Tensor(2):zero()", "x"], "00"),
        (["x = torch.Tensor{1, 2}", "x"], "00"),
        (["function f() return torch.rand(1) end", "f()"], "11"),
        (["local t = sys.clock()", "t"], "11"),
        (["x = torch.rand(2)", "x:size()", "x:size(1)", "x:sum()"], "1001"),
        (["print(torch.ones(1))"], "0"),
    ],
)
def test_what_depends_on_chance(inputs: list[str], expected: str) -> None:
    chance = Chance(frozenset(("torch", "print", "sys")))
    assert "".join(str(int(chance.affects(source))) for source in inputs) == expected
