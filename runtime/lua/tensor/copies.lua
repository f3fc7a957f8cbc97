--- Copies of small tensors into tensors of one element type, from any type: copy, clone,
-- contiguous, and conversions.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- Calls that it does not handle, or that must raise an error, are passed on to Python (`slow`).
-- Nans are left to Python, too, of which Lua knows only one; so are infinities, and numbers beyond
-- 32 bits from or to an integer type. They are found while elements are copied; Python then copies
-- all of them again.
-- @module tensor_copies

local th, dtype, slow = ...
local ffi = require 'ffi'

local C = ffi.C
local tonumber, select, abs, copy, cast = tonumber, select, math.abs, ffi.copy, ffi.cast
local begin_work, end_work = th.begin_work, th.end_work
local intptr = ffi.typeof('intptr_t')
local band, int32s = require('bit').band, ffi.typeof('int32_t *')
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local width = ffi.sizeof(dtype.ctype)
local dense, blocks, class_of, typename = th.formulas.dense, th.blocks, th.class_of, th.typename
local copy_by_loop = th.formulas.copy_rows
local same_sizes, count_of, MAX = dtype.same_sizes, th.layouts.count, blocks.MAX
local FIRST_TENSOR, IS_HALF = th.host.FIRST_TENSOR, dtype.name == 'Half'

local MAX_SAME = th.host.LARGE - 1 -- elements that are copied as they are, without threads
local MIN_ROW = 8 -- elements of a row from which on it is copied as a whole
local MIN_STRIDED = 32 -- elements from which on numpy's loop copies rows of a matrix

local copies = {}

-- The element type of a tensor; nil for other values.
local function type_of(value)
  local id = class_of(value)
  return id and th.dtypes[id - FIRST_TENSOR + 1]
end

-- The largest number that a type has as an element. Elements of a Long are read as 32 bits.
local function largest(element)
  return (element.name == 'Float' or element.name == 'Double') and 1 / 0 or 2 ^ 31 - 1
end
local MOST = largest(dtype)

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
-- i, j: the positions of the first ones. row, step, from_row, from_step: the distances. This is no
-- nest of loops: LuaJIT compiles short inner loops badly.
local function convert_rows(to, i, row, step, from, words, j, from_row, from_step, rows, n, read)
  local k, l, column = i, j, 0
  for _ = 1, rows * n do
    local v = read(from, words, l)
    if not v or v > MOST or v < -MOST then return false end
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

-- Copies `rows` rows of n bytes each. to, from: addresses, as numbers; row, from_row: distances in
-- bytes. Nothing is allocated here.
local function copy_rows(to, row, from, from_row, rows, n)
  for _ = 1, rows do
    C.th_copy(to, from, n)
    to, from = to + row, from + from_row
  end
end

-- numpy's loop that copies floats, and its data; nil as long as numpy is not loaded, false where
-- there is none.
local strided_loop, loop_data
local SIGNATURE = ({ Double = 'd->d', Float = 'f->f' })[dtype.name]

local function find_loop()
  if strided_loop ~= nil or not th.uses_numpy then return end
  if SIGNATURE then strided_loop, loop_data = th.formulas.inner_loop('positive', SIGNATURE) end
  strided_loop = strided_loop or false
end

-- Copies the elements of a matrix by that loop. The addresses are numbers; nothing is allocated.
local function copy_strided(to, row, step, from, from_row, from_step, rows, n)
  if rows > n then
    row, step, from_row, from_step, rows, n = step, row, from_step, from_row, n, rows
  end
  copy_by_loop(strided_loop, loop_data, n, rows, 1, to, width * step, width * row, 0,
    from, width * from_step, width * from_row, 0)
end

-- Does what convert_rows does for tensors of equal sizes: sizes, strides and from_strides are
-- tables.
local function convert_all(to, i, strides, from, words, j, from_strides, sizes, d, read)
  local last = #sizes
  if d >= last - 1 then
    local row = d == last and 0 or strides[d]
    return (convert_rows(to, i, row, strides[last], from, words, j,
      d == last and 0 or from_strides[d], from_strides[last], d == last and 1 or sizes[d],
      sizes[last], read))
  end
  for _ = 1, sizes[d] do
    if not convert_all(to, i, strides, from, words, j, from_strides, sizes, d + 1, read) then
      return false
    end
    i, j = i + strides[d], j + from_strides[d]
  end
  return true
end

-- How far the last element is behind the first one, by dimension d and those behind it, of which
-- the distance is `reach`; nil as below.
local function extent_with(c, d, reach, is_target)
  local size, stride = tonumber(c.size[d]), tonumber(c.stride[d])
  if is_target and size > 1 and stride <= reach then return nil end
  return reach + (size - 1) * stride
end

-- How many elements of the storage there are from the first one of a tensor to its last one; nil
-- where two elements may be one place, as far as strides show in their order.
local function extent(c, is_target)
  local last = c.nDimension - 1
  local size, stride = tonumber(c.size[last]), tonumber(c.stride[last])
  local reach = (size - 1) * stride
  if is_target and size > 1 and stride < 1 then return nil end
  if last > 0 then -- no loop for a matrix, as in blocks.lua
    size, stride = tonumber(c.size[last - 1]), tonumber(c.stride[last - 1])
    if is_target and size > 1 and stride <= reach then return nil end
    reach = reach + (size - 1) * stride
  end
  if last > 1 then reach = extent_with(c, last - 2, reach, is_target) end
  if last > 2 then reach = reach and extent_with(c, last - 3, reach, is_target) end
  if last > 3 then
    reach = reach and extent_with(c, last - 4, reach, is_target)
    for d = last - 5, 0, -1 do reach = reach and extent_with(c, d, reach, is_target) end
  end
  return reach and reach + 1
