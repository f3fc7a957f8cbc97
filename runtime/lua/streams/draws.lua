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
local band, arshift, rshift = bit.band, bit.arshift, bit.rshift
local floor, sqrt, pi = math.floor, math.sqrt, math.pi
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

--- Turns n uniform doubles of [0, 1), n a multiple of 16, into normal ones: the first eight of each
-- sixteen are radii, the others angles.
function draws.normal_blocks(values, n, mean, deviation)
  local z = ffi.cast(doubles, values)
  for i = 0, n / 2 - 1 do
    local at = i + band(i, -8)
    local radius = sqrt(-2 * C.log(1 - z[at]))
    local angle = 2 * pi * z[at + 8]
    z[at] = C.fma(radius * C.cos(angle), deviation, mean)
    z[at + 8] = C.fma(radius * C.sin(angle), deviation, mean)
  end
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

-- --------------------------------------------------------------------- floats

-- PyTorch computes floats with eight-lane approximations of log, cosine and sine (Cephes'
-- polynomials), whose last bits differ from the C library's. A number here is a double that a float
-- can hold; `round` makes a sum or product of such numbers one again.

local bits = ffi.new('union { float number; int32_t word; }')

local L0, L1, L2 = round(7.0376836292E-2), round(-1.1514610310E-1), round(1.1676998740E-1)
local L3, L4, L5 = round(-1.2420140846E-1), round(1.4249322787E-1), round(-1.6668057665E-1)
local L6, L7, L8 = round(2.0000714765E-1), round(-2.4999993993E-1), round(3.3333331174E-1)
local LN2_HIGH, LN2_LOW = 0.693359375, round(-2.12194440e-4)
local S0, S1, S2 = round(-1.9515295891E-4), round(8.3321608736E-3), round(-1.6666654611E-1)
local C0, C1 = round(2.443315711809948E-5), round(-1.388731625493765E-3)
local C2 = round(4.166664568298827E-2)
local QUARTER_1, QUARTER_2 = -0.78515625, -2.4187564849853515625e-4 -- of pi, in three parts
local QUARTER_3 = round(-3.77489497744594108e-8)
local QUARTERS, TWO_PI = round(4 / pi), round(2 * pi)
local HALF_ROOT = 0x3f3504f3 -- the bits of the float next to the square root of 1/2
local ONE = 0x3f800000

-- The logarithm of a positive float.
local function log(x)
  bits.number = x
  local word = bits.word + (ONE - HALF_ROOT)
  local exponent = arshift(word, 23) - 127
  bits.word = band(word, 0x7fffff) + HALF_ROOT
  local m = bits.number - 1
  local square = round(m * m)
  local y = round(L0 * m + L1)
  y = round(y * m + L2)
  y = round(y * m + L3)
  y = round(y * m + L4)
  y = round(y * m + L5)
  y = round(y * m + L6)
  y = round(y * m + L7)
  y = round(y * m + L8)
  y = round(round(y * m) * square + round(exponent * LN2_LOW))
  y = round(y - square * 0.5)
  return round(round(m + y) + exponent * LN2_HIGH)
end

-- The sine and cosine of an angle at most pi/4 from 0.
local function small_sine(x, square)
  local y = round(S0 * square + S1)
  y = round(round(y * square + S2) * square)
  return round(y * x + x)
end

local function small_cosine(square)
  local y = round(C0 * square + C1)
  y = round(round(y * square + C2) * square)
  return round(round(y * square - square * 0.5) + 1)
end

-- For each quarter turn, which of the two (0: the sine, 1: the cosine) is the angle's sine, and the
-- signs of the angle's sine and cosine. The last is the first again.
local both = ffi.new('double[2]')
local sine_sign = ffi.new('double[5]', 1, 1, -1, -1, 1)
local cosine_sign = ffi.new('double[5]', 1, -1, -1, 1, 1)

--- Makes normal numbers like normal_blocks, of floats; mean and deviation are floats, too.
function draws.normal_float_blocks(values, n, mean, deviation)
  local z = ffi.cast(floats, values)
  for i = 0, n / 2 - 1 do
    local at = i + band(i, -8)
    local radius = round(sqrt(-2 * log(1 - z[at])))
    local angle = round(TWO_PI * z[at + 8])
    local turn = rshift(floor(round(angle * QUARTERS)) + 1, 1) -- 0 to 4
    angle = round(angle + 2 * turn * QUARTER_1)
    angle = round(angle + 2 * turn * QUARTER_2)
    angle = round(angle + 2 * turn * QUARTER_3)
    local square = round(angle * angle)
    both[0], both[1] = small_sine(angle, square), small_cosine(square)
    local which = band(turn, 1)
    z[at] = round(radius * both[1 - which]) * cosine_sign[turn] * deviation + mean
    z[at + 8] = round(radius * both[which]) * sine_sign[turn] * deviation + mean
  end
end

-- Adds the function that fills n elements of `size` bytes, at least 16, with normal numbers: all
-- sixteens; then, if n is no multiple of 16, the last 16 anew.
-- Of the words, as many bytes are used for each element, and for the 16 that are drawn anew.
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
