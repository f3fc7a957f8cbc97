--- Copies of small tensors into tensors of one element type, from any type: copy, clone,
-- contiguous, and conversions.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on (`slow`): copies of
-- elements of the same type that are not contiguous are formulas, all others Python's.
-- Nans are left to Python, too, of which Lua knows only one; so are infinities, and numbers beyond
-- 32 bits from or to an integer type. They are found while elements are copied; Python then copies
-- all of them again.
-- @module tensor_copies

local dtype, slow = ...
local ffi, host, c_structs, class_ids = import('ffi', 'host', 'core.c_structs', 'core.class_ids')
local finalizers, type_names, blocks = import('core.finalizers', 'core.type_names', 'tensor.blocks')
local formulas, layouts = import('tensor.formulas', 'tensor.layouts')

local tonumber, select, abs, copy, cast = tonumber, select, math.abs, ffi.copy, ffi.cast
local begin_work, end_work = finalizers.begin_work, finalizers.end_work
local band, int32s = require('bit').band, ffi.typeof('int32_t *')
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local width = ffi.sizeof(dtype.ctype)
local dense, class_of, typename = formulas.dense, class_ids.class_of, type_names.typename
local LARGE = host.LARGE
local same_sizes, count_of, is_within = layouts.same_sizes, layouts.count, layouts.is_within
local FIRST_TENSOR, IS_HALF = host.FIRST_TENSOR, dtype.name == 'Half'

local copies = {}

-- The element type of a tensor; nil for other values.
local function type_of(value)
  local id = class_of(value)
  return id and c_structs.dtypes[id - FIRST_TENSOR + 1]
end

-- The largest number that a type has as an element. Elements of a Long are read as 32 bits.
local function largest(element)
  return (element.name == 'Float' or element.name == 'Double') and 1 / 0 or 2 ^ 31 - 1
end
local largest_of_type = largest(dtype)

-- The functions read_* give element j, or nil for one that is left to Python. They allocate
-- nothing, in the interpreter either. words: the same elements as whole numbers of 32 bits.

local function read_double(from, words, j)
  if band(words[2 * j + 1], 0x7ff00000) == 0x7ff00000 then return nil end
  return from[j]
end

local function read_float(from, words, j)
  if band(words[j], 0x7f800000) == 0x7f800000 then return nil end
  return from[j]
end

local function read_long(_, words, j)
  local low = words[2 * j]
  if words[2 * j + 1] ~= (low < 0 and -1 or 0) then return nil end
  return low
end

local function read_whole(from, _, j)
  return from[j]
end

local readers = { Double = read_double, Float = read_float, Long = read_long }

-- Converts `rows` times n elements; returns false where it meets one that is left to Python.
-- row, step, from_row, from_step: the distances. This is no nest of loops: LuaJIT compiles short
-- inner loops badly.
local function convert_rows(to, row, step, from, words, from_row, from_step, rows, n, read)
  local i, j, k, l, column = 0, 0, 0, 0, 0
  for _ = 1, rows * n do
    local v = read(from, words, l)
    if not v or v > largest_of_type or v < -largest_of_type then return false end
    to[k] = v
    column = column + 1
    if column < n then
      k, l = k + step, l + from_step
    else
      i, j, column = i + row, j + from_row, 0
      k, l = i, j
    end
  end
  return true
end

-- Tells whether no two elements of a vector or matrix are one place, as far as strides show in
-- their order.
local function is_apart(c)
  local last = c.nDimension - 1
  local size, stride = tonumber(c.size[last]), tonumber(c.stride[last])
  if size > 1 and stride < 1 then return false end
  return last == 0 or c.size[0] == 1 or tonumber(c.stride[0]) > (size - 1) * stride
end

-- The distance of neighbouring elements where those of a tensor, in order, lie in equal distances:
-- of a contiguous one, of a vector. nil for others.
local function line_step(c, count)
  if dense(c) == count then return 1 end
  if c.nDimension ~= 1 or not is_within(c) then return nil end
  local step = tonumber(c.stride[0])
  return step
