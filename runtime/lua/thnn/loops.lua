--- Functions of nn's backend that few calls of numpy's inner loops compute. So the results of Tanh
-- and Sigmoid have the same bits as those of torch.tanh and torch.sigmoid.
-- @module thnn_loops

local th = ...
local ffi = require 'ffi'
local host, formulas, makers = th.host, th.formulas, th.thnn_kernels
local dense, tonumber = formulas.dense, tonumber

local min = math.min
local PIECE = 16384 -- elements of pieces, as in runtime/compute/pieces.py
local MAX_UNSHARED = host.LARGE - 1 -- elements up to which threads gain no time

local inner_loop = ffi.typeof('void (*)(void **, intptr_t *, intptr_t *, void *)')
local operands, steps = ffi.new('void *[3]'), ffi.new('intptr_t[9]')
local count = ffi.new('intptr_t[4]')

-- One of numpy's inner loops for an element type, of one operand or of two, and its data; nil where
-- there is none.
local function find(name, dtype, operand_count)
  local letter = dtype.name == 'Float' and 'f' or 'd'
  local signature = letter:rep(operand_count or 1) .. '->' .. letter
  local address, data = th.ask(host.inner_loop, name, signature)
  if not address then return nil end
  return ffi.cast(inner_loop, address), ffi.cast('void *', data)
end

-- r = loop(a) of n elements. Nothing is allocated here: the collector could run a finalizer that
-- uses the same memory.
local function unary(loop, data, n, size, a, r)
  operands[0], operands[1] = a, r
  steps[0], steps[1], count[0] = size, size, n
  loop(operands, count, steps, data)
end

-- The same for r = loop(a, b) with one number at b.
local function with_number(loop, data, n, size, a, b, r)
  operands[0], operands[1], operands[2] = a, b, r
  steps[0], steps[1], steps[2], count[0] = size, 0, size, n
  loop(operands, count, steps, data)
end

-- The same for elements at b.
local function binary(loop, data, n, size, a, b, r)
  operands[0], operands[1], operands[2] = a, b, r
  steps[0], steps[1], steps[2], count[0] = size, size, size, n
  loop(operands, count, steps, data)
end

-- r = the product of a vector of n elements with itself, by numpy's matmul of a matrix of one row
-- and one of one column.
local function square_sum(loop, data, n, size, a, r)
  operands[0], operands[1], operands[2] = a, a, r
  count[0], count[1], count[2], count[3] = 1, 1, n, 1
  steps[3], steps[4], steps[5], steps[6] = n * size, size, size, size
  steps[7], steps[8] = size, size
  loop(operands, count, steps, data)
end

-- Adds n doubles to the one at r, as numpy's sum does.
local function add_up(loop, data, n, a, r)
  operands[0], operands[1], operands[2] = r, a, r
  steps[0], steps[1], steps[2], count[0] = 0, 8, 0, n
  loop(operands, count, steps, data)
end

-- How many elements there are, and the source's and the result's, which gets the source's sizes;
-- nil unless they are contiguous and do not overlap.
local function places(dtype, input, output, inplace)
  local n = dense(input)
  if n == 0 or n > MAX_UNSHARED then return nil end
  local ready = inplace and th.thnn_share or th.thnn_fit
  if not ready(dtype, output, input, n) then return nil end
  local x = input.storage.data + input.storageOffset
  local r = output.storage.data + output.storageOffset
  if x ~= r and x < r + n and r < x + n then return nil end
  return n, x, r
end

for name, loop_name in pairs{ Tanh = 'tanh', Sqrt = 'sqrt', Abs = 'absolute', Square = 'square' } do
  makers[name .. '_updateOutput'] = function(dtype)
    local loop, data = find(loop_name, dtype)
    if not loop then return nil end
    local size = ffi.sizeof(dtype.ctype)
    return function(input, output)
      local n, x, r = places(dtype, input, output)
      if not n then return nil end
      unary(loop, data, n, size, x, r)
      return true
    end
  end
end

function makers.Sigmoid_updateOutput(dtype)
  local negative, negative_data = find('negative', dtype)
  local exp, exp_data = find('exp', dtype)
  local add, add_data = find('add', dtype, 2)
  local reciprocal, reciprocal_data = find('reciprocal', dtype)
  if not (negative and exp and add and reciprocal) then return nil end
  local size, one = ffi.sizeof(dtype.ctype), ffi.new(dtype.ctype .. '[1]', 1)
  return function(input, output)
    local n, x, r = places(dtype, input, output)
    if not n then return nil end
    unary(negative, negative_data, n, size, x, r)
    unary(exp, exp_data, n, size, r, r)
    with_number(add, add_data, n, size, r, one, r)
    unary(reciprocal, reciprocal_data, n, size, r, r)
    return true
  end
end

