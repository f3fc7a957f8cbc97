--- SoftMax and LogSoftMax, by numpy's inner loops over raw memory. Addresses are numbers.
-- @module softmax

local jobs = ...
local ffi = require 'ffi'
local job, cast, copy, fill = jobs.add, ffi.cast, ffi.copy, ffi.fill

local shared = jobs.part 'thnn.loops'
local memory, numbers, loads = shared.memory, shared.numbers, shared.loads
local loop_of, compute, map = shared.loop_of, shared.compute, shared.map

-- A frame has numbers for `classes` at each of `inner` positions; those of a position follow each
-- other in steps of `inner`. Sums, and what is computed with them, are doubles, as the reference's.
-- `wide` has copies of floats.

-- r = loop(a, b) for numbers of a frame, of `size` bytes. `wide` says which of the three have
-- numbers for all classes; the others have one for each position, also the result: a loop that
-- writes where it reads adds up.
local function over(p, size, loop, a, wide_a, b, wide_b, r, wide_r)
  local positions = p.inner
  if positions == 1 then
    compute(loop, p.classes, a, wide_a * size, b, wide_b * size, r, wide_r * size)
    return
  end
  local row = positions * size
  for i = 0, p.classes - 1 do
    compute(loop, positions, a + i * wide_a * row, size, b + i * wide_b * row, size,
      r + i * wide_r * row, size)
  end
end

local load_float, load_double = loads[4], loads[8]

-- n numbers as doubles at an address, which is theirs or `wide`; and back.
local function widen(p, wide, from, n)
  if p.size == 8 then return from end
  local to, source = cast(numbers[8], memory + wide), cast(numbers[4], memory + from)
  for i = 0, n - 1 do to[i] = load_float(source, i) end
  return wide
end

local function narrow(p, to, wide, n)
  if p.size == 8 then return end
  local out, source = cast(numbers[4], memory + to), cast(numbers[8], memory + wide)
  for i = 0, n - 1 do out[i] = load_double(source, i) end
end

-- r = exp(x - the largest number of each position), which `most` gets.
local function exponentials(p, frames, x, most, r)
  local size, n, row = p.size, p.classes * p.inner, p.inner * p.size
  local maximum, subtract = loop_of(p, 'maximum'), loop_of(p, 'subtract')
  for frame = 0, frames - 1 do
    local at, of = frame * n * size, most + frame * row
    copy(memory + of, memory + x + at, row)
    over(p, size, maximum, of, 0, x + at, 1, of, 0)
    over(p, size, subtract, x + at, 1, of, 0, r + at, 1)
  end
  map(loop_of(p, 'exp'), frames * n, r, r, size)
end

-- The output of frames: exp(input - log(sum(exp(input)))), or what exp gets there if `logarithms`
-- is 1. There is room for a number for each position at `most`, for a double at `sums`.
job('nn_softmax', 'size input output wide most sums classes inner logarithms maximum[2]'
  .. ' subtract[2] exp[2] add[2] log[2] multiply[2] reciprocal[2] minus[2]',
  function(p, first, last)
  local size, inner, n = p.size, p.inner, p.classes * p.inner
  local frames, begin, place = last - first, first * n, first * inner
  local x, r, most = p.input + begin * size, p.output + begin * size, p.most + place * size
  local w, sums, row = size == 8 and r or p.wide + 8 * begin, p.sums + 8 * place, 8 * inner
  local add = loop_of(p, 'add')
  exponentials(p, frames, x, most, r)
  widen(p, w, r, frames * n)
  fill(memory + sums, frames * row)
  for frame = 0, frames - 1 do
    local to = sums + frame * row
    over(p, 8, add, to, 0, w + 8 * frame * n, 1, to, 0)
  end
  local source, last_step = w, loop_of(p, 'multiply')
  if p.logarithms == 1 then
    map(loop_of(p, 'log'), frames * inner, sums, sums, 8)
    compute(add, frames * inner, widen(p, w, most, frames * inner), 8, sums, 8, sums, 8)
    source, last_step = widen(p, w, x, frames * n), loop_of(p, 'minus')
  else
    map(loop_of(p, 'reciprocal'), frames * inner, sums, sums, 8)
  end
  for frame = 0, frames - 1 do
    local at = 8 * frame * n
    over(p, 8, last_step, source + at, 1, sums + frame * row, 0, w + at, 1)
  end
  narrow(p, r, w, frames * n)
end)

-- The gradient of frames: output * (grads - sum(grads * output)), or with logarithms
-- grads - exp(output) * sum(grads). There is room for the numbers of two frames at `wide`.
job('nn_softmax_back', 'size output grads gradient wide sums classes inner logarithms subtract[2]'
  .. ' exp[2] add[2] multiply[2]', function(p, first, last)
  local size, row, n = p.size, 8 * p.inner, p.classes * p.inner
  local count, begin = (last - first) * n, first * n
  local subtract, add = loop_of(p, 'subtract'), loop_of(p, 'add')
  local multiply = loop_of(p, 'multiply')
  local y, r = p.output + begin * size, p.gradient + begin * size
  local w, logarithms = size == 8 and r or p.wide + 16 * begin, p.logarithms == 1
  local g = widen(p, w + 8 * count, p.grads + begin * size, count)
  if logarithms then
    map(loop_of(p, 'exp'), count, y, r, size)
    widen(p, w, r, count)
  else
    compute(multiply, count, g, 8, widen(p, w, y, count), 8, w, 8)
  end
  fill(memory + p.sums + first * row, (last - first) * row)
  for frame = 0, last - first - 1 do
    local at, sums = 8 * n * frame, p.sums + (first + frame) * row
    over(p, 8, add, sums, 0, (logarithms and g or w) + at, 1, sums, 0)
    if logarithms then
      over(p, 8, multiply, w + at, 1, sums, 0, w + at, 1)
    else
      over(p, 8, subtract, g + at, 1, sums, 0, w + at, 1)
    end
  end
  if logarithms then
    compute(subtract, count, g, 8, w, 8, w, 8)
  else
    compute(multiply, count, widen(p, w + 8 * count, y, count), 8, w, 8, w, 8)
  end
  narrow(p, r, w, count)
end)