end

-- Copies or converts as many elements of a tensor with struct s, of a type, to one with struct c;
-- returns false where another way has to.
local function convert_elements(c, s, count, from_type)
  local step, from_step = line_step(c, count), line_step(s, count)
  local rows, n, row, from_row = 1, count, 0, 0
  if not (step and from_step and count_of(s) == count) then
    if c.nDimension ~= 2 or not same_sizes(c, s) or not is_within(c) or not is_within(s) then
      return false
    end
    rows, n = tonumber(c.size[0]), tonumber(c.size[1])
    row, step = tonumber(c.stride[0]), tonumber(c.stride[1])
    from_row, from_step = tonumber(s.stride[0]), tonumber(s.stride[1])
  end
  if dense(c) ~= count and not is_apart(c) then return false end
  local to, from = c.storage.data + c.storageOffset, s.storage.data + s.storageOffset
  return (convert_rows(to, row, step, from, cast(int32s, from), from_row, from_step, rows, n,
    readers[from_type.name] or read_whole))
end

-- Copies the elements of a tensor with struct s, of a type, to one with struct c; returns false
-- where another way has to.
local function copy_elements(c, s, from_type)
  local count, same = count_of(c), from_type == dtype
  if count == 0 or count >= LARGE then return false end
  local flat = same and dense(c) == count and dense(s) == count
  -- In one storage, no element must be overwritten before it is read.
  if c.storage == cast('void *', s.storage)
    and not (flat and abs(tonumber(c.storageOffset - s.storageOffset)) >= count) then
    return false
  end
  if flat then
    copy(c.storage.data + c.storageOffset, s.storage.data + s.storageOffset, count * width)
    return true
  end
  if count > blocks.MAX or IS_HALF or from_type.name == 'Half'
    or same and not (line_step(c, count) and line_step(s, count)) then
    return false
  end
  return (convert_elements(c, s, count, from_type))
end

local function copy_struct(c, s, from_type)
  begin_work()
  local is_copied = copy_elements(c, s, from_type)
  end_work()
  return is_copied
end

--- Copies a tensor of any type to the elements of a struct; returns false where Python has to.
function dtype.copy_to_struct(c, source)
  local from_type = type_of(source)
  local s = from_type and (from_type.structs[source] or from_type.fetch_struct(source))
  return s and s.storage ~= nil and copy_struct(c, s, from_type)
end

function copies.copy(self, ...)
  local source = ...
  local c = structs[self] or fetch_struct(self)
  local from_type = c and select('#', ...) == 1 and type_of(source)
  local s = from_type and (from_type.structs[source] or from_type.fetch_struct(source))
  local can_copy = s and s.storage ~= nil and c.storage ~= nil
  if can_copy and copy_struct(c, s, from_type) then return self end
  return slow.copy(self, ...)
end

-- A new tensor of this type with the elements of another one, of `from_type`; nil where Python
-- has to make it.
local function copied(source, from_type, ...) -- luacheck: ignore 212
  local s = from_type.structs[source] or from_type.fetch_struct(source)
  if s and s.nDimension == 0 and dtype.construct then return (dtype.construct(0)) end
  local count = s and count_of(s) or 0
  if count == 0 or count > blocks.MAX or from_type == dtype and dense(s) == 0 then return nil end
  local block = blocks.like(dtype, s, count)
  s = from_type.structs[source] or from_type.need_struct(source) -- finalizers may have changed it
  if s.nDimension == 0 or s.storage == nil or not same_sizes(block, s)
    or not copy_struct(block, s, from_type) then
    return nil
  end
  return (blocks.publish(dtype, block))
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
    if layouts.contiguous(c) > 0 then return self end
    if c.storage ~= nil and is_within(c) then return (slow.clone(self)) end
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
for _, wanted in ipairs(c_structs.dtypes) do
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
