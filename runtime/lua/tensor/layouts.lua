--- The layout in memory of the elements of up to four tensors of the same sizes: blocks of rows of
-- elements, in equal distances for each tensor. Neighbouring dimensions that are one for all
-- tensors are taken together. The layout stays in arrays until the next call.
-- @module layouts

local ffi, c_structs = import('ffi', 'core.c_structs')

local tonumber = tonumber
local ROOM = c_structs.ROOM
local LONG_ROW, MANY_ROWS = 16, 1024 -- elements of a row; rows

local layouts = {}

-- The numbers of elements of a row, of rows of a block, and of blocks. For tensor k, from 0: the
-- distances of neighbouring elements at 3 * k, rows at 3 * k + 1, and blocks at 3 * k + 2; and how
-- far its last element is behind the first. Distances are in elements.
local shape, step, extent = ffi.new('double[3]'), ffi.new('double[12]'), ffi.new('double[4]')
layouts.shape, layouts.step = shape, step

-- Dimensions up to the fifth have no loop in the functions below: LuaJIT compiles no code around a
-- loop that ends at its first turn.

-- The number of elements of dimension d and those behind it, of which there are `count`; 0 where
-- they are not contiguous.
local function with_dimension(c, d, count, ...) -- luacheck: ignore 212
  local size = tonumber(c.size[d])
  if c.stride[d] ~= count and size ~= 1 then return 0 end
  local product = count * size
  return product
end

--- The number of elements of a tensor that is contiguous, 1 without dimensions; 0 for others.
function layouts.contiguous(c, ...) -- luacheck: ignore 212
  local n, count = c.nDimension, 1
  if n >= 1 then count = with_dimension(c, n - 1, count) end
  if n >= 2 then count = with_dimension(c, n - 2, count) end
  if n >= 3 then count = with_dimension(c, n - 3, count) end
  if n >= 4 then count = with_dimension(c, n - 4, count) end
  if n >= 5 then
    count = with_dimension(c, n - 5, count)
    for d = n - 6, 0, -1 do count = with_dimension(c, d, count) end
  end
  return count
end

--- Returns the number of elements of a contiguous tensor that its storage has; 0 for others.
function layouts.dense(c, ...) -- luacheck: ignore 212
  local n = c.nDimension
  if n == 0 or n > ROOM then return 0 end
  local count = layouts.contiguous(c)
  if count == 0 or c.storageOffset + count > c.storage.size then return 0 end
  return count
end

-- Returns the number of elements that dimension d adds to the reach of a tensor. A number of Lua's
-- is at least 2^53 where it is not exact; a whole number of 64 bits would wrap.
local function extent_along(c, d)
  return (tonumber(c.size[d]) - 1) * tonumber(c.stride[d])
end

--- Returns the number of elements of the storage from the first one of a tensor to its last one.
function layouts.span(c, ...) -- luacheck: ignore 212
  local n = c.nDimension
  local result = 1 + extent_along(c, 0)
  if n > 1 then result = result + extent_along(c, 1) end
  if n > 2 then result = result + extent_along(c, 2) end
  if n > 3 then result = result + extent_along(c, 3) end
  if n > 4 then
    result = result + extent_along(c, 4)
    for d = 5, n - 1 do result = result + extent_along(c, d) end
  end
  return result
end

--- Tells whether the storage has all elements of a tensor.
function layouts.is_within(c, ...) -- luacheck: ignore 212
  return tonumber(c.storageOffset) + layouts.span(c) <= tonumber(c.storage.size)
end

--- The number of elements of any tensor.
function layouts.count(c, ...) -- luacheck: ignore 212
  local n = c.nDimension
  if n == 0 or n > ROOM then return 0 end
  local count = tonumber(c.size[0])
  if n >= 2 then
    count = count * tonumber(c.size[1])
    if n >= 3 then count = count * tonumber(c.size[2]) end
    if n >= 4 then count = count * tonumber(c.size[3]) end
    if n >= 5 then
      count = count * tonumber(c.size[4])
      for d = 5, n - 1 do count = count * tonumber(c.size[d]) end
    end
  end
  return count