end

local function fits(c, is_target)
  local needed = extent(c, is_target)
  return needed and tonumber(c.storageOffset) + needed <= tonumber(c.storage.size)
end

-- Whether tensors of one storage have their elements in turns: between those of the one for an
-- index of the first dimension and for the next index lie those of the other. `fits` has to be
-- asked, too.
local function interleaved(c, s)
  local last, step = c.nDimension - 1, c.stride[0]
  if last < 1 or s.nDimension - 1 ~= last or step < 1 or step ~= s.stride[0] then return false end
  local reach, other = 1, 1
  for d = last, 1, -1 do
    reach = reach + tonumber((c.size[d] - 1) * c.stride[d])
    other = other + tonumber((s.size[d] - 1) * s.stride[d])
  end
  local apart = tonumber(c.storageOffset - s.storageOffset) % tonumber(step)
  return apart >= other and tonumber(step) - apart >= reach
end

-- The distance of neighbouring elements where those of a tensor, in order, lie in equal distances:
-- of a contiguous one, of a vector. nil for others.
local function line_step(c, count, is_target)
  if dense(c) == count then return 1 end
  if c.nDimension ~= 1 or not fits(c, is_target) then return nil end
  local step = tonumber(c.stride[0])
  return step
end

-- The strides of a tensor as a table: of a contiguous one those for the sizes of `like`, a tensor
-- with as many elements.
local function strides_for(c, like, is_dense)
  local strides, step = {}, 1
  for d = like.nDimension, 1, -1 do
    strides[d] = is_dense and step or tonumber(c.stride[d - 1])
    step = step * tonumber(like.size[d - 1])
  end
  return strides
end

-- Sizes, strides of c, and strides of s, as tables; nil where elements do not lie in such a way.
local function layout(c, s, count)
  local to_dense, from_dense = dense(c) == count, dense(s) == count
  if not (to_dense or fits(c, true)) or not (from_dense or fits(s)) then return nil end
  if not same_sizes(c, s) and (not (to_dense or from_dense) or count_of(s) ~= count) then
    return nil
  end
  local sizes, like = {}, from_dense and c or s
  for d = 1, like.nDimension do sizes[d] = tonumber(like.size[d - 1]) end
  return sizes, strides_for(c, like, to_dense), strides_for(s, like, from_dense)
end

-- Copies the elements of a tensor with struct s, of a type, to one with struct c; returns false
-- where Python has to.
local function copy_elements(c, s, other)
  local count = count_of(c)
  if count == 0 or count > MAX_SAME then return false end
  local flat = dense(c) == count and dense(s) == count
  local same = flat and other == dtype
  if count > MAX and not same then return false end
  -- In one storage, no element must be overwritten before it is read.
  if c.storage == cast('void *', s.storage)
    and not (same and abs(tonumber(c.storageOffset - s.storageOffset)) >= count)
    and not interleaved(c, s) then
    return false
  end
  if not same and (IS_HALF or other.name == 'Half') then return false end
  local sizes, strides, from_strides
  local is_matrix, rows, n, row, step, from_row, from_step = c.nDimension == 2, 1, count, 0, 1, 0, 1
  local line = flat
  if not flat then
    step, from_step = line_step(c, count, true), line_step(s, count)
    line = step and from_step and count_of(s) == count
  end
  is_matrix = is_matrix and not line and same_sizes(c, s)
  if not line then
    if is_matrix then
      if not fits(c, true) or not fits(s) then return false end
      rows, n = tonumber(c.size[0]), tonumber(c.size[1])
      row, step = tonumber(c.stride[0]), tonumber(c.stride[1])
      from_row, from_step = tonumber(s.stride[0]), tonumber(s.stride[1])
    else
      sizes, strides, from_strides = layout(c, s, count)
      if not sizes then return false end
    end
  end
  if is_matrix and not flat then find_loop() end
  local to, from = c.storage.data + c.storageOffset, s.storage.data + s.storageOffset
  local words = cast(int32s, from)
  local target, source = tonumber(cast(intptr, to)), tonumber(cast(intptr, from))
  if same then
    copy(to, from, count * width)
    return true
  end
  if is_matrix and other == dtype and step == 1 and from_step == 1 and n >= MIN_ROW then
    copy_rows(target, row * width, source, from_row * width, rows, n * width)
    return true
  end
  if is_matrix and other == dtype and count >= MIN_STRIDED and strided_loop then
    copy_strided(target, row, step, source, from_row, from_step, rows, n)
    return true
  end
  local read = readers[other.name] or read_whole
  if line or is_matrix then
    return (convert_rows(to, 0, row, step, from, words, 0, from_row, from_step, rows, n, read))
  end
  return (convert_all(to, 0, strides, from, words, 0, from_strides, sizes, 1, read))
end

local function copy_struct(c, s, other)
  begin_work()
  local done = copy_elements(c, s, other)
  end_work()
  return done
end

--- Copies a tensor of any type to the elements of a struct; returns false where Python has to.
function dtype.copy_to_struct(c, source)
  local other = type_of(source)
  local s = other and (other.structs[source] or other.fetch_struct(source))
  return s and s.storage ~= nil and copy_struct(c, s, other)
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
  if structs[self].nDimension == 0 and wanted.construct then return wanted.construct(0) end
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
