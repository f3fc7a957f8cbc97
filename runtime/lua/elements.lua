--- What an element of each type is in memory: `convert` makes it of a Lua number as C does,
-- `wrap` as FFI does, `load` makes a Lua number of it.
-- @module elements

local th = ...
local ffi = require 'ffi'
local host = th.host

local tonumber, floor, ceil = tonumber, math.floor, math.ceil

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

-- Half: 16 bits, looked up in a table of all of them; Python rounds to them.
local half_values

local function load_half(bits)
  half_values = half_values or ffi.cast('float *', th.ask(host.half_values))
  local value = half_values[bits]
  return value
end

local function convert_half(v)
  return (th.ask(host.half_bits, v))
end

for _, dtype in ipairs(th.dtypes) do
  dtype.load, dtype.convert, dtype.wrap = tonumber, converter(2 ^ 31), wrap
  if dtype.name == 'Long' then
    dtype.convert = converter(2 ^ 63)
    dtype.wrap = dtype.convert
  elseif dtype.name == 'Float' or dtype.name == 'Double' then
    dtype.convert, dtype.wrap = same, same
  elseif dtype.name == 'Half' then
    dtype.load, dtype.convert = load_half, convert_half
  end
end
