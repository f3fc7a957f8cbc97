--- What the functions for few elements share: geometry as plain numbers, addresses, new tensors.
--
-- A finalizer of the program may run wherever Lua allocates memory, and resize any storage. In the
-- interpreter every pointer and every whole number of 64 bits that is read from memory allocates.
-- So a function makes its new tensors first; then it reads sizes, strides and addresses, as Lua's
-- numbers, and checks with those numbers that all elements lie in their storages (`place`); then it
-- makes the pointers that it needs, and asks whether any storage has moved since the beginning
-- (`moved`). What follows allocates nothing: elements are read as numbers of 32 bits or doubles,
-- and C functions get addresses as numbers.
-- @module tools

local th = ...
local ffi = require 'ffi'
local host = th.host

local tonumber, type = tonumber, type
local cast = ffi.cast

local tools = {
  MAX_NEW = 1024,  -- elements of a new tensor
  MAX_WORK = 4096, -- elements of working memory
}
local MAX_NEW, MAX_WORK = tools.MAX_NEW, tools.MAX_WORK

local MAX_PLACE = 2 ^ 30 -- of an element, from its tensor's first one

local moves = cast('int32_t *', th.ask(host.storage_moves))

--- A number that is another one each time that a storage has been resized.
function tools.moves()
  return moves[0]
end

-- ------------------------------------------------------------------- geometry

--- The number of dimensions of a tensor (0 if there are none, or more than 3), and its sizes and
-- strides. Those of fewer than 3 dimensions are the last ones: before them are sizes of 1.
function tools.geometry(c)
  local n = c.nDimension
  if n == 1 then return 1, 1, 1, tonumber(c.size[0]), 0, 0, tonumber(c.stride[0]) end
  if n == 2 then
    return 2, 1, tonumber(c.size[0]), tonumber(c.size[1]),
      0, tonumber(c.stride[0]), tonumber(c.stride[1])
  end
  if n == 3 then
    return 3, tonumber(c.size[0]), tonumber(c.size[1]), tonumber(c.size[2]),
      tonumber(c.stride[0]), tonumber(c.stride[1]), tonumber(c.stride[2])
  end
  return 0, 0, 0, 0, 0, 0, 0
end

local intptr = ffi.typeof('intptr_t')

--- The address of the first element of a tensor with three sizes and strides; nil unless all its
-- elements lie in its storage.
-- @param width bytes of an element
function tools.place(c, width, s0, s1, s2, t0, t1, t2)
  if s0 < 1 or s1 < 1 or s2 < 1 or t0 < 0 or t1 < 0 or t2 < 0 then return nil end
  local storage, offset = c.storage, tonumber(c.storageOffset)
  local last = offset + (s0 - 1) * t0 + (s1 - 1) * t1 + (s2 - 1) * t2
  if offset < 0 or last >= tonumber(storage.size) or last - offset > MAX_PLACE then return nil end
  return tonumber(cast(intptr, storage.data)) + width * offset
end

--- Whether all elements of a tensor with three sizes and strides are at places of their own.
function tools.distinct(s0, s1, s2, t0, t1, t2)
  if s0 == 1 then t0 = 1e15 end
  if s1 == 1 then t1 = 1e15 end
  if s2 == 1 then t2 = 1e15 end
  -- In the order of the strides, the first one the greatest: each is greater than all below span.
  if t0 < t1 then s0, s1, t0, t1 = s1, s0, t1, t0 end
  if t1 < t2 then s1, s2, t1, t2 = s2, s1, t2, t1 end
  if t0 < t1 then s0, s1, t0, t1 = s1, s0, t1, t0 end
  local span = s2 == 1 and 0 or (s2 - 1) * t2
  if t2 < 1 or t1 <= span then return false end
  span = span + (s1 == 1 and 0 or (s1 - 1) * t1)
  return t0 > span
end

--- Whether two tensors have the same storage.
function tools.shares(c, d)
  return c.storage == d.storage
end

--- The address of memory that a cdata is, or points to.
function tools.address(memory)
  return tonumber(cast(intptr, memory))
end

-- ----------------------------------------------------------------- new tensors

--- A new contiguous tensor of n dimensions with the last n of three sizes: the block, the address of
-- its elements and three strides; nil if it is large. `publish` makes its userdata.
function tools.new(dtype, n, s0, s1, s2)
  local count = s0 * s1 * s2
  if count > MAX_NEW then return nil end
  local block = th.new_block(dtype, count, n)
  local size, stride = block.size, block.stride
  size[n - 1], stride[n - 1] = s2, 1
  if n >= 2 then size[n - 2], stride[n - 2] = s1, s2 end
  if n == 3 then size[0], stride[0] = s0, s1 * s2 end
  return block, tonumber(cast(intptr, block.data)), s1 * s2, s2, 1
end

tools.publish = th.publish_block

-- --------------------------------------------------------------------- places

local longs = th.dtypes[th.LONG + 1]
local long_structs, fetch_long = longs.structs, longs.fetch_struct

--- The struct of a LongTensor; nil for other values.
function tools.long_struct(value)
  return type(value) == 'userdata' and (long_structs[value] or fetch_long(value)) or nil
end

tools.words = ffi.typeof('int32_t *')

--- Working memory for the places of up to MAX_WORK elements of two tensors.
tools.places, tools.others = ffi.new('int32_t[?]', MAX_WORK), ffi.new('int32_t[?]', MAX_WORK)

-- The loops below run over all elements of a tensor, in order. They are no nests of loops, since
-- LuaJIT compiles no loop that ends at its first turn.

--- Sets the places of a tensor's elements, counted in elements from its first one.
function tools.set_places(out, s0, s1, s2, t0, t1, t2)
  local i, j, k, at = 0, 0, 0, 0
  for m = 0, s0 * s1 * s2 - 1 do
    out[m] = at
    k = k + 1
    if k < s2 then
      at = at + t2
    else
      j, k = j + 1, 0
      if j == s1 then i, j = i + 1, 0 end
      at = i * t0 + j * t1
    end
  end
end

--- Adds `step` to a place for each position before that of the index at hand; false if an index is
-- not one of 1 to limit.
-- @param indices pointer to the indices as numbers of 32 bits, two for each
function tools.add_indices(out, indices, limit, step, s0, s1, s2, t0, t1, t2)
  local i, j, k, at = 0, 0, 0, 0
  for m = 0, s0 * s1 * s2 - 1 do
    local index = indices[2 * at]
    if indices[2 * at + 1] ~= 0 or index < 1 or index > limit then return false end
    out[m] = out[m] + step * (index - 1)
    k = k + 1
    if k < s2 then
      at = at + t2
    else
      j, k = j + 1, 0
      if j == s1 then i, j = i + 1, 0 end
      at = i * t0 + j * t1
    end
  end
  return true
end

return tools
