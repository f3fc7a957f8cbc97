"""Objects come back from files as they were, and files of the real Torch7 as it wrote them."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from runtime.core.dtypes import DTYPES
from tests.conftest import Lua

SHARED = Path(__file__).parents[4] / "shared" / "t7"

MODES = ("binary", "ascii")
LAYOUTS = {
    "contiguous": "x",
    "transposed": "x:t()",
    "narrowed": "x:narrow(2, 2, 2)",
    "selected": "x:select(2, 3)",
    "expanded": "x:narrow(1, 1, 1):expand(5, 4)",
    "empty": "x.new()",
}


@pytest.mark.parametrize(
    ("dtype", "mode", "layout"), list(product((d.name for d in DTYPES), MODES, LAYOUTS))
)
def test_tensor(lua: Lua, tmp_path: Path, dtype: str, mode: str, layout: str) -> None:
    lua.run(f"""
        local x = torch.range(1, 12):resize(3, 4):type('torch.{dtype}Tensor')
        local y = {LAYOUTS[layout]}
        torch.save('{tmp_path}/file', y, '{mode}')
        for _, z in ipairs{{
          torch.load('{tmp_path}/file', '{mode}'),
          torch.deserialize(torch.serialize(y, '{mode}'), '{mode}'),
        }} do
          assert(torch.type(z) == torch.type(y) and z:isSameSizeAs(y))
          assert(z:nElement() == 0 or (z:double() - y:double()):abs():max() == 0)
          for d = 1, y:dim() do assert(z:stride(d) == y:stride(d)) end
          assert(z:dim() == 0 or #z:storage() == #y:storage())
        end
    """)


@pytest.mark.parametrize(("dtype", "mode"), list(product((d.name for d in DTYPES), MODES)))
def test_views_share_after_loading(lua: Lua, dtype: str, mode: str) -> None:
    lua.run(f"""
        local x = torch.range(1, 6):type('torch.{dtype}Tensor')
        local t = {{ x, x:narrow(1, 2, 3), x:storage(), x }}
        t = torch.deserialize(torch.serialize(t, '{mode}'), '{mode}')
        t[3][2] = 50
        assert(t[1][2] == 50 and t[2][1] == 50 and t[1] == t[4] and #t[3] == 6)
    """)


@pytest.mark.parametrize("mode", MODES)
def test_any_table(lua: Lua, mode: str) -> None:
    lua.run(f"""
        local shared = {{ 'shared' }}
        local t = {{ 1, -0.5, 1 / 0, true, false, 'b\\0in\\nary', [0.5] = 'half', [true] = shared,
          [shared] = shared, list = {{ {{}}, {{ {{}} }} }} }}
        t.self = t
        local u = torch.deserialize(torch.serialize(t, '{mode}'), '{mode}')
        assert(u[1] == 1 and u[2] == -0.5 and u[3] == 1 / 0 and u[4] == true and u[5] == false)
        assert(u[6] == 'b\\0in\\nary' and u[0.5] == 'half' and u.self == u and #u.list[2] == 1)
        assert(u[true][1] == 'shared' and u[u[true]] == u[true])
    """)


def test_depth_is_not_bounded(lua: Lua) -> None:
    assert (
        lua.run("""
        local chain = {}
        for i = 1, 100000 do chain = { chain } end
        local t, depth = torch.deserialize(torch.serialize(chain)), 0
        while t do t, depth = t[1], depth + 1 end
        print(depth)
    """)
        == "100001\t\n"
    )


FILES = sorted(SHARED.glob("*.t7"))


def mode_of(path: Path) -> str:
    """How a file was written, by its name."""
    kinds = [kind for kind in ("ascii", "b32") if f".{kind}." in path.name]
    return kinds[0] if kinds else "binary"


@pytest.mark.skipif(not FILES, reason="the folder with files of the real Torch7 is not here")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_file_of_the_reference(lua: Lua, path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mode = mode_of(path)
    unknown = path.name.split(".")[0] in ("mlp", "objects")
    if unknown:
        assert "unknown Torch class <" in lua.error(f"torch.load('{path}', '{mode}')")
        return
    # As text, the size depends on the order of the keys: it decides on the digits of numbers.
    size = path.stat().st_size
    lua.run(f"""
        local mode = '{mode}'
        local again = mode == 'b32' and 'binary' or mode
        local text = torch.serialize(torch.load('{path}', mode), again)
        assert(mode ~= 'binary' or #text == {size}, #text)
        assert(torch.serialize(torch.deserialize(text, again), again) ~= nil)
    """)
    capfd.readouterr()


@pytest.mark.skipif(not FILES, reason="the folder with files of the real Torch7 is not here")
@pytest.mark.parametrize("name", ["scalar1", "scalar2", "scalar3", "scalar4", "nil"])
def test_same_bytes_as_the_reference(lua: Lua, tmp_path: Path, name: str) -> None:
    lua.run(f"torch.save('{tmp_path}/again', torch.load('{SHARED}/{name}.t7'))")
    assert (tmp_path / "again").read_bytes() == (SHARED / f"{name}.t7").read_bytes()


#: What the real Torch7 writes for {torch.range(1, 2):int(), 'text', true}.
BINARY = bytes.fromhex(
    "03000000 01000000 03000000"
    "01000000 000000000000f03f"
    "04000000 02000000 03000000 562031 0f000000 746f7263682e496e7454656e736f72"
    "01000000 0200000000000000 0100000000000000 0100000000000000"
    "04000000 03000000 03000000 562031 10000000 746f7263682e496e7453746f72616765"
    "0200000000000000 01000000 02000000"
    "01000000 0000000000000040 02000000 04000000 74657874"
    "01000000 0000000000000840 05000000 01000000"
)


def test_known_bytes(lua: Lua, tmp_path: Path) -> None:
    path = tmp_path / "file"
    lua(f"torch.save('{path}', {{torch.range(1, 2):int(), 'text', true}})")
    assert path.read_bytes() == BINARY
    assert lua(f"t = torch.load('{path}') print(t[1][2], t[2], t[3])") == "2\ttext\ttrue\t\n"


def test_large_objects_take_no_second_copy(lua: Lua, tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "file"
    lua(f"x = torch.Tensor(4000000):fill(1) torch.save('{path}', x)")
    tracemalloc.start()
    try:
        lua(f"torch.save('{path}', x)")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
        lua(f"collectgarbage() y = torch.load('{path}')")
        assert tracemalloc.get_traced_memory()[1] < 33 << 20
    finally:
        tracemalloc.stop()
        lua("x, y = nil, nil collectgarbage() collectgarbage()")
