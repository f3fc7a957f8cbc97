"""Objects come back from files as they were, and files of the real Torch7 as it wrote them."""

from itertools import product
from pathlib import Path

import pytest

from tests.conftest import Lua
from tests.data_files import data
from tests.runtime.io.torch7_files import FILES, mode_of
from th_shell.runtime.core.dtypes import DTYPES

SHARED = Path(__file__).parents[4] / "shared" / "t7"

MODES = ("binary", "ascii")
LAYOUTS = data(__file__, "LAYOUTS")


@pytest.mark.sample(6)
@pytest.mark.parametrize(("mode", "layout"), list(product(MODES, LAYOUTS)))
def test_tensor(lua: Lua, tmp_path: Path, mode: str, layout: str) -> None:
    for dtype in DTYPES:
        lua.run(f"""
        local x = torch.range(1, 12):resize(3, 4):type('torch.{dtype.name}Tensor')
        local y = {LAYOUTS[layout]}
        torch.save('{tmp_path}/file', y, '{mode}')
        for _, z in ipairs{{
          torch.load('{tmp_path}/file', '{mode}'),
          torch.deserialize(torch.serialize(y, '{mode}'), '{mode}'),
        }} do
          assert(torch.type(z) == torch.type(y) and z:isSameSizeAs(y), x:type())
          assert(z:nElement() == 0 or (z:double() - y:double()):abs():max() == 0, x:type())
          for d = 1, y:dim() do assert(z:stride(d) == y:stride(d), x:type()) end
          assert(z:dim() == 0 or #z:storage() == #y:storage(), x:type())
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


@pytest.mark.thorough
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


#: What the files hold, by the first part of their names: o is the object.
HELD = data(__file__, "HELD")


@pytest.fixture
def file(tmp_path: Path, name: str) -> Path:
    """A file of the real Torch7."""
    path = tmp_path / name
    path.write_bytes(FILES[name])
    return path


def kind_of(name: str) -> str:
    return name.split(".")[0]


@pytest.mark.parametrize("name", [name for name in FILES if kind_of(name) in HELD])
def test_file_of_the_reference(
    lua: Lua, file: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    mode = mode_of(name)
    # As text, the size depends on the order of the keys: it decides on the digits of numbers.
    lua.run(f"""
        local function check(o) {HELD[kind_of(name)]} end
        local mode = '{mode}'
        local again = mode == 'b32' and 'binary' or mode
        check(torch.load('{file}', mode))
        local text = torch.serialize(torch.load('{file}', mode), again)
        assert(mode ~= 'binary' or #text == {len(FILES[name])}, #text)
        check(torch.deserialize(text, again))
    """)
    capfd.readouterr()


@pytest.mark.parametrize("name", [name for name in FILES if kind_of(name) == "objects"])
def test_file_with_a_class_that_is_not_there(lua: Lua, file: Path, name: str) -> None:
    message = "unknown Torch class <fixture.Point>"
    assert message in lua.error(f"assert(pcall(torch.load, '{file}', '{mode_of(name)}'))")


@pytest.mark.parametrize("name", ["scalar1", "scalar2", "scalar3", "scalar4", "nil"])
def test_same_bytes_as_the_reference(lua: Lua, tmp_path: Path, name: str) -> None:
    file = FILES[f"{name}.t7"]
    (tmp_path / "file").write_bytes(file)
    lua.run(f"torch.save('{tmp_path}/again', torch.load('{tmp_path}/file'))")
    assert (tmp_path / "again").read_bytes() == file


@pytest.mark.skipif(not SHARED.is_dir(), reason="the folder with files of Torch7 is not here")
def test_all_files_of_the_reference(lua: Lua) -> None:
    paths = sorted(SHARED.glob("*.t7"))
    for path in paths:
        mode = mode_of(path.name)
        if kind_of(path.name) in ("mlp", "objects"):
            assert "unknown Torch class <" in lua.error(
                f"assert(pcall(torch.load, '{path}', '{mode}'))"
            )
        else:
            lua(f"o = torch.load('{path}', '{mode}') o = nil")
        if path.name != "function.t7":  # the same function, of another source
            assert FILES.get(path.name, path.read_bytes()) == path.read_bytes()
    assert paths


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
