--- SoftMax, LogSoftMax and FeatureLPPooling, by numpy's inner loops over raw memory.
-- Addresses are numbers.
-- @module norms

local jobs = ...
local ffi = require 'ffi'
local C, job = ffi.C, jobs.add
local cast, copy, fill = ffi.cast, ffi.copy, ffi.fill
local compile, dump = loadstring, string.dump

ffi.cdef 'double th_pow(double x, double y) __asm__("pow");'

local shared = jobs.part 'thnn.loops'
local memory, numbers, loads = shared.memory, shared.numbers, shared.loads
local loop_of, compute, map = shared.loop_of, shared.compute, shared.map

-- Loops over numbers of one size: those of others are copies.
local function make_loops(load, load_double)
  return {
    -- n doubles from numbers that are `step` elements apart.
    widen = function(to, from, step, n)
      for i = 0, n - 1 do to[i] = load(from, i * step) end
    end,
    -- Numbers from n doubles.
    narrow = function(to, from, n)
      for i = 0, n - 1 do to[i] = load_double(from, i) end
    end,
    -- Sets doubles to 0 where z is 0, whose elements are `step` apart.
    clear = function(x, z, step, n)
      for i = 0, n - 1 do
        if z[i * step] == 0 then x[i] = 0 end
      end
    end,
  }
end

local loops = {}
for size, load in pairs(loads) do loops[size] = compile(dump(make_loops))(load, loads[8]) end

-- ------------------------------------------------------------------ SoftMax and LogSoftMax

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

-- n numbers as doubles at an address, which is theirs or `wide`; and back.
local function widen(p, wide, from, n)
  if p.size == 8 then return from end
  loops[4].widen(cast(numbers[8], memory + wide), cast(numbers[4], memory + from), 1, n)
  return wide
end

local function narrow(p, to, wide, n)
  if p.size == 8 then return end
  loops[4].narrow(cast(numbers[4], memory + to), cast(numbers[8], memory + wide), n)
end

-- r = exp(x - the largest number of each position), which `most` gets.
local function exponentials(p, frames, x, most, r)
  local size, n, row = p.size, p.classes * p.inner, p.inner * p.size
  local maximum, subtract = loop_of(p, 'maximum', size), loop_of(p, 'subtract', size)
  for frame = 0, frames - 1 do
    local at, of = frame * n * size, most + frame * row
    copy(memory + of, memory + x + at, row)
    over(p, size, maximum, of, 0, x + at, 1, of, 0)
    over(p, size, subtract, x + at, 1, of, 0, r + at, 1)
  end
  map(loop_of(p, 'exp', size), frames * n, r, r, size)
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
  local add = loop_of(p, 'add', 8)
  exponentials(p, frames, x, most, r)
  widen(p, w, r, frames * n)
  fill(memory + sums, frames * row)
  for frame = 0, frames - 1 do
    local to = sums + frame * row
    over(p, 8, add, to, 0, w + 8 * frame * n, 1, to, 0)
  end
  local source, last_step = w, loop_of(p, 'multiply', 8)
  if p.logarithms == 1 then
    map(loop_of(p, 'log', 8), frames * inner, sums, sums, 8)
    compute(add, frames * inner, widen(p, w, most, frames * inner), 8, sums, 8, sums, 8)
    source, last_step = widen(p, w, x, frames * n), loop_of(p, 'minus', 8)
  else
    map(loop_of(p, 'reciprocal', 8), frames * inner, sums, sums, 8)
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
  local subtract, add = loop_of(p, 'subtract', 8), loop_of(p, 'add', 8)
  local multiply = loop_of(p, 'multiply', 8)
  local y, r = p.output + begin * size, p.gradient + begin * size
  local w, logarithms = size == 8 and r or p.wide + 16 * begin, p.logarithms == 1
  local g = widen(p, w + 8 * count, p.grads + begin * size, count)
  if logarithms then
    map(loop_of(p, 'exp', size), count, y, r, size)
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

-- ------------------------------------------------------------------ norms of neighbouring features

