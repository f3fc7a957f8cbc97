--- Sums and the like of few elements: what the functions call that Python writes
-- (runtime/compute/reduction_code.py). Elements are added up by numpy's inner loops in numpy's
-- order: along the dimension that lies closest in memory, each sum by itself; otherwise row by row,
-- all sums of a row together. Where elements are is told by addresses; distances along sections are
-- in elements.
-- @module reductions

local ffi, raw_memory, formulas = import('ffi', 'parallel.memory', 'tensor.formulas')
local layouts = import 'tensor.layouts'

local tonumber, max = tonumber, math.max
local shape, step, dense = layouts.shape, layouts.step, layouts.dense

local copy_rows, copy_bytes, repeat_loop = formulas.copy_rows, formulas.copy_bytes,
  formulas.repeat_loop
local operands, steps, count_of_loop = formulas.operands, formulas.steps, formulas.count

local reductions = {}

local sizes = ffi.new('intptr_t[4]') -- of a product

-- Sets the distances of the operands, in bytes, and the number of elements for loops to come.
local function set_steps(r, p, s, n)
  steps[0], steps[1], steps[2] = r, p, s
  count_of_loop[0] = n
end

--- Runs a loop once over n elements; the distances of operands, in bytes, follow their addresses.
function reductions.run(loop, data, n, a, a_step, b, b_step, r, r_step)
  operands[0], operands[1], operands[2] = a, b, r
  set_steps(a_step, b_step, r_step, n)
  loop(operands, count_of_loop, steps, data)
end

--- The product of a row and a column of n doubles, by the loop of matmul.
function reductions.product(loop, data, n, a, b, r)
  operands[0], operands[1], operands[2] = a, b, r
  sizes[0], sizes[1], sizes[2], sizes[3] = 1, 1, n, 1
  steps[0], steps[1], steps[2], steps[3], steps[6], steps[7], steps[8] = 0, 0, 0, 0, 0, 0, 0
  steps[4], steps[5] = 8, 8
  loop(operands, sizes, steps, data)
end

-- ---------------------------------------------------------------- all elements

--- Adds up all elements that begin at p and lie as `layouts` has found to one at r; see `fold`.
-- Returns their number.
function reductions.fold_rows(copy, copy_data, loop, data, size, first, _, r, p,
    ...) -- luacheck: ignore 212
  local n, rows, near, far = shape[0], shape[1], step[0], step[1]
  set_steps(0, 0, 0, 1)
  repeat_loop(1, copy, copy_data, first or p, 0, r, 0, 0, 0)
  set_steps(0, near * size, 0, n)
  repeat_loop(rows, loop, data, r, 0, p, far * size, r, 0)
  return n * rows
end

--- Copies the same elements one after the other to r. Returns their number.
function reductions.copy_in_memory(loop, data, size, r, p, ...) -- luacheck: ignore 212
  local n, rows = shape[0], shape[1]
  reductions.copy_sections(loop, data, size, r, p, 1, 0, rows, step[1], n, step[0])
  return n * rows
end

-- ------------------------------------------------------------ along a dimension

-- Tells whether a tensor of so many dimensions has this one, from 1.
local function has_dimension(dims, dim)
  return dim >= 1 and dim <= dims and dim % 1 == 0
end

--- Finds the elements of a tensor along a dimension, from 1: `outer` times, o apart, there are
-- `count` elements or rows, d apart, to be added up; a row has `inner` elements, i apart. Also
-- tells whether elements along the dimension are neighbours. Returns nil where Python has to do it.
-- @param running whether the results are as many, and so in the order of the elements
function reductions.sections(most, c, dim, running, ...) -- luacheck: ignore 212
  local dims = c.nDimension
  if not has_dimension(dims, dim) then return nil end
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

--- Tells whether a tensor is contiguous and suits results along a dimension of another one: with
-- its sizes, or with size 1 along the dimension.
function reductions.fits(r, c, dim, running, ...) -- luacheck: ignore 212
  local dims = c.nDimension
  if not has_dimension(dims, dim) or r.nDimension ~= dims or r.storage == nil then return false end
  if r.size[0] ~= ((dim ~= 1 or running) and c.size[0] or 1) then return false end
  if dims >= 2 and r.size[1] ~= ((dim ~= 2 or running) and c.size[1] or 1) then return false end
  for k = 2, dims - 1 do
    if r.size[k] ~= ((k ~= dim - 1 or running) and c.size[k] or 1) then return false end
  end
  return dense(r) > 0
