--- Functions of nn's backend that few calls of numpy's inner loops compute. So the results of Tanh
-- and Sigmoid have the same bits as those of torch.tanh and torch.sigmoid.
-- @module thnn_loops

local th = ...
local ffi = require 'ffi'
local host, tonumber = th.host, tonumber

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
