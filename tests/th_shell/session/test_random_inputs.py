from __future__ import annotations

import pytest

from tests.data_files import data
from th_shell.session.random_inputs import Chance


@pytest.mark.parametrize(("inputs", "expected"), data(__file__, "test_what_depends_on_chance"))
def test_what_depends_on_chance(inputs: list[str], expected: str) -> None:
    chance = Chance(frozenset(("torch", "print", "sys")))
    assert "".join(str(int(chance.affects(source))) for source in inputs) == expected
