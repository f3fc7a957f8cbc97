from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.entry import lines_of


@pytest.mark.parametrize(("inputs", "lines"), data(__file__, "test_lines_of_placed_inputs"))
def test_lines_of_placed_inputs(inputs: list[str], lines: list[str]) -> None:
    assert lines_of(inputs) == lines
