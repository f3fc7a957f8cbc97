--- Calls with few elements whose jobs Python tells once (runtime/thnn/_jobs.py): they are repeated
-- here for all calls with the same numbers, and tensors of the same sizes. So both ways do the same
-- jobs, and give the same bits. A finalizer may run within a job: so jobs get copies of elements,
-- and results are copied from there, unless a storage has moved.
-- @module thnn_repeats

local th = ...
local ffi = require 'ffi'
local host, jobs, job_index = th.host, th.jobs, th.job_index
local dense, moves = th.formulas.dense, th.blocks.moves
local tonumber, concat, cast, C = tonumber, table.concat, ffi.cast, ffi.C

local MAX_CALLS = 16 -- that are kept of a function, for an element type
local ROOM = 1048576 -- bytes of elements of a call

local intptr = ffi.typeof('intptr_t')

local function address(memory)
  return tonumber(cast(intptr, memory))
end

-- Of the call that is repeated; there is never another one.
local working = th.working_memory('char', ROOM)

-- ------------------------------------------------------------------ what is kept

-- The geometry of a contiguous tensor, given its sizes as words.
local function geometry_of(words)
  local list, count = {}, 1
  for word in words:gmatch('%d+') do list[#list + 1] = tonumber(word) end
  local n = #list
  local sizes, strides = th.numbers('int64_t', list), th.working_memory('int64_t', n)
  for d = n - 1, 0, -1 do
    strides[d] = count
    count = count * list[d + 1]
  end
  return { n = n, bytes = 8 * n, sizes = sizes, strides = strides, count = count, list = list }
end

local function describe(c)
  local words = {}
  for d = 1, c.nDimension do words[d] = tostring(tonumber(c.size[d - 1])) end
  return concat(words, 'x')
end

-- What a job's parameter is: a number, or the address of a copy of a table, kept in `kept`. nil for
-- the argument that differs from call to call.
local function parameter_of(word, kept)
  local from, bytes = word:match('^(%d+):(%d+)$')
  if not from then return tonumber(word) end
  local copy = th.working_memory('char', tonumber(bytes))
  C.th_copy(address(copy), tonumber(from), tonumber(bytes))
  kept[#kept + 1] = copy
  return address(copy)
end

local function new_tensor(words)
  local tensor = geometry_of(words)
  tensor.read, tensor.write, tensor.used, tensor.at = 0, 0, 0, 0
  return tensor
end

-- A job of a call: its function, its last position, and its parameters. `slots` gets those that
-- are the scale of each call, with their index.
local function read_job(call, name, last, words)
  local numbers, given = {}, nil
  for word in words:gmatch('%S+') do
    if word == 'scale' then given = #numbers end
    numbers[#numbers + 1] = parameter_of(word, call.kept) or 0
  end
  local parameters = th.numbers('double', numbers)
  if given then call.slots[#call.slots + 1] = { parameters = parameters, index = given } end
  return { run = jobs[job_index[name]], last = tonumber(last), parameters = parameters }
end

-- Adds to a call the jobs that Python tells: where each tensor's elements are copied to (`at`), how
-- many bytes of it are read, written, and one of both (`used`), the sizes of results, and the jobs.
local function read_jobs(call, text)
  for line in text:gmatch('[^\n]+') do
    local use, first, second, rest = line:match('^(%S+) (%S+) (%S+) (.*)$')
    if use == 'job' then
      call.jobs[#call.jobs + 1] = read_job(call, first, second, rest)
    else
      local at, bytes, sizes = tonumber(first), rest:match('^(%d+) (%S+)$')
      if use == 'write' then
        call[at] = new_tensor(sizes)
        call[at].wanted = th.torch.LongStorage(call[at].list)
      end
      local tensor = call[at]
      tensor.at = tonumber(second)
      if use ~= 'write' then tensor.read = tonumber(bytes) end
      if use ~= 'read' then tensor.write = tonumber(bytes) end
      tensor.used = tonumber(bytes)
    end
  end
end

-- What is kept of a tensor that is NULL.
local ABSENT = { n = 0, read = 0, write = 0, used = 0 }

-- What is kept of a call: arguments by their positions, of tensors the geometry. `few` tells
-- whether it can be repeated. nil for calls of which nothing needs to be kept.
local function new_call(row, dtype, ...)
  local call, given, count = { kept = {}, jobs = {}, slots = {} }, {}, 0
  for i, kind in ipairs(row.kinds) do
    local value = select(i, ...)
    if row.optional[i] and value == nil then
      call[i] = ABSENT
    elseif kind == 'T' or kind == 'I' then
      count = count + dense(value)
      given[i] = describe(value)
      call[i] = new_tensor(given[i])
    else
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
  return c.nDimension == kept.n
    and (kept.n == 0 or C.th_compare(c.size, kept.sizes, kept.bytes) == 0
    and C.th_compare(c.stride, kept.strides, kept.bytes) == 0
    and tonumber(c.storageOffset) + kept.count <= tonumber(c.storage.size))
end

local function place(c, size)
  return address(c.storage.data) + size * tonumber(c.storageOffset)
end

local function apart(p, n, q, m)
  return n == 0 or m == 0 or p + n <= q or q + m <= p
end

local function set_scale(slots, scale)
  for k = 1, #slots do slots[k].parameters[slots[k].index] = scale end
end

local resize_of = {} -- element type -> the method, whatever programs do to it later
for _, dtype in ipairs(th.dtypes) do
  resize_of[dtype] = th.torch.getmetatable(dtype.tensor_name).resize
end

-- Gives a result the kept sizes; whether it was possible.
local function resize(method, c, kept)
  local owner = th.owner_of(c)
  if owner == nil then return false end
  method(owner, kept.wanted)
  return true
end

-- The function of a row: a1, a2 … are its arguments, and t1, t2 … what is kept of those that are
-- tensors. `perform` repeats a call: p1, p2 … are the places of the elements. Results get their
-- sizes when the jobs are done, since these may fail.
local SOURCE = [[
local MAX_CALLS, ABSENT, new_call, fits, moves, place, apart, copy, outermost = ...
local resize, set_scale = select(10, ...)
local calls = {}

local function do_jobs(list)
  for k = 1, #list do
    local job = list[k]
    job.run(job.parameters, 0, job.last)
  end
end

local function perform(call, before, ARGUMENTS)
  KEPT
  do
    SOURCES
    if moves() ~= before then return nil end
    READ
  end
  SCALE
  do_jobs(call.jobs)
  RESIZE
  before = moves()
  if not (FITTING) then return nil end
  PLACES
  if moves() ~= before or not (APART) then return nil end
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
  local arguments, equal, tests, tensors = {}, {}, {}, {}
  local sources, places, kept, fitting, distinct = {}, {}, {}, {}, {}
  local reads, writes, sizes, scale = {}, {}, {}, ''
  for i, kind in ipairs(row.kinds) do
    local function add(list, text) list[#list + 1] = text:gsub('#', i) end
    arguments[i] = 'a' .. i
    if kind == 'T' or kind == 'I' then
      local size = kind == 'T' and ffi.sizeof(dtype.ctype) or 8
      local test = '(call[#].wanted ~= nil or fits(a#, call[#]))'
      if row.optional[i] then
        test = '(a# == nil) == (call[#] == ABSENT) and (a# == nil or ' .. test .. ')'
      end
      add(tests, test)
      add(kept, 'local t# = call[#]')
      add(sources, 'local p# = t#.read > 0 and place(a#, ' .. size .. ') or 0')
      add(places, 'local p# = t#.used > 0 and place(a#, ' .. size .. ') or 0')
      add(reads, 'if t#.read > 0 then copy(t#.at, p#, t#.read) end')
      add(sizes, 'if t#.write > 0 and not fits(a#, t#) and not resize(' ..
        (kind == 'T' and 'false' or 'true') .. ', a#, t#) then return nil end')
      add(fitting, '(t#.used == 0 or fits(a#, t#))')
      add(writes, 'if t#.write > 0 then copy(p#, t#.at, t#.write) end')
      for _, k in ipairs(tensors) do -- a result overlaps no other tensor
        add(distinct, ('apart(p#, t#.write, pK, tK.used)'):gsub('K', k))
        add(distinct, ('apart(pK, tK.write, p#, t#.read)'):gsub('K', k))
      end
      tensors[#tensors + 1] = i
    elseif row.names[i] == 'scale' then
      scale = 'set_scale(call.slots, a' .. i .. ')'
    else
      add(equal, 'call[#] == a#')
    end
  end
  for _, test in ipairs(tests) do equal[#equal + 1] = test end
  local source = SOURCE:gsub('%u%u%u%u+', {
    ARGUMENTS = concat(arguments, ', '), KEPT = concat(kept, ' '),
    SOURCES = concat(sources, ' '), PLACES = concat(places, ' '),
    FITTING = concat(fitting, ' and '), APART = concat(distinct, ' and '),
    READ = concat(reads, ' '), WRITE = concat(writes, ' '),
    SCALE = scale, RESIZE = concat(sizes, ' '), EQUAL = concat(equal, ' and '),
  })
  local longs = th.dtypes[th.LONG + 1]
  local chunk = th.load(source, 'thnn/' .. row.name .. '.lua')
  return chunk(MAX_CALLS, ABSENT, function(...) return new_call(row, dtype, ...) end, fits, moves,
    place, apart, function(to, from, bytes) C.th_copy(to, from, bytes) end,
    th.thread_pool.outermost, function(is_long, c, kept_sizes)
      return resize(is_long and resize_of[longs] or resize_of[dtype], c, kept_sizes)
    end, set_scale)
end
