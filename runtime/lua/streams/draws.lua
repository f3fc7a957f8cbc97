--- Random numbers from the words of a generator, one after the other, as PyTorch's CPU makes them.
-- Python calls these functions (runtime/pytorch/streams/uniform.py) with the addresses of arrays,
-- which it keeps alive. A sum with a product is rounded once everywhere (`fma`), since that is what
-- PyTorch's machine code does. The functions run in a Lua state of their own.
-- @module draws

local ffi = require 'ffi'
local bit = require 'bit'

ffi.cdef[[
double log(double);
double log1p(double);
double sin(double);
double cos(double);
double fma(double, double, double);
]]

local C = ffi.C
local band = bit.band
local sqrt, pi = math.sqrt, math.pi
local doubles, floats = ffi.typeof('double *'), ffi.typeof('float *')
local words_type, longs = ffi.typeof('uint32_t *'), ffi.typeof('int64_t *')

local draws = {}

-- The number of [0, 1) that two words make: their last 53 bits.
local function unit(words, at)
  return (band(words[at], 0x1fffff) * 4294967296 + words[at + 1]) * 2 ^ -53
end

-- The nearest number that a float can hold, by exact steps: Veltkamp splits a double into its upper
-- 24 bits and the rest.
local function round(x)
  local high = x * 536870913
  return high - (high - x)
end

--- Fills n floats with uniform numbers of [low, high), from n words.
function draws.uniform_floats(words, out, n, low, high)
  local w, z = ffi.cast(words_type, words), ffi.cast(floats, out)
  low, high = round(low), round(high)
  local range = round(high - low)
  for i = 0, n - 1 do
    z[i] = band(w[i], 0xffffff) * 2 ^ -24 * range + low
    if z[i] == high then z[i] = low end -- it was rounded up
  end
end

--- Fills n doubles with uniform numbers of [low, high), from 2 * n words.
function draws.uniform_doubles(words, out, n, low, high)
  local w, z = ffi.cast(words_type, words), ffi.cast(doubles, out)
  local range = high - low
  for i = 0, n - 1 do
    z[i] = C.fma(unit(w, 2 * i), range, low)
    if z[i] == high then z[i] = low end
  end
end

-- The next two normal numbers, from four words.
local function pair(w, at)
  local radius = sqrt(-2 * C.log1p(-unit(w, at + 2)))
  local angle = 2 * pi * unit(w, at)
  return radius * C.cos(angle), radius * C.sin(angle)
end

-- Fills z with n normal numbers, from 2 words each (n rounded up to a multiple of 2).
-- @param kept a number with mean 0 and deviation 1 that comes first, for which no words are used
-- @return the second of the last two numbers if only the first was needed
local function fill_normal(w, z, n, mean, deviation, kept)
  local first = 0
  if kept then z[0], first = C.fma(kept, deviation, mean), 1 end
  for i = first, n - 2, 2 do
    local x, y = pair(w, 2 * (i - first))
    z[i], z[i + 1] = C.fma(x, deviation, mean), C.fma(y, deviation, mean)
  end
  if (n - first) % 2 == 0 then return nil end
  local x, y = pair(w, 2 * (n - 1 - first))
  z[n - 1] = C.fma(x, deviation, mean)
  return y
end

function draws.normal_floats(words, out, ...)
  return fill_normal(ffi.cast(words_type, words), ffi.cast(floats, out), ...)
end

function draws.normal_doubles(words, out, ...)
  return fill_normal(ffi.cast(words_type, words), ffi.cast(doubles, out), ...)
end

-- Turns n uniform numbers of [0, 1), n a multiple of 16, into normal ones: the first eight of each
-- sixteen are radii, the others angles, which `nearest` makes numbers of the elements' type.
local function turn_normal(z, nearest, n, mean, deviation)
  local turn = nearest(2 * pi)
  for i = 0, n / 2 - 1 do
    local at = i + band(i, -8)
    local radius = sqrt(-2 * C.log(1 - z[at]))
    local angle = nearest(turn * z[at + 8])
    z[at] = C.fma(radius * C.cos(angle), deviation, mean)
    z[at + 8] = C.fma(radius * C.sin(angle), deviation, mean)
  end
end

--- Turns n uniform doubles into normal ones.
function draws.normal_blocks(values, ...)
  turn_normal(ffi.cast(doubles, values), tonumber, ...)
end

--- Turns n uniform floats into normal ones, whose last bit may be another one than PyTorch's, which
-- takes approximations of log, cosine and sine.
function draws.normal_float_blocks(values, ...)
  turn_normal(ffi.cast(floats, values), round, ...)
end

--- Fills n int64 with whole numbers from `first` on, of which there are `count`, below 2^32.
function draws.whole(words, out, n, first, count)
  local w, z = ffi.cast(words_type, words), ffi.cast(longs, out)
  for i = 0, n - 1 do z[i] = w[i] % count + first end
end

--- Swaps each of `count` elements, from `first` on, with itself or a later one.
-- @param values, distances addresses of int64; how many elements further that one is
function draws.shuffle(values, distances, first, count)
  local a, distance = ffi.cast(longs, values) + first, ffi.cast(longs, distances)
  for i = 0, count - 1 do
    local j = i + tonumber(distance[i])
    a[i], a[j] = a[j], a[i]
  end
end

-- Adds the function that fills n elements of `size` bytes, at least 16, with normal numbers: all
-- sixteens; then, if n is no multiple of 16, the last 16 anew.
-- Each element takes `size` bytes of the random words, and so do the 16 that are drawn anew.
local function add_sixteens(name, size, uniform, blocks)
  draws[name] = function(words, out, n, mean, deviation)
    uniform(words, out, n, 0, 1)
    blocks(out, n - n % 16, mean, deviation)
    if n % 16 == 0 then return end
    local last = out + size * (n - 16)
    uniform(words + size * n, last, 16, 0, 1)
    blocks(last, 16, mean, deviation)
  end
end

add_sixteens('sixteens_floats', 4, draws.uniform_floats, draws.normal_float_blocks)
add_sixteens('sixteens_doubles', 8, draws.uniform_doubles, draws.normal_blocks)

return draws
