--- SoftMax, LogSoftMax and FeatureLPPooling, by numpy's inner loops over raw memory.
-- Addresses are numbers.
-- @module nn_norms

local th = ...
local ffi = require 'ffi'
local C, job = ffi.C, th.add_job
local cast, copy, fill = ffi.cast, ffi.copy, ffi.fill
local compile, dump = loadstring, string.dump

ffi.cdef 'double th_pow(double x, double y) __asm__("pow");'

local shared = th.nn_loops
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
-- other in steps of `inner`. All is computed with doubles, but exponentials of floats are floats on
-- the way forward: so are nearly all of the reference's results. `wide` has copies of floats.

-- r = loop(a, b) for the doubles of a frame. `wide` says which of the three have numbers for all
-- classes; the others have one for each position, also the result: a loop that writes where it
-- reads adds up.
local function over(p, loop, a, wide_a, b, wide_b, r, wide_r)
  local positions = p.inner
  if positions == 1 then
    compute(loop, p.classes, a, wide_a * 8, b, wide_b * 8, r, wide_r * 8)
    return
  end
  local row = positions * 8
  for i = 0, p.classes - 1 do
    compute(loop, positions, a + i * wide_a * row, 8, b + i * wide_b * row, 8,
      r + i * wide_r * row, 8)
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

-- The output of frames: exp(input - log(sum(exp(input)))), or what exp gets there if `logarithms`
-- is 1. There is room for two doubles for each position at `most`.
job('nn_softmax', 'size input output wide most classes inner logarithms exp[2] maximum[2]'
  .. ' subtract[2] add[2] log[2] multiply[2] reciprocal[2]', function(p, first, last)
  local row, n = 8 * p.inner, p.classes * p.inner
  local count, begin = (last - first) * n, first * n
  local x, r = p.input + begin * p.size, p.output + begin * p.size
  local w = p.size == 8 and r or p.wide + begin * 8
  local from, exp = widen(p, w, x, count), loop_of(p, 'exp', p.size)
  local maximum, subtract, add = loop_of(p, 'maximum', 8), loop_of(p, 'subtract', 8),
    loop_of(p, 'add', 8)
  local log, multiply = loop_of(p, 'log', 8), loop_of(p, 'multiply', 8)
  local reciprocal = loop_of(p, 'reciprocal', 8)
  for frame = 0, last - first - 1 do
    local at, most = 8 * n * frame, p.most + 2 * (first + frame) * row
    copy(memory + most, memory + from + at, row)
    over(p, maximum, most, 0, from + at, 1, most, 0)
    over(p, subtract, from + at, 1, most, 0, w + at, 1)
  end
  narrow(p, r, w, count)
  map(exp, count, r, r, p.size)
  widen(p, w, r, count)
  for frame = 0, last - first - 1 do
    local at, most = 8 * n * frame, p.most + 2 * (first + frame) * row
    local sums = most + row
    fill(memory + sums, row)
    over(p, add, sums, 0, w + at, 1, sums, 0)
    if p.logarithms == 1 then
      map(log, p.inner, sums, sums, 8)
      compute(add, p.inner, most, 8, sums, 8, most, 8)
    else
      map(reciprocal, p.inner, sums, sums, 8)
      over(p, multiply, w + at, 1, sums, 0, w + at, 1)
    end
  end
  if p.logarithms == 1 then
    widen(p, w, x, count)
    for frame = 0, last - first - 1 do
      local at = 8 * n * frame
      over(p, subtract, from + at, 1, p.most + 2 * (first + frame) * row, 0, w + at, 1)
    end
  end
  narrow(p, r, w, count)
end)

-- The gradient of frames: output * (grads - sum(grads * output)), or with logarithms
-- grads - exp(output) * sum(grads). There is room for the numbers of two frames at `wide`.
job('nn_softmax_back', 'size output grads gradient wide sums classes inner logarithms exp[2]'
  .. ' subtract[2] add[2] multiply[2]', function(p, first, last)
  local row, n = 8 * p.inner, p.classes * p.inner
  local count, begin = (last - first) * n, first * n
  local subtract, add = loop_of(p, 'subtract', 8), loop_of(p, 'add', 8)
  local multiply, exp = loop_of(p, 'multiply', 8), loop_of(p, 'exp', 8)
  local source, r = p.output + begin * p.size, p.gradient + begin * p.size
  local w = p.size == 8 and r or p.wide + 16 * begin
  local g = widen(p, w + 8 * count, p.grads + begin * p.size, count)
  local y = widen(p, w, source, count)
  if p.logarithms == 1 then
    map(exp, count, y, w, 8)
  else
    compute(multiply, count, g, 8, y, 8, w, 8)
  end
  for frame = 0, last - first - 1 do
    local at, sums = 8 * n * frame, p.sums + (first + frame) * row
    fill(memory + sums, row)
    if p.logarithms == 1 then
      over(p, add, sums, 0, g + at, 1, sums, 0)
      over(p, multiply, w + at, 1, sums, 0, w + at, 1)
    else
      over(p, add, sums, 0, w + at, 1, sums, 0)
      over(p, subtract, g + at, 1, sums, 0, w + at, 1)
    end
  end
  if p.logarithms == 1 then
    compute(subtract, count, g, 8, w, 8, w, 8)
  else
    compute(multiply, count, widen(p, w + 8 * count, source, count), 8, w, 8, w, 8)
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

-- How windows lie: how many runs of results have elements in equal distances, how many elements
-- a run has, and how far these are apart in a sample and in its results.
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
