from __future__ import annotations

import pytest

from th_shell.entry import lines_of


@pytest.mark.parametrize(
    ("inputs", "lines"),
    [
        ([], []),
        (["x = 1"], ["x = 1"]),
        (["\nx = 1", "\n\n\ny = 2", "\n\n\n\nx = 3"], ["", "x = 1", "", "y = 2", "x = 3"]),
        (["\nf(\n\n1)"], ["", "f(", "", "1)"]),
        (["\n\nx = [[\f\u2028]]\ry"], ["", "", "x = [[\f\u2028]]", "y"]),
        # The later input at a line wins.
        (["x = 1\ny = 2", "z = 3", "\n\n\nlast"], ["z = 3", "y = 2", "", "last"]),
    ],
)
def test_lines_of_placed_inputs(inputs: list[str], lines: list[str]) -> None:
    assert lines_of(inputs) == lines
