--- Functions of nn's backend that few calls of numpy's inner loops compute: Tanh and Sigmoid. So
-- their results have the same bits as those of torch.tanh and torch.sigmoid.
-- @module thnn_loops

local th = ...
local ffi = require 'ffi'
local host, formulas, makers = th.host, th.formulas, th.thnn_kernels
local dense, same_sizes = formulas.dense, formulas.same_sizes

local MAX_UNSHARED = host.LARGE - 1 -- elements up to which threads gain no time

local inner_loop = ffi.typeof('void (*)(void **, intptr_t *, intptr_t *, void *)')
local operands, steps = ffi.new('void *[3]'), ffi.new('intptr_t[3]')
local count = ffi.new('intptr_t[1]')

-- One of numpy's inner loops for an element type, and its data; nil where there is none.
local function find(name, dtype)
  local address, data = th.ask(host.inner_loop, name, dtype.name == 'Float' and 'f' or 'd')
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

-- The elements of a result and its source, and how many; nil unless they are contiguous, of the
-- same sizes, and do not overlap.
local function places(input, output)
  local n = dense(input)
  if n == 0 or n > MAX_UNSHARED then return nil end
  if not same_sizes(input, output) or dense(output) ~= n then return nil end
  local x = input.storage.data + input.storageOffset
  local r = output.storage.data + output.storageOffset
  if x ~= r and x < r + n and r < x + n then return nil end
  return n, x, r
end

function makers.Tanh_updateOutput(dtype)
  local loop, data = find('tanh', dtype)
  if not loop then return nil end
  local size = ffi.sizeof(dtype.ctype)
  return function(input, output)
    local n, x, r = places(input, output)
    if not n then return nil end
    unary(loop, data, n, size, x, r)
    return true
  end
end

function makers.Sigmoid_updateOutput(dtype)
  local negative, negative_data = find('negative', dtype)
  local exp, exp_data = find('exp', dtype)
  local add, add_data = find('add', dtype)
  local reciprocal, reciprocal_data = find('reciprocal', dtype)
  if not (negative and exp and add and reciprocal) then return nil end
  local size, one = ffi.sizeof(dtype.ctype), ffi.new(dtype.ctype .. '[1]', 1)
  return function(input, output)
    local n, x, r = places(input, output)
    if not n then return nil end
    unary(negative, negative_data, n, size, x, r)
    unary(exp, exp_data, n, size, r, r)
    operands[0], operands[1], operands[2] = r, one, r
    steps[0], steps[1], steps[2], count[0] = size, 0, size, n
    add(operands, count, steps, add_data)
    unary(reciprocal, reciprocal_data, n, size, r, r)
    return true
  end
end
