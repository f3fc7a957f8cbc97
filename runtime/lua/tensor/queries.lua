--- Queries of a tensor of one element type: sizes, strides, storage, comparisons of geometry. This
-- chunk is loaded once for each type, as access.lua, where the rules for such code are told.
-- @module tensor_queries

local dtype, slow = ...
local ffi, c_structs, errors = import('ffi', 'core.c_structs', 'core.errors')
local blocks, layouts = import('tensor.blocks', 'tensor.layouts')

local type, tonumber, ipairs = type, tonumber, ipairs
local structs = dtype.structs
local fetch_struct, need_struct = dtype.fetch_struct, dtype.need_struct
local long_store, publish_long_store = blocks.long_store, blocks.publish_long_store
local share, publish_storage = blocks.share, blocks.publish_storage
local ROOM, count_of, contiguous = c_structs.ROOM, layouts.count, layouts.contiguous
local same_sizes, same_strides = layouts.same_sizes, layouts.same_strides

local queries = {}

-- A LongStorage of the sizes, or of the strides, of a tensor of n dimensions.
local function new_numbers(self, n, member, ...) -- luacheck: ignore 212
  local store = long_store(n)
  local c = structs[self] or need_struct(self) -- allocating may have run finalizers that changed it
  if c.nDimension ~= n then errors.fail('a finalizer has changed the number of dimensions') end
  local to, from = store.own.data, c[member]
  if n > 0 then to[0] = from[0] end
  if n > 1 then to[1] = from[1] end
  if n > 2 then ffi.copy(to, from, 8 * n) end
  return (publish_long_store(store))
end

for _, name in ipairs{ 'size', 'stride' } do
  queries[name] = function(self, dim, ...)
    local c = structs[self] or fetch_struct(self)
    if c then
      if dim == nil and c.nDimension > 0 then return new_numbers(self, c.nDimension, name) end
      if type(dim) == 'number' and dim >= 1 and dim <= c.nDimension then
        return tonumber(c[name][dim - 1])
      end
    end
    return slow[name](self, dim, ...)
  end
end

function queries.dim(self, ...)
  local c = structs[self] or fetch_struct(self)
  return c and c.nDimension or slow.dim(self, ...)
end
queries.nDimension = queries.dim

for _, name in ipairs{ 'nElement', 'numel' } do
  queries[name] = slow[name] and function(self, ...) -- HalfTensor has no numel
    local c = structs[self] or fetch_struct(self)
    if not c or c.nDimension > ROOM then return slow[name](self, ...) end
    return (count_of(c))
  end
end

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

function queries.isContiguous(self, ...)
  local c = structs[self] or fetch_struct(self)
  if not c then return slow.isContiguous(self, ...) end
  return contiguous(c) > 0
end

local function same_views(c, d)
  return c.storage ~= nil and c.storage == d.storage and c.storageOffset == d.storageOffset
    and same_sizes(c, d) and same_strides(c, d)
end

for name, holds in pairs{ isSameSizeAs = same_sizes, isSetTo = same_views } do
  queries[name] = function(self, ...)
    local other = ...
    local c = structs[self] or fetch_struct(self)
    local d = structs[other] or fetch_struct(other)
    if not (c and d) then return slow[name](self, ...) end
    return holds(c, d)
  end
end

return queries
