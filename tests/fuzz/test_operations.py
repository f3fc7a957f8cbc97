"""The fuzzers call whatever there is: a function that is added is either called or excluded."""

import pytest

from tests.conftest import Lua
from tests.fuzz.operations import EXCLUDED, operations

# Names of metatables that are no functions, and metamethods that all classes share.
SHARED = frozenset(
    """__metatable __typename __version __constructor __index __newindex __len __add __sub __mul
    __div __mod __pow __unm __eq __le __lt __call __concat __tostring""".split()
)


@pytest.mark.parametrize(
    "place",
    ["torch", "torch.DoubleTensor", "torch.HalfTensor", "torch.CharStorage", "torch.Generator"]
    + ["torch.DiskFile", "torch.MemoryFile", "torch.PipeFile", "torch.Timer", "meta('File')"],
)
def test_everything_is_called(lua: Lua, place: str) -> None:
    table = "torch" if place == "torch" else f"torch.getmetatable('{place}')"
    if place == "meta('File')":
        table = "torch.getmetatable('torch.File')"
    names = lua.run(f"for k, v in pairs({table}) do if type(v) == 'function' then print(k) end end")
    # What is written for a class may be called through its table or its metatable.
    meta = f"meta('{place.removeprefix('torch.')}')"
    called = {
        o.function.removeprefix(start + ".")
        for o in operations()
        for start in (place, meta)
        if o.function.startswith(start + ".")
    }
    shared = SHARED if place != "torch" else frozenset()
    left = {name.strip() for name in names.split()} - called - EXCLUDED - shared
    assert sorted(left) == []
