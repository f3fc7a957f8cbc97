--- Operations on few elements of FloatTensors and DoubleTensors that Lua runs without calling Python.
-- For each pattern of argument kinds, Python translates the Lua formula of an operation into the
-- source of a function (runtime/compute/formulas.py), which returns nil for calls that it does not
-- handle. This module compiles these functions, and has the functions and constants that they use:
-- blocks, which are small new tensors; calls of numpy's inner loops; and jobs for threads.
-- @module formulas

local th = ...
local host = th.host
local ffi = require 'ffi'

local type, tonumber = type, tonumber
local attach = th.attach

local MAX_IN_LUA = 1024             -- elements that are computed in Lua, or of a block
local MAX_UNSHARED = host.LARGE - 1 -- elements up to which threads gain no time
local ROOM = th.ROOM
local OWNED = th.flags.REFCOUNTED + th.flags.RESIZABLE + th.flags.FREEMEM

local load = th.dtypes[th.DOUBLE + 1].load
local load_float = th.dtypes[th.FLOAT + 1].load

local formulas = {}
th.formulas = formulas
th.run_formulas_of(formulas)

local layouts = th.layouts
local dense, same_sizes = layouts.dense, layouts.same_sizes
formulas.dense = dense

-- The number of elements of a tensor that has at most MAX_IN_LUA; 0 for others.
local function few(c)
  local count = layouts.count(c)
  if count > MAX_IN_LUA then return 0 end
  return count
end

-- A block of n dimensions for count elements, which are 0; sizes and strides are to be filled in.
local function new_block(dtype, count, n)
  local block = dtype.block(count)
  local own = block.own
  own.data, own.size, own.refcount, own.flag = block.data, count, 1, OWNED
  block.size, block.stride = block.geometry, block.geometry + ROOM
  block.nDimension, block.refcount, block.flag = n, 1, 1
  block.storage = own
  return block
end

formulas.new_block = new_block

-- A block with the sizes of a struct that has count elements.
local function block_like(dtype, c, count)
  local n = c.nDimension
  local block = new_block(dtype, count, n)
  block.size[n - 1], block.stride[n - 1] = c.size[n - 1], 1
  if n >= 2 then
    local stride = tonumber(c.size[n - 1])
    block.size[n - 2], block.stride[n - 2] = c.size[n - 2], stride
    for d = n - 3, 0, -1 do
      stride = stride * tonumber(c.size[d + 1])
      block.size[d], block.stride[d] = c.size[d], stride
    end
  end
  return block
end

-- Makes the userdata of a block.
local function publish(dtype, block, ...) -- luacheck: ignore 212
  local value = th.newproxy(dtype.prototype)
  attach(dtype.structs, value, block, block)
  return value
end

-- The extrema along dimension dim, from 1, of few elements of a contiguous tensor, and their
-- indices from 1. better(x, best): whether x replaces the extremum of the elements before it. The
-- first nan replaces any number.
local function extremum(dtype, c, dim, better, ...) -- luacheck: ignore 212
  local n, dims = few(c), c.nDimension
  if n == 0 or not (dim >= 1 and dim <= dims and dim % 1 == 0) then return nil end
  local count, inner = tonumber(c.size[dim - 1]), 1
  for d = dim, dims - 1 do inner = inner * tonumber(c.size[d]) end
  local long = th.dtypes[th.LONG + 1]
  local values, places = new_block(dtype, n / count, dims), new_block(long, n / count, dims)
  local stride = 1
  for d = dims - 1, 0, -1 do
    local size = d == dim - 1 and 1 or tonumber(c.size[d])
    values.size[d], values.stride[d] = size, stride
    places.size[d], places.stride[d] = size, stride
    stride = stride * size
  end
  if dense(c) ~= n then return nil end
  local load, p = dtype.load, c.storage.data + c.storageOffset
  local found, at = values.data, places.data
  for i = 0, n / count - 1 do
    local base = (i - i % inner) * count + i % inner
    local best, place = load(p, base), 0
    for k = 1, count - 1 do
      local x = load(p, base + k * inner)
      if best == best and (x ~= x or better(x, best)) then best, place = x, k end
    end
    found[i], at[i] = best, place + 1
  end
  return publish(dtype, values), publish(long, places)
end

local function vector_block(dtype, size)
  local block = new_block(dtype, size, 1)
  block.size[0], block.stride[0] = size, 1
  return block
end

local function matrix_block(dtype, rows, columns)
  local block = new_block(dtype, rows * columns, 2)
  block.size[0], block.size[1], block.stride[0], block.stride[1] = rows, columns, columns, 1
  return block