end

--- Gives a tensor such sizes. Returns false where Python has to.
function reductions.resize_along(dtype, r, c, dim, running, ...) -- luacheck: ignore 212
  local wanted = c
  if not running then
    wanted = dtype.bare_view(c.nDimension)
    dtype.copy_geometry(wanted, 0, c, 0, c.nDimension)
    wanted.size[dim - 1] = 1
  end
  local done = dtype.resize_as(r, wanted)
  return done
end

--- A new block for such results.
function reductions.block_along(dtype, c, dim, running, ...) -- luacheck: ignore 212
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

-- Rows of at most so many elements are added up by one loop that stores all sums so far.
local MAX_INNER = 32
local sums = raw_memory.working_memory('double', formulas.MAX_IN_LUA)
local SUMS = tonumber(ffi.cast('intptr_t', sums))
reductions.sums = sums -- which keeps it alive

local pairs_of_pairs = raw_memory.working_memory('double', formulas.MAX_IN_LUA)
local PAIRS = tonumber(ffi.cast('intptr_t', pairs_of_pairs))
reductions.pairs = pairs_of_pairs

-- Adds up contiguous rows of 8 to 15 elements in numpy's order: the first eight in pairs, the pairs
-- in pairs, and so on; then the others, one after the other. Each loop runs over the elements of
-- all rows at once; only its sums at the beginnings of rows are used.
local function fold_in_pairs(loop, data, size, first, r, p, outer, count,
    ...) -- luacheck: ignore 212
  local n, row, run = outer * count, count * size, reductions.run
  run(loop, data, n - 1, p, size, p + size, size, SUMS, size)
  run(loop, data, n - 3, SUMS, size, SUMS + 2 * size, size, PAIRS, size)
  run(loop, data, outer, PAIRS, row, PAIRS + 4 * size, row, r, size)
  run(loop, data, outer, r, size, first, 0, r, size)
  set_steps(size, row, size, outer)
  repeat_loop(count - 8, loop, data, r, 0, p + 8 * size, size, r, 0)
end

-- Adds up contiguous rows to r: to the first one the number that sums begin with is added, to each
-- other one the sums of those before.
local function fold_short_rows(copy, copy_data, loop, data, size, first, r, p, count, inner)
  local row = inner * size
  reductions.run(loop, data, inner, first, 0, p, size, SUMS, size)
  reductions.run(loop, data, inner * (count - 1), SUMS, size, p + row, size, SUMS + row, size)
  copy_rows(copy, copy_data, inner, 1, 1, r, size, 0, 0, SUMS + row * (count - 1), size, 0, 0)
end

--- Adds up what `sections` has found, from p on, to results that lie one after the other from r on.
-- @param copy, copy_data the loop that copies elements, and its data
-- @param first the address of the number that sums begin with; nil: they begin with an element, and
-- it changes nothing that this is added once more
-- @param in_pairs whether numpy adds up eight elements or more along a row in pairs
function reductions.fold(copy, copy_data, loop, data, size, first, in_pairs, r, p,
    outer, o, count, d, inner, i, ...) -- luacheck: ignore 212
  if inner == 1 and in_pairs and d == 1 and o == count and count >= 8 and count < 16
    and outer >= count and outer * count <= formulas.MAX_IN_LUA then
    fold_in_pairs(loop, data, size, first, r, p, outer, count)
    return
  end
  o, d, i = o * size, d * size, i * size
  if first then
    copy_rows(copy, copy_data, outer * inner, 1, 1, r, size, 0, 0, first, 0, 0, 0)
  elseif inner == 1 then
    copy_rows(copy, copy_data, outer, 1, 1, r, size, 0, 0, p, o, 0, 0)
  else
    copy_rows(copy, copy_data, inner, outer, 1, r, size, inner * size, 0, p, i, o, 0)
  end
  if inner == 1 and (outer <= count or in_pairs and count >= 8) then
    set_steps(0, d, 0, count)
    repeat_loop(outer, loop, data, r, size, p, o, r, size)
    return
  elseif inner == 1 then
    outer, inner, i = 1, outer, o
  end
  if first and outer == 1 and inner <= MAX_INNER and i == size and d == inner * size
    and inner * count <= formulas.MAX_IN_LUA then
    fold_short_rows(copy, copy_data, loop, data, size, first, r, p, count, inner)
    return
  end
  set_steps(size, i, size, inner)
  if outer == 1 then
    repeat_loop(count, loop, data, r, 0, p, d, r, 0)
    return
  end
  for k = 1, max(outer, formulas.MIN_TURNS) do
    repeat_loop(count, loop, data, r, 0, p, d, r, 0)
    if k < outer then
      r, p = r + inner * size, p + o
    else
      count_of_loop[0] = 0
    end
  end
