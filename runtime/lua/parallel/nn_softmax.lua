--- SoftMax and LogSoftMax, by numpy's inner loops over raw memory. Addresses are numbers.
-- A frame has numbers for `classes` at each of `inner` positions; those of a position follow each
-- other in steps of `inner`. There is room for two numbers for each position at `most`.
-- @module nn_softmax

local th = ...
local ffi = require 'ffi'
local job, copy, fill = th.add_job, ffi.copy, ffi.fill
local loops = th.nn_loops
local memory, loop_of, compute, map = loops.memory, loops.loop_of, loops.compute, loops.map

-- r = loop(a, b) for the numbers of a frame. `wide` says which of the three have numbers for all
-- classes, `n` bytes in all; the others have one for each position, also the result: a loop that
-- writes where it reads adds up.
local function over(p, loop, a, wide_a, b, wide_b, r, wide_r)
  local size, positions = p.size, p.inner
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

-- The output of frames: exp(input - log(sum(exp(input)))), or what exp gets there if `logarithms`
-- is 1.
job('nn_softmax', 'size input output most classes inner logarithms maximum[2] subtract[2]'
  .. ' exp[2] add[2] log[2] divide[2]', function(p, first, last)
  local size, row = p.size, p.inner * p.size
  local maximum, subtract = loop_of(p, 'maximum', size), loop_of(p, 'subtract', size)
  local exp, add, log = loop_of(p, 'exp', size), loop_of(p, 'add', size), loop_of(p, 'log', size)
  local divide, n = loop_of(p, 'divide', size), p.classes * p.inner
  for frame = first, last - 1 do
    local x, r, most = p.input + frame * n * size, p.output + frame * n * size,
      p.most + 2 * frame * row
    local sums = most + row
    copy(memory + most, memory + x, row)
    over(p, maximum, most, 0, x, 1, most, 0)
    over(p, subtract, x, 1, most, 0, r, 1)
    map(exp, n, r, r, size)
    fill(memory + sums, row)
    over(p, add, sums, 0, r, 1, sums, 0)
    if p.logarithms == 1 then
      map(log, p.inner, sums, sums, size)
      compute(add, p.inner, most, size, sums, size, most, size)
      over(p, subtract, x, 1, most, 0, r, 1)
    else
      over(p, divide, r, 1, sums, 0, r, 1)
    end
  end
end)

-- The gradient of frames: output * (grads - sum(grads * output)), or with logarithms
-- grads - exp(output) * sum(grads).
job('nn_softmax_back', 'size output grads gradient sums classes inner logarithms subtract[2]'
  .. ' exp[2] add[2] multiply[2]', function(p, first, last)
  local size, row = p.size, p.inner * p.size
  local subtract, exp = loop_of(p, 'subtract', size), loop_of(p, 'exp', size)
  local add, multiply = loop_of(p, 'add', size), loop_of(p, 'multiply', size)
  local n = p.classes * p.inner
  for frame = first, last - 1 do
    local at, sums = frame * n * size, p.sums + frame * row
    local y, g, r = p.output + at, p.grads + at, p.gradient + at
    fill(memory + sums, row)
    if p.logarithms == 1 then
      map(exp, n, y, r, size)
      over(p, add, sums, 0, g, 1, sums, 0)
      over(p, multiply, r, 1, sums, 0, r, 1)
      compute(subtract, n, g, size, r, size, r, size)
    else
      compute(multiply, n, g, size, y, size, r, size)
      over(p, add, sums, 0, r, 1, sums, 0)
      over(p, subtract, g, 1, sums, 0, r, 1)
      compute(multiply, n, r, size, y, size, r, size)
    end
  end
end)
