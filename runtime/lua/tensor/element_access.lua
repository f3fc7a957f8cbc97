--- Reads and writes one element of a storage, whatever finalizers of the program do meanwhile.
-- To let them wait (core/finalizers.lua) takes a third of the time of an access in a compiled loop.
-- So where numbers are as usual, these functions look whether a storage has moved since they began;
-- what follows then allocates nothing, so that no finalizer runs.
-- This chunk is loaded once for each element type, as access.lua, where the rules for such code are
-- told.
-- @module element_access

local dtype = ...
local ffi, errors, finalizers = import('ffi', 'core.errors', 'core.finalizers')
local blocks = import 'tensor.blocks'

local cast, band, int32s = ffi.cast, bit.band, ffi.typeof('int32_t *')
local load, convert, moves = dtype.load, dtype.convert, blocks.moves
local begin_work, end_work = finalizers.begin_work, finalizers.end_work
local exceeded = errors.storage_exceeded

local IS_FLOAT, IS_HALF = dtype.name == 'Double' or dtype.name == 'Float', dtype.name == 'Half'
local WORDS = dtype.name == 'Double' and 2 or 1 -- of 32 bits; the exponent is in the last one
local EXPONENT = dtype.name == 'Double' and 0x7ff00000 or 0x7f800000

local function read_slowly(storage, at)
  begin_work()
  if not (at >= 0 and at < tonumber(storage.size)) then exceeded() end
  local value = load(storage.data, at)
  end_work()
  return value
end

--- The element at a position from 0; an error where there is none.
-- @param storage the struct
function dtype.read(storage, at)
  local before, data = moves(), storage.data
  local words = cast(int32s, data + at)
  if not (at >= 0 and at < tonumber(storage.size)) then exceeded() end
  if IS_HALF or moves() ~= before or IS_FLOAT and band(words[WORDS - 1], EXPONENT) == EXPONENT then
    local value = read_slowly(storage, at)
    return value
  end
  if IS_FLOAT then return data[at] end
  local value = load(data, at)
  return value
end

--- Sets that element to a number, converted.
function dtype.write(storage, at, v)
  local converted, before, data = convert(v), moves(), storage.data
  if not (at >= 0 and at < tonumber(storage.size)) then exceeded() end
  if moves() ~= before then
    dtype.write(storage, at, v)
    return
  end
  data[at] = converted
end
