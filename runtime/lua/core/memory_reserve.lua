--- Keeps memory in reserve, with which the prompt goes on when a program has used all there is.
-- LuaJIT does not collect garbage where memory runs out, and what it collects it may keep for
-- itself, while Python needs memory, too. So when an input has ended, blocks of the reserve are
-- given back to the system until both can go on. They are taken again as soon as there is room.
--
-- This module also lets LuaJIT's compiler keep room for the constants of a loop, see below.
-- @module memory_reserve

local ffi, collector = import('ffi', 'core.collector')

local memory_reserve = {}

local pcall = pcall
local find, concat = string.find, table.concat
local buffer = require 'string.buffer'

ffi.cdef[[
void *th_mmap(void *, size_t, int, int, int, int64_t) __asm__("mmap");
int th_munmap(void *, size_t) __asm__("munmap");
]]
local READ_AND_WRITE, PRIVATE = 3, 2
local ANONYMOUS = ffi.os == 'Linux' and 0x20 or 0x1000
local FAILED = ffi.cast('void *', -1)
local C = ffi.C

local ROOM_IN_LUA = 2 ^ 19 -- bytes, for a large input or a table of Lua's own
local BLOCK, MOST = 2 ^ 20, 8 -- bytes, as Python asks of the system for small objects; blocks
local ROOM_IN_PYTHON = BLOCK + 2 ^ 18 -- bytes, for a block and for what C asks for meanwhile

local CONSTANTS = 500 -- more than nearly all loops have
local TURNS = 60 -- LuaJIT begins to compile a loop at the 57th

local probe = buffer.new()
local blocks, count = {}, 0

-- Asks the system for bytes. They count against the limits of the process, but take no memory,
-- since nothing is ever written there. Returns nil where the limits are reached.
local function map(bytes)
  local block = C.th_mmap(nil, bytes, READ_AND_WRITE, PRIVATE + ANONYMOUS, -1, 0)
  if block ~= FAILED then return block end
end

-- Tells whether the system has ROOM_IN_PYTHON; raises an error where Lua lacks ROOM_IN_LUA.
local function find_room()
  probe:reserve(ROOM_IN_LUA)
  probe:free() -- before the next line, which needs a little memory of Lua's
  local block = map(ROOM_IN_PYTHON)
  if block then C.th_munmap(block, ROOM_IN_PYTHON) end
  return block ~= nil
end

local function has_room()
  local ok, has_found = pcall(find_room)
  return ok and has_found
end

local function release()
  C.th_munmap(blocks[count], BLOCK)
  blocks[count] = false
  count = count - 1
end

local function fill()
  while count < MOST and has_room() do
    local block = map(BLOCK)
    if not block then return end
    count = count + 1
    blocks[count] = block
  end
  if count > 0 and not has_room() then release() end
end

-- LuaJIT until August 2026 (its issue 1502) ends the process where its compiler gets no memory for
-- the constants that the call of an interpreted function needs. The compiler's room for constants
-- never shrinks. So the compiler is made to record, once, a loop with many constants, which it then
-- gives up since the loop makes a function.
local function enlarge_room_for_constants()
  local numbers = {}
  for i = 1, CONSTANTS do numbers[i] = i + 0.5 end
  local sum = 'x = x + ' .. concat(numbers, ' + ')
  local loop = 'local x = 0 for _ = 1, %d do %s local function f() return f end end'
  loadstring(loop:format(TURNS, sum))()
end

--- Tells whether an error's message says that there is no memory.
function memory_reserve.is_out_of_memory(message)
  return find(message, 'not enough memory', 1, true) ~= nil
end

--- Makes room for what follows: to be called when an input has ended.
-- @param is_scarce whether memory has run out in the input; then garbage is collected in any case
function memory_reserve.make_room(is_scarce)
  if not is_scarce and count == MOST and has_room() then return end
  pcall(collector.collect) -- frees userdata that nobody refers to any more
  pcall(collector.collect) -- frees the Python objects that these have kept
  while count > 0 and not has_room() do release() end
  pcall(fill)
end

--- Gives the reserve back.
function memory_reserve.release_reserve()
  while count > 0 do release() end
end

enlarge_room_for_constants()
fill()

return memory_reserve
