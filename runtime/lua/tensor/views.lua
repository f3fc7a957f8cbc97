--- The views that Lua makes itself, for tensors of one element type.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on to Python (`slow`).
-- @module tensor_views

local th, dtype, slow = ...

local type, tonumber, select = type, tonumber, select
-- The structs of tensors of this type alone, so that no other object is taken for one.
local structs, attach = dtype.structs, th.attach
local fetch_struct, need_struct = dtype.fetch_struct, dtype.need_struct
local make = dtype.make
local View = dtype.view
local dense, blocks = th.formulas.dense, th.blocks
local share, set_strides, long_storage = blocks.share, blocks.set_strides, blocks.long_storage
local ROOM = th.ROOM

local views = {}

local function changed()
  th.fail('a finalizer has changed the number of dimensions')
end

--- A struct for a view of n dimensions, to be filled in, and the struct of the source, which has
-- `dims` dimensions. The source's struct is looked up last: allocating the view may run the
-- collector, and with it finalizers that change the source.
function dtype.new_view(n, self, dims)
  local view = View()
  view.size, view.stride = view.geometry, view.geometry + ROOM
  view.nDimension, view.refcount, view.flag = n, 1, 1
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= dims then changed() end
  return view, c
end
local new_view = dtype.new_view

--- Makes the userdata of a view whose struct is filled in.
function dtype.publish(view, anchor, ...) -- luacheck: ignore 212
  local value = make()
  attach(structs, value, view, anchor)
  return value
end
local publish = dtype.publish

--- Sets a view's storage and offset. Returns the arguments of `publish`, and the source, which the
-- caller has to hold until `publish`: nothing else keeps the storage alive.
function dtype.locate(view, c, offset, source)
  view.storage, view.storageOffset = c.storage, offset
  local anchor = share(source, c)
  return view, anchor, source
end
local locate = dtype.locate

--- Copies n sizes and strides, from position e on in a struct, to position d on in a view. The
-- first two are copied without a loop: a loop within the program's loop would be a trace of its
-- own.
function dtype.copy_geometry(view, d, source, e, n)
  if n == 0 then return end
  view.size[d], view.stride[d] = source.size[e], source.stride[e]
  if n == 1 then return end
  view.size[d + 1], view.stride[d + 1] = source.size[e + 1], source.stride[e + 1]
  for k = 2, n - 1 do
    view.size[d + k], view.stride[d + k] = source.size[e + k], source.stride[e + k]
  end
end
local copy_geometry = dtype.copy_geometry

local MOST = 2 ^ 31 -- of a size or step that no storage limits

local function is_size(n)
  return type(n) == 'number' and n >= 1 and n <= MOST and n % 1 == 0
end

local function is_dimension(c, dim)
  return type(dim) == 'number' and dim >= 1 and dim <= c.nDimension and dim % 1 == 0
    and c.nDimension <= ROOM
end

-- ------------------------------------------------------------- narrow, select, sub

-- The slice i of dimension d, both from 0, of a tensor of n dimensions: arguments for `publish`.
function dtype.select_view(self, n, d, i)
  local view, c = new_view(n - 1, self, n)
  copy_geometry(view, 0, c, 0, d)
  copy_geometry(view, d, c, d + 1, n - 1 - d)
  local _, anchor, source = locate(view, c, c.storageOffset + i * c.stride[d], self)
  return view, anchor, source
end

local function narrow_view(self, n, d, first, size)
  local view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  view.size[d] = size
  local _, anchor, source = locate(view, c, c.storageOffset + first * c.stride[d], self)
  return view, anchor, source
end

function dtype.can_select(c, dim, index)
  local n = c.nDimension
  return n > 1 and n <= ROOM and dim >= 1 and dim <= n and dim % 1 == 0 and index >= 1
    and index <= tonumber(c.size[dim - 1]) and index % 1 == 0
end

local function can_narrow(c, dim, first, size)
  local n = c.nDimension
  return n > 0 and n <= ROOM and dim >= 1 and dim <= n and dim % 1 == 0 and first >= 1
    and size >= 1 and first % 1 == 0 and size % 1 == 0
    and first + size - 1 <= tonumber(c.size[dim - 1])