end

--- Tells whether two tensors have the same sizes.
local function same_sizes(c, d, ...) -- luacheck: ignore 212
  local n = c.nDimension
  if n ~= d.nDimension then return false end
  if n >= 1 and c.size[0] ~= d.size[0] or n >= 2 and c.size[1] ~= d.size[1] then return false end
  return n < 3 or ffi.C.th_compare(c.size, d.size, 8 * n) == 0
end
layouts.same_sizes = same_sizes

--- Tells whether two tensors of as many dimensions have the same strides.
function layouts.same_strides(c, d, ...) -- luacheck: ignore 212
  local n = c.nDimension
  if n >= 1 and c.stride[0] ~= d.stride[0] or n >= 2 and c.stride[1] ~= d.stride[1] then
    return false
  end
  return n < 3 or ffi.C.th_compare(c.stride, d.stride, 8 * n) == 0
end

local function stride(c, d, ...) -- luacheck: ignore 212
  local distance = tonumber(c.stride[d])
  return distance
end

-- Tells whether dimension d and another one behind it, where `size` elements lie in equal
-- distances, are one for a tensor; nil stands for no tensor.
local function is_one(c, d, inner, size, ...) -- luacheck: ignore 212
  return c == nil or stride(c, d) == stride(c, inner) * size
end

-- Notes the distances of tensor k along three dimensions (-1: none). Whether all its elements are
-- in its storage.
local function note_steps(k, c, inner, row, block, ...) -- luacheck: ignore 212
  local near, far, farthest = stride(c, inner), 0, 0
  if row >= 0 then far = stride(c, row) end
  if block >= 0 then farthest = stride(c, block) end
  step[3 * k], step[3 * k + 1], step[3 * k + 2] = near, far, farthest
  local last = (shape[0] - 1) * near + (shape[1] - 1) * far + (shape[2] - 1) * farthest
  extent[k] = last
  return near >= 0 and far >= 0 and farthest >= 0
    and tonumber(c.storageOffset) + last < tonumber(c.storage.size)
end

local function note_all_steps(inner, row, block, c0, c1, c2, c3, ...) -- luacheck: ignore 212
  return note_steps(0, c0, inner, row, block)
    and (c1 == nil or note_steps(1, c1, inner, row, block))
    and (c2 == nil or note_steps(2, c2, inner, row, block))
    and (c3 == nil or note_steps(3, c3, inner, row, block))
end

-- Up to three dimensions of which each stands for several: the last of these, and their size.
local last_of, size_of = ffi.new('int32_t[3]'), ffi.new('double[3]')

-- Takes dimensions together as far as possible. Returns the number of those that remain; 0 if there
-- are more than three.
local function group(n, c0, c1, c2, c3, ...) -- luacheck: ignore 212
  local groups = 0
  for d = n - 1, 0, -1 do
    local size, at = tonumber(c0.size[d]), groups - 1
    if size ~= 1 then
      if groups > 0 and is_one(c0, d, last_of[at], size_of[at])
        and is_one(c1, d, last_of[at], size_of[at]) and is_one(c2, d, last_of[at], size_of[at])
        and is_one(c3, d, last_of[at], size_of[at]) then
        size_of[at] = size_of[at] * size
      elseif groups == 3 then
        return 0
      else
        last_of[groups], size_of[groups] = d, size
        groups = groups + 1
      end
    end
  end
  if groups == 0 then last_of[0], size_of[0], groups = n - 1, 1, 1 end
  return groups
end

-- Tells whether rows of the first size and distance of elements are quicker than those of the
-- second: longer ones are, but elements that lie far apart take more time than as many short rows.
local function is_quicker(size, distance, other, further, ...) -- luacheck: ignore 212
  if distance < further then return size > other or size >= LONG_ROW and other <= MANY_ROWS end
  return size > other and (other < LONG_ROW or size > MANY_ROWS)
