--- The views that Lua makes itself, for tensors of one element type.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on to Python (`slow`).
--
-- A view is made in four steps: `new_view` returns its struct; the function fills in sizes and
-- strides; `locate` sets its storage, and returns the struct with its anchor, the object that keeps
-- the storage alive; `publish` makes the userdata that the program gets.
-- @module tensor_views

local dtype, slow = ...
local bridge, c_structs, errors = import('core.bridge', 'core.c_structs', 'core.errors')
local blocks = import 'tensor.blocks'

local type, tonumber, select = type, tonumber, select
local copy = require('ffi').copy
-- The structs of tensors of this type alone, so that no other object is taken for one.
local structs, attach = dtype.structs, bridge.attach
local fetch_struct, need_struct = dtype.fetch_struct, dtype.need_struct
local make = dtype.make
local View = dtype.view
local share = blocks.share
local ROOM = c_structs.ROOM

local views = {}



--- A struct for a view of n dimensions, to be filled in, and the struct of the source, which has
-- `dims` dimensions. The source's struct is looked up last: allocating the view may run the
-- collector, and with it finalizers that change the source.
function dtype.new_view(n, self, dims)
  local view = View()
  view.size, view.stride = view.geometry, view.geometry + ROOM
  view.nDimension, view.refcount, view.flag = n, 1, 1
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= dims then
    errors.fail('a finalizer has changed the number of dimensions')
  end
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

--- Copies n sizes and strides, from position e on in a struct, to position d on in a view, without
-- a loop: a loop within the program's loop would be a trace of its own.
function dtype.copy_geometry(view, d, source, e, n)
  if n == 0 then return end
  view.size[d], view.stride[d] = source.size[e], source.stride[e]
  if n == 1 then return end
  view.size[d + 1], view.stride[d + 1] = source.size[e + 1], source.stride[e + 1]
  if n == 2 then return end
  copy(view.size + d, source.size + e, 8 * n)
  copy(view.stride + d, source.stride + e, 8 * n)
end
local copy_geometry = dtype.copy_geometry

--- The largest size or step that is taken where no storage limits it.
dtype.LARGEST = 2 ^ 31

--- Tells whether a value may be a size or step.
function dtype.is_size(n)
  return type(n) == 'number' and n >= 1 and n <= dtype.LARGEST and n % 1 == 0
end
local is_size = dtype.is_size

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