end

function views.narrow(self, ...)
  local dim, first, size = ...
  if type(dim) == 'number' and type(first) == 'number' and type(size) == 'number' then
    local c = structs[self] or fetch_struct(self)
    if c and can_narrow(c, dim, first, size) then
      local view, anchor = narrow_view(self, c.nDimension, dim - 1, first - 1, size)
      return (publish(view, anchor))
    end
  end
  return slow.narrow(self, ...)
end

-- The first position and the size, from 0, of what x:sub takes of n elements; nil if there is none.
local function bounds(n, first, last)
  if type(first) ~= 'number' or type(last) ~= 'number' or first % 1 ~= 0 or last % 1 ~= 0 then
    return nil
  end
  if first < 0 then first = first + n + 1 end
  if last < 0 then last = last + n + 1 end
  if first < 1 or last > n or last < first then return nil end
  return first - 1, last - first + 1
end

local function sub_view(self, n, first1, size1, first2, size2)
  local view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  local offset = c.storageOffset + first1 * c.stride[0]
  view.size[0] = size1
  if first2 then
    offset = offset + first2 * c.stride[1]
    view.size[1] = size2
  end
  local _, anchor, source = locate(view, c, offset, self)
  return view, anchor, source
end

function views.sub(self, ...)
  local count, a, b, c, d = select('#', ...), ...
  local t = structs[self] or fetch_struct(self)
  if t and (count == 2 or count == 4) and 2 * t.nDimension >= count and t.nDimension <= ROOM then
    local first1, size1 = bounds(tonumber(t.size[0]), a, b)
    local first2, size2
    if count == 4 then first2, size2 = bounds(tonumber(t.size[1]), c, d) end
    if first1 and (first2 or count == 2) then
      local view, anchor = sub_view(self, t.nDimension, first1, size1, first2, size2)
      return (publish(view, anchor))
    end
  end
  return slow.sub(self, ...)
end

-- ---------------------------------------------------------------------- view

-- The view x:view(rows, columns), or x:view(rows) with columns 1: arguments for `publish`; nil
-- where Python has to make it or to raise an error. n: the number of its dimensions.
local function sizes_view(self, n, rows, columns)
  local c = structs[self] or fetch_struct(self)
  local count = c and dense(c) or 0
  if count == 0 then return nil end
  if rows == -1 then rows = count / columns elseif columns == -1 then columns = count / rows end
  if rows < 1 or columns < 1 or rows % 1 ~= 0 or columns % 1 ~= 0 or rows * columns ~= count then
    return nil
  end
  local view
  view, c = new_view(n, self, c.nDimension)
  view.size[0], view.stride[0] = rows, columns
  if n == 2 then view.size[1], view.stride[1] = columns, 1 end
  local _, anchor, source = locate(view, c, c.storageOffset, self)
  return view, anchor, source
end

-- The view of the sizes that `fill` writes into its struct; they must have as many elements.
local function filled_view(self, n, fill, ...)
  local c = structs[self] or fetch_struct(self)
  local count = c and n >= 1 and n <= ROOM and dense(c) or 0
  if count == 0 then return nil end
  local view
  view, c = new_view(n, self, c.nDimension)
  if not fill(view, n, count, ...) then return nil end
  set_strides(view, n)
  local _, anchor, source = locate(view, c, c.storageOffset, self)
  return view, anchor, source
end

-- Sets the size that is -1 to the one that gives as many elements; whether there are as many.
local function complete(view, n, count)
  local product, open = 1, nil
  for d = 0, n - 1 do
    local size = tonumber(view.size[d])
    if size == -1 and not open then
      open = d
    elseif size < 1 then
      return false
    else
      product = product * size
    end
  end
  if not open then return product == count end
  view.size[open] = count / product
  return count % product == 0
end

local function fill_from_numbers(view, n, count, ...)
  for d = 1, n do
    local size = select(d, ...)
    if type(size) ~= 'number' or size % 1 ~= 0 then return false end
    view.size[d - 1] = size
  end
  return complete(view, n, count)
end

