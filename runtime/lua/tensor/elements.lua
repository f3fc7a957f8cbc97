--- Conversions between Lua numbers and elements of each type: `load` reads an element from memory,
-- `convert` converts a number for an element as C does, and `wrap` as LuaJIT's FFI does.
--
-- Elements may be read by `load` only. LuaJIT stores the type of a value in bits of a nan, and FFI
-- reads the bits that are in memory as they are. Some nans are then taken for tables, strings or
-- nil; others become such values when they are negated or added. So `load` looks at the bits first,
-- as whole numbers, and of a nan keeps the sign only. (runtime/compute/lua_kernels.py does the same
-- for arrays that kernels.lua works on.)
-- @module elements

local th = ...
local ffi = require 'ffi'
local host = th.host

local tonumber, floor, ceil = tonumber, math.floor, math.ceil
local cast, copy, band = ffi.cast, ffi.copy, require('bit').band

local words = ffi.typeof('int32_t *')

-- The nan that is a number for LuaJIT, also when it is negated: 0x7ff8000000000000.
local nan
do
  local memory = ffi.new('double[1]', 0 / 0)
  cast(words, memory)[1] = 0x7ff80000
  nan = memory[0]
  th.nan = nan
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

local function load_whole(data, i)
  return tonumber(data[i])
end

-- Makes a function that converts numbers for an integer type as C does on x86-64: a number out of
-- range, or nan, becomes -limit. FFI then converts the others as C does.
local function converter(limit)
  return function(v)
    if v > -limit - 1 and v < limit then return v end
    return -limit
  end
end

-- Converts a number for types of 32 bits and less as FFI does: it wraps, or becomes 0 beyond 64
-- bits.
local function wrap(v)
  if v > -2 ^ 31 - 1 and v < 2 ^ 31 then return v end
  if not (v > -2 ^ 63 and v < 2 ^ 63) then return 0 end
  v = (v < 0 and ceil(v) or floor(v)) % 2 ^ 32
  return v < 2 ^ 31 and v or v - 2 ^ 32
end

local function unchanged(v)
  return v
end

-- The numbers that the patterns of 16 bits are as halves, made by Python; its nans are safe.
local half_values

local function load_half(data, i)
  half_values = half_values or cast('float *', th.ask(host.half_values))
  local value = half_values[data[i]]
  return value
end

local function convert_half(v)
  return (th.ask(host.half_bits, v))
end

for _, dtype in ipairs(th.dtypes) do
  dtype.load, dtype.convert, dtype.wrap = load_whole, converter(2 ^ 31), wrap
  if dtype.name == 'Long' then
    dtype.convert = converter(2 ^ 63)
    dtype.wrap = dtype.convert
  elseif dtype.name == 'Float' or dtype.name == 'Double' then
    dtype.load = dtype.name == 'Float' and load_float or load_double
    dtype.convert, dtype.wrap = unchanged, unchanged
  elseif dtype.name == 'Half' then
    dtype.load, dtype.convert = load_half, convert_half
  end
end