end

local function is_size(n)
  return type(n) == 'number' and n >= 1 and n <= MAX_IN_LUA and n % 1 == 0
end

--- A new tensor of zeros, if it is small and its sizes are one or two numbers; otherwise nil.
-- @param n how many arguments the call has
function formulas.zeros(dtype, n, size1, size2, ...) -- luacheck: ignore 212
  if n == 1 and is_size(size1) then return publish(dtype, vector_block(dtype, size1)) end
  if n == 2 and is_size(size1) and is_size(size2) and size1 * size2 <= MAX_IN_LUA then
    return publish(dtype, matrix_block(dtype, size1, size2))
  end
end

-- ------------------------------------------------------------------ numpy's inner loops

-- What the loops get: where the operands are, their distances in bytes, and the number of elements.
-- From the first assignment to these on, nothing is allocated until the loop is called: the
-- collector could run a finalizer that uses the same memory.
local inner_loop = ffi.typeof('void (*)(void **, intptr_t *, intptr_t *, intptr_t)')
local operands, steps = ffi.new('void *[4]'), ffi.new('intptr_t[4]')
local count = ffi.new('intptr_t[1]')
formulas.operands, formulas.steps, formulas.count = operands, steps, count

local function to_loop(address)
  return ffi.cast(inner_loop, address)
end

