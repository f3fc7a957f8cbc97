--- bit32: Lua 5.2's functions on bits, for programs that load them as a C module.
-- Numbers are whole ones of 32 bits without sign; others count modulo 2^32.
-- @module bit32

local errors = import 'core.errors'

local tobit, band, lshift, rshift = bit.tobit, bit.band, bit.lshift, bit.rshift

local bit32 = {}

-- The number without sign of a result of LuaJIT's functions.
local function unsigned(value)
  return value % 2 ^ 32
end

-- A call's argument as LuaJIT's functions take it.
-- @param arg its position
-- @param n how many arguments the call has
local function bits(arg, n, value)
  local number = tonumber(value)
  if type(value) ~= 'number' and (type(value) ~= 'string' or not number) then
    errors.type_error(arg, 'number', value, n < arg)
  end
  return tobit(number % 2 ^ 32)
end

-- A function of any number of arguments.
local function fold(start, combine)
  return function(...)
    local n, result = select('#', ...), start
    for i = 1, n do result = combine(result, (bits(i, n, (select(i, ...))))) end
    return unsigned(result)
  end
end

bit32.band = fold(-1, bit.band)
bit32.bor = fold(0, bit.bor)
bit32.bxor = fold(0, bit.bxor)

function bit32.btest(...)
  return bit32.band(...) ~= 0
end

function bit32.bnot(...)
  return unsigned(bit.bnot(bits(1, select('#', ...), (...))))
end

-- ------------------------------------------------------------------- shifts

local ALL = 32

-- Shifts to the left, or by a negative number to the right; bits beyond either end are lost.
local function shift(value, by)
  if by >= ALL or by <= -ALL then return 0 end
  return unsigned(by >= 0 and lshift(value, by) or rshift(value, -by))
end

-- A function of a number and of how far its bits are moved.
local function mover(move)
  return function(...)
    local n, value, by = select('#', ...), ...
    return move(bits(1, n, value), bits(2, n, by))
  end
end

bit32.lshift = mover(shift)
bit32.rshift = mover(function(value, by) return shift(value, -by) end)
bit32.lrotate = mover(function(value, by) return unsigned(bit.rol(value, by % ALL)) end)
bit32.rrotate = mover(function(value, by) return unsigned(bit.ror(value, by % ALL)) end)

bit32.arshift = mover(function(value, by)
  if by < 0 or value >= 0 then return shift(value, -by) end
  return unsigned(bit.arshift(value, by < ALL and by or ALL - 1))
end)

-- ------------------------------------------------------------------- fields

-- The position of a field of bits, and a number with as many ones as it has bits. Its position and
-- width are the call's arguments from `arg` on.
local function field(arg, n, first, width)
  first = bits(arg, n, first)
  if width == nil then width = 1 else width = bits(arg + 1, n, width) end
  if first < 0 then errors.argument_error(arg, 'field cannot be negative') end
  if width <= 0 then errors.argument_error(arg + 1, 'width must be positive') end
  if first + width > ALL then errors.fail('trying to access non-existent bits') end
  return first, width == ALL and -1 or lshift(1, width) - 1
end

function bit32.extract(...)
  local n, value, first, width = select('#', ...), ...
  value = bits(1, n, value)
  local at, mask = field(2, n, first, width)
  return unsigned(band(rshift(value, at), mask))
end

function bit32.replace(...)
  local n, value, new, first, width = select('#', ...), ...
  value, new = bits(1, n, value), bits(2, n, new)
  local at, mask = field(3, n, first, width)
  return unsigned(bit.bor(band(value, bit.bnot(lshift(mask, at))), lshift(band(new, mask), at)))
end

return bit32
