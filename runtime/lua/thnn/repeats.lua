--- Calls with few elements whose jobs Python tells once (runtime/thnn/_jobs.py): they are repeated
-- here for all calls with the same numbers, and tensors of the same sizes. So both ways do the same
-- jobs, and give the same bits. A finalizer may run within a job: so jobs get copies of elements, and
-- results are copied from there, unless a storage has moved.
-- @module thnn_repeats

local th = ...
local ffi = require 'ffi'
local host, jobs, job_index = th.host, th.jobs, th.job_index
local dense, moves = th.formulas.dense, th.blocks.moves
local tonumber, concat, cast, C = tonumber, table.concat, ffi.cast, ffi.C

local MAX_CALLS = 16 -- that are kept of a function, for an element type
local ROOM = 524288  -- bytes of elements of a call

local intptr = ffi.typeof('intptr_t')

local function address(memory)
  return tonumber(cast(intptr, memory))
end

local working = ffi.new('char[?]', ROOM) -- of the call that is repeated; there is never another one

-- ------------------------------------------------------------------ what is kept

-- The geometry of a tensor: how many dimensions, their sizes and strides, and how many elements.
local function geometry_of(c)
  local n = c.nDimension
  local sizes, strides, count = ffi.new('int64_t[?]', n), ffi.new('int64_t[?]', n), 1
  for d = n - 1, 0, -1 do
    sizes[d], strides[d] = c.size[d], c.stride[d]
    count = count * tonumber(sizes[d])
  end
  return { n = n, bytes = 8 * n, sizes = sizes, strides = strides, count = count }
end

local function describe(geometry)
  local words = {}
  for d = 1, geometry.n do words[d] = tostring(tonumber(geometry.sizes[d - 1])) end
  return concat(words, ' ')
end

