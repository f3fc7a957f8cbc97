--- Small tensors that are made of others, for one element type: cat.
-- @module small_construct

local th, dtype = ...

local type, tonumber, max = type, tonumber, math.max
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local blocks, bare_view, copy_to_struct = th.blocks, dtype.bare_view, dtype.copy_to_struct
local ROOM = th.ROOM

local construct = {}

-- The sizes of tensors joined along a dimension (-1: the last one), that dimension, and the number
-- of elements; nil if they do not fit, or are many.
local function joined_sizes(parts, count, dim)
  local c = structs[parts[1]] or fetch_struct(parts[1])
  local n = c and c.nDimension or 0
  if dim == -1 then dim = n end
  if n == 0 or n > ROOM or not (dim >= 1 and dim <= n) or dim % 1 ~= 0 then return nil end
  local sizes, total = {}, 1
  for d = 1, n do sizes[d] = tonumber(c.size[d - 1]) end
  for k = 2, count do
    c = structs[parts[k]] or fetch_struct(parts[k])
    if not c or c.nDimension ~= n then return nil end
    for d = 1, n do
      local size = tonumber(c.size[d - 1])
      if d == dim then sizes[d] = sizes[d] + size elseif size ~= sizes[d] then return nil end
    end
  end
  for d = 1, n do total = total * sizes[d] end
  if total > blocks.MAX then return nil end
  return sizes, dim, total
end

-- Copies a tensor to the part of a block that begins at a position of a dimension; returns the
-- position behind it, or nil where Python has to.
local function copy_part(block, n, dim, position, part)
  local target = bare_view(n)
  local c = structs[part] or fetch_struct(part)
  if not c or c.nDimension ~= n then return nil end
  for d = 0, n - 1 do target.size[d], target.stride[d] = c.size[d], block.stride[d] end
  local size = tonumber(target.size[dim - 1])
  for d = 0, n - 1 do
    local room = tonumber(block.size[d]) - (d == dim - 1 and position or 0)
    if tonumber(target.size[d]) > max(room, 0) then return nil end -- a finalizer has changed it
  end
  target.storage, target.storageOffset = block.storage, position * block.stride[dim - 1]
  if not copy_to_struct(target, part) then return nil end
  return position + size
end

local function join(parts, count, dim, ...) -- luacheck: ignore 212
  local sizes, along, total = joined_sizes(parts, count, dim)
  if not sizes then return nil end
  local n, position = #sizes, 0
  local block = blocks.new(dtype, total, n)
  for d = 1, n do block.size[d - 1] = sizes[d] end
  blocks.set_strides(block, n)
  for k = 1, count do
    position = copy_part(block, n, along, position, parts[k])
    if not position then return nil end
  end
  if position ~= sizes[along] then return nil end
  return blocks.publish(dtype, block)
end

function construct.cat(r, a, b, dim, ...)
  if r ~= nil then return nil end
  return join({ a, b }, 2, dim, ...)
end

function construct.cat_list(r, parts, dim, ...)
  if r ~= nil or type(parts) ~= 'table' then return nil end
  return join(parts, #parts, dim, ...)
end

return construct
