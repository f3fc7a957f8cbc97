--- Sums and the like of few elements: what the functions call that runtime/compute/reduction_code.py
-- writes. Elements are added up by numpy's inner loops in numpy's order: along the dimension that
-- lies closest in memory, each sum by itself; otherwise row by row, all sums of a row together.
-- A fold is such a loop, its data, the bytes of an element, and the number that sums begin with
-- (nil: the first element).
-- @module reductions

local th = ...
local ffi = require 'ffi'

local tonumber = tonumber
local copy = ffi.copy
local ROOM = th.ROOM
local layouts, formulas = th.layouts, th.formulas
local shape, step, dense = layouts.shape, layouts.step, layouts.dense
local operands, steps, count_of_loop = formulas.operands, formulas.steps, formulas.count

local reductions = {}
th.reductions = reductions

-- Adds n elements at p, `distance` bytes apart, to the element at r.
local function add_up(loop, data, r, p, distance, n)
  operands[0], operands[1], operands[2] = r, p, r
  steps[0], steps[1], steps[2] = 0, distance, 0
  count_of_loop[0] = n
  loop(operands, count_of_loop, steps, data)
end

-- Adds n elements at p, `distance` bytes apart, to as many at r; the sums go to s. These are
-- `size` bytes apart.
local function add_row(loop, data, size, s, r, p, distance, n)
  operands[0], operands[1], operands[2] = r, p, s
  steps[0], steps[1], steps[2] = size, distance, size
  count_of_loop[0] = n
  loop(operands, count_of_loop, steps, data)
end

--- Adds all elements that begin at p and lie as `layouts` has found to one at r. Returns their
-- number.
function reductions.fold_rows(loop, data, size, first, r, p)
  local n, rows, near, far = shape[0], shape[1], step[0], step[1]
  if first then r[0] = first else copy(r, p, size) end
  add_up(loop, data, r, p, near * size, n)
  for k = 1, rows - 1 do add_up(loop, data, r, p + k * far, near * size, n) end
  return n * rows
end

--- Computes terms(n, to, 1, from, distance) of the same elements, one after the other from r on.
-- Returns their number.
function reductions.gather_rows(terms, r, p)
  local n, rows, near, far = shape[0], shape[1], step[0], step[1]
  terms(n, r, 1, p, near)
  for k = 1, rows - 1 do terms(n, r + k * n, 1, p + k * far, near) end
  return n * rows
end

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
  if n == 0 or r.nDimension ~= c.nDimension then return false end
  for k = 0, c.nDimension - 1 do
    local size = (k ~= dim - 1 or running) and c.size[k] or 1
    if r.size[k] ~= size then return false end
  end
  return true
end

--- A new block for such results.
function reductions.block_along(dtype, c, dim, running)
  local dims = c.nDimension
  local n = layouts.count(c)
  if not running then n = n / tonumber(c.size[dim - 1]) end
  local block, stride = formulas.new_block(dtype, n, dims), 1
  for k = dims - 1, 0, -1 do
    local size = (k ~= dim - 1 or running) and tonumber(c.size[k]) or 1
    block.size[k], block.stride[k] = size, stride
    stride = stride * size
  end
  return block
end

--- Adds up what `sections` has found, from p on, to results that lie one after the other from r on.
function reductions.fold(loop, data, size, first, r, p, outer, o, count, d, inner, i)
  if inner == 1 then
    for k = 0, outer - 1 do
      r[k] = first
      add_up(loop, data, r + k, p + k * o, d * size, count)
    end
    return
  end
  for k = 0, outer - 1 do
    local row, at = r + k * inner, p + k * o
    for j = 0, inner - 1 do row[j] = first end
    for m = 0, count - 1 do
      add_row(loop, data, size, row, row, at + m * d, i * size, inner)
    end
  end
end

--- The same for running sums, which are as many as the elements.
function reductions.accumulate(loop, data, size, first, r, p, outer, o, count, d, inner, i)
  for k = 0, outer - 1 do
    local row, at = r + k * count * inner, p + k * o
    if inner == 1 then
      copy(row, at, size)
      operands[0], operands[1], operands[2] = row, at + d, row + 1
      steps[0], steps[1], steps[2] = size, d * size, size
      count_of_loop[0] = count - 1
      loop(operands, count_of_loop, steps, data)
    else
      for j = 0, inner - 1 do copy(row + j, at + j * i, size) end
      for m = 1, count - 1 do
        local next = row + m * inner
        add_row(loop, data, size, next, next - inner, at + m * d, i * size, inner)
      end
    end
  end
end

--- Computes terms of what `sections` has found, one after the other from r on.
function reductions.gather(terms, r, p, outer, o, count, d, inner, i)
  if inner == 1 then
    if d == 1 and o == count then
      terms(outer * count, r, 1, p, 1)
    else
      for k = 0, outer - 1 do terms(count, r + k * count, 1, p + k * o, d) end
    end
  elseif i == 1 and d == inner and o == count * inner then
    terms(outer * count * inner, r, 1, p, 1)
  else
    for k = 0, outer - 1 do
      for m = 0, count - 1 do
        terms(inner, r + (k * count + m) * inner, 1, p + k * o + m * d, i)
      end
    end
  end
end

formulas.reducing = {
  layouts.lay_out_in_memory, reductions.fold_rows, reductions.gather_rows, reductions.sections,
  reductions.fits, reductions.block_along, reductions.fold, reductions.accumulate,
  reductions.gather,
}
