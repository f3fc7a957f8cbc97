--- Sums and the like of few elements: what the functions call that runtime/compute/reduction_code.py
-- writes. Elements are added up by numpy's inner loops in numpy's order: along the dimension that
-- lies closest in memory, each sum by itself; otherwise row by row, all sums of a row together.
-- Where elements are is told by addresses; distances along sections are in elements.
-- @module reductions

local th = ...
local ffi = require 'ffi'

local tonumber = tonumber
local ROOM = th.ROOM
local layouts, formulas = th.layouts, th.formulas
local shape, step, dense = layouts.shape, layouts.step, layouts.dense

local reductions = {}

-- Functions that use the buffers keep finalizers away from these, too; so what the loops of one
-- call have in common is set once.
local operands, steps = ffi.new('intptr_t[3]'), ffi.new('intptr_t[3]')
local count_of_loop = ffi.new('intptr_t[1]')

-- The distances of the operands, in bytes, and the number of elements for the loops to come.
local function set_steps(r, p, s, n)
  steps[0], steps[1], steps[2] = r, p, s
  count_of_loop[0] = n
end

-- ---------------------------------------------------------------- all elements

--- Adds up all elements that begin at p and lie as `layouts` has found to one at r; see `fold`.
-- Returns their number.
function reductions.fold_rows(copy, copy_data, loop, data, size, first, r, p)
  local n, rows, near, far = shape[0], shape[1], step[0], step[1]
  set_steps(0, 0, 0, 1)
  operands[0], operands[1] = first or p, r
  copy(operands, count_of_loop, steps, copy_data)
  set_steps(0, near * size, 0, n)
  for _ = 1, rows do
    operands[0], operands[1], operands[2] = r, p, r
    loop(operands, count_of_loop, steps, data)
    p = p + far * size
  end
  return n * rows
end

--- Copies the same elements one after the other to r. Returns their number.
function reductions.copy_in_memory(loop, data, size, r, p)
  local n, rows, near, far = shape[0], shape[1], step[0], step[1]
  formulas.copy_rows(loop, data, n, rows, 1, r, size, n * size, 0, p, near * size, far * size, 0)
  return n * rows
end

-- ------------------------------------------------------------ along a dimension

--- Where the elements of a tensor lie along a dimension, from 1: `outer` times, o apart, there are
-- `count` elements or rows, d apart, to be added up; a row has `inner` elements, i apart. Also
-- whether elements along the dimension are neighbours. nil where Python has to do it.
-- @param running whether the results are as many, and so in the order of the elements
function reductions.sections(most, c, dim, running)
  local dims = c.nDimension
  if not (dim >= 1 and dim <= dims and dim % 1 == 0) or dims > ROOM then return nil end
  local n, count, d = dense(c), tonumber(c.size[dim - 1]), tonumber(c.stride[dim - 1])
  if n > most then return nil end
  if n > 0 then
    local inner = 1
    if dims == 2 then
      if dim == 1 then inner = tonumber(c.size[1]) end
    else
      for k = dim, dims - 1 do inner = inner * tonumber(c.size[k]) end
    end
    return n / (count * inner), count * inner, count, inner, inner, 1, d == 1
  end
  n = layouts.count(c)
  if n == 0 or n > most or dims > 2 or running then return nil end
  local size, far = 1, 0
  if dims == 2 then size, far = tonumber(c.size[2 - dim]), tonumber(c.stride[2 - dim]) end
  local last = (count - 1) * d + (size - 1) * far
  if d <= 0 or far < 0 or tonumber(c.storageOffset) + last >= tonumber(c.storage.size) then
    return nil
  end
  if size == 1 or (d < far and count > 1) then return size, far, count, d, 1, 0, d == 1 end
  if far == 0 or far == d or count == 1 then return nil end
  return 1, 0, count, d, size, far, d == 1
end

--- Whether a tensor is a contiguous one for results along a dimension of another one: with its
-- sizes, or with size 1 along the dimension.
function reductions.fits(r, c, dim, running)
  local n = dense(r)
  local dims = c.nDimension
  if n == 0 or r.nDimension ~= dims then return false end
  if r.size[0] ~= ((dim ~= 1 or running) and c.size[0] or 1) then return false end
  if dims >= 2 and r.size[1] ~= ((dim ~= 2 or running) and c.size[1] or 1) then return false end
  for k = 2, dims - 1 do
    if r.size[k] ~= ((k ~= dim - 1 or running) and c.size[k] or 1) then return false end
  end
  return true
