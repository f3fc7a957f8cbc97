"""nn.IndexLinear: what is computed for an output does not depend on how many others there are."""

import pytest

from tests.conftest import Lua
from tests.data_files import data

# Loops over few outputs are written out; those over 17 are loops.
PROGRAM = data(__file__, "PROGRAM")


@pytest.mark.parametrize(("kind", "extra"), [("Double", 0), ("Float", 0), ("Double", 4)])
def test_outputs_are_computed_alike(lua: Lua, kind: str, extra: int) -> None:
    program = PROGRAM.replace(":TYPE()", f":{kind.lower()}()").replace("TYPE", kind)
    assert lua.run(program.replace("EXTRA", str(extra))) == "true " * 15