local function fill_from_storage(view, n, count, sizes)
  local s = long_storage(sizes)
  if s.size ~= n then return false end
  for d = 0, n - 1 do view.size[d] = s.data[d] end
  return complete(view, n, count)
end

local function fill_from_struct(view, n, count, other)
  local c = structs[other]
  if not c or c.nDimension ~= n then return false end
  copy_geometry(view, 0, c, 0, n)
  return complete(view, n, count)
end

function views.view(self, rows, columns, ...)
  local more, view, anchor = select('#', ...), nil, nil
  if type(rows) == 'number' then
    if more == 0 then
      local n = columns and 2 or 1
      if n == 1 or type(columns) == 'number' then
        view, anchor = sizes_view(self, n, rows, columns or 1)
      end
    else
      view, anchor = filled_view(self, 2 + more, fill_from_numbers, rows, columns, ...)
    end
  elseif more == 0 and columns == nil then
    local s = long_storage(rows)
    if s then view, anchor = filled_view(self, tonumber(s.size), fill_from_storage, rows) end
  end
  if view then return (publish(view, anchor)) end
  if columns == nil and more == 0 then return slow.view(self, rows) end
  return slow.view(self, rows, columns, ...)
end

function views.viewAs(self, ...)
  local other = ...
  local c = structs[other] or fetch_struct(other)
  if c and select('#', ...) == 1 then
    local view, anchor = filled_view(self, c.nDimension, fill_from_struct, other)
    if view then return (publish(view, anchor)) end
  end
  return slow.viewAs(self, ...)
end

-- --------------------------------------------------------------------- expand

-- Sets sizes and strides to those of c, where it has the wanted ones, or size 1.
local function expand_geometry(view, c, n, wanted)
  for d = 0, n - 1 do
    local have, want = c.size[d], wanted[d]
    if have == 1 then
      if want < 1 then return false end
      view.size[d], view.stride[d] = want, 0
    elseif have == want then
      view.size[d], view.stride[d] = have, c.stride[d]
    else
      return false
    end
  end
  return true
end

-- The view with the sizes that are at `wanted(source)`, n of them.
local function expanded_view(self, n, wanted, source)
  local c = structs[self] or fetch_struct(self)
  if not c or c.nDimension ~= n or n == 0 or n > ROOM then return nil end
  local view
  view, c = new_view(n, self, n)
  local sizes = wanted(source, n)
  if not (sizes and expand_geometry(view, c, n, sizes)) then return nil end
  local _, anchor = locate(view, c, c.storageOffset, self)
  return view, anchor, self
end

local function sizes_of_struct(other, n)
  local c = structs[other]
  return c and c.nDimension == n and c.size
end

local function sizes_of_storage(sizes, n)
  local s = long_storage(sizes)
  return s.size == n and s.data
end

function views.expandAs(self, ...)
  local other = ...
  local c = structs[other] or fetch_struct(other)
  if c and select('#', ...) == 1 then
    local view, anchor = expanded_view(self, c.nDimension, sizes_of_struct, other)
    if view then return (publish(view, anchor)) end
  end
  return slow.expandAs(self, ...)
end

local function expand_to_numbers(self, n, a, b)
  local c = structs[self] or fetch_struct(self)
  if not c or c.nDimension ~= n or not is_size(a)
    or n == 2 and not is_size(b) then
    return nil
  end
  local view
  view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  if view.size[0] == 1 then view.size[0], view.stride[0] = a, 0 end
  if view.size[0] ~= a then return nil end
  if n == 2 then
    if view.size[1] == 1 then view.size[1], view.stride[1] = b, 0 end
    if view.size[1] ~= b then return nil end
  end
  local _, anchor = locate(view, c, c.storageOffset, self)
  return view, anchor, self
end

function views.expand(self, ...)
  local n, a, b = select('#', ...), ...
  local view, anchor
  if n == 1 and type(a) ~= 'number' then
    local s = long_storage(a)
    if s then view, anchor = expanded_view(self, tonumber(s.size), sizes_of_storage, a) end
  elseif n == 1 or n == 2 then
    view, anchor = expand_to_numbers(self, n, a, b)
  end
  if view then return (publish(view, anchor)) end
  return slow.expand(self, ...)
