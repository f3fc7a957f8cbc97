--- Operations on few elements of FloatTensors and DoubleTensors that Lua runs without Python.
-- For each pattern of argument kinds, Python translates the Lua formula of an operation into the
-- source of a function (runtime/compute/formulas.py), which returns nil for calls that it does not
-- handle. This module compiles these functions, and has the functions and constants that they use:
-- blocks, which are small new tensors; calls of numpy's inner loops; and jobs for threads.
-- @module formulas

local ffi, host, bridge, c_structs = import('ffi', 'host', 'core.bridge', 'core.c_structs')
local python_calls, raw_memory = import('core.python_calls', 'parallel.memory')
local thread_pool, tensor_blocks = import('parallel.thread_pool', 'tensor.blocks')
local layouts = import 'tensor.layouts'

local type, tonumber = type, tonumber
local new_block, block_like, publish = tensor_blocks.new, tensor_blocks.like, tensor_blocks.publish

local MAX_IN_LUA = 32768            -- elements that are computed in Lua

local dtypes, INT, LONG = c_structs.dtypes, c_structs.INT, c_structs.LONG
local FLOAT, DOUBLE = c_structs.FLOAT, c_structs.DOUBLE
local load_double, load_float = dtypes[DOUBLE + 1].load, dtypes[FLOAT + 1].load

local formulas = {}
formulas.MAX_IN_LUA = MAX_IN_LUA
bridge.run_formulas_of(formulas)

local dense, same_sizes = layouts.dense, layouts.same_sizes
formulas.dense = dense

-- The number of elements of a tensor that fits into a block; 0 for others.
local function few(c, ...) -- luacheck: ignore 212
  local count = layouts.count(c)
  if count > tensor_blocks.MAX then return 0 end
  return count
end

formulas.new_block = new_block

-- ------------------------------------------------------------------ numpy's inner loops

-- Arguments of the loops: the addresses of operands, their distances in bytes, and the number of
-- elements. All are numbers in Lua, so that nothing is allocated from the first assignment to these
-- on until the loop is called: the collector could run a finalizer that uses the same memory.
local inner_loop = ffi.typeof('void (*)(intptr_t *, intptr_t *, intptr_t *, intptr_t)')
local operands, steps = ffi.new('intptr_t[4]'), ffi.new('intptr_t[9]') -- so many has matmul
local count = ffi.new('intptr_t[1]')
formulas.operands, formulas.steps, formulas.count = operands, steps, count

local function to_loop(address)
  return ffi.cast(inner_loop, address)
end

--- An inner loop of numpy's as a function, and its data; nil where there is none. signature: its
-- types, by numpy's letters.
function formulas.inner_loop(name, signature)
  local source, data = python_calls.ask(host.inner_loop, name, signature)
  if source then return to_loop(source), data end
end

local intptr = ffi.typeof('intptr_t')

local function address(pointer)
  local number = tonumber(ffi.cast(intptr, pointer))
  return number
end

-- Memory for numbers that are operands, and for intermediate results: pointers to them and their
-- addresses, by the locals that they are in the functions that Python writes.
local NUMBERS, BUFFERS = 3, 10
local memory, places = {}, {}
formulas.memory = memory -- which keeps it alive
do
  for k = 0, BUFFERS - 1 do
    memory[k] = raw_memory.working_memory('double', MAX_IN_LUA + 8) -- loops may go on a few turns
    places['buffer' .. k] = address(memory[k])
  end
  local kinds = {
    double = 'double', float = 'float', byte = 'uint8_t', int = 'int32_t', long = 'int64_t',
  }
  for kind, ctype in pairs(kinds) do
    local cells, pointer = raw_memory.working_memory(ctype, NUMBERS + 2), ffi.typeof(ctype .. ' *')
    memory[kind] = cells
    cells[NUMBERS], cells[NUMBERS + 1] = 0, 1
    places[kind .. '_0'] = address(cells + NUMBERS)
    places[kind .. '_1'] = address(cells + NUMBERS + 1)
    places[kind .. '_cells'] = pointer(cells)
    for k = 0, NUMBERS - 1 do places[kind .. '_cell' .. k] = address(cells + k) end
    for k = 0, BUFFERS - 1 do places[kind .. '_buffer' .. k] = ffi.cast(pointer, memory[k]) end
  end
