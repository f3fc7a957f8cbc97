--- The views that tables of indices make, for tensors of one element type: x[{i, {j, k}}].
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- @module tensor_table_index

local dtype = ...
local c_structs, errors = import('core.c_structs', 'core.errors')

local type, tonumber = type, tonumber
local floor, ceil = math.floor, math.ceil
local structs, need_struct, methods = dtype.structs, dtype.need_struct, dtype.methods
local new_view, publish, locate = dtype.new_view, dtype.publish, dtype.locate
local copy_geometry, ROOM = dtype.copy_geometry, c_structs.ROOM

--- The position from 0 of index k among n elements; nil if there is none. k counts from 1, or if
-- it is negative from the end.
function dtype.position(k, n)
  local i = (k >= 0 and floor(k) or ceil(k)) - 1
  if i < 0 then i = n + i + 1 end
  if i >= 0 and i < n then return i end
end
local position = dtype.position

--- The position from 0 of index k in a table among n elements; nil if there is none. Torch7:
-- subtracts 1 before it truncates, so that a number between 0 and 1 means the first element.
function dtype.table_position(k, n)
  if k > 0 and k < 1 then k = 1 end
  local i = position(k, n)
  return i
end
local table_position = dtype.table_position

--- The number that an index is, or a string stands for; nil for others.
function dtype.number_of(item)
  local kind = type(item)
  if kind == 'number' then return item end
  if kind == 'string' then return tonumber(item) end
end
local number_of = dtype.number_of

-- The first and the last position, from 0, of a range {first, last} among n elements.
local function range(item, n)
  local first, last = number_of(item[1]), number_of(item[2])
  local i, j = 0, n - 1
  if first then
    i = table_position(first, n)
    if not i then errors.argument_error(2, 'start index out of bound', '?') end
    j = i
  end
  if last then
    j = table_position(last, n)
    if not j then errors.argument_error(2, 'end index out of bound', '?') end
  end
  if j < i then
    errors.argument_error(2, 'end index must be greater or equal to start index', '?')
  end
  return i, j
end

-- The functions below handle two dimensions without a loop: LuaJIT compiles no loop that ends at
-- its first turn, and one within the program's loop would be a trace of its own.

-- Takes dimension d out of a view of n dimensions, of which it leaves the number as it is.
local function drop_dimension(view, n, d)
  local size, stride = view.size, view.stride
  if d < n - 1 then size[d], stride[d] = size[d + 1], stride[d + 1] end
  if d < n - 2 then size[d + 1], stride[d + 1] = size[d + 2], stride[d + 2] end
  for e = d + 2, n - 2 do size[e], stride[e] = size[e + 1], stride[e + 1] end
end

-- Takes an index for dimension d of a view that has n dimensions so far. Returns how many it has
-- then, the next dimension, and how far its first element has moved; nil if the item is no index.
local function take(view, item, n, d)
  local k, size, step = number_of(item), tonumber(view.size[d]), tonumber(view.stride[d])
  if k then
    local at = table_position(k, size)
    if not at then errors.argument_error(2, 'index out of bound', '?') end
    drop_dimension(view, n, d)
    return n - 1, d, at * step
  elseif type(item) == 'table' then
    local first, last = range(item, size)
    view.size[d] = last - first + 1
    return n, d + 1, first * step
  end
end

-- Takes the indices from item k on; returns how many dimensions the view has then, and how far its
-- first element has moved.
local function take_from(k, view, items, n, d)
  local moved = 0
  for i = k, #items do
    local left, at, distance = take(view, items[i], n, d)
    if not left then break end
    n, d, moved = left, at, moved + distance
  end
  return n, moved
end

-- Takes all indices, from the first one on; returns what take_from returns.
local function take_all(view, items, n)
  local left, d, first = take(view, items[1], n, 0)
  if not left then return n, 0 end
  if #items == 1 then return left, first end
  local now, at, second = take(view, items[2], left, d)
  if not now then return left, first end
  if #items == 2 then return now, first + second end
  local all, rest = take_from(3, view, items, now, at)
  return all, first + second + rest
end

--- The view that x[{...}] is; if it is an element, nil, the storage's struct and the position in
-- it.
function dtype.resolve(self, items, ...) -- luacheck: ignore 212
  local c = structs[self] or need_struct(self)
  local n = c.nDimension
  if #items > n then errors.argument_error(2, 'too many indices provided', '?') end
  if n == 0 then return methods.new(self) end
  if n > ROOM then errors.fail('more than 8 dimensions: use select and narrow') end
  local view
  view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  local offset = c.storageOffset
  local left, distance = take_all(view, items, n)
  offset = offset + distance
  if left == 0 then return nil, c.storage, offset end
  view.nDimension = left
  local _, anchor = locate(view, c, offset, self)
  return (publish(view, anchor))
end

return {}
