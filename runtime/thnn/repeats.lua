--- Calls whose jobs Python tells once (runtime/thnn/_jobs.py), such as have few elements: they are
-- repeated here for all calls with the same numbers, and tensors of the same sizes. So both ways do
-- the same jobs, and give the same bits. Finalizers wait meanwhile (entries.lua): no storage moves.
-- @module thnn_repeats

local ffi, host, torch, c_structs = import('ffi', 'host', 'torch', 'core.c_structs')
local finalizers, python_calls = import('core.finalizers', 'core.python_calls')
local jobs, raw_memory = import('parallel.jobs', 'parallel.memory')
local thread_pool, formulas = import('parallel.thread_pool', 'tensor.formulas')

local repeats = {}
local dense, sharer = formulas.dense, formulas.sharer
local type, tonumber, concat, cast, C = type, tonumber, table.concat, ffi.cast, ffi.C

local MAX_CALLS = 256 -- that are kept of a function, for an element type
-- The names of jobs that raise an error where numbers in memory do not suit them.
local FAILING = {
  gather = true, nn_check = true, nn_scatter = true, nn_add_to_named = true, nn_class_loss = true,
  nn_class_back = true, nn_margins = true, nn_labels = true, nn_labels_back = true, nn_total = true,
}

-- The names of jobs that go element by element, which threads may share.
local SHARED = { nn_step = true, nn_convert = true }

local ROOM = 4194304 -- bytes of what the jobs of a call leave to each other
local LARGEST = 4 * ROOM -- bytes of all tensors of a call, as doubles

local intptr = ffi.typeof('intptr_t')

local function address(memory)
  return tonumber(cast(intptr, memory))
end

-- Of the call that is repeated; there is never another one.
local working = raw_memory.working_memory('char', ROOM)

-- ------------------------------------------------------------------ what is kept

