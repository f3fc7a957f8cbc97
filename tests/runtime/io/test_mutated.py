"""Files from strangers: whatever their bytes, loading ends soon, with little memory.

Each file is made from a good one by changes of bits, sizes and length.
"""

from __future__ import annotations

import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime import Engine

OBJECTS = """
local x = torch.range(1, 12):resize(3, 4)
local up = {}
local function f(a) return a + #up end
return {
  { 1, 2.5, 'abc', true, x, x:t(), x[1], { a = { b = { c = x:storage() } } } },
  { torch.FloatTensor(1, 3):fill(1):expand(4, 3), torch.CharStorage{ 5, 6 }, x:half() },
  { f, function() return f(up) end, [x] = 1, [{}] = {} },
  torch.LongTensor{ 1, 2, 3 }, torch.range(1, 300), 'string', torch.Tensor(),
}
"""

SETUP = f"""
mutated = {{ files = {{}} }}
for _, object in ipairs((function() {OBJECTS} end)()) do
  table.insert(mutated.files, 'binary ' .. torch.serialize(object))
  table.insert(mutated.files, 'ascii ' .. torch.serialize(object, 'ascii'))
end
-- Loads a file; prints the bytes of Lua's memory that it took, and the error.
function mutated.load(path, mode)
  collectgarbage('stop')
  local before = collectgarbage('count')
  local ok, value = pcall(torch.load, path, mode)
  local used = collectgarbage('count') - before
  if ok then pcall(torch.serialize, value) end
  collectgarbage('restart')
  print(used * 1024, ok or value)
end
"""

SPECIAL = [0, 1, -1, 2, 3, 4, 6, 7, 8, 255, 1000, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**63)]
WORDS = [b"0", b"-1", b"2147483647", b"99999999999999999999", b"nan", b"x", b"1e400", b"", b"8"]


@pytest.fixture(scope="module")
def originals(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, bytes]]:
    """Good files: mode and bytes."""
    folder = tmp_path_factory.mktemp("originals")
    engine.run(engine.compile(SETUP.encode()))
    engine.run(
        engine.compile(
            f"""for i, text in ipairs(mutated.files) do
              io.open('{folder}/' .. i, 'wb'):write(text):close()
            end""".encode()
        )
    )
    parts = [path.read_bytes().split(b" ", 1) for path in sorted(folder.iterdir())]
    return [(mode.decode(), data) for mode, data in parts]


def mutate(data: bytes, draw: Callable[[st.SearchStrategy[Any]], Any], text: bool) -> bytes:
    """Change a file in one to four places."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        if not changed:
            break
        at = draw(st.integers(0, len(changed) - 1))
        kind = draw(st.sampled_from(["flip", "byte", "cut", "size", "long", "repeat"]))
        if kind == "flip":
            changed[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "byte":
            changed[at] = draw(st.integers(0, 255))
        elif kind == "cut":
            del changed[at:]
        elif kind == "repeat":
            changed[at:at] = changed[at : at + draw(st.integers(1, 40))]
        elif text:
            lines = changed.split(b"\n")
            lines[at % len(lines)] = bytearray(draw(st.sampled_from(WORDS)))
            changed = bytearray(b"\n".join(lines))
        else:
            value = draw(st.sampled_from(SPECIAL))
            at -= at % 4
            form = "<i" if kind == "size" and abs(value) < 2**31 else "<q"
            changed[at : at + struct.calcsize(form)] = struct.pack(form, value)
    return bytes(changed)


@pytest.mark.filterwarnings("default")
def test_loading_ends_soon_with_little_memory(
    engine: Engine,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    originals: list[tuple[str, bytes]],
) -> None:
    path = tmp_path / "file"
    chunks = {
        mode: engine.compile(f"mutated.load('{path}', '{mode}')".encode())
        for mode in ("binary", "ascii", "b32")
    }

    @settings(max_examples=2500, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def load(data: st.DataObject) -> None:
        mode, original = data.draw(st.sampled_from(originals))
        content = mutate(original, data.draw, mode == "ascii")
        mode = data.draw(st.sampled_from([mode] * 9 + ["b32"]))
        path.write_bytes(content)
        tracemalloc.start()  # only here: it slows down what makes the files
        start = time.process_time()
        engine.run(chunks[mode])
        spent = time.process_time() - start
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        engine.flush()
        lua_used, outcome = capfd.readouterr().out.split("\t", 1)
        assert spent < 1
        assert used + float(lua_used) <= 10 * len(content) + (1 << 20)
        assert "internal error" not in outcome and "[th]" not in outcome

    load()
