--- Operations on contiguous DoubleTensors that Lua runs without calling Python.
-- For each pattern of argument kinds, Python translates the Lua formula of an operation into the
-- source of a function (runtime/compute/formulas.py), which returns nil for calls that it does not
-- handle. This module compiles these functions, and has the functions and constants that they use:
-- blocks, which are small new tensors; calls of numpy's inner loops; and jobs for threads.
-- @module formulas

local th = ...
local host = th.host
local ffi = require 'ffi'

local type, tonumber = type, tonumber
local new_block, block_like, publish = th.blocks.new, th.blocks.like, th.blocks.publish

local MAX_IN_LUA = 512              -- elements that are computed in Lua
local MAX_UNSHARED = host.LARGE - 1 -- elements up to which threads gain no time
local ROOM = th.ROOM

local load = th.dtypes[th.DOUBLE + 1].load

local formulas = {}
th.formulas = formulas
th.run_formulas_of(formulas)

-- The number of elements of a tensor that is contiguous and does not reach past the end of its
-- storage; 0 for others.
local function dense(c)
  local n = c.nDimension
  if n == 0 or n > ROOM then return 0 end
  local count = tonumber(c.size[n - 1])
  if c.stride[n - 1] ~= 1 and count ~= 1 then return 0 end
  if n >= 2 then
    local size = tonumber(c.size[n - 2])
    if c.stride[n - 2] ~= count and size ~= 1 then return 0 end
    count = count * size
    for d = n - 3, 0, -1 do
      size = tonumber(c.size[d])
      if c.stride[d] ~= count and size ~= 1 then return 0 end
      count = count * size
    end
  end
  if c.storageOffset + count > c.storage.size then return 0 end
  return count
end
formulas.dense = dense

-- The same for tensors of at most MAX_IN_LUA elements; 0 for others.
local function few(c)
  local count = dense(c)
  if count > MAX_IN_LUA then return 0 end
  return count
end

local function same_sizes(c, d)
  local n = c.nDimension
  if n ~= d.nDimension or c.size[0] ~= d.size[0] then return false end
  if n >= 2 and c.size[1] ~= d.size[1] then return false end
  for k = 2, n - 1 do
    if c.size[k] ~= d.size[k] then return false end
  end
  return true
end

formulas.same_sizes = same_sizes

-- The extrema along dimension dim, from 1, of a contiguous tensor of n elements that begin at p,
-- and their indices from 1. better(x, best): whether x replaces the extremum of the elements
-- before it. The first nan replaces any number.
local function extremum(c, p, n, dim, better, ...) -- luacheck: ignore 212
  local dims = c.nDimension
  if not (dim >= 1 and dim <= dims and dim % 1 == 0) then return nil end
  local count, inner = tonumber(c.size[dim - 1]), 1
  for d = dim, dims - 1 do inner = inner * tonumber(c.size[d]) end
  local long, double = th.dtypes[th.LONG + 1], th.dtypes[th.DOUBLE + 1]
  local values, places = new_block(double, n / count, dims), new_block(long, n / count, dims)
  local stride = 1
  for d = dims - 1, 0, -1 do
    local size = d == dim - 1 and 1 or tonumber(c.size[d])
    values.size[d], values.stride[d] = size, stride
    places.size[d], places.stride[d] = size, stride
    stride = stride * size
  end
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
  return publish(double, values), publish(long, places)
end

-- ------------------------------------------------------------------ numpy's inner loops

local inner_loop = ffi.typeof('void (*)(void **, intptr_t *, intptr_t *, intptr_t)')
local operands, steps = ffi.new('void *[3]'), ffi.new('intptr_t[3]')
local count, number = ffi.new('intptr_t[1]'), ffi.new('double[1]')

-- Calls one of numpy's inner loops, given by its address and its data, for n elements. a, b: the
-- operands, pointers to elements or one of them a number. r: a pointer to the results, which have
-- `size` bytes each. From the first assignment to `operands` on, nothing is allocated here: the
-- collector could run a finalizer that uses the same memory.
local function compute(n, address, data, a, b, r, size)
  local loop, x_step, y_step = ffi.cast(inner_loop, address), 8, 8
  if type(a) == 'number' then
    number[0], a, x_step = a, number, 0
  elseif type(b) == 'number' then
    number[0], b, y_step = b, number, 0
  end
  operands[0], operands[1], operands[2] = a, b, r
  steps[0], steps[1], steps[2] = x_step, y_step, size or 8
  count[0] = n
  loop(operands, count, steps, data)
end

-- The steps of numpy's loop for matrix products: only those within a row and a column matter.
local product_steps = ffi.new('intptr_t[9]', { 0, 0, 0, 0, 8, 8 })
local product_count = ffi.new('intptr_t[4]', { 1, 1, 1, 1 })
local product = ffi.new('double[1]')
local products = 0

-- The inner product of n elements at a and b, by numpy's loop for matrix products, given by its
-- address and its data. Returns nil if a finalizer has computed another one before this was read.
local function inner_product(n, address, data, a, b)
  products = products + 1
  local mine, loop = products, ffi.cast(inner_loop, address)
  operands[0], operands[1], operands[2] = a, b, product
  product_count[2] = n
  loop(operands, product_count, product_steps, data)
  local value = load(product, 0)
  if products == mine then return value end
end

-- The sum of n elements. Four are added in one turn of the loop, so that the processor can load
-- elements while it waits for the additions.
local function total(p, n)
  local sum, rest = 0, n % 4
  for i = 0, n - 4, 4 do
    sum = sum + load(p, i)
    sum = sum + load(p, i + 1)
    sum = sum + load(p, i + 2)
    sum = sum + load(p, i + 3)
  end
  for i = n - rest, n - 1 do sum = sum + load(p, i) end
  return sum
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

--- The pattern of up to four arguments, as a number that runtime/compute/formulas.py reads; 0 if
-- one of them is neither userdata nor number.
function formulas.pattern(n, a, b, c, d)
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
  return code
end

-- The locals of the functions that Python writes.
local HEAD = [[
local formulas, structs, fetch_struct, byte, double, math, copy = ...
local load = double.load
local few, dense, same_sizes, block_like, publish, extremum = unpack(formulas.tools)
local compute, inner_product, total = unpack(formulas.bulk)
local MAX_UNSHARED, MAX_IN_LUA, share_loop, share_copy, share_axpy = unpack(formulas.sharing)
local exp, log, sqrt, abs = math.exp, math.log, math.sqrt, math.abs
local floor, ceil = math.floor, math.ceil
local sin, cos, tan, tanh, atan2 = math.sin, math.cos, math.tan, math.tanh, math.atan2
]]
formulas.sharing = { MAX_UNSHARED, MAX_IN_LUA, share_loop, share_copy, share_axpy }
formulas.tools = { few, dense, same_sizes, block_like, publish, extremum }
formulas.bulk = { compute, inner_product, total }

--- The function that runs an operation for a pattern of arguments, or false if there is none.
-- The function returns nil for calls that it does not handle.
-- @param name the operation
-- @param space 'method' or 'function'
-- @param code the pattern
function formulas.find(name, space, code)
  local source = code ~= 0 and th.ask(host.small_source, name, space, code)
  if not source then return false end
  local chunk = th.load(HEAD .. source, 'tensor/formulas.lua')
  local byte, double = th.dtypes[1], th.dtypes[th.DOUBLE + 1]
  return chunk(formulas, double.structs, double.fetch_struct, byte, double, math, ffi.copy)
end
