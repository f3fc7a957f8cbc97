--- Conversions between Lua numbers and elements of each type: `load` reads an element from memory,
-- `convert` converts a number for an element as C does, and `wrap` as LuaJIT's FFI does.
--
-- Elements may be read by `load` only: see parallel/memory.lua. (runtime/compute/lua_kernels.py
-- makes nans safe in arrays that lua_kernels.lua works on.)
-- @module elements

local ffi, host, bridge, c_structs = import('ffi', 'host', 'core.bridge', 'core.c_structs')
local python_calls, raw_memory = import('core.python_calls', 'parallel.memory')

local tonumber, floor, ceil = tonumber, math.floor, math.ceil
local cast = ffi.cast

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
  half_values = half_values or cast('float *', python_calls.ask(host.half_values))
  local value = half_values[data[i]]
  return value
end

local function convert_half(v)
  return (python_calls.ask(host.half_bits, bridge.to_python(v)))
end

for _, dtype in ipairs(c_structs.dtypes) do
  dtype.load, dtype.convert, dtype.wrap = load_whole, converter(2 ^ 31), wrap
  if dtype.name == 'Long' then
    dtype.convert = converter(2 ^ 63)
    dtype.wrap = dtype.convert
  elseif dtype.name == 'Float' or dtype.name == 'Double' then
    dtype.load = dtype.name == 'Float' and raw_memory.load_float or raw_memory.load_double
    dtype.convert, dtype.wrap = unchanged, unchanged
  elseif dtype.name == 'Half' then
    dtype.load, dtype.convert = load_half, convert_half
  end
end
