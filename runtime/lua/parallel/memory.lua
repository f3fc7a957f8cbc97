--- The memory that raw pointers may write: elements of blocks and stores, and working memory; and
-- how numbers are read from memory, as every Lua state must: the engine's, and those of threads.
-- A test forbids arrays of FFI elsewhere, but for small ones of a fixed length. Tests can guard it
-- (tests/guard).
-- @module memory

local raw_memory = {}
local ffi = require 'ffi'
local C, cast, copy, band = ffi.C, ffi.cast, ffi.copy, require('bit').band
local error = error

ffi.cdef[[
void *th_calloc(size_t, size_t) __asm__("calloc");
void th_free(void *) __asm__("free");
]]

--- Zeros outside of the memory that Lua's collector counts, and that take no room before they are
-- used; freed with the pointer that is returned.
function raw_memory.working_memory(ctype, count)
  local memory = C.th_calloc(count, ffi.sizeof(ctype))
  if memory == nil then error('not enough memory', 0) end
  return ffi.gc(cast(ffi.typeof(ctype .. ' *'), memory), C.th_free)
end

--- An object of a struct that ends in `data[?]`, with zeros for so many elements, and a pointer to
-- these, which are freed with the object.
-- @param make the type of the struct
function raw_memory.with_elements(make, count)
  local object = make(count)
  return object, object.data
end

--- Working memory with the numbers of a list.
function raw_memory.numbers(ctype, list)
  local memory = raw_memory.working_memory(ctype, #list)
  for i = 1, #list do memory[i - 1] = list[i] end
  return memory
end

-- ------------------------------------------------------------------- numbers

-- LuaJIT stores the type of a value in bits of a nan, and FFI reads the bits that are in memory as
-- they are. Some nans are then taken for tables, strings or nil; others become such values when
-- they are negated or added. So load_double and load_float look at the bits first, as whole
-- numbers, and of a nan keep the sign only.

local words = ffi.typeof('int32_t *')

-- The nan that is a number for LuaJIT, also when it is negated: 0x7ff8000000000000.
local nan
do
  local memory = ffi.new('double[1]', 0 / 0)
  cast(words, memory)[1] = 0x7ff80000
  nan = memory[0]
  raw_memory.nan = nan
end

-- The functions load_nan_* read numbers whose bits are those of a nan. LuaJIT assumes that writing
-- a double does not change an int in memory. So the bits that the caller has looked at may be those
-- from before a write; here the bytes are copied, which gives the current ones.

local bits = ffi.new('int32_t[2]')

local function load_nan_double(data, i)
  copy(bits, data + i, 8)
  local high = bits[1]
  if band(high, 0x7fffffff) <= 0x7ff00000 then return data[i] end
  return high < 0 and -nan or nan
end

-- Infinity passes, and so do the nans that differ from it in the last 32 bits: all of them are
-- numbers for LuaJIT, and what it computes of them, too.
local function load_double(data, i)
  if band(cast(words, data + i)[1], 0x7fffffff) > 0x7ff00000 then
    local value = load_nan_double(data, i)
    return value
  end
  return data[i]
end

local function load_nan_float(data, i)
  copy(bits, data + i, 4)
  local all = bits[0]
  if band(all, 0x7fffffff) <= 0x7f800000 then return data[i] end
  return all < 0 and -nan or nan
end

local function load_float(data, i)
  if band(cast(words, data + i)[0], 0x7fffffff) > 0x7f800000 then
    local value = load_nan_float(data, i)
    return value
  end
  return data[i]
end

raw_memory.load_double, raw_memory.load_float = load_double, load_float

return raw_memory
