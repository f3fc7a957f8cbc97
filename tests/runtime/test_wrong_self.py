"""Every method of every class, called with an object of every other class as its self.

What comes of it is an error or a right result: never a wrong read or write, an internal error, or
a message that shows a place in our own Lua. The calls are made in a process of their own.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.test_safety import run_script

WALK = """
local ffi, say = require 'ffi', io.write
if PART == 'Tester' then -- its progress and report
  io.write, print = function() end, function() end
end
local names = {}
for t in ('Byte Char Short Int Long Float Double Half'):gmatch('%a+') do
  names[#names + 1] = 'torch.' .. t .. 'Tensor'
  names[#names + 1] = 'torch.' .. t .. 'Storage'
end
for t in ('Generator Timer Tester DiskFile MemoryFile PipeFile'):gmatch('%a+') do
  names[#names + 1] = 'torch.' .. t
end

local pipe -- one as long as no call closes it: each starts a process
local function make(name)
  local new = torch.getconstructortable(name)
  if name == 'torch.DiskFile' then return new(SCRATCH, 'w') end
  if name == 'torch.PipeFile' then
    if not (pipe and pipe:isOpened()) then pipe = new('true', 'r') end
    return pipe
  end
  if name:find('Tensor$') or name:find('Storage$') then return new(5):fill(1) end
  return new()
end

local values = {}
for _, name in ipairs(names) do values[#values + 1] = function() return make(name) end end
for _, value in ipairs{ print, ffi.new('int[4]'), '', '3', 0, 2, -1, 2 ^ 62, 1 / 0, true } do
  values[#values + 1] = function() return value end
end
values[#values + 1] = function() return nil end
values[#values + 1] = function() return {} end
values[#values + 1] = function() return newproxy(true) end
values[#values + 1] = function() return torch.Tensor() end
values[#values + 1] = function() return torch.LongStorage{ 2 ^ 40 } end

local sentinel = torch.range(1, 1000)

local function check(what, ok, message)
  if ok then return end
  if type(message) ~= 'string' or message:find('[th]', 1, true)
    or message:find('internal error', 1, true) then
    say(what, ': ', tostring(message), '\\n')
  end
end

local function call(what, f)
  for i = 1, #values do
    check(what, pcall(f, values[i]()))
    check(what, pcall(f, values[i](), values[i % 7 + 1]()))
    if i % 2 == 0 then
      check(what, pcall(f, values[i](), 1))
    else
      check(what, pcall(f, values[i](), 1, values[i % 5 + 1]()))
    end
  end
  for i = 1, 1000 do
    if sentinel[i] ~= i then
      say(what, ' wrote elsewhere\\n')
      os.exit(1)
    end
  end
end

for _, name in ipairs(names) do
  if name:find(PART) then
    local mt = torch.getmetatable(name)
    while mt do
      for key, f in pairs(mt) do
        if type(f) == 'function' then call(name .. '.' .. tostring(key), f) end
      end
      mt = debug.getmetatable(mt)
    end
  end
end
io.stderr:write('done')
"""


LEFT = ("Byte", "Char", "Short", "Int", "Long", "Float", "Half")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "part",
    [
        "DoubleTensor",
        "LongStorage",
        "File",
        "Generator",
        "Timer",
        "Tester",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in (*(f"{dtype}Tensor" for dtype in LEFT), "Storage")
        ),
    ],
)
def test_error_or_right_data(tmp_path: Path, part: str) -> None:
    head = f"local PART, SCRATCH = {part!r}, 'scratch' require('lfs').chdir({str(tmp_path)!r})\n"
    run = run_script(tmp_path, head + WALK)
    assert (run.stdout, run.returncode) == ("", 0)
    assert run.stderr.endswith("done")  # before it there is what shells say to PipeFile's commands