end

-- Orders the dimensions that `group` has found, so that the rows suit.
local function lay_out_groups(groups, c0, c1, c2, c3, ...) -- luacheck: ignore 212
  local inner, row, block = 0, 1, 2
  if groups > 1 and is_quicker(size_of[1], stride(c0, last_of[1]),
    size_of[0], stride(c0, last_of[0])) then
    inner, row = 1, 0
  end
  if groups > 2 and is_quicker(size_of[2], stride(c0, last_of[2]),
    size_of[inner], stride(c0, last_of[inner])) then
    inner, block = 2, inner
  end
  shape[0], shape[1], shape[2] = size_of[inner], 1, 1
  if groups > 1 then shape[1] = size_of[row] end
  if groups > 2 then shape[2] = size_of[block] end
  return note_all_steps(last_of[inner], groups > 1 and last_of[row] or -1,
    groups > 2 and last_of[block] or -1, c0, c1, c2, c3)
end

-- Does the work of `group` and `lay_out_groups` for one and two dimensions, without a loop: LuaJIT
-- makes one trace of it and the program's loop.
local function lay_out_matrix(c0, c1, c2, c3, ...) -- luacheck: ignore 212
  local rows, columns = tonumber(c0.size[0]), tonumber(c0.size[1])
  if rows == 1 or (columns ~= 1 and is_one(c0, 0, 1, columns) and is_one(c1, 0, 1, columns)
    and is_one(c2, 0, 1, columns) and is_one(c3, 0, 1, columns)) then
    shape[0], shape[1], shape[2] = rows * columns, 1, 1
    return note_all_steps(1, -1, -1, c0, c1, c2, c3)
  elseif columns == 1 then
    shape[0], shape[1], shape[2] = rows, 1, 1
    return note_all_steps(0, -1, -1, c0, c1, c2, c3)
  elseif not is_quicker(rows, stride(c0, 0), columns, stride(c0, 1)) then
    shape[0], shape[1], shape[2] = columns, rows, 1
    return note_all_steps(1, 0, -1, c0, c1, c2, c3)
  end
  shape[0], shape[1], shape[2] = rows, columns, 1
  return note_all_steps(0, 1, -1, c0, c1, c2, c3)
end

-- Tells whether the elements along dimension j lie apart from each other where those along i lie
-- close, and along k further apart.
local function are_nested(i, j, k, ...) -- luacheck: ignore 212
  local reached = (shape[i] - 1) * step[i]
  if step[j] <= reached then return false end
  return shape[k] == 1 or step[k] > reached + (shape[j] - 1) * step[j]
end

-- Tells whether no two elements of tensor 0 are one place in memory.
local function is_apart(...) -- luacheck: ignore 212
  if shape[0] > 1 and step[0] == 0 then return false end
  if shape[1] == 1 then return true end
  if step[1] == 0 then return false end
  if are_nested(0, 1, 2) or are_nested(1, 0, 2) then return true end
  if shape[2] == 1 or step[2] == 0 then return false end
  return are_nested(0, 2, 1) or are_nested(2, 0, 1) or are_nested(1, 2, 0) or are_nested(2, 1, 0)
end

--- Finds how the elements of up to four tensors lie. False where there is no such layout, they
-- differ in sizes, some reach past the end of their storages, or several elements of the first one
-- are one place in memory.
-- @param most the number of elements that are laid out at most
function layouts.lay_out(most, c0, c1, c2, c3, ...) -- luacheck: ignore 212
  local n = c0.nDimension
  local count = layouts.count(c0)
  if count == 0 or count > most then return false end
  if not ((c1 == nil or same_sizes(c0, c1)) and (c2 == nil or same_sizes(c0, c2))
    and (c3 == nil or same_sizes(c0, c3))) then
    return false
  end
  local done
  if n == 1 then
    shape[0], shape[1], shape[2] = count, 1, 1
    done = note_all_steps(0, -1, -1, c0, c1, c2, c3)
  elseif n == 2 then
    done = lay_out_matrix(c0, c1, c2, c3)
  else
    local groups = group(n, c0, c1, c2, c3)
    done = groups > 0 and lay_out_groups(groups, c0, c1, c2, c3)
  end
  return done and is_apart()
