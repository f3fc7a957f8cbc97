--- Reads numbers from memory, as every Lua state must: the engine's, and those of threads.
-- LuaJIT stores the type of a value in bits of a nan, and FFI reads the bits that are in memory as
-- they are. Some nans are then taken for tables, strings or nil; others become such values when
-- they are negated or added. So load_double and load_float look at the bits first, as whole
-- numbers, and
-- of a nan keep the sign only.
-- @module numbers

local plain_numbers = {}
local ffi = require 'ffi'
local cast, copy, band = ffi.cast, ffi.copy, require('bit').band

local words = ffi.typeof('int32_t *')

-- The nan that is a number for LuaJIT, also when it is negated: 0x7ff8000000000000.
local nan
do
  local memory = ffi.new('double[1]', 0 / 0)
  cast(words, memory)[1] = 0x7ff80000
  nan = memory[0]
  plain_numbers.nan = nan
end

-- The functions load_special_* read numbers in whose exponent all bits are set: infinities and
-- nans. LuaJIT assumes that writing a double does not change an int in memory. So the bits that the
-- caller has looked at may be those from before a write; here the bytes are copied, which gives the
-- current ones.

local bits = ffi.new('int32_t[2]')

local function load_special_double(data, i)
  copy(bits, data + i, 8)
  local high = bits[1]
  if band(high, 0x7ff00000) ~= 0x7ff00000 then return data[i] end
  if bits[0] == 0 and band(high, 0xfffff) == 0 then return high < 0 and -1 / 0 or 1 / 0 end
  return high < 0 and -nan or nan
end

local function load_double(data, i)
  if band(cast(words, data + i)[1], 0x7ff00000) == 0x7ff00000 then
    local value = load_special_double(data, i)
    return value
  end
  return data[i]
end

local function load_special_float(data, i)
  copy(bits, data + i, 4)
  local all = bits[0]
  if band(all, 0x7f800000) ~= 0x7f800000 then return data[i] end
  if band(all, 0x7fffff) == 0 then return all < 0 and -1 / 0 or 1 / 0 end
  return all < 0 and -nan or nan
end

local function load_float(data, i)
  if band(cast(words, data + i)[0], 0x7f800000) == 0x7f800000 then
    local value = load_special_float(data, i)
    return value
  end
  return data[i]
end

plain_numbers.load_double, plain_numbers.load_float = load_double, load_float

return plain_numbers