-- ReLU: where the threshold is the value below it, too, the result is the greater of both.
function makers.Threshold_updateOutput(dtype)
  local greater, greater_data = find('fmax', dtype, 2)           -- of a nan and a number the number
  local greatest, greatest_data = find('maximum', dtype, 2)      -- of a nan and a number the nan
  local add, add_data = find('add', dtype, 2)
  local few = th.thnn_formula(th.thnn_row('Threshold_updateOutput'), dtype)
  if not (greater and greatest and add) then return few end
  local size, numbers = ffi.sizeof(dtype.ctype), ffi.new(dtype.ctype .. '[2]')
  local limit, zero = numbers, numbers + 1
  return function(input, output, threshold, value, inplace)
    if threshold ~= value or value == 0 and 1 / value < 0 then
      return few(input, output, threshold, value, inplace)
    end
    local n, x, r = places(dtype, input, output, inplace)
    if not n then return nil end
    limit[0] = threshold
    if inplace then
      with_number(greatest, greatest_data, n, size, x, limit, r)
    else
      with_number(greater, greater_data, n, size, x, limit, r)
    end
    if threshold == 0 then with_number(add, add_data, n, size, r, zero, r) end -- -0 becomes 0
    return true
  end
end

-- RReLU without random numbers: a LeakyReLU, whose slope is the mean of the bounds.
local function leaky(name, dtype)
  local few, real = th.thnn_formula(th.thnn_row(name), dtype), ffi.typeof(dtype.ctype)
  return few, function(lower, upper)
    return (tonumber(ffi.cast(real, lower)) + tonumber(ffi.cast(real, upper))) / 2
  end
end

function makers.RReLU_updateOutput(dtype)
  local few, mean = leaky('LeakyReLU_updateOutput', dtype)
  return function(input, output, _, lower, upper, train, inplace)
    if train then return nil end
    return (few(input, output, mean(lower, upper), inplace))
  end
end

function makers.RReLU_updateGradInput(dtype)
  local few, mean = leaky('LeakyReLU_updateGradInput', dtype)
  return function(input, grad_output, gradient, _, lower, upper, train, inplace)
    if train then return nil end
    return (few(input, grad_output, gradient, mean(lower, upper), inplace))
  end
end

-- MSECriterion of more elements than its formula is for: by pieces, each of which is a product of
-- a vector with itself; as in Python, which computes those that threads share.
function makers.MSECriterion_updateOutput(dtype)
  local few = th.thnn_formula(th.thnn_row('MSECriterion_updateOutput'), dtype)
  local subtract, subtract_data = find('subtract', dtype, 2)
  local dot, dot_data = find('matmul', dtype, 2)
  local add, add_data = th.ask(host.inner_loop, 'add', 'dd->d')
  if not (subtract and dot and add) then return few end
  add, add_data = ffi.cast(inner_loop, add), ffi.cast('void *', add_data)
  local size = ffi.sizeof(dtype.ctype)
  local buffer, product = th.working_memory(dtype.ctype, PIECE), ffi.new(dtype.ctype .. '[1]')
  local sums, sum = th.working_memory('double', MAX_UNSHARED / PIECE + 1), ffi.new('double[1]')
  return function(input, target, output, average)
    local n = dense(input)
    if n <= th.MAX_OF_FORMULAS or n > MAX_UNSHARED then
      return few(input, target, output, average)
    end
    if dense(target) ~= n or output.nDimension ~= 1 or dense(output) ~= 1 then return nil end
    local x = input.storage.data + input.storageOffset
    local y = target.storage.data + target.storageOffset
    local r = output.storage.data + output.storageOffset
    local pieces = 0
    for first = 0, n - 1, PIECE do
      local length = min(PIECE, n - first)
      binary(subtract, subtract_data, length, size, x + first, y + first, buffer)
      square_sum(dot, dot_data, length, size, buffer, product)
      sums[pieces] = product[0]
      pieces = pieces + 1
    end
    sum[0] = 0
    add_up(add, add_data, pieces, sums, sum)
    r[0] = average and sum[0] / n or sum[0]
    return true
  end
end

local intptrs = ffi.cast('intptr_t *', operands)

--- A function that adds n elements to others; nil where numpy's loop is not there. Like the next
-- one's, it gets addresses.
function th.thnn_adder(dtype)
  local add, add_data = find('add', dtype, 2)
  local size = ffi.sizeof(dtype.ctype)
  return add and function(to, from, n)
    intptrs[0], intptrs[1], intptrs[2] = to, from, to
    steps[0], steps[1], steps[2], count[0] = size, size, size, n
    add(operands, count, steps, add_data)
  end
end

--- A function that adds scale * the sums of maps with n elements each over all samples to others,
-- in the order of numpy's sum.
function th.thnn_add_sums(dtype)
  local add, add_data = find('add', dtype, 2)
  if not add then return nil end
  local size, load, cell = ffi.sizeof(dtype.ctype), dtype.load, ffi.new(dtype.ctype .. '[3]')
  local at = tonumber(ffi.cast('intptr_t', cell))
  local pointer = ffi.typeof(dtype.ctype .. ' *')
  return function(sums, source, samples, maps, n, scale)
    local to = ffi.cast(pointer, sums)
    cell[1] = scale
    if maps == 1 then samples, n = 1, samples * n end
    for m = 0, maps - 1 do
      cell[0] = 0
      for sample = 0, samples - 1 do
        intptrs[0], intptrs[1], intptrs[2] = at, source + (sample * maps + m) * n * size, at
        steps[0], steps[1], steps[2], count[0] = 0, size, 0, n
        add(operands, count, steps, add_data)
      end
      cell[2] = load(cell, 1) * load(cell, 0)
      to[m] = load(to, m) + load(cell, 2)
    end
  end
end