end

--- A new block for such results.
function reductions.block_along(dtype, c, dim, running)
  local n, dims = layouts.count(c), c.nDimension
  if not running then n = n / tonumber(c.size[dim - 1]) end
  local block = formulas.new_block(dtype, n, dims)
  local size, stride = block.size, block.stride
  if dims <= 2 then
    local first, last = tonumber(c.size[0]), 1
    if dims == 2 then last = tonumber(c.size[1]) end
    if not running then
      if dim == 1 then first = 1 else last = 1 end
    end
    size[0], stride[0] = first, last
    if dims == 2 then size[1], stride[1] = last, 1 end
    return block
  end
  local distance = 1
  for k = dims - 1, 0, -1 do
    size[k] = (k ~= dim - 1 or running) and c.size[k] or 1
    stride[k] = distance
    distance = distance * tonumber(size[k])
  end
  return block
end

--- Adds up what `sections` has found, from p on, to results that lie one after the other from r on.
-- @param copy, copy_data the loop that copies elements, and its data
-- @param first the address of the number that sums begin with; nil: they begin with an element
function reductions.fold(copy, copy_data, loop, data, size, first, r, p, outer, o, count, d, inner, i)
  o, d, i = o * size, d * size, i * size
  local from, step_from, row = first or p, first and 0 or o, r
  if first or inner == 1 then
    set_steps(step_from, size, 0, outer * inner)
    operands[0], operands[1] = from, r
    copy(operands, count_of_loop, steps, copy_data)
  else
    set_steps(i, size, 0, inner)
    for _ = 1, outer do
      operands[0], operands[1] = from, row
      copy(operands, count_of_loop, steps, copy_data)
      from, row = from + o, row + inner * size
    end
  end
  if inner == 1 then
    set_steps(0, d, 0, count)
    for _ = 1, outer do
      operands[0], operands[1], operands[2] = r, p, r
      loop(operands, count_of_loop, steps, data)
      r, p = r + size, p + o
    end
    return
  end
  set_steps(size, i, size, inner)
  for _ = 1, outer do
    local at = p
    for _ = 1, count do
      operands[0], operands[1], operands[2] = r, at, r
      loop(operands, count_of_loop, steps, data)
      at = at + d
    end
    r, p = r + inner * size, p + o
  end
end

--- The same for running sums of contiguous elements, which are as many.
function reductions.accumulate(copy, copy_data, loop, data, size, _, r, p, outer, _, count, _, inner)
  local row = inner * size
  for _ = 1, outer do
    set_steps(size, size, 0, inner)
    operands[0], operands[1] = p, r
    copy(operands, count_of_loop, steps, copy_data)
    if inner == 1 then
      operands[0], operands[1], operands[2] = r, p + size, r + size
      set_steps(size, size, size, count - 1)
      loop(operands, count_of_loop, steps, data)
    else
      set_steps(size, size, size, inner)
      local at, to = p, r
      for _ = 2, count do
        at = at + row
        operands[0], operands[1], operands[2] = to, at, to + row
        loop(operands, count_of_loop, steps, data)
        to = to + row
      end
    end
    p, r = p + count * row, r + count * row
  end
end

--- Copies what `sections` has found one after the other to r.
function reductions.copy_sections(copy, data, size, r, p, outer, o, count, d, inner, i)
  if inner == 1 then inner, i, count, d, outer, o = count, d, outer, o, 1, 0 end
  formulas.copy_rows(copy, data, inner, count, outer, r, size, inner * size, count * inner * size,
    p, i * size, d * size, o * size)
end

-- --------------------------------------------------------------------- extrema

--- Where the extrema are among what was copied by `copy_sections` to a buffer, from 1.
-- @param at a pointer to the indices
-- @param values, elements buffers
function reductions.find(load, at, values, elements, outer, count, inner)
  for k = 0, outer - 1 do
    for j = 0, inner - 1 do
      local m = k * inner + j
      local value, base = load(values, m), k * count * inner + j
      local place = 0
      if value ~= value then
        while load(elements, base) == load(elements, base) do place, base = place + 1, base + inner end
      else
        while load(elements, base) ~= value do place, base = place + 1, base + inner end
      end
      at[m] = place + 1
    end
  end
end

formulas.reducing = {
  layouts.lay_out_in_memory, reductions.fold_rows, reductions.copy_in_memory, reductions.sections,
  reductions.fits, reductions.block_along, reductions.fold, reductions.accumulate,
  reductions.copy_sections, reductions.find,
}