-- What a job's parameter is: a number, or the address of a copy of a table, which is kept in `kept`.
local function parameter_of(word, kept)
  local from, bytes = word:match('^(%d+):(%d+)$')
  if not from then return tonumber(word) end
  local copy = ffi.new('char[?]', tonumber(bytes))
  C.th_copy(address(copy), tonumber(from), tonumber(bytes))
  kept[#kept + 1] = copy
  return address(copy)
end

-- Adds to a call the jobs that Python tells: where each tensor's elements are copied to (`at`), how
-- many bytes are read or written, and the jobs.
local function read_jobs(call, text)
  for line in text:gmatch('[^\n]+') do
    local use, first, second, rest = line:match('^(%S+) (%S+) (%S+) (.*)$')
    if use == 'job' then
      local numbers = {}
      for word in rest:gmatch('%S+') do numbers[#numbers + 1] = parameter_of(word, call.kept) end
      call.jobs[#call.jobs + 1] = { run = jobs[job_index[first]], last = tonumber(second),
        parameters = ffi.new('double[?]', #numbers, numbers) }
    else
      local tensor = call[tonumber(first)]
      tensor.at, tensor[use] = tonumber(second), tonumber(rest)
    end
  end
end

-- What is kept of a call: arguments by their positions, of tensors the geometry. `few` tells whether
-- it can be repeated. nil for calls of which nothing needs to be kept.
local function new_call(row, dtype, ...)
  local call, given, count = { kept = {}, jobs = {} }, {}, 0
  for i, kind in ipairs(row.kinds) do
    local value = select(i, ...)
    if kind == 'T' or kind == 'I' then
      local n = dense(value)
      if n == 0 then return nil end
      count = count + n
      call[i] = geometry_of(value)
      call[i].read, call[i].write, call[i].at = 0, 0, 0
      given[i] = describe(call[i])
    else
      if kind == 'l' and not (value % 1 == 0 and value > -2 ^ 31 and value < 2 ^ 31) then
        return nil
      end
      call[i], given[i] = value, value
    end
  end
  if count * 8 > ROOM then return nil end
  local text = th.ask(host.thnn_jobs, row.name, dtype.index, address(working), ROOM,
    unpack(given, 1, #row.kinds))
  call.few = text ~= nil
  if text then read_jobs(call, text) end
  return call
end

-- ------------------------------------------------------------------ functions

-- Whether a tensor has a kept geometry, and all its elements.
local function fits(c, kept)
  return c.nDimension == kept.n and C.th_compare(c.size, kept.sizes, kept.bytes) == 0
    and C.th_compare(c.stride, kept.strides, kept.bytes) == 0
    and tonumber(c.storageOffset) + kept.count <= tonumber(c.storage.size)
end

local function place(c, size)
  return address(c.storage.data) + size * tonumber(c.storageOffset)
end

local function apart(p, n, q, m)
  return n == 0 or m == 0 or p + n <= q or q + m <= p
end

local function do_jobs(list)
  for k = 1, #list do
    local job = list[k]
    job.run(job.parameters, 0, job.last)
  end
end

-- The function of a row: a1, a2 … are its arguments, n1, n2 … those of a call that is kept. A call
-- is repeated by `perform`, with p1, p2 … for the places of the elements.
local SOURCE = [[
local MAX_CALLS, new_call, fits, moves, place, apart, copy, do_jobs, outermost = ...
local calls = {}

local function perform(call, before, ARGUMENTS)
  PLACES
  TENSORS
  if moves() ~= before or not (APART) then return nil end
  READ
  do_jobs(call.jobs)
  if moves() ~= before then return nil end
  WRITE
  return true
end
local repeat_call = outermost(perform)

return function(ARGUMENTS)
  local before = moves()
  for k = 1, #calls do
    local call = calls[k]
    if EQUAL then
      if not call.few then return nil end
      local done = repeat_call(call, before, ARGUMENTS)
      return done
    end
  end
  local call = new_call(ARGUMENTS)
  if call then
    if #calls == MAX_CALLS then calls = {} end
    calls[#calls + 1] = call
  end
  return nil
end
]]

--- The function that repeats the calls of a row for an element type. It gets pointers to structs,
-- and returns nil for calls that it does not handle, the first ones of their kind among them.
function th.thnn_repeats(row, dtype)
  local arguments, numbers, sizes, tensors = {}, {}, {}, {}
  local places, kept, pairs_of, reads, writes = {}, {}, {}, {}, {}
  for i, kind in ipairs(row.kinds) do
    arguments[i] = 'a' .. i
    if kind == 'T' or kind == 'I' then
      local size = kind == 'T' and ffi.sizeof(dtype.ctype) or 8
      sizes[#sizes + 1] = ('fits(a%d, call[%d])'):format(i, i)
      places[#places + 1] = ('local p%d = place(a%d, %d)'):format(i, i, size)
      kept[#kept + 1] = ('local t%d = call[%d]'):format(i, i)
      reads[#reads + 1] = ('if t%d.read > 0 then copy(t%d.at, p%d, t%d.read) end'):format(i, i, i, i)
      writes[#writes + 1] =
        ('if t%d.write > 0 then copy(p%d, t%d.at, t%d.write) end'):format(i, i, i, i)
      for _, k in ipairs(tensors) do -- a result overlaps no other tensor
        pairs_of[#pairs_of + 1] = ('apart(p%d, t%d.write, p%d, t%d.read + t%d.write)'):format(
          i, i, k, k, k) .. (' and apart(p%d, t%d.write, p%d, t%d.read)'):format(k, k, i, i)
      end
      tensors[#tensors + 1] = i
    else
      numbers[#numbers + 1] = ('call[%d] == a%d'):format(i, i)
    end
  end
  for _, test in ipairs(sizes) do numbers[#numbers + 1] = test end
  local source = SOURCE:gsub('%u%u%u%u+', {
    ARGUMENTS = concat(arguments, ', '), PLACES = concat(places, ' '), TENSORS = concat(kept, ' '),
    APART = concat(pairs_of, ' and '), READ = concat(reads, ' '), WRITE = concat(writes, ' '),
    EQUAL = concat(numbers, ' and '),
  })
  local chunk = th.load(source, 'thnn/' .. row.name .. '.lua')
  return chunk(MAX_CALLS, function(...) return new_call(row, dtype, ...) end, fits, moves, place,
    apart, function(to, from, bytes) C.th_copy(to, from, bytes) end, do_jobs,
    th.thread_pool.outermost)
end
