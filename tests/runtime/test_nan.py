"""Nans with any bits reach Lua as numbers, and keep their bits in memory.

The programs run in processes of their own: where a nan's bits are taken for a Lua object, the
process may end.
"""

from pathlib import Path

import pytest

from tests.data_files import data
from tests.processes import run_th

# Tensors of a type whose elements are nans with many kinds of bits, and what looks at numbers.
_HEAD = data(__file__, "_HEAD")

_PROGRAMS = data(__file__, "_PROGRAMS")


def _run(program: str, folder: Path) -> str:
    path = folder / "program.lua"
    path.write_text(_HEAD + program + "\nio.write('fine\\n')\n")
    done = run_th(path)
    return f"{done.stdout}{done.stderr}{done.returncode}"


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["Double", "Float", "Half"])
def test_nans_of_all_bits_are_numbers(kind: str, tmp_path: Path) -> None:
    source = "halves()" if kind == "Half" else f"nans('{kind}')"
    parts = [f"do local x, w = {source}\n{text}\nend" for text in _PROGRAMS.values()]
    for mode in ("", "jit.off()\n"):
        assert _run(mode + "\n".join(parts), tmp_path) == "fine\n0"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("data", "mode", "shown"), data(__file__, "test_numbers_of_files_are_numbers")
)
def test_numbers_of_files_are_numbers(data: str, mode: str, shown: str, tmp_path: Path) -> None:
    program = f"""
        local v = torch.deserialize("{data}", '{mode}')
        assert(type(v) == 'number' and type(-v) == 'number')
        io.write(tostring(v), '\\n')
    """
    assert _run(program, tmp_path) == f"{shown}\nfine\n0"


def test_compiled_loops_see_what_was_written_since(lua) -> None:  # type: ignore[no-untyped-def]
    # LuaJIT takes it that a whole number in memory stays where a double is written.
    program = """
        for _, name in ipairs{'Double', 'Float'} do
          local t = torch[name .. 'Tensor'](100)
          for _, x in ipairs{t, t:storage()} do
            x:fill(0 / 0)
            local wrong = 0
            for k = 1, 5000 do
              local i, j = k % 50 + 1, (k * 1) % 50 + 1
              x[i] = 0 / 0
              local a = x[i]
              x[j] = 5
              local b = x[i]
              x[i] = 0 / 0
              local c = x[j]
              x[j] = k % 3 == 0 and 0 / 0 or 1
              local d = x[i]
              if a == a or b ~= 5 or c == c or (d ~= d) ~= (k % 3 == 0) then wrong = wrong + 1 end
            end
            print(wrong)
          end
        end
    """
    assert lua.run(program) == "0\t\n0\t\n0\t\n0\t\n"
