--- Numpy's inner loops, as jobs of nn's backend call them over raw memory. Addresses are numbers.
-- @module loops

local jobs = ...
local ffi, raw_memory = import('ffi', 'parallel.memory')
local cast, tonumber, min = ffi.cast, tonumber, math.min

local loops = {}

local memory = cast('char *', 0) -- memory + address: a pointer
local numbers = { [4] = ffi.typeof('float *'), [8] = ffi.typeof('double *') }
local loads = { [4] = raw_memory.load_float, [8] = raw_memory.load_double }
loops.memory, loops.numbers, loops.loads = memory, numbers, loads

--- A pointer to the numbers at an address that a job gets; nil for none.
function loops.vector(p, name)
  return p[name] ~= 0 and cast(numbers[p.size], memory + p[name]) or nil
end

local CHECKED = 8192 -- numbers that BLAS adds up at a time: so many it does in one thread
local adders = {
  [4] = ffi.typeof('float (*)(int64_t *, void *, int64_t *)'),
  [8] = ffi.typeof('double (*)(int64_t *, void *, int64_t *)'),
}
local long, one = ffi.typeof('int64_t[1]'), ffi.new('int64_t[1]', 1)

--- Tells whether all numbers are finite, and of a size below `limit`, by the address of BLAS's
-- asum. Also false where their sum is not below it, and where there is no asum.
function loops.are_finite(asum, size, x, count, limit)
  if asum == 0 then return false end
  local add, length = cast(adders[size], asum), long()
  for at = 0, count - 1, CHECKED do
    length[0] = min(CHECKED, count - at)
    if not (add(length, x + at, one) < limit) then return false end
  end
  return true
end

local inner_loop = ffi.typeof('void (*)(void **, intptr_t *, intptr_t *, void *)')
local operands, steps, length = ffi.new('void *[3]'), ffi.new('intptr_t[3]'), ffi.new('intptr_t[1]')
local addresses = cast('intptr_t *', operands)

--- A loop as jobs get it, by the parameter that is named like it: its address, and its data's.
function loops.loop_of(p, name)
  return { run = cast(inner_loop, p[name][0]), data = memory + p[name][1] }
end

--- r = loop(a, b) for n elements, `step_a`, `step_b` and `step_r` bytes apart.
function loops.compute(loop, n, a, step_a, b, step_b, r, step_r)
  addresses[0], addresses[1], addresses[2] = a, b, r
  steps[0], steps[1], steps[2], length[0] = step_a, step_b, step_r, n
  loop.run(operands, length, steps, loop.data)
end

-- A loop with up to three operands, of which the others are 0: their addresses, and steps in bytes.
jobs.add('nn_step', 'run data a b c stepA stepB stepC', function(p, first, last)
  local a, b, c = p.stepA, p.stepB, p.stepC
  addresses[0], addresses[1], addresses[2] = p.a + first * a, p.b + first * b, p.c + first * c
  steps[0], steps[1], steps[2], length[0] = a, b, c, last - first
  cast(inner_loop, p.run)(operands, length, steps, memory + p.data)
end)

-- Numbers of `size` bytes, floats or doubles, as numbers of the other size.
jobs.add('nn_convert', 'size outSize source out', function(p, first, last)
  local load, out = loads[p.size], cast(numbers[p.outSize], memory + p.out)
  local source = cast(numbers[p.size], memory + p.source)
  for i = first, last - 1 do out[i] = load(source, i) end
end)

--- r = loop(a) for n elements that lie side by side, `size` bytes each.
function loops.map(loop, n, a, r, size)
  addresses[0], addresses[1], addresses[2] = a, r, 0
  steps[0], steps[1], steps[2], length[0] = size, size, 0, n
  loop.run(operands, length, steps, loop.data)
end

local sum = ffi.new('double[1]')

-- The sum of `length` doubles, divided by `count`; an error where it is no number, which may be one
-- of a loss.
jobs.add('nn_total', 'size terms output length count add[2]', function(p)
  sum[0] = 0
  local at = tonumber(cast('intptr_t', sum))
  loops.compute(loops.loop_of(p, 'add'), p.length, at, 0, p.terms, 8, at, 0)
  local total = loads[8](sum, 0)
  if total ~= total then error(jobs.OUT_OF_RANGE, 0) end
  loops.vector(p, 'output')[0] = total / p.count
end)

return loops
