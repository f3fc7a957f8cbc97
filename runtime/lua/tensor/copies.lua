--- Copies of small tensors into tensors of one element type, from any type: copy, clone,
-- contiguous, and conversions.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on to Python (`slow`).
-- A nan is left to Python, too: Lua knows only one of them. So is a whole number that a double has
-- no room for, and a number that an integer type has none for. They are found while elements are
-- copied; Python then copies all of them again.
-- @module tensor_copies

local th, dtype, slow = ...
local ffi = require 'ffi'

local tonumber, select, copy = tonumber, select, ffi.copy
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local convert, width = dtype.convert, ffi.sizeof(dtype.ctype)
local dense, blocks, class_of, typename = th.formulas.dense, th.blocks, th.class_of, th.typename
local same_sizes, ROOM, MAX = dtype.same_sizes, th.ROOM, blocks.MAX
local FIRST_TENSOR, IS_HALF = th.host.FIRST_TENSOR, dtype.name == 'Half'

local copies = {}

-- The element type of a tensor; nil for other values.
local function type_of(value)
  local id = class_of(value)
  return id and th.dtypes[id - FIRST_TENSOR + 1]
end

-- The largest number that a type has as an element, or as a double.
local function largest(element)
  if element.name == 'Float' or element.name == 'Double' then return 1 / 0 end
  return element.name == 'Long' and 2 ^ 53 or 2 ^ 31 - 1
end
local MOST_HERE = largest(dtype)

-- Converts `rows` times n elements, whose distances in memory are given; returns false where it
-- meets one that is left to Python: a nan, or a number beyond `most`.
local function convert_rows(to, row, step, from, from_row, from_step, rows, n, load, most)
  for r = 0, rows - 1 do
    local i, j = r * row, r * from_row
    for _ = 1, n do
      local v = load(from, j)
      if not (v <= most and v >= -most) then return false end
      to[i] = convert(v)
      i, j = i + step, j + from_step
    end
  end
  return true
end

-- The same for tensors of equal sizes, from dimension d on.
local function convert_all(c, s, d, to, from, load, most)
  local last = c.nDimension - 1
  local size, step, from_step = tonumber(c.size[d]), tonumber(c.stride[d]), tonumber(s.stride[d])
  if d == last then
    return (convert_rows(to, 0, step, from, 0, from_step, 1, size, load, most))
  elseif d == last - 1 then
    return (convert_rows(to, step, tonumber(c.stride[last]), from, from_step,
      tonumber(s.stride[last]), size, tonumber(c.size[last]), load, most))
  end
  for _ = 1, size do
    if not convert_all(c, s, d + 1, to, from, load, most) then return false end
    to, from = to + step, from + from_step
  end
  return true
end

-- How many elements of the storage there are from the first one of a tensor to its last one; nil
-- where two elements may be one place, as far as strides show in their order.
local function extent(c, is_target)
  local reach = 0
  for d = c.nDimension - 1, 0, -1 do
    local size, stride = tonumber(c.size[d]), tonumber(c.stride[d])
    if is_target and size > 1 and stride <= reach then return nil end
    reach = reach + (size - 1) * stride
  end
  return reach + 1
end

local function count_of(c)
  local n = c.nDimension
  if n == 0 or n > ROOM then return 0 end
  local count = tonumber(c.size[0])
  if n > 1 then count = count * tonumber(c.size[1]) end
  for d = 2, n - 1 do count = count * tonumber(c.size[d]) end
  return count
end

local function fits(c, is_target)
  local needed = extent(c, is_target)
  return needed and tonumber(c.storageOffset) + needed <= tonumber(c.storage.size)
end

-- Copies the elements of a tensor with struct s, of a type, to one with struct c; returns false
-- where Python has to.
local function copy_struct(c, s, other)
  local count = count_of(c)
  if count == 0 or count > MAX or c.storage == ffi.cast('void *', s.storage) then return false end
  local to, from = c.storage.data + c.storageOffset, s.storage.data + s.storageOffset
  local flat = dense(c) == count and dense(s) == count
  if flat and other == dtype then
    copy(to, from, count * width)
    return true
  end
  if IS_HALF or other.name == 'Half' then return false end
  local most = math.min(MOST_HERE, largest(other))
  if flat then return (convert_rows(to, 0, 1, from, 0, 1, 1, count, other.load, most)) end
  if not same_sizes(c, s) or not fits(c, true) or not fits(s) then return false end
  return (convert_all(c, s, 0, to, from, other.load, most))
end

function copies.copy(self, ...)
  local source = ...
  local c = structs[self] or fetch_struct(self)
  local other = c and select('#', ...) == 1 and type_of(source)
  local s = other and (other.structs[source] or other.fetch_struct(source))
  if s and s.storage ~= nil and c.storage ~= nil and copy_struct(c, s, other) then return self end
  return slow.copy(self, ...)
end

-- A new tensor of this type with the elements of another one, of type `other`; nil where Python
-- has to make it.
local function copied(source, other, ...) -- luacheck: ignore 212
  local s = other.structs[source] or other.fetch_struct(source)
  local count = s and count_of(s) or 0
  if count == 0 or count > MAX then return nil end
  local block = blocks.like(dtype, s, count)
  s = other.structs[source] or other.need_struct(source) -- finalizers may have changed it
  if s.nDimension == 0 or s.storage == nil or not same_sizes(block, s)
    or not copy_struct(block, s, other) then
    return nil
  end
  return blocks.publish(dtype, block)
end
dtype.copied = copied

function copies.clone(self, ...)
  if structs[self] or fetch_struct(self) then
    local value = copied(self, dtype)
    if value then return value end
  end
  return slow.clone(self, ...)
end

--- The tensor itself if it is contiguous, otherwise a contiguous copy.
function copies.contiguous(self, ...)
  local c = structs[self] or fetch_struct(self)
  if c then
    if dtype.is_contiguous(c) then return self end
    local value = copied(self, dtype)
    if value then return value end
  end
  return slow.contiguous(self, ...)
end

-- ---------------------------------------------------------------- conversions

-- A tensor converted to another type; itself where it has that type already, nil where Python has
-- to convert it.
local function converted(self, wanted)
  if not (structs[self] or fetch_struct(self)) then return nil end
  if wanted == dtype then return self end
  local value = wanted.copied(self, dtype)
  return value
end

local by_name, converters = {}, {}
for _, wanted in ipairs(th.dtypes) do
  by_name[wanted.tensor_name] = wanted
  local name = wanted.name:lower()
  converters[name] = function(self, ...)
    local value = converted(self, wanted)
    if value then return value end
    return slow[name](self, ...)
  end
end
for name, f in pairs(converters) do copies[name] = f end

--- The name of the class; with a name, the tensor converted to that class.
function copies.type(self, ...)
  local name = ...
  if name == nil then return typename(self) end
  local wanted = by_name[name]
  local value = wanted and converted(self, wanted)
  if value then return value end
  return slow.type(self, ...)
end

function copies.typeAs(self, ...)
  local other = ...
  local wanted = type_of(other)
  local value = wanted and wanted.fetch_struct and converted(self, wanted)
  if value then return value end
  return slow.typeAs(self, ...)
end

return copies