-- The geometry of a contiguous tensor, given its sizes as words.
local function geometry_of(words)
  local list, count = {}, 1
  for word in words:gmatch('%d+') do list[#list + 1] = tonumber(word) end
  local n = #list
  local sizes = raw_memory.numbers('int64_t', list)
  local strides = raw_memory.working_memory('int64_t', n)
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

local function new_tensor(words)
  local tensor = geometry_of(words)
  tensor.changed, tensor.used = 0, 0
  return tensor
end

-- A job's parameter that is no number: where the table of a call is, which is copied.
local function copy_table(call, word)
  local from, bytes = word:match('^(%d+):(%d+)$')
  local copy = raw_memory.working_memory('char', tonumber(bytes))
  C.th_copy(address(copy), tonumber(from), tonumber(bytes))
  call.kept[#call.kept + 1] = copy
  return address(copy)
end

-- A job of a call: its function, its last position, and its parameters. Those that differ from call
-- to call become slots: of a tensor, which get the address of its elements, or of the scale.
local function read_job(call, name, last, words)
  local numbers, slots = {}, {}
  for word in words:gmatch('%S+') do
    local tensor, n = tonumber(word:match('^t(%d+)$')), #numbers
    slots[n] = tensor and call[tensor] or word == 'scale' and call.scale or nil
    numbers[n + 1] = slots[n] and 0 or tonumber(word) or copy_table(call, word)
  end
  local parameters = raw_memory.numbers('double', numbers)
  for index, varying in pairs(slots) do
    varying.slots = { parameters = parameters, index = index, next = varying.slots }
  end
  call.fails = call.fails or FAILING[name]
  local run = jobs.functions[jobs.index_of[name]]
  if SHARED[name] and tonumber(last) >= host.LARGE then run = sharer(name, run, #numbers) end
  return { run = run, last = tonumber(last), parameters = parameters }
end

-- Adds to a call what Python tells: how many bytes of tensors are used by the jobs, and written to
-- (`changed`); the sizes of results (`wanted`); which tensors must be the same view; and the jobs,
-- a list in which each has the next one. Those before any result (`checks`) may fail.
local function read_jobs(call, text)
  local last, has_results = call, false
  for line in text:gmatch('[^\n]+') do
    local use, first, second, rest = line:match('^(%S+) (%S+) (%S+) (.*)$')
    if use == 'job' then
      last.next = read_job(call, first, second, rest)
      last = last.next
    elseif use == 'same' then
      call[tonumber(first)].same = tonumber(second)
    else
      local at = tonumber(first)
      if use == 'write' then
        if not has_results then
          call.checks, call.next, last, has_results = call.next, nil, call, true
        end
        call[at] = new_tensor(rest)
        call[at].wanted = torch.LongStorage(call[at].list)
      end
      local tensor = call[at]
      tensor.used = tonumber(second)
      if use ~= 'read' then tensor.changed = tensor.used end
    end
  end
end

-- Tells whether a tensor has a kept geometry, and all its elements; of one whose elements no job
-- reads or writes, whether it has the sizes.
local function fits(c, kept)
  return c.nDimension == kept.n
    and (kept.n == 0 or C.th_compare(c.size, kept.sizes, kept.bytes) == 0
    and (kept.unused or C.th_compare(c.stride, kept.strides, kept.bytes) == 0
    and tonumber(c.storageOffset) + kept.count <= tonumber(c.storage.size)))
end

-- The record of a tensor that is NULL.
local ABSENT = { n = 0, changed = 0, used = 0 }

-- Arguments whose elements are copied where there are gaps between them, if no call writes to them.
-- In others, functions may refuse gaps.
local MAY_HAVE_GAPS = { input = true, output = true, gradOutput = true }

-- Notes which tensors of a call are results, have no part in the jobs, or are read alone.
local function note_uses(call, row, results)
  results.known = true
  for i, name in ipairs(row.names) do
    local kept = call[i]
    if MAY_HAVE_GAPS[name] then
      local is_read = kept.used > 0 and kept.changed == 0 and not kept.same
      results.read[i] = results.read[i] ~= false and is_read
    end
    if type(kept) == 'table' and kept ~= ABSENT then
      kept.unused = kept.used == 0 and not kept.wanted and not kept.same
      results[i] = results[i] or kept.wanted ~= nil
      results.unused[i] = results.unused[i] ~= false and kept.unused
    end
  end
end

-- Makes the record of a call: arguments by their positions, of tensors the geometry. `few` tells
-- whether it can be repeated. nil for calls of which nothing needs to be kept. results: which
-- positions have results, and `unused` tensors in all calls so far, once a call has told; others
-- with gaps between elements are Python's.
local function new_call(row, dtype, results, ...)
  local call, given, count = { kept = {}, scale = {} }, {}, 0
  for i, kind in ipairs(row.kinds) do
    local value = select(i, ...)
    if row.optional[i] and value == nil then
      call[i] = ABSENT
    elseif kind == 'T' or kind == 'I' then
      count = count + dense(value)
      given[i] = describe(value)
      call[i] = new_tensor(given[i])
      local may_have_gaps = not results.known or results[i] or results.unused[i]
      if not may_have_gaps and not fits(value, call[i]) then return nil end
    else
      call[i], given[i] = value, value
    end
  end
  if count * 8 > LARGEST then return nil end
  local text = python_calls.ask(host.thnn_jobs, row.name, dtype.index, address(working), ROOM,
    unpack(given, 1, #row.kinds))
  call.few = text ~= nil
  if text then
    read_jobs(call, text)
    note_uses(call, row, results)
  end
  return call
end

-- ------------------------------------------------------------------ functions

local function place(c, size)
  return address(c.storage.data) + size * tonumber(c.storageOffset)
end

local function apart(p, n, q, m)
  return p + n <= q or q + m <= p
end

-- Makes the function that copies elements of a row's arguments side by side where they are not so.
local function make_side_by_side(results, dtype)
  local copies, methods = {}, torch.getmetatable(dtype.tensor_name)
  local resize_as, copy = methods.resizeAs, methods.copy
  return function(i, c)
    if not results.read[i] or c == nil or formulas.dense(c) > 0 then return c end
    local count = 1
    for d = 0, c.nDimension - 1 do count = count * tonumber(c.size[d]) end
    local owner = count * 8 <= ROOM and c_structs.owner_of(c)
    if not owner then return c end
    copies[i] = copies[i] or torch[dtype.name .. 'Tensor']()
    copy(resize_as(copies[i], owner), owner)
    finalizers.begin_work() -- which the copy has ended
    return dtype.structs[copies[i]] or dtype.fetch_struct(copies[i])
  end
end

local resize_of = {} -- element type -> the method, whatever programs do to it later
for _, dtype in ipairs(c_structs.dtypes) do
  resize_of[dtype] = torch.getmetatable(dtype.tensor_name).resize
end

-- Gives a result the kept sizes; whether it was possible.
local function resize(method, c, kept)
  local owner = c_structs.owner_of(c)
  if owner == nil then return false end
  method(owner, kept.wanted)
  return true
end

-- A function that does a line for each item of a list, in which each has the next one. The first
-- ones are no loop: LuaJIT compiles none that often ends at its first turn, nor what calls it.
local UNROLLED = 12
local EACH = [[
return function(item, value)
  FIRST
  while item do
    LINE
    item = item.next
  end
end
]]
local function for_each(line)
  local first = ('if item == nil then return end %s item = item.next '):format(line):rep(UNROLLED)
  return import.compile(EACH:gsub('FIRST', first):gsub('LINE', line), 'thnn/repeats.lua')()
end

local do_jobs = for_each('item.run(item.parameters, 0, item.last)')
local set_slots = for_each('item.parameters[item.index] = value')

-- Gives jobs what differs from call to call, unless they have it since the last one: the address
-- of a tensor's elements, or a scale.
local function fill(varying, value)
  if varying.value == value then return end
  set_slots(varying.slots, value)
  varying.value = value
end

-- The function of a row: a1, a2 … are its arguments, and t1, t2 … what is kept of those that are
-- tensors. `perform` repeats a call: p1, p2 … are the places of the elements. Results get their
-- sizes when the checks are done. Where a job fails, Python does the call, and tells the error.
local SOURCE = [[
local MAX_CALLS, ABSENT, new_call, fits, place, apart, fill, resize, do_jobs = ...
local begin, finish, pcall, side_by_side, watchers = select(10, ...)
local calls = {}
watchers[#watchers + 1] = function() calls = {} end -- they are for a number of threads

local function perform(call, ARGUMENTS)
  KEPT
  if call.checks then
    CHECKED
    do_jobs(call.checks)
  end
  SIZED
  PLACES
  if not (SEPARATE) then return nil end
  FILLED
  do_jobs(call.next)
  return true
end

-- LuaJIT does not go on behind a pcall where it leaves a loop: so only jobs that may fail have one.
local function repeat_call(call, ARGUMENTS)
  if not begin(perform) then return nil end
  local ok, done = true, nil
  if call.fails then
    ok, done = pcall(perform, call, ARGUMENTS)
  else
    done = perform(call, ARGUMENTS)
  end
  finish()
  return ok and done or nil
end

-- Repeats a call that is known; returns whether it was repeated, nil for other calls.
local function attempt(ARGUMENTS)
  for k = 1, #calls do
    local call = calls[k]
    if EQUAL then
      local done = call.few and repeat_call(call, ARGUMENTS) or false
      return done
    end
  end
end

return function(ARGUMENTS)
  local done = attempt(ARGUMENTS)
  if done ~= nil then return done end
  DENSE
  done = attempt(ARGUMENTS)
  if done ~= nil then return done end
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
function repeats.make(row, dtype)
  local arguments, equal, tests, tensors = {}, {}, {}, {}
  local kept, checked, sized, places, separate, filled = {}, {}, {}, {}, { 'true' }, {}
  local gaps = {}
  for i, kind in ipairs(row.kinds) do
    local function add(list, text) list[#list + 1] = text:gsub('#', i) end
    arguments[i] = 'a' .. i
    if kind == 'T' or kind == 'I' then
      local place_of = ('place(a#, %d)'):format(kind == 'T' and ffi.sizeof(dtype.ctype) or 8)
      local test = '(call[#].wanted ~= nil or fits(a#, call[#]))'
      if row.optional[i] then
        test = '(a# == nil) == (call[#] == ABSENT) and (a# == nil or ' .. test .. ')'
      end
      add(tests, test)
      if kind == 'T' and MAY_HAVE_GAPS[row.names[i]] then add(gaps, 'a# = side_by_side(#, a#)') end
      add(kept, 'local t# = call[#]')
      add(sized, ('if t#.wanted ~= nil and not fits(a#, t#) and not (resize(%s, a#, t#)'
        .. ' and fits(a#, t#)) then return nil end'):format(tostring(kind == 'I')))
      add(places, 'local p# = t#.used > 0 and ' .. place_of .. ' or 0')
      for _, k in ipairs(tensors) do -- a result overlaps no other tensor
        add(separate, ('(t#.same ~= K or ' .. place_of .. ' == pK)'):gsub('K', k))
        add(separate, ('(t#.changed + tK.changed == 0 or t#.used == 0 or tK.used == 0'
          .. ' or apart(p#, t#.used, pK, tK.used))'):gsub('K', k))
      end
      add(checked, 'if t#.used > 0 and t#.wanted == nil then fill(t#, ' .. place_of .. ') end')
      add(filled, 'if t#.used > 0 then fill(t#, p#) end')
      tensors[#tensors + 1] = i
    elseif row.names[i] == 'scale' then
      add(filled, 'fill(call.scale, a#)')
    else
      add(equal, 'call[#] == a#')
    end
  end
  for _, test in ipairs(tests) do equal[#equal + 1] = test end
  local source = SOURCE:gsub('%u%u%u%u+', {
    ARGUMENTS = concat(arguments, ', '), KEPT = concat(kept, ' '), CHECKED = concat(checked, ' '),
    SIZED = concat(sized, ' '), PLACES = concat(places, ' '),
    SEPARATE = concat(separate, ' and '),
    FILLED = concat(filled, ' '), DENSE = concat(gaps, ' '), EQUAL = concat(equal, ' and '),
  })
  local longs = c_structs.dtypes[c_structs.LONG + 1]
  local chunk = import.compile(source, 'thnn/' .. row.name .. '.lua')
  local results = { unused = {}, read = {} }
  local function new(...) return new_call(row, dtype, results, ...) end
  local function resize_result(is_long, c, result)
    return resize(resize_of[is_long and longs or dtype], c, result)
  end
  return chunk(MAX_CALLS, ABSENT, new, fits, place, apart, fill, resize_result, do_jobs,
    thread_pool.begin_outermost, thread_pool.finish_outermost, pcall,
    make_side_by_side(results, dtype), formulas.thread_watchers)
end

return repeats