-- Memory for numbers that are operands, and for intermediate results: pointers to each number and
-- buffer, by the locals that they are in the functions that Python writes.
local NUMBERS, BUFFERS = 3, 6
local memory, pointers = {}, {}
formulas.memory = memory -- which keeps it alive
do
  local names, text = {}, {}
  for kind, ctype in pairs{ double = 'double', float = 'float', byte = 'uint8_t' } do
    local pointer = ffi.typeof(ctype .. ' *')
    local cells = ffi.new(ctype .. '[?]', NUMBERS)
    memory[kind] = cells
    for k = 0, NUMBERS - 1 do pointers[kind .. '_cell' .. k] = pointer(cells + k) end
    pointers[kind .. '_cells'] = pointer(cells)
    for k = 0, BUFFERS - 1 do
      memory[k] = memory[k] or ffi.new('double[?]', MAX_IN_LUA)
      pointers[kind .. '_buffer' .. k] = ffi.cast(pointer, memory[k])
    end
  end
  for name in pairs(pointers) do names[#names + 1] = name end
  table.sort(names)
  for k, name in ipairs(names) do text[k] = 'pointers.' .. name end
  formulas.pointers = ('local %s = %s\n'):format(table.concat(names, ', '), table.concat(text, ', '))
end

local cell = ffi.new('float[1]')

-- A number as a float has it.
local function as_float(number)
  cell[0] = number
  local value = load_float(cell, 0)
  return value
end

-- The steps of numpy's loop for matrix products: only those within a row and a column matter.
local product_steps = ffi.new('intptr_t[9]')
local product_count = ffi.new('intptr_t[4]', { 1, 1, 1, 1 })

-- Sets what is at r to the inner product of n elements of `size` bytes each at a and b, by numpy's
-- loop for matrix products and its data.
local function inner_product(n, loop, data, size, a, b, r)
  operands[0], operands[1], operands[2] = a, b, r
  product_steps[4], product_steps[5], product_count[2] = size, size, n
  loop(operands, product_count, product_steps, data)
end

-- -------------------------------------------------------------- more than a few elements

local run = th.thread_pool.run_named
local ASK = 64 -- jobs after which Python is asked again how many threads to use
local address_of_job, shares, threads, left = 0, 1, 1, 0

local function share(job, size, parameters)
  if left == 0 then
    address_of_job, shares, threads = th.ask(host.thread_pool)
    left = ASK
  end
  left = left - 1
  run(job, address_of_job, shares, threads, size, 0, parameters)
  return true
end

--- Must be called when the number of threads has changed.
function formulas.forget_threads()
  left = 0
end

local intptr = ffi.typeof('intptr_t')

local function address(pointer)
  return tonumber(ffi.cast(intptr, pointer))
end

-- An operand as a parameter of a job (the address of elements, or a number), and its step in bytes.
local function operand(value)
  if type(value) == 'cdata' then return address(value), 8 end
  return value, 0
end

local function share_loop(n, loop, data, a, b, r)
  local x, x_step = operand(a)
  local y, y_step = operand(b)
  local which = x_step == 0 and 1 or y_step == 0 and 2 or 0 -- the operand that is a number
  return share('loop', n, { run = loop, data = data, count = 3, number = which,
    at = { x, y, address(r), 0 }, step = { x_step, y_step, 8, 0 } })
end

local function share_copy(n, to, from)
  return share('copy', 8 * n, { out = address(to), source = address(from) })
end

local axpy -- the address of BLAS's daxpy; false where it is not available

local function share_axpy(n, r, factor, x)
  if n <= MAX_UNSHARED then return false end -- looking for BLAS takes a while
  if axpy == nil then axpy = th.ask(host.blas, 'axpy') or false end
  if not axpy then return false end
  return share('axpy', n, { run = axpy, size = 8, r = address(r), x = address(x), factor = factor })
end

-- ------------------------------------------------------------------ translation

local KINDS = { userdata = 1, number = 2 }

--- The pattern of up to five arguments, as a number that runtime/compute/formulas.py reads; 0 if
-- one of them is neither userdata nor number.
function formulas.pattern(n, a, b, c, d, e)
  local code = KINDS[type(a)]
  if not code then return 0 end
  if n >= 2 then
    local kind = KINDS[type(b)]
    if not kind then return 0 end
    code = code + 3 * kind
  end
  if n >= 3 then
    local kind = KINDS[type(c)]
    if not kind then return 0 end
    code = code + 9 * kind
  end
  if n >= 4 then
    local kind = KINDS[type(d)]
    if not kind then return 0 end
    code = code + 27 * kind
  end
  if n >= 5 then
    local kind = KINDS[type(e)]
    if not kind then return 0 end
    code = code + 81 * kind
  end
  return code
end

-- The locals of the functions that Python writes.
local HEAD = [[
local formulas, dtype, byte, double, float, pointers, copy, fill = ...
local structs, fetch_struct, load = dtype.structs, dtype.fetch_struct, dtype.load
local load_double, load_float, state = double.load, float.load, formulas
local shape, step, dense, same_sizes, lay_out, clash = unpack(formulas.layout)
local MAX_IN_LUA, few, block_like, publish, extremum, inner_product = unpack(formulas.tools)
local operands, steps, count, to_loop, as_float = unpack(formulas.loops)
local lay_out_in_memory, fold_rows, gather_rows, sections,
  fits, block_along, fold, accumulate, gather = unpack(formulas.reducing)
local MAX_UNSHARED, share_loop, share_copy, share_axpy = unpack(formulas.sharing)
]] .. formulas.pointers
formulas.layout = {
  layouts.shape, layouts.step, dense, same_sizes, layouts.lay_out, layouts.clash,
}
formulas.tools = { MAX_IN_LUA, few, block_like, publish, extremum, inner_product }
formulas.loops = { operands, steps, count, to_loop, as_float }
formulas.sharing = { MAX_UNSHARED, share_loop, share_copy, share_axpy }
formulas.busy = false -- whether the buffers are in use

--- The function that runs an operation for a pattern of arguments, or false if there is none.
-- The function returns nil for calls that it does not handle.
-- @param name the operation
-- @param space 'method' or 'function'
-- @param code the pattern
-- @param index that of the element type
function formulas.find(name, space, code, index)
  local source = code ~= 0 and th.ask(host.small_source, name, space, code, index)
  if not source then return false end
  local chunk = th.load(HEAD .. source, 'tensor/formulas.lua')
  local byte, double, float = th.dtypes[1], th.dtypes[th.DOUBLE + 1], th.dtypes[th.FLOAT + 1]
  return chunk(formulas, th.dtypes[index + 1], byte, double, float, pointers, ffi.copy, ffi.fill)
end

local double_structs, float_structs = th.dtypes[th.DOUBLE + 1].structs, th.dtypes[th.FLOAT + 1].structs

-- The index of a tensor's element type, also of one whose struct Lua does not have yet; nil for
-- other values.
local function find_type(tensor, ...) -- luacheck: ignore 212
  for i, dtype in ipairs(th.dtypes) do
    if dtype.structs[tensor] then return i - 1 end
  end
  local _, id = th.fetch_struct(tensor)
  local index = id and id - host.FIRST_TENSOR
  if index and th.dtypes[index + 1] then return index end
end

--- The index of the element type that a torch function works on: that of the first tensor among
-- its first two arguments. May be nil where there is none.
function formulas.type_of(a, b, ...) -- luacheck: ignore 212
  if type(a) ~= 'userdata' then a = b end
  if double_structs[a] then return th.DOUBLE end
  if float_structs[a] then return th.FLOAT end
  local index = find_type(a)
  return index
end