end

-- -------------------------------------------------------------- order of dimensions

local function swapped_view(self, n, d, e)
  local view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  view.size[d], view.size[e] = c.size[e], c.size[d]
  view.stride[d], view.stride[e] = c.stride[e], c.stride[d]
  local _, anchor, source = locate(view, c, c.storageOffset, self)
  return view, anchor, source
end

function views.t(self, ...)
  local c = structs[self] or fetch_struct(self)
  if c and c.nDimension == 2 then
    local view, anchor = swapped_view(self, 2, 0, 1)
    return (publish(view, anchor))
  end
  return slow.t(self, ...)
end

function views.transpose(self, ...)
  local a, b = ...
  local c = structs[self] or fetch_struct(self)
  if c and is_dimension(c, a) and is_dimension(c, b) then
    local view, anchor = swapped_view(self, c.nDimension, a - 1, b - 1)
    return (publish(view, anchor))
  end
  return slow.transpose(self, ...)
end

-- The view with the dimensions in another order: arguments for `publish`; nil if it is none.
local function permuted_view(self, n, ...)
  local view, c = new_view(n, self, n)
  for d = 1, n do
    local e = select(d, ...)
    if not is_dimension(c, e) then return nil end
    for k = 1, d - 1 do
      if select(k, ...) == e then return nil end
    end
    view.size[d - 1], view.stride[d - 1] = c.size[e - 1], c.stride[e - 1]
  end
  local _, anchor = locate(view, c, c.storageOffset, self)
  return view, anchor, self
end

function views.permute(self, ...)
  local n = select('#', ...)
  local c = structs[self] or fetch_struct(self)
  if c and n == c.nDimension and n > 0 and n <= ROOM then
    local view, anchor = permuted_view(self, n, ...)
    if view then return (publish(view, anchor)) end
  end
  return slow.permute(self, ...)
end

-- ------------------------------------------------------------- squeeze and unfold

-- The view without dimensions of size 1, or without dimension d alone: arguments for `publish`;
-- nil where the result is a number or has no dimension.
local function squeezed_view(self, n, d)
  local view, c = new_view(n, self, n)
  local left = 0
  for k = 0, n - 1 do
    if c.size[k] ~= 1 or d and k ~= d then
      view.size[left], view.stride[left] = c.size[k], c.stride[k]
      left = left + 1
    end
  end
  if left == 0 or left == 1 and view.size[0] == 1 then return nil end
  view.nDimension = left
  local _, anchor = locate(view, c, c.storageOffset, self)
  return view, anchor, self
end

function views.squeeze(self, ...)
  local count, dim = select('#', ...), ...
  local c = structs[self] or fetch_struct(self)
  if c and c.nDimension > 0 and c.nDimension <= ROOM
    and (count == 0 or count == 1 and is_dimension(c, dim)) then
    local view, anchor = squeezed_view(self, c.nDimension, dim and dim - 1)
    if view then return (publish(view, anchor)) end
  end
  return slow.squeeze(self, ...)
end

if not slow.squeeze then views.squeeze = nil end -- HalfTensor has no such method

local function unfolded_view(self, n, d, size, step)
  local view, c = new_view(n + 1, self, n)
  copy_geometry(view, 0, c, 0, n)
  local have = tonumber(c.size[d])
  if size > have then return nil end
  view.size[d] = (have - size - (have - size) % step) / step + 1
  view.stride[d] = step * c.stride[d]
  view.size[n], view.stride[n] = size, c.stride[d]
  local _, anchor = locate(view, c, c.storageOffset, self)
  return view, anchor, self
end

function views.unfold(self, ...)
  local dim, size, step = ...
  local c = structs[self] or fetch_struct(self)
  if c and is_dimension(c, dim) and c.nDimension < ROOM and is_size(size) and is_size(step) then
    local view, anchor = unfolded_view(self, c.nDimension, dim - 1, size, step)
    if view then return (publish(view, anchor)) end
  end
  return slow.unfold(self, ...)
end

return views