end

-- Orders two dimensions of one tensor as they lie in memory, and takes them together if they are
-- one. Whether that was possible.
local function order_matrix(c, ...) -- luacheck: ignore 212
  local rows, columns = tonumber(c.size[0]), tonumber(c.size[1])
  local near, far, m, n = stride(c, 1), stride(c, 0), columns, rows
  if columns == 1 or (rows ~= 1 and far < near) then near, far, m, n = far, near, n, m end
  if n ~= 1 and (near == 0 or far == near) then return false end
  if n == 1 or far == near * m then near, far, m, n = near, 0, m * n, 1 end
  shape[0], shape[1], shape[2] = m, n, 1
  step[0], step[1], step[2] = near, far, 0
  return near >= 0
end

--- Finds how the elements of one tensor lie, in the order of memory, as numpy goes through them.
-- False where they are too many, or some reach past the end of the storage; and in few other cases.
function layouts.lay_out_in_memory(most, c, ...) -- luacheck: ignore 212
  local n = layouts.dense(c)
  if n > most then return false end
  if n > 0 then
    shape[0], shape[1], shape[2] = n, 1, 1
    step[0], step[1], step[2] = 1, 0, 0
    return true
  end
  n = layouts.count(c)
  if n == 0 or n > most or c.nDimension > 2 then return false end
  if c.nDimension == 2 then
    if not order_matrix(c) then return false end
  else
    shape[0], shape[1], shape[2] = n, 1, 1
    step[0], step[1], step[2] = stride(c, 0), 0, 0
    if step[0] <= 0 then return false end
  end
  local last = (shape[0] - 1) * step[0] + (shape[1] - 1) * step[1]
  return tonumber(c.storageOffset) + last < tonumber(c.storage.size)
end

-- Returns the greatest distance of elements of tensor k, without steps of whole numbers of periods.
local function spread(k, period, ...) -- luacheck: ignore 212
  local a, b, c = step[3 * k], step[3 * k + 1], step[3 * k + 2]
  return (a % period == 0 and 0 or (shape[0] - 1) * a)
    + (b % period == 0 and 0 or (shape[1] - 1) * b)
    + (c % period == 0 and 0 or (shape[2] - 1) * c)
end

-- Tells whether tensors 0 and k are different columns of a matrix whose rows are a period of
-- elements. distance: the number of elements from the first one of tensor 0 to that of tensor k.
local function are_columns(k, period, distance, ...) -- luacheck: ignore 212
  if period == 0 then return false end
  local at = distance % period
  return at > spread(0, period) and at + spread(k, period) < period
end

--- Tells whether an element of tensor 0 may lie at the place in memory of an element of tensor k
-- from which another element of tensor 0 is computed. The tensors begin at the addresses p and q.
-- @param width, other_width bytes of an element of tensor 0 and of one of tensor k
function layouts.clash(k, width, other_width, p, q, ...) -- luacheck: ignore 212
  if p == q and width == other_width and step[0] == step[3 * k]
    and (shape[1] == 1 or step[1] == step[3 * k + 1])
    and (shape[2] == 1 or step[2] == step[3 * k + 2]) then
    return false
  end
  if q >= p + width * (extent[0] + 1) or p >= q + other_width * (extent[k] + 1) then
    return false
  end
  local distance = (q - p) / other_width
  return width ~= other_width or distance % 1 ~= 0 or not (are_columns(k, step[0], distance)
    or are_columns(k, step[1], distance) or are_columns(k, step[2], distance))
end

return layouts
