--- What several threads do together: C functions and loops over raw memory (thread_pool.lua).
-- A job gets its parameters as doubles (numbers, and addresses of memory that its caller keeps
-- alive) and the range that it is to do, as positions from 0, without the last. Jobs share memory
-- that they use for a moment: what may run within a job gets a copy of this module.
-- @module jobs

local th = ...
local ffi = require 'ffi'

local doubles, longs = ffi.typeof('double *'), ffi.typeof('int64_t *')
local bytes = ffi.typeof('char *')
local copy, fill, cast = ffi.copy, ffi.fill, ffi.cast
local floor, min, max, tonumber = math.floor, math.min, math.max, tonumber

local SUMS = 2048 -- that are made together: they stay in the cache

local jobs, index_of = {}, {} -- index -> function(parameters, first, last); name -> index
th.jobs, th.job_index = jobs, index_of

local function job(name, run)
  jobs[#jobs + 1] = run
  index_of[name] = #jobs
end

local inner_loop = ffi.typeof('void (*)(char **, intptr_t *, intptr_t *, void *)')
local operands, steps = ffi.new('char *[8]'), ffi.new('intptr_t[8]')
local length_of_loop = ffi.new('intptr_t[1]')

-- An inner loop of numpy's: function, its data, number of operands, which one is no address but
-- the number itself (from 1; 0: none), addresses, steps in bytes.
job('loop', function(p, first, last)
  local n, number = p[2], p[3]
  for k = 0, n - 1 do
    local at, step = 4 + k, p[4 + n + k]
    operands[k] = number == k + 1 and cast(bytes, p + at) or cast(bytes, p[at]) + first * step
    steps[k] = step
  end
  length_of_loop[0] = last - first
  cast(inner_loop, p[0])(operands, length_of_loop, steps, cast(bytes, p[1]))
end)

-- Copies bytes: to, from.
job('copy', function(p, first, last)
  copy(cast(bytes, p[0]) + first, cast(bytes, p[1]) + first, last - first)
end)

-- Copies rows: to, from, address of the numbers of the rows (int64), bytes of a row.
job('take', function(p, first, last)
  local to, from, at, size = cast(bytes, p[0]), cast(bytes, p[1]), cast(longs, p[2]), p[3]
  for i = first, last - 1 do
    copy(to + i * size, from + tonumber(at[i]) * size, size)
  end
end)

local whole = {} -- bytes -> pointers to whole numbers
for size, name in pairs{ [1] = 'int8_t', [2] = 'int16_t', [4] = 'int32_t', [8] = 'int64_t' } do
  whole[size] = ffi.typeof(name .. ' *')
end

-- Runs of elements at given positions along a dimension: addresses to, from and of the positions,
-- bytes of an element and of a position, elements of a run, runs of a block, elements of a block
-- of the source, and from one position to the next; where that is not 1, a run has one element
-- after the other from there on.
job('gather', function(p, first, last)
  local element, at = whole[p[3]], cast(whole[p[4]], p[2])
  local to, from = cast(element, p[0]), cast(element, p[1])
  local run, runs, block, step = p[5], p[6], p[7], p[8]
  for i = first, last - 1 do
    local source = from + floor(i / runs) * block
    local target, places = to + i * run, at + i * run
    if step == 1 then
      for k = 0, run - 1 do target[k] = source[tonumber(places[k])] end
    else
      for k = 0, run - 1 do target[k] = source[tonumber(places[k]) * step + k] end
    end
  end
end)

-- BLAS, as Fortran calls it. The numbers that it gets by address are in the elements' type.
local axpy = ffi.typeof('void (*)(int *, void *, void *, int *, void *, int *)')
local gemv = ffi.typeof(
  'void (*)(const char *, int *, int *, void *, void *, int *, void *, int *, void *, void *,'
  .. ' int *)')
local getrs = ffi.typeof(
  'void (*)(const char *, int *, int *, void *, int *, void *, void *, int *, int *)')
local int, one = ffi.typeof('int[1]'), ffi.new('int[1]', 1)
local reals = { [4] = ffi.typeof('float *'), [8] = doubles }
local real = { [4] = ffi.typeof('float[1]'), [8] = ffi.typeof('double[1]') }
local length = int()

-- r = r + factor * x: function, bytes of an element, addresses of r and x, factor.
job('axpy', function(p, first, last)
  local size = p[1]
  length[0] = last - first
  cast(axpy, p[0])(length, real[size](p[4]), cast(bytes, p[3]) + first * size, one,
    cast(bytes, p[2]) + first * size, one)
end)

-- r = m * x for rows of a matrix: function, bytes of an element, addresses of r, m and x, the
-- number of columns and how far apart they are, how far apart the rows are: one of these is 1.
job('gemv', function(p, first, last)
  local size, columns, column_step, row_step = p[1], p[5], p[6], p[7]
  local m = cast(bytes, p[3]) + first * row_step * size
  local r = cast(bytes, p[2]) + first * size
  local nothing, unit = real[size](0), real[size](1)
  local rows = int(last - first)
  local x = cast(bytes, p[4])
  if column_step == 1 then
    local apart = int(row_step)
    cast(gemv, p[0])('T', int(columns), rows, unit, m, apart, x, one, nothing, r, one)
  else
    local apart = int(column_step)
    cast(gemv, p[0])('N', rows, int(columns), unit, m, apart, x, one, nothing, r, one)
  end
end)

-- Columns of an inverse, by LAPACK's getrs: function, bytes of an element, rows, addresses of
-- the factors, of the pivots and of the inverse.
job('invert', function(p, first, last)
  local size, n = p[1], p[2]
  local columns, rows, info = cast(bytes, p[5]) + first * n * size, int(n), int()
  fill(columns, (last - first) * n * size)
  local numbers = cast(reals[size], columns)
  for k = first, last - 1 do numbers[(k - first) * n + k] = 1 end
  cast(getrs, p[0])('N', rows, int(last - first), cast(bytes, p[3]), rows, cast(bytes, p[4]),
    columns, rows, info)
end)

-- Rows of a correlation: function, bytes of an element, addresses of the sums, the input and the
-- weights, for each weight how far its input is from a row's start (int64), how many weights,
-- elements of a row of sums, and from row to row of the input.
job('correlate', function(p, first, last)
  local run, size, weights, width = cast(axpy, p[0]), p[1], p[6], p[7]
  local jump, x, at = p[8], cast(bytes, p[3]), cast(longs, p[5])
  local weight = cast(bytes, p[4])
  local rows = max(floor(SUMS / jump), 1)
  local n = (min(rows, last - first) - 1) * jump + width
  local sums = ffi.new('char[?]', n * size)
  for top = first, last - 1, rows do
    local count = min(rows, last - top)
    length[0] = (count - 1) * jump + width
    fill(sums, length[0] * size)
    for k = 0, weights - 1 do
      run(length, weight + k * size, x + (top * jump + tonumber(at[k])) * size, one, sums, one)
    end
    for i = 0, count - 1 do
      copy(cast(bytes, p[2]) + (top + i) * width * size, sums + i * jump * size, width * size)
    end
  end
end)

-- Slices that Python does, which has its own lock: the number of the work.
job('slices', function(p, first, last)
  if not th.do_slice(p[0], first, last) then error('a slice failed', 0) end
end)
