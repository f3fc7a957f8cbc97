"""Nans with any bits reach Lua as numbers, and keep their bits in memory.

The programs run in processes of their own: where a nan's bits are taken for a Lua object, the
process may end.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes import run_th

# Tensors of a type whose elements are nans with many kinds of bits, and what looks at numbers.
_HEAD = """
local ffi = require 'ffi'
local function nans(name)
  local x = torch[name .. 'Tensor'](128)
  local w = ffi.cast('uint32_t *', torch.data(x))
  for i = 0, 127 do
    local bits = (i % 2) * 2 ^ 31 + 1 + math.floor(i / 2) * 2 ^ 17
    if name == 'Float' then
      w[i] = 0x7f800000 + bits
    else
      w[2 * i] = 0x41414141
      w[2 * i + 1] = 0x7ff00000 + (i % 2) * 2 ^ 31 + math.floor(i / 2) * 2 ^ 14
    end
  end
  if name ~= 'Half' then return x, w end
end
local function halves()
  local x = torch.HalfTensor(128)
  local w = ffi.cast('uint16_t *', torch.data(x))
  for i = 0, 127 do w[i] = 0x7c01 + (i % 2) * 2 ^ 15 + i * 7 end
  return x, w
end
local function check(v, ...)
  if type(v) ~= 'number' or v == v then error('not nan: ' .. type(v)) end
  local w = -v + 1
  if type(w) ~= 'number' or w == w then error('not nan: ' .. type(w)) end
  return v
end
"""

_PROGRAMS = {
    "elements": """
        local s = x:storage()
        for _ = 1, 100 do
          for i = 1, 128 do check(x[i]) check(x[{i}]) check(s[i]) check(x:select(1, i)) end
        end
        for _, v in ipairs(x:totable()) do check(v) end
        for _, v in ipairs(s:totable()) do check(v) end
    """,
    "unchanged": """
        local y = x:clone()
        y:copy(x) y[{{1, 64}}]:copy(x[{{1, 64}}])
        x:totable() if x.sort then torch.sort(x) torch.median(x) torch.kthvalue(x, 5) end
        local v = ffi.cast('unsigned char *', torch.data(y))
        local u = ffi.cast('unsigned char *', torch.data(x))
        for i = 0, x:nElement() * x:elementSize() - 1 do assert(u[i] == v[i]) end
    """,
    "apply": """
        if x.apply then
          local y, z = x:clone(), x:clone()
          y:apply(check) y:map(x, function(a, b) check(a) return check(b) end)
          y:map2(x, z, function(a, b, c) check(a) check(b) return check(c) end)
          local long = x:view(1, 128):expand(64, 128):contiguous()
          long:clone():apply(check) long:t():apply(check)
          long:map(long:clone(), function(a, b) check(a) return check(b) end)
        end
    """,
    "forged": """
        local t = {}
        for i = 1, 128 do t[i] = x[i] t[-i] = -x[i] end
        collectgarbage() collectgarbage()
        for i = 1, 128 do check(t[i]) check(t[-i]) end
    """,
    "operations": """
        if x.sum then
          for _ = 1, 100 do
            check(x:sum()) check(x:dot(x)) check(x:max()) check((x:max(1))[1]) check(x:mean())
            check((x + 1)[1]) check((-x)[2]) check(torch.add(x, x)[3]) check(torch.exp(x)[4])
            check(torch.cmul(x, x)[5]) check(torch.cumsum(x)[6]) check(torch.sort(x)[7])
            check(torch.cmax(x, x)[8]) check(x:clone():clamp(0, 1)[9]) check(torch.abs(x)[10])
          end
          check(torch.median(x)[1]) check((torch.kthvalue(x, 5))[1]) check((torch.topk(x, 2))[1])
          assert(torch.lt(x, 0.5):sum() == 0)
        end
        pcall(torch.multinomial, x, 3) pcall(torch.multinomialAliasSetup, x)
    """,
    "files": """
        for _, mode in ipairs{'binary', 'ascii'} do
          local file = torch.MemoryFile()
          file[mode](file)
          file:writeObject(x)
          file:seek(1)
          local y = file:readObject()
          for i = 1, 128 do check(y[i]) end
        end
        if not x:type():find('Half') then
          local name = x:type():match('torch%.(%a+)Tensor')
          local file = torch.MemoryFile()
          file:binary()
          file['write' .. name](file, x:storage())
          file:seek(1)
          for i = 1, 128 do check(file['read' .. name](file)) end
        end
    """,
}


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


@pytest.mark.parametrize(
    ("data", "mode", "shown"),
    [
        (r"\1\0\0\0AAAA\0\200\253\255", "binary", "nan"),
        (r"\1\0\0\0AAAA\0\200\255\127", "binary", "nan"),
        (r"1\n-nan(0x5800041414141)\n", "ascii", "nan"),
        (r"1\nNAN(123)\n", "ascii", "nan"),
        (r"1\n-inf\n", "ascii", "-inf"),
        (r"1\n-0.5\n", "ascii", "-0.5"),
    ],
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