-- A sample has `features` times `inner` elements, a window `width` features, `stride` behind the
-- one before; `windows` of them give as many results for each inner element.

local zero = ffi.new('double[1]')

-- x = x to some power, for n doubles, by C's pow, as in the reference.
local function raise(x, n, power)
  local load = loads[8]
  if power == 2 then
    for i = 0, n - 1 do
      local v = load(x, i)
      x[i] = v * v
    end
  elseif power ~= 1 then
    for i = 0, n - 1 do x[i] = C.th_pow(load(x, i), power) end
  end
end

-- Describes windows: how many runs of results have elements in equal distances, how many elements a
-- run has, and how far these are apart in a sample and in its results.
local function runs(p)
  if p.stride == 1 then return 1, p.windows * p.inner, 1, 1 end
  return p.inner, p.windows, p.stride * p.inner, p.inner
end

-- The norms. `add` is a loop for doubles. There is room for doubles: at `powers` for a sample's
-- elements, at `sums` for its results.
job('nn_norms', 'size input output powers sums add[2] power features inner'
  .. ' width stride windows', function(p, first, last)
  local size, inner, each, all = p.size, p.inner, p.features * p.inner, p.windows * p.inner
  local add, own = loop_of(p, 'add', 8), loops[size]
  local pointer, reps, n, from_step, to_step = numbers[size], runs(p)
  local powers, sums = cast(numbers[8], memory + p.powers), cast(numbers[8], memory + p.sums)
  local at_zero = tonumber(cast('intptr_t', zero))
  for sample = first, last - 1 do
    own.widen(powers, cast(pointer, memory + p.input) + sample * each, 1, each)
    raise(powers, each, p.power)
    for rep = 0, reps - 1 do
      local from, to = p.powers + 8 * rep, p.sums + 8 * rep
      compute(add, n, at_zero, 0, from, 8 * from_step, to, 8 * to_step)
      for i = 1, p.width - 1 do
        compute(add, n, to, 8 * to_step, from + 8 * i * inner, 8 * from_step, to, 8 * to_step)
      end
    end
    raise(sums, all, 1 / p.power)
    own.narrow(cast(pointer, memory + p.output) + sample * all, sums, all)
  end
end)

-- The gradient: the sums of gradOutput (`grads`) times (input / output) to a power, which is one
-- lower; 0 where the output is 0. `add` and `divide` are loops for elements, `multiply` for
-- doubles. There is room for as many doubles as there are windows of a sample: at `powers`, at
-- `upper`, and at `quotients` for elements.
job('nn_norms_back', 'size input output grads gradient powers upper quotients add[2] divide[2]'
  .. ' multiply[2] power features inner width stride windows', function(p, first, last)
  local size, inner, each, all = p.size, p.inner, p.features * p.inner, p.windows * p.inner
  local add, divide, multiply = loop_of(p, 'add', size), loop_of(p, 'divide', size),
    loop_of(p, 'multiply', 8)
  local pointer, own, reps, n, from_step, to_step = numbers[size], loops[size], runs(p)
  local powers, upper = cast(numbers[8], memory + p.powers), cast(numbers[8], memory + p.upper)
  local quotients = cast(pointer, memory + p.quotients)
  fill(memory + p.gradient + first * each * size, (last - first) * each * size)
  for sample = first, last - 1 do
    for rep = 0, reps - 1 do
      local at, to = sample * each + rep, sample * all + rep
      local z = cast(pointer, memory + p.output) + to
      own.widen(upper, cast(pointer, memory + p.grads) + to, to_step, n)
      for i = 0, p.width - 1 do
        local part = (at + i * inner) * size
        compute(divide, n, p.input + part, size * from_step, p.output + to * size, size * to_step,
          p.quotients, size)
        own.widen(powers, quotients, 1, n)
        raise(powers, n, p.power)
        compute(multiply, n, p.upper, 8, p.powers, 8, p.powers, 8)
        own.clear(powers, z, to_step, n)
        own.narrow(quotients, powers, n)
        part = p.gradient + part
        compute(add, n, part, size * from_step, p.quotients, size, part, size * from_step)
      end
    end
  end
end)
