--- maskedFill, maskedCopy and maskedSelect on few elements.
-- Loaded once for each element type. Elements are copied as whole numbers of up to 32 bits, so that
-- a nan keeps its bits.
-- @module masks

local dtype, tools = ...
local ffi, c_structs, blocks = import('ffi', 'core.c_structs', 'tensor.blocks')

local type = type
local cast = ffi.cast
local read, read_row = tools.reader(dtype), tools.row_reader(dtype)
local bytes = c_structs.dtypes[1]
local read_mask, read_mask_row = tools.reader(bytes), tools.row_reader(bytes)
local set_result, publish = tools.result_setter(dtype, read), tools.publish
local overlap, is_dense, count = tools.overlap, tools.is_dense, tools.count
local places, others, locate, MAX = tools.places, tools.others, tools.locate, blocks.MAX

local WIDTH = ffi.sizeof(dtype.ctype)
local pointer, byte_pointer = tools.bits(WIDTH), tools.bits(1)
local move, fill = tools.mover(WIDTH), tools.filler(dtype)

-- The tensor whose elements the mask chooses, the mask, and where elements go, or come from.
local t, mask, other = tools.operand(), tools.operand(), tools.operand()

local masks = {}

-- Sets `places` to those of the elements of t where the mask is 1, in order. Returns how many there
-- are; nil if a flag is neither 0 nor 1.
local function choose(flags)
  local found = 0
  if is_dense(t, t) and is_dense(mask, mask) then
    for m = 0, count(t) - 1 do
      local flag = flags[m]
      if flag > 1 then return nil end
      places[found] = m
      found = found + flag
    end
    return found
  end
  locate(places, t)
  locate(others, mask)
  for m = 0, count(t) - 1 do
    local flag = flags[others[m]]
    if flag > 1 then return nil end
    places[found] = places[m]
    found = found + flag
  end
  return found
end

-- Does so for a tensor and a mask that are given, if they fit together. Returns how many elements
-- are chosen, and a pointer to those of the tensor.
local function chosen(value, flags)
  if not (read(t, value) and read_mask(mask, flags))
    or not tools.is_sized(mask, t.n, t.s0, t.s1, t.s2) then
    -- Of contiguous tensors the elements follow each other, whatever the sizes are.
    if not (read_row(t, value) and read_mask_row(mask, flags)) then return nil end
    if mask.s2 ~= t.s2 then return nil end
  end
  if count(t) > MAX or overlap(t, mask) then return nil end
  local found = choose(cast(byte_pointer, mask.at))
  return found, cast(pointer, t.at)
end

function masks.maskedFill(r, flags, value)
  if type(value) ~= 'number' then return nil end
  local found, to = chosen(r, flags)
  if not found then return nil end
  fill(to, places, found, value)
  return value
end

function masks.maskedCopy(r, flags, src)
  if not read_row(other, src) then return nil end
  local values = cast(pointer, other.at)
  local found, to = chosen(r, flags)
  if not found or found > other.s2 or overlap(t, other) then return nil end
  for m = 0, found - 1 do move(to, places[m], values, m) end
  return r
end

-- Selects to a new tensor, or to a vector that has the right size already.
local function select(r, src, flags, ...) -- luacheck: ignore 212
  local found, values = chosen(src, flags)
  if not found or found == 0 then return nil end
  local ready, block = set_result(other, r, 1, 1, 1, found)
  if not ready or not block and overlap(other, t) then return nil end
  local result, step = cast(pointer, other.at), other.t2
  for m = 0, found - 1 do move(result, step * m, values, places[m]) end
  return block and publish(dtype, block) or flags
end

function masks.maskedSelect(a, b, c, ...) -- luacheck: ignore 212
  if c == nil then return (select(nil, a, b)) end
  return (select(a, b, c))
end

return masks