end

--- Computes running sums of contiguous elements, one for each element. A loop goes through
-- elements in order and reads the sums that it has written: those of the row before.
function reductions.accumulate(copy, copy_data, loop, data, size, _, _, r, p,
    outer, _, count, _, inner, ...) -- luacheck: ignore 212
  local row = inner * size
  local far = count * row
  if inner == 1 then
    copy_rows(copy, copy_data, outer, 1, 1, r, far, 0, 0, p, far, 0, 0)
  else
    copy_rows(copy, copy_data, inner, outer, 1, r, size, far, 0, p, size, far, 0)
  end
  if count == 1 then return end
  if inner == 1 and outer > count then
    set_steps(far, far, far, outer)
    repeat_loop(count - 1, loop, data, r, size, p + size, size, r + size, size)
    return
  end
  set_steps(size, size, size, inner * (count - 1))
  repeat_loop(outer, loop, data, r, far, p + row, far, r + row, far)
end

--- r = x with y, by a loop of two operands: for each result along a dimension, y has a number. x
-- and r have elements, of so many bytes, as `copy_sections` leaves them; outer or inner is 1.
function reductions.spread(loop, data, size, x, y, r, outer, count, inner,
    ...) -- luacheck: ignore 212
  local results, apart, along = outer * inner, size * (inner == 1 and count or 1), size * inner
  if results > count then
    set_steps(apart, size, apart, results)
    repeat_loop(count, loop, data, x, along, y, 0, r, along)
  else
    set_steps(along, 0, along, count)
    repeat_loop(results, loop, data, x, apart, y, size, r, apart)
  end
end

--- Copies what `sections` has found one after the other to r.
function reductions.copy_sections(copy, data, size, r, p, outer, o, count, d, inner, i,
    ...) -- luacheck: ignore 212
  if inner == 1 then inner, i, count, d, outer, o = count, d, outer, o, 1, 0 end
  if (count == 1 or d == inner * i) and (outer == 1 or o == count * inner * i) then
    inner, count, outer = inner * count * outer, 1, 1
    if i == 1 then
      copy_bytes(r, p, inner * size)
      return
    end
  end
  copy_rows(copy, data, inner, count, outer, r, size, inner * size, count * inner * size,
    p, i * size, d * size, o * size)
end

-- --------------------------------------------------------------------- extrema

--- Copies what `copy_sections` has copied once more, the elements of one result after those of the
-- one before; not needed where `inner` is 1.
function reductions.gather_results(copy, data, size, r, p, outer, _, count, _, inner,
    ...) -- luacheck: ignore 212
  copy_rows(copy, data, count, inner, outer, r, size, count * size, inner * count * size,
    p, inner * size, size, inner * count * size)
end

--- A function that finds where extrema are; a copy for each function that calls it.
function reductions.make_find_places(dtype)
  local find = import.instance('tensor.places', dtype, formulas.MIN_TURNS)
  return find
end

formulas.reduce_by{
  layouts.lay_out_in_memory, reductions.fold_rows, reductions.copy_in_memory, reductions.sections,
  reductions.fits, reductions.block_along, reductions.fold, reductions.accumulate,
  reductions.copy_sections, reductions.gather_results, reductions.make_find_places,
  reductions.resize_along,
}

return reductions
