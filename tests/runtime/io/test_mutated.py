"""Files from strangers: whatever their bytes, loading ends soon, with little memory.

Each file is made from a good one by changes of bits, sizes, lengths and names.
"""

import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.mutations import OBJECTS, mutate
from th_shell.runtime.shell import Engine

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


@pytest.mark.thorough
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("examples", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_loading_ends_soon_with_little_memory(
    engine: Engine,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    originals: list[tuple[str, bytes]],
    examples: int,
) -> None:
    path = tmp_path / "file"
    chunks = {
        mode: engine.compile(f"mutated.load('{path}', '{mode}')".encode())
        for mode in ("binary", "ascii", "b32")
    }

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.data())
    def load(data: st.DataObject) -> None:
        mode, original = data.draw(st.sampled_from(originals))
        rng = data.draw(st.randoms(use_true_random=False))
        others = [other for kind, other in originals if kind == mode]
        content = mutate(rng, original, others, mode == "ascii")
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
