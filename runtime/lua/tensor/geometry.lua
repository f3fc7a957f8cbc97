--- New tensors of one element type, and new geometry for those that Lua alone knows: constructor,
-- resize, set.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on to Python (`slow`): all
-- that change a tensor which Python knows, or need another size of a storage.
-- @module tensor_geometry

local dtype, slow = ...
local c_structs, class_ids = import('core.c_structs', 'core.class_ids')
local keep_alive, blocks, layouts = import('core.keep_alive', 'tensor.blocks', 'tensor.layouts')

local type, tonumber, select = type, tonumber, select
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local anchor_of, class_of = keep_alive.anchor_of, class_ids.class_of
local replace_struct = c_structs.replace_struct
local new_view, publish = dtype.new_view, dtype.publish
local copy_geometry = dtype.copy_geometry
local View, ROOM, NO_STORAGE = dtype.view, c_structs.ROOM, c_structs.NO_STORAGE
local long_storage, sized = blocks.long_storage, blocks.sized
local product, set_sizes = blocks.product, blocks.set_sizes
local share, numbers_of = blocks.share, blocks.numbers
local leave_undetermined = blocks.leave_undetermined
local STORAGE, TENSOR = dtype.storage_id, dtype.tensor_id

local geometry = {}

--- A struct without a storage, for a tensor of n dimensions.
function dtype.bare_view(n)
  local view = View()
  view.size, view.stride = view.geometry, view.geometry + ROOM
  view.nDimension, view.refcount, view.flag = n, 1, 1
  return view
end
local bare_view = dtype.bare_view

-- Tells whether the first n arguments, up to four, are numbers.
local function are_numbers(n, a, b, c, d)
  return n <= 4 and type(a) == 'number' and (n < 2 or type(b) == 'number')
    and (n < 3 or type(c) == 'number') and (n < 4 or type(d) == 'number')
end

-- --------------------------------------------------------------------- resize

local function has_sizes(c, n, a, b, d, e)
  local size = c.size
  return c.nDimension == n and size[0] == a and (n < 2 or size[1] == b)
    and (n < 3 or size[2] == d) and (n < 4 or size[3] == e)
end

-- Gives a tensor the memory of a new block: one without a storage, or one whose storage is too
-- small, and is its own.
local function move_to(self, old, anchor, block, count)
  if not block then return false end
  leave_undetermined(dtype, block.own.data, count)
  if anchor == NO_STORAGE then
    return anchor_of(self) == anchor and replace_struct(structs, self, old, block, block)
  end
  if anchor_of(self) ~= anchor or not blocks.is_sole(old, anchor) then return false end
  blocks.grow(dtype, block, old.storage)
  return replace_struct(structs, self, old, block, block)
end

-- Tells whether a tensor needs a new block for its elements.
local function needs_block(c, count)
  return c.storage == nil
    or tonumber(c.storageOffset) + count > tonumber(c.storage.size) and count <= blocks.MAX
end

--- Gives self the sizes a to d, of which n are given. Returns false where Python has to.
function dtype.resize_to(self, n, a, b, c, d)
  local old = structs[self] or fetch_struct(self)
  if not old then return false end
  if has_sizes(old, n, a, b, c, d) then return true end
  local anchor = anchor_of(self)
  local count = anchor and product(n, a, b, c, d)
  if not count then return false end
  if needs_block(old, count) then
    local done = move_to(self, old, anchor, sized(dtype, n, a, b, c, d))
    return done
  end
  if tonumber(old.storageOffset) + count > tonumber(old.storage.size) then return false end
  local view = bare_view(n)
  set_sizes(view, n, a, b, c, d)
  view.storage, view.storageOffset = old.storage, old.storageOffset
  return replace_struct(structs, self, old, view, anchor)
end

local resize_to = dtype.resize_to

function geometry.resize(self, ...)
  local n, a, b, c, d = select('#', ...), ...
  local s = n == 1 and type(a) ~= 'number' and long_storage(a)
  if s then n, a, b, c, d = numbers_of(s) end
  if n and are_numbers(n, a, b, c, d) and resize_to(self, n, a, b, c, d) then return self end
  return slow.resize(self, ...)
end

--- Gives self the sizes of a struct. Returns false where Python has to.
function dtype.resize_as(self, from, ...) -- luacheck: ignore 212
  local n, size = from.nDimension, from.size
  if n < 1 or n > 4 then return false end
  local a, b, c, d = tonumber(size[0]), nil, nil, nil
  if n >= 2 then b = tonumber(size[1]) end
  if n >= 3 then c = tonumber(size[2]) end
  if n >= 4 then d = tonumber(size[3]) end
  local done = resize_to(self, n, a, b, c, d)
  return done
end
local resize_as = dtype.resize_as

function geometry.resizeAs(self, ...)
  local other = ...
  local from = structs[other] or fetch_struct(other)
  if from and resize_as(self, from) then return self end
  return slow.resizeAs(self, ...)
end

-- -------------------------------------------------------------- views of tensors

-- A struct with another tensor's geometry, and what keeps its memory; nil where Python has to make
-- it.
local function same_view(other)
  local c = structs[other] or fetch_struct(other)
  local n = c and c.nDimension
  if not c or n > ROOM then return nil end
  local view
  view, c = new_view(n, other, n)
  copy_geometry(view, 0, c, 0, n)
  if n > 0 and not layouts.is_within(c) then return nil end
  view.storage, view.storageOffset = c.storage, c.storageOffset
  local anchor = share(other, c)
  return view, anchor, other
end

--- Makes a tensor the view that another one is, or one without elements.
function geometry.set(self, ...)
  local n, other = select('#', ...), ...
  local old = anchor_of(self) and structs[self]
  if old and (n == 0 or class_of(other) == TENSOR) then
    local view, anchor
    if n == 0 then
      if old.nDimension == 0 then return self end
      view, anchor = bare_view(0), NO_STORAGE
    else
      view, anchor = same_view(other)
    end
    if view and replace_struct(structs, self, old, view, anchor) then return self end
  end
  return slow.set(self, ...)
end

-- ---------------------------------------------------------------- constructor

-- A new tensor; nil where Python has to make it.
function dtype.construct(n, a, b, c, d)
  local value
  if n == 0 then
    value = publish(bare_view(0), NO_STORAGE)
    return value
  end
  if type(a) == 'userdata' then
    if class_of(a) == TENSOR then
      local view, anchor = same_view(a)
      if view then value = publish(view, anchor) end
      return value
    end
    local s = n == 1 and class_of(a) ~= STORAGE and long_storage(a)
    if not s then return nil end
    n, a, b, c, d = numbers_of(s)
    if not n then return nil end
  end
  if not are_numbers(n, a, b, c, d) then return nil end
  local block, count = sized(dtype, n, a, b, c, d)
  if not block then return nil end
  leave_undetermined(dtype, block.own.data, count)
  value = blocks.publish(dtype, block)
  return value
end

return geometry
