--- What a tensor of one element type is asked: sizes, strides, storage, comparisons of geometry.
-- This chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- @module tensor_queries

local th, dtype, slow = ...
local ffi = require 'ffi'

local type, tonumber = type, tonumber
local structs = dtype.structs
local fetch_struct, need_struct = dtype.fetch_struct, dtype.need_struct
local blocks = th.blocks
local long_store, publish_long_store = blocks.long_store, blocks.publish_long_store
local share, publish_storage = blocks.share, blocks.publish_storage
local ROOM, count_of = th.ROOM, th.layouts.count

local queries = {}

-- A LongStorage of the sizes, or of the strides, of a tensor of n dimensions.
local function new_numbers(self, n, member, ...) -- luacheck: ignore 212
  local store = long_store(n)
  local c = structs[self] or need_struct(self) -- allocating may have run finalizers that changed it
  if c.nDimension ~= n then th.fail('a finalizer has changed the number of dimensions') end
  local to, from = store.own.data, c[member]
  if n > 0 then to[0] = from[0] end
  if n > 1 then to[1] = from[1] end
  if n > 2 then ffi.copy(to, from, 8 * n) end
  return (publish_long_store(store))
end

function queries.size(self, dim, ...)
  local c = structs[self] or fetch_struct(self)
  if c then
    if dim == nil and c.nDimension > 0 then return new_numbers(self, c.nDimension, 'size') end
    if type(dim) == 'number' and dim >= 1 and dim <= c.nDimension then
      return tonumber(c.size[dim - 1])
    end
  end
  return slow.size(self, dim, ...)
end

function queries.stride(self, dim, ...)
  local c = structs[self] or fetch_struct(self)
  if c then
    if dim == nil and c.nDimension > 0 then return new_numbers(self, c.nDimension, 'stride') end
    if type(dim) == 'number' and dim >= 1 and dim <= c.nDimension then
      return tonumber(c.stride[dim - 1])
    end
  end
  return slow.stride(self, dim, ...)
end

function queries.dim(self, ...)
  local c = structs[self] or fetch_struct(self)
  return c and c.nDimension or slow.dim(self, ...)
end
queries.nDimension = queries.dim

local function count(c)
  local n = c.nDimension
  if n <= ROOM then return (count_of(c)) end
  local result = 1
  for d = 0, n - 1 do result = result * tonumber(c.size[d]) end
  return result
end

function queries.nElement(self, ...)
  local c = structs[self] or fetch_struct(self)
  if not c then return slow.nElement(self, ...) end
  return count(c)
end

function queries.numel(self, ...)
  local c = structs[self] or fetch_struct(self)
  if not c then return slow.numel(self, ...) end
  return count(c)
end
if not slow.numel then queries.numel = nil end -- HalfTensor has no such method

function queries.storageOffset(self, ...)
  local c = structs[self] or fetch_struct(self)
  return c and tonumber(c.storageOffset) + 1 or slow.storageOffset(self, ...)
end

--- The storage, as a new userdata each time; nil for a tensor that never had one.
function queries.storage(self, ...)
  local c = structs[self] or fetch_struct(self)
  if c then
    if c.storage == nil then return nil end
    local struct, anchor = c.storage, share(self, c)
    local value = publish_storage(dtype, struct, anchor)
    return value
  end
  return slow.storage(self, ...)
end

-- ---------------------------------------------------------------- comparisons

local function same_sizes(c, d)
  local n = c.nDimension
  if n ~= d.nDimension then return false end
  if n > 0 and c.size[0] ~= d.size[0] or n > 1 and c.size[1] ~= d.size[1] then return false end
  return n < 3 or ffi.C.th_compare(c.size, d.size, 8 * n) == 0
end
dtype.same_sizes = same_sizes

local function same_strides(c, d)
  local n = c.nDimension
  if n > 0 and c.stride[0] ~= d.stride[0] or n > 1 and c.stride[1] ~= d.stride[1] then
    return false
  end
  return n < 3 or ffi.C.th_compare(c.stride, d.stride, 8 * n) == 0
end

dtype.same_strides = same_strides

-- The number of elements of dimension d and those behind it, as far as they are contiguous, of
-- which there are `inner`; 0 where they are not.
local function with_dimension(c, d, inner)
  local size = tonumber(c.size[d])
  if size ~= 1 and c.stride[d] ~= inner then return 0 end
  return inner * size
end

local function is_contiguous(c)
  local n, found = c.nDimension, 1
  if n > 0 then found = with_dimension(c, n - 1, found) end
  if n > 1 then found = with_dimension(c, n - 2, found) end
  if n > 2 then found = with_dimension(c, n - 3, found) end
  if n > 3 then found = with_dimension(c, n - 4, found) end
  if n > 4 then
    found = with_dimension(c, n - 5, found)
    for d = n - 6, 0, -1 do found = with_dimension(c, d, found) end
  end
  return found > 0
end

dtype.is_contiguous = is_contiguous

function queries.isContiguous(self, ...)
  local c = structs[self] or fetch_struct(self)
  if not c then return slow.isContiguous(self, ...) end
  return is_contiguous(c)
end

function queries.isSameSizeAs(self, ...)
  local other = ...
  local c = structs[self] or fetch_struct(self)
  local d = structs[other] or fetch_struct(other)
  if not (c and d) then return slow.isSameSizeAs(self, ...) end
  return same_sizes(c, d)
end

function queries.isSetTo(self, ...)
  local other = ...
  local c = structs[self] or fetch_struct(self)
  local d = structs[other] or fetch_struct(other)
  if not (c and d) then return slow.isSetTo(self, ...) end
  return c.storage ~= nil and c.storage == d.storage and c.storageOffset == d.storageOffset
    and same_sizes(c, d) and same_strides(c, d)
end

function queries.isSize(self, ...)
  local sizes = ...
  local c = structs[self] or fetch_struct(self)
  local s = blocks.long_storage(sizes)
  if not (c and s) or c.nDimension > ROOM then return slow.isSize(self, ...) end
  local n = c.nDimension
  if s.size ~= n then return false end
  local data = s.data
  for d = 0, n - 1 do
    if c.size[d] ~= data[d] then return false end
  end
  return true
end

return queries
