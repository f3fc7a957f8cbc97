--- Jobs for several threads together: C functions and loops over raw memory (thread_pool.lua).
-- A job gets its parameters (numbers, and addresses of memory that its caller keeps alive) and the
-- range of positions that it is to do: from 0, without the last. Jobs keep memory for intermediate
-- results between calls.
-- @module jobs

local shared = ...
local ffi, raw_memory = import('ffi', 'parallel.memory')

local longs = ffi.typeof('int64_t *')
local bytes, flag = ffi.typeof('char *'), ffi.typeof('uint8_t *')
local copy, fill, cast = ffi.copy, ffi.fill, ffi.cast
local floor, min, max, tonumber = math.floor, math.min, math.max, tonumber

local SUMS = 2048 -- computed together; they fit into the processor's cache

local functions, index_of = {}, {} -- index -> function(memory, first, last); name -> index
local parameters = {}            -- name -> { name of a parameter, count of its numbers }, in order
local parts = {} -- the names of the modules with further jobs, in order, and what these return

local jobs = {
  functions = functions, index_of = index_of, parameters = parameters, shared = shared or {},
  OUT_OF_RANGE = 'position out of range', -- the error of a job about data, as Python knows it
}

--- A module with further jobs: a chunk that gets the loader and these jobs.
function jobs.part(name)
  if not parts[name] then
    local part = import.instance(name, jobs) or true
    parts[#parts + 1], parts[name] = name, part
  end
  return parts[name]
end

--- Returns copies of the jobs with memory of their own: for jobs that run within another one.
function jobs.copy()
  local copies = import.instance('parallel.jobs', jobs.shared)
  for _, name in ipairs(parts) do copies.part(name) end
  return copies
end

-- The source of the functions that call jobs. Each job has its own: LuaJIT would make one trace for
-- all that come from one function, and be slow where it serves several jobs.
local CALL = [[
local run, cast, pointer = ...
return function(memory, first, last) run(cast(pointer, memory), first, last) end
]]

-- Adds a job. `names` are its parameters, 'at[3]' for one of three numbers; `run` gets them as the
-- members of a struct, and the range.
local function job(name, names, run)
  local members, known = {}, {}
  for member, count in names:gmatch('(%w+)%[?(%d*)%]?') do
    members[#members + 1] = ('double %s[%s];'):format(member, count):gsub('%[%]', '')
    known[#known + 1] = { member, tonumber(count) or 1 }
  end
  local pointer = ffi.typeof('struct { ' .. table.concat(members, ' ') .. ' } *')
  local index = index_of[name] or #functions + 1 -- a part may be loaded again where it failed
  functions[index] = loadstring(CALL)(run, cast, pointer)
  index_of[name], parameters[name] = index, known
end

jobs.add = job

local inner_loop = ffi.typeof('void (*)(char **, intptr_t *, intptr_t *, void *)')
local operands, steps = ffi.new('char *[8]'), ffi.new('intptr_t[8]')
local length_of_loop = ffi.new('intptr_t[1]')

-- An inner loop of numpy's: the function and its data, how many operands there are, which of them
-- is no address but the number itself (from 1; 0: none), addresses, and steps in bytes.
job('loop', 'run data count number at[4] step[4]', function(p, first, last)
  for k = 0, p.count - 1 do
    local step = p.step[k]
    operands[k] = p.number == k + 1 and cast(bytes, p.at + k) or cast(bytes, p.at[k]) + first * step
    steps[k] = step
  end
  length_of_loop[0] = last - first
  cast(inner_loop, p.run)(operands, length_of_loop, steps, cast(bytes, p.data))
end)

-- An inner loop of numpy's over rows of `width` elements. Each position has `rows` rows; `row` and
-- `block` are the bytes from one row to the next and from one position to the next.
job('rows', 'run data rows width at[4] step[4] row[4] block[4]', function(p, first, last)
  local run, data, rows = cast(inner_loop, p.run), cast(bytes, p.data), p.rows
  local at, row, block = p.at, p.row, p.block
  for k = 0, 3 do steps[k] = p.step[k] end
  length_of_loop[0] = p.width
  for n = first * rows, last * rows - 1 do -- one loop, of which LuaJIT makes one trace
    local i = floor(n / rows)
    local j = n - i * rows
    operands[0] = cast(bytes, at[0] + i * block[0] + j * row[0])
    operands[1] = cast(bytes, at[1] + i * block[1] + j * row[1])
    operands[2] = cast(bytes, at[2] + i * block[2] + j * row[2])
    operands[3] = cast(bytes, at[3] + i * block[3] + j * row[3])
    run(operands, length_of_loop, steps, data)
  end
end)

-- Copies bytes.
job('copy', 'out source', function(p, first, last)
  copy(cast(bytes, p.out) + first, cast(bytes, p.source) + first, last - first)
end)

-- Sets bytes to 0.
job('clear', 'out', function(p, first, last)
  fill(cast(bytes, p.out) + first, last - first)
end)

-- Copies rows of `size` bytes; `at` is the address of the numbers of the rows (int64).
job('take', 'out source at size', function(p, first, last)
  local at, size = cast(longs, p.at), p.size
  local to, from = cast(bytes, p.out), cast(bytes, p.source)
  for i = first, last - 1 do
    copy(to + i * size, from + tonumber(at[i]) * size, size)
  end
end)

local whole = {} -- bytes -> pointers to whole numbers
for size, name in pairs{ [1] = 'int8_t', [2] = 'int16_t', [4] = 'int32_t', [8] = 'int64_t' } do
  whole[size] = ffi.typeof(name .. ' *')
end

local floats = { [4] = ffi.typeof('float *'), [8] = ffi.typeof('double *') }

-- Floats in equal steps: start + (i - origin) * step. `size` is the bytes of one.
job('steps', 'out size start step origin', function(p, first, last)
  local to, start, step, origin = cast(floats[p.size], p.out), p.start, p.step, p.origin
  for i = first, last - 1 do to[i] = start + (i - origin) * step end
end)

-- Runs of elements at given positions along a dimension. `size` and `placeSize` are the bytes of an
-- element and of a position, `run` the elements of a run, `runs` the runs of a block, `block` the
-- elements of a block of the source, `step` those from one position to the next. Where that is not
-- 1, a run has one element after the other from there on. Positions count from `base`; there are
-- `places` of them, and others are an error. They are looked at where they are used: a program may
-- write to them in the meantime.
job('gather', 'out source at size placeSize run runs block step base places',
  function(p, first, last)
    local element, at = whole[p.size], cast(whole[p.placeSize], p.at)
    local to, from = cast(element, p.out), cast(element, p.source)
    local run, runs, block, step, base, count = p.run, p.runs, p.block, p.step, p.base, p.places
    for i = first, last - 1 do
      local source = from + floor(i / runs) * block
      local target, places = to + i * run, at + i * run
      if step == 1 then
        for k = 0, run - 1 do
          local place = tonumber(places[k]) - base
          if not (place >= 0 and place < count) then error(jobs.OUT_OF_RANGE, 0) end
          target[k] = source[place]
        end
      else
        for k = 0, run - 1 do
          local place = tonumber(places[k]) - base
          if not (place >= 0 and place < count) then error(jobs.OUT_OF_RANGE, 0) end
          target[k] = source[place * step + k]
        end
      end
    end
  end)

-- Elements of `size` bytes: of `one` where a flag is not 0, else of `other`.
job('choose', 'out flags one other size', function(p, first, last)
  local element, flags = whole[p.size], cast(flag, p.flags)
  local to, from, apart = cast(element, p.out), cast(element, p.other), (p.one - p.other) / p.size
  for i = first, last - 1 do to[i] = from[i + apart * min(flags[i], 1)] end -- no jump to guess
end)

local reals = { [4] = ffi.typeof('float *'), [8] = ffi.typeof('double *') }

-- Averages of rows of `count` numbers of `size` bytes, and sums of the squares of their distances
-- from them: two doubles for each row. The numbers are finite, since Lua takes some nans for other
-- values.
job('spread', 'out source size count', function(p, first, last)
  local n, out, source = p.count, cast(reals[8], p.out), cast(reals[p.size], p.source)
  local fours = n - n % 4
  for row = first, last - 1 do
    local x = source + row * n
    local a, b, c, d = 0, 0, 0, 0
    for i = 0, fours - 1, 4 do a, b, c, d = a + x[i], b + x[i + 1], c + x[i + 2], d + x[i + 3] end
    for i = fours, n - 1 do a = a + x[i] end
    local average = (a + b + c + d) / n
    a, b, c, d = 0, 0, 0, 0
    for i = 0, fours - 1, 4 do
      local s, t, u, v = x[i] - average, x[i + 1] - average, x[i + 2] - average, x[i + 3] - average
      a, b, c, d = a + s * s, b + t * t, c + u * u, d + v * v
    end
    for i = fours, n - 1 do
      local s = x[i] - average
      a = a + s * s
    end
    out[2 * row], out[2 * row + 1] = average, a + b + c + d
  end
end)

-- The sums so far in rows of `count` numbers of `size` bytes, which are finite, too.
job('cumulate', 'out source size count', function(p, first, last)
  local n, pointer = p.count, reals[p.size]
  local out, source = cast(pointer, p.out), cast(pointer, p.source)
  for row = first, last - 1 do
    local x, sums, sum = source + row * n, out + row * n, 0
    for i = 0, n - 1 do
      sum = sum + x[i]
      sums[i] = sum
    end
  end
end)

-- BLAS and LAPACK, as Fortran calls them. Factors are in the elements' type; whole numbers have 64
-- bits, of which some libraries read the lower half.
local axpy = ffi.typeof('void (*)(int64_t *, void *, void *, int64_t *, void *, int64_t *)')
local gemv = ffi.typeof(
  'void (*)(const char *, int64_t *, int64_t *, void *, void *, int64_t *, void *, int64_t *,'
  .. ' void *, void *, int64_t *)')
local getrs = ffi.typeof(
  'void (*)(const char *, int64_t *, int64_t *, void *, int64_t *, void *, void *, int64_t *,'
  .. ' int64_t *)')
local long, one = ffi.typeof('int64_t[1]'), ffi.new('int64_t[1]', 1)
local real = { [4] = ffi.typeof('float[1]'), [8] = ffi.typeof('double[1]') }
local length = long()

-- r = r + factor * x, by BLAS's axpy; elements have `size` bytes.
job('axpy', 'run size r x factor', function(p, first, last)
  local size = p.size
  length[0] = last - first
  cast(axpy, p.run)(length, real[size](p.factor), cast(bytes, p.x) + first * size, one,
    cast(bytes, p.r) + first * size, one)
end)

-- r = m * x for rows of a matrix, by BLAS's gemv. `columnStep` is how far columns are apart,
-- `rowStep` rows; one of them is 1.
job('gemv', 'run size r m x columns columnStep rowStep', function(p, first, last)
  local size, columns, column_step, row_step = p.size, p.columns, p.columnStep, p.rowStep
  local m = cast(bytes, p.m) + first * row_step * size
  local r = cast(bytes, p.r) + first * size
  local nothing, unit = real[size](0), real[size](1)
  local rows = long(last - first)
  local x = cast(bytes, p.x)
  if column_step == 1 then
    local apart = long(row_step)
    cast(gemv, p.run)('T', long(columns), rows, unit, m, apart, x, one, nothing, r, one)
  else
    local apart = long(column_step)
    cast(gemv, p.run)('N', rows, long(columns), unit, m, apart, x, one, nothing, r, one)
  end
end)

-- Columns of the inverse of a matrix of n rows, by LAPACK's getrs, from the factors and pivots.
job('invert', 'run size n factors pivots inverse', function(p, first, last)
  local size, n = p.size, p.n
  local columns, rows, info = cast(bytes, p.inverse) + first * n * size, long(n), long()
  fill(columns, (last - first) * n * size)
  local numbers = cast(reals[size], columns)
  for k = first, last - 1 do numbers[(k - first) * n + k] = 1 end
  cast(getrs, p.run)('N', rows, long(last - first), cast(bytes, p.factors), rows,
    cast(bytes, p.pivots), columns, rows, info)
end)

-- Rows of a correlation, by BLAS's axpy. `at` is the address of how far the input of each weight
-- is from a row's start (int64); `count` weights, `width` sums in a row, `jump` elements from row
-- to row of the input.
job('correlate', 'run size sums x weights at count width jump', function(p, first, last)
  local run, size, width, jump = cast(axpy, p.run), p.size, p.width, p.jump
  local x, at, weight = cast(bytes, p.x), cast(longs, p.at), cast(bytes, p.weights)
  local rows = max(floor(SUMS / jump), 1)
  local n = (min(rows, last - first) - 1) * jump + width
  local sums = raw_memory.working_memory('char', n * size)
  for top = first, last - 1, rows do
    local count = min(rows, last - top)
    length[0] = (count - 1) * jump + width
    fill(sums, length[0] * size)
    for k = 0, p.count - 1 do
      run(length, weight + k * size, x + (top * jump + tonumber(at[k])) * size, one, sums, one)
    end
    for i = 0, count - 1 do
      copy(cast(bytes, p.sums) + (top + i) * width * size, sums + i * jump * size, width * size)
    end
  end
end)

-- Slices that Python does, which has its own lock; `work` is the number of the work.
job('slices', 'work', function(p, first, last)
  if not jobs.shared.do_slice(p.work, first, last) then error('a slice failed', 0) end
end)

return jobs
