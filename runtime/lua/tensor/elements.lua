--- What an element of each type is in memory: `convert` makes it of a Lua number as C does,
-- `wrap` as FFI does, `load` makes a Lua number of it.
--
-- `load` is the only way in which an element may come to Lua. LuaJIT keeps the type of a value
-- in the bits that tell one nan from another, and FFI hands over whatever lies in memory: some
-- nans are then taken for tables, strings or nil, others become such when they are negated or
-- added. So the bits are looked at first, as whole numbers, and of a nan only the sign is kept.
-- (runtime/compute/lua_kernels.py does the same for arrays that kernels.lua works on.)
-- @module elements

local th = ...
local ffi = require 'ffi'
local host = th.host

local tonumber, floor, ceil = tonumber, math.floor, math.ceil
local cast, copy, band = ffi.cast, ffi.copy, require('bit').band

local words = ffi.typeof('int32_t *')

-- The nan that is safe as it is and negated: 0x7ff8000000000000.
local nan
do
  local memory = ffi.new('double[1]', 0 / 0)
  cast(words, memory)[1] = 0x7ff80000
  nan = memory[0]
  th.nan = nan
end

-- Numbers whose exponent has all bits set: infinities, and nans by their sign. LuaJIT takes it
-- that a whole number in memory stays when a double is written: the bits that were looked at may
-- be old. Copied bytes are not.

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

-- Numbers that FFI converts as C does; what does not fit whole numbers becomes the least.
local function converter(limit)
  return function(v)
    if v > -limit - 1 and v < limit then return v end
    return -limit
  end
end

-- What FFI's own conversion makes of a number, for 32 bits and less.
local function wrap(v)
  if v > -2 ^ 31 - 1 and v < 2 ^ 31 then return v end
  if not (v > -2 ^ 63 and v < 2 ^ 63) then return 0 end
  v = (v < 0 and ceil(v) or floor(v)) % 2 ^ 32
  return v < 2 ^ 31 and v or v - 2 ^ 32
end

local function same(v)
  return v
end

-- Half: 16 bits, looked up in a table of all of them, whose nans are safe; Python rounds to them.
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
    dtype.convert, dtype.wrap = same, same
  elseif dtype.name == 'Half' then
    dtype.load, dtype.convert = load_half, convert_half
  end
end
