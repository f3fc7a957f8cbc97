"""torch._gen is what nn's RReLU reads an address from, and a generator like others."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

# The address is taken as nn takes it; garbage is collected in between.
_HEAD = data(__file__, "_HEAD")


@pytest.mark.sample(3)
@pytest.mark.parametrize(("source", "printed"), data(__file__, "test_generator"))
def test_generator(lua: Lua, source: str, printed: str) -> None:
    assert lua.answer(_HEAD + source).split() == printed.split()
