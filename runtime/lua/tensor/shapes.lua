--- The views of other sizes that Lua makes itself, for tensors of one element type: view, expand.
-- With two tensors, the first one becomes the view of the second.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on to Python (`slow`).
-- @module tensor_shapes

local dtype, slow = ...
local c_structs, class_ids = import('core.c_structs', 'core.class_ids')
local keep_alive, blocks, layouts = import('core.keep_alive', 'tensor.blocks', 'tensor.layouts')

local type, tonumber, select = type, tonumber, select
local structs, anchor_of = dtype.structs, keep_alive.anchor_of
local replace_struct = c_structs.replace_struct
local class_of, TENSOR = class_ids.class_of, dtype.tensor_id
local fetch_struct, new_view, publish = dtype.fetch_struct, dtype.new_view, dtype.publish
local locate, copy_geometry = dtype.locate, dtype.copy_geometry
local dense = layouts.dense
local set_strides, long_storage = blocks.set_strides, blocks.long_storage
local ROOM, LARGEST = c_structs.ROOM, dtype.LARGEST

local views = {}

-- Returns the result of a call that has made a view: the tensor that has become the view, or a new
-- one where `target` is false; nil where Python has to make it.
local function give(target, view, anchor)
  if not target then
    local value = publish(view, anchor)
    return value
  end
  local old = anchor_of(target) and structs[target]
  if view.storage == nil or not layouts.is_within(view) then return nil end
  return old and replace_struct(structs, target, old, view, anchor) and target or nil
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

-- Sets a size of -1 so that a view has `count` elements. Returns whether it has.
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

local function fill_from_numbers(view, n, ...)
  for d = 1, n do
    local size = select(d, ...)
    if type(size) ~= 'number' or size % 1 ~= 0 then return false end
    view.size[d - 1] = size
  end
  return true
end

local function fill_from_storage(view, n, sizes)
  local s = long_storage(sizes)
  if s.size ~= n then return false end
  for d = 0, n - 1 do view.size[d] = s.data[d] end
  return true
end

local function fill_from_struct(view, n, other)
  local c = structs[other]
  if not c or c.nDimension ~= n then return false end
  copy_geometry(view, 0, c, 0, n)
  return true
end

-- The view of the sizes that `fill` writes into its struct; they must have as many elements.
local function filled_view(self, n, fill, ...)
  local c = structs[self] or fetch_struct(self)
  local count = c and n >= 1 and n <= ROOM and dense(c) or 0
  if count == 0 then return nil end
  local view
  view, c = new_view(n, self, c.nDimension)
  if not (fill(view, n, ...) and complete(view, n, count)) then return nil end
  set_strides(view, n)
  local _, anchor, source = locate(view, c, c.storageOffset, self)
  return view, anchor, source
end

-- The view of sizes that are given as numbers, or as a LongStorage; `more` is how many arguments
-- follow the first two.
local function described_view(self, more, rows, columns, ...)
  local view, anchor
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
  return view, anchor, self
end

function views.view(self, rows, columns, ...)
  local more = select('#', ...)
  local view, anchor
  local sets = class_of(rows) == TENSOR -- self becomes the view of rows
  if sets then
    view, anchor = described_view(rows, more > 0 and more - 1 or 0, columns, ...)
  else
    view, anchor = described_view(self, more, rows, columns, ...)
  end
  local value = view and give(sets and self, view, anchor)
  if value then return value end
  if columns == nil and more == 0 then return slow.view(self, rows) end
  return slow.view(self, rows, columns, ...)
end

-- --------------------------------------------------------------------- expand

-- The view of the sizes that `fill` writes into its struct, where self has these, or size 1.
local function expanded_view(self, n, fill, ...)
  local c = structs[self] or fetch_struct(self)
  if not c or c.nDimension ~= n or n == 0 or n > ROOM then return nil end
  local view
  view, c = new_view(n, self, n)
  if not fill(view, n, ...) then return nil end
  for d = 0, n - 1 do
    local have, want = tonumber(c.size[d]), tonumber(view.size[d])
    if want < 1 or want > LARGEST or have ~= 1 and have ~= want then return nil end
    view.stride[d] = have == 1 and 0 or c.stride[d]
  end
  local _, anchor = locate(view, c, c.storageOffset, self)
  return view, anchor, self
end

for name, make in pairs{ viewAs = filled_view, expandAs = expanded_view } do
  views[name] = function(self, ...)
    local n, source, other = select('#', ...), self, ...
    local sets = n == 2 and class_of(other) == TENSOR -- self becomes the view
    if sets then source, other = ... end
    local c = (sets or n == 1) and (structs[other] or fetch_struct(other))
    if c then
      local view, anchor = make(source, c.nDimension, fill_from_struct, other)
      local value = view and give(sets and self, view, anchor)
      if value then return value end
    end
    return slow[name](self, ...)
  end
end

function views.expand(self, ...)
  local n, first, second = select('#', ...), ...
  local sets = class_of(first) == TENSOR -- self becomes the view
  local source, given = self, first
  if sets then n, source, given = n - 1, first, second end
  local view, anchor
  if n == 1 and type(given) ~= 'number' then
    local s = long_storage(given)
    if s then view, anchor = expanded_view(source, tonumber(s.size), fill_from_storage, given) end
  elseif sets then
    view, anchor = expanded_view(source, n, fill_from_numbers, select(2, ...))
  else
    view, anchor = expanded_view(source, n, fill_from_numbers, ...)
  end
  local value = view and give(sets and self, view, anchor)
  if value then return value end
  return slow.expand(self, ...)
end

return views