end
local names = {}
for name in pairs(places) do names[#names + 1] = name end
table.sort(names)

-- LuaJIT compiles no loop that ends at its first turn, and if that happens often, never again any
-- code around it. So loops have at least these turns; the last ones compute what nobody needs.
local MIN_TURNS = 4
formulas.MIN_TURNS = MIN_TURNS

-- Behind a loop in Lua, LuaJIT goes on in its interpreter. So a few turns are written out, in a
-- function for each number of them.
local TURN = [[
  operands[0], operands[1], operands[2] = x, y, z
  loop(operands, count, steps, data)
  x, y, z = x + x_row, y + y_row, z + z_row
]]
local written_out = {}
for turns = 0, 16 do
  local text = 'local operands, count, steps = ... '
    .. 'return function(loop, data, x, x_row, y, y_row, z, z_row) ' .. TURN:rep(turns) .. ' end'
  written_out[turns] = import.compile(text, 'tensor/formulas.lua')(operands, count, steps)
end

-- Calls an inner loop as often as `turns` says, with the distances and the number of elements that
-- are set; how far operands are from those of the turn before follows their addresses.
local function repeat_loop(turns, loop, data, x, x_row, y, y_row, z, z_row,
    ...) -- luacheck: ignore 212
  local written = written_out[turns]
  if written then
    written(loop, data, x, x_row, y, y_row, z, z_row)
    return
  end
  for _ = 1, turns do
    operands[0], operands[1], operands[2] = x, y, z
    loop(operands, count, steps, data)
    x, y, z = x + x_row, y + y_row, z + z_row
  end
end
formulas.repeat_loop = repeat_loop

-- Copies the elements of blocks of rows by an inner loop and its data; the distances of elements,
-- rows and blocks follow the addresses.
local function copy_rows(loop, data, n, rows, blocks, to, t, r, b, from, u, s, c,
    ...) -- luacheck: ignore 212
  steps[0], steps[1], count[0] = u, t, n
  if blocks == 1 then
    repeat_loop(rows, loop, data, from, s, to, r, 0, 0)
    return
  end
  for k = 1, blocks < MIN_TURNS and MIN_TURNS or blocks do
    repeat_loop(rows, loop, data, from, s, to, r, 0, 0)
    if k < blocks then to, from = to + b, from + c end
  end
end
formulas.copy_rows = copy_rows

-- Copies bytes from one address to another.
local function copy_bytes(to, from, bytes, ...) -- luacheck: ignore 212
  ffi.C.th_copy(to, from, bytes)
end
formulas.copy_bytes = copy_bytes

-- Makers of functions that copy n elements from one buffer to another one of doubles, or of floats.
-- They get the address of LAPACK's function for this: behind a loop in Lua, the rest of the call
-- would not be compiled. There is one where that function is missing, or has met a number that is
-- too large for it.
local convert_type = ffi.typeof(
  'void (*)(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t)')
local cells = ffi.new('int32_t[6]') -- the number of elements, 1, and what the function answers
local CELLS = address(cells)
memory[CELLS], cells[2] = cells, 1

local function converter(load)
  return function(found)
    local convert = found and ffi.cast(convert_type, found)
    return function(n, source, out, from, to, ...) -- luacheck: ignore 212
      if convert then
        cells[0], cells[4] = n, 0
        convert(CELLS, CELLS + 8, source, CELLS, out, CELLS, CELLS + 16)
        if cells[4] == 0 then return end
      end
      for i = 0, n < MIN_TURNS and MIN_TURNS - 1 or n - 1 do to[i] = load(from, i) end
    end
  end
end
local make_widen, make_narrow = converter(load_float), converter(load_double)

--- A function that copies floats as doubles, and one that copies doubles as floats.
function formulas.converters()
  local widen, narrow = make_widen(python_calls.ask(host.conversion, true)),
    make_narrow(python_calls.ask(host.conversion, false))
  return widen, narrow
end

local cell = ffi.new('float[1]')

-- A number as a float has it.
local function as_float(number)
  cell[0] = number
  local value = load_float(cell, 0)
  return value
end

-- -------------------------------------------------------------- more than a few elements

local run, run_within = thread_pool.run_named, thread_pool.run_within
local ASK = 64 -- jobs after which Python is asked again how many threads to use
local address_of_job, shares, threads, left = 0, 1, 1, 0

local function ask_for_threads()
  if left == 0 then
    address_of_job, shares, threads = python_calls.ask(host.thread_pool)
    left = ASK
  end
  left = left - 1
end

-- piece: the positions that a thread does at once, within its share; nil for some part of it.
local function share(job, size, parameters, piece)
  ask_for_threads()
  run(job, address_of_job, shares, threads, size, piece or 0, parameters)
  return true
end
formulas.share = share

--- A function that does a job as those of jobs.lua do, but with the other threads, where these are
-- free. It is for what `thread_pool.begin_outermost` has begun.
-- @param job the function of the job
-- @param numbers how many its parameters are
function formulas.sharer(name, job, numbers)
  return function(parameters, first, last)
    ask_for_threads()
    if threads == 1 then return job(parameters, first, last) end
    run_within(name, address_of_job, shares, threads, last, parameters, numbers)
  end
end

--- Functions that are called when the number of threads has changed.
formulas.thread_watchers = { function() left = 0 end }

--- Must be called when the number of threads has changed.
function formulas.forget_threads()
  for _, watch in ipairs(formulas.thread_watchers) do watch() end
end

-- x, y: operands, each the address of elements or, with step 0, a number.
local function share_loop(n, loop, data, x, x_step, y, y_step, r)
  local which = x_step == 0 and 1 or y_step == 0 and 2 or 0 -- the operand that is a number
  return share('loop', n, { run = loop, data = data, count = 3, number = which,
    at = { x, y, r, 0 }, step = { x_step, y_step, 8, 0 } })
end

-- n: how many bytes.
local function share_copy(n, to, from) return share('copy', n, { out = to, source = from }) end
local function share_clear(n, at) return share('clear', n, { out = at }) end

-- The addresses of BLAS's axpy, by the bytes of an element; false where it is not available.
local axpy = {}

local function share_axpy(n, size, r, factor, x)
  if n < host.LARGE then return false end -- looking for BLAS takes a while
  if axpy[size] == nil then axpy[size] = python_calls.ask(host.blas, 'axpy', size) or false end
  if not axpy[size] then return false end
  return share('axpy', n, { run = axpy[size], size = size, r = r, x = x, factor = factor })
end

-- ------------------------------------------------------------------ translation

-- For each argument of a call, what its Lua type adds to the pattern: a nan for other types.
local of_argument = {}
for i = 1, 5 do
  of_argument[i] = { userdata = 3 ^ (i - 1), number = 2 * 3 ^ (i - 1) }
  for name in ('nil boolean string table function thread cdata'):gmatch('%S+') do
    of_argument[i][name] = 0 / 0
  end
end
local of_first, of_second, of_third, of_fourth, of_fifth = unpack(of_argument)

--- The pattern of up to five arguments, as a number that runtime/compute/formulas.py reads; 0 if
-- one of them is neither userdata nor number.
function formulas.pattern(n, a, b, c, d, e)
  local code = of_first[type(a)]
  if n >= 2 then code = code + of_second[type(b)] end
  if n >= 3 then code = code + of_third[type(c)] end
  if n >= 4 then code = code + of_fourth[type(d)] end
  if n >= 5 then code = code + of_fifth[type(e)] end
  if code > 0 then return code end
  return 0
end

-- The locals of the functions that Python writes.
local HEAD = [[
local formulas, dtype, byte, int, long, float, double, places = ...
local structs, fetch_struct, load = dtype.structs, dtype.fetch_struct, dtype.load
local resize_as = dtype.resize_as
local load_double, load_float = double.load, float.load
local load_long, load_int, load_byte = long.load, int.load, byte.load
local MAX_IN_LUA, MIN_TURNS, few, block_like, publish, address = unpack(formulas.tools)
local shape, step, dense, same_sizes, lay_out, clash = unpack(formulas.layout)
local operands, steps, count, to_loop, as_float,
  copy_rows, copy_bytes, make_widen, make_narrow = unpack(formulas.loops)
local lay_out_in_memory, fold_rows, copy_in_memory, sections, fits, block_along, fold, accumulate,
  copy_sections, gather_results, make_find_places, resize_along = unpack(formulas.reducing)
local LARGE, share_loop, share_copy, share_clear, share_axpy = unpack(formulas.sharing)
]] .. ('local %s = places.%s\n'):format(table.concat(names, ', '), table.concat(names, ', places.'))
formulas.tools = { MAX_IN_LUA, MIN_TURNS, few, block_like, publish, address }
formulas.layout = {
  layouts.shape, layouts.step, dense, same_sizes, layouts.lay_out, layouts.clash,
}
formulas.loops = { operands, steps, count, to_loop, as_float, copy_rows, copy_bytes, make_widen,
  make_narrow }

--- Sets the functions of reductions.lua that formulas of sums and the like use.
function formulas.reduce_by(functions) formulas.reducing = functions end

formulas.sharing = { host.LARGE, share_loop, share_copy, share_clear, share_axpy }

--- The function that runs an operation for a pattern of arguments, or false if there is none.
-- The function returns nil for calls that it does not handle.
-- @param name the operation
-- @param space 'method' or 'function'
-- @param code the pattern
-- @param index that of the element type
function formulas.find(name, space, code, index)
  local source = code ~= 0 and python_calls.ask(host.small_source, name, space, code, index)
  if not source then return false end
  local byte, int, long = dtypes[1], dtypes[INT + 1], dtypes[LONG + 1]
  local float, double = dtypes[FLOAT + 1], dtypes[DOUBLE + 1]
  local chunk = import.compile(HEAD .. source, 'tensor/formulas.lua')
  return chunk(formulas, dtypes[index + 1], byte, int, long, float, double, places)
end

formulas.TYPES = { [0] = true, [INT] = true, [LONG] = true, [FLOAT] = true, [DOUBLE] = true }

local long_structs, byte_structs = dtypes[LONG + 1].structs, dtypes[1].structs
local double_structs = dtypes[DOUBLE + 1].structs
local float_structs = dtypes[FLOAT + 1].structs

-- The index of a tensor's element type, also of one whose struct Lua does not have yet; nil for
-- other values.
local function find_type(tensor, ...) -- luacheck: ignore 212
  for i, dtype in ipairs(dtypes) do
    if dtype.structs[tensor] then return i - 1 end
  end
  local _, id = c_structs.fetch_struct(tensor)
  local index = id and id - host.FIRST_TENSOR
  if index and dtypes[index + 1] then return index end
end

--- The index of the element type that a torch function works on: that of the first tensor among
-- its first two arguments. May be nil where there is none.
function formulas.type_of(a, b, ...) -- luacheck: ignore 212
  if type(a) ~= 'userdata' then a = b end
  if double_structs[a] then return DOUBLE end
  if float_structs[a] then return FLOAT end
  if long_structs[a] then return LONG end
  if byte_structs[a] then return 0 end
  local index = find_type(a)
  return index
end

return formulas
