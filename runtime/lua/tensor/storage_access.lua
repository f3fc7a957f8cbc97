--- Access to the elements of storages of one type, whatever finalizers of the program do meanwhile.
-- To let them wait (core/finalizers.lua) takes a third of the time of an access in a compiled loop.
-- So where numbers are as usual, `read` and `write` look whether a storage has moved since they
-- began; what follows then allocates nothing, so that no finalizer runs.
-- This chunk is loaded once for each element type, as access.lua, where the rules for such code are
-- told.
-- @module storage_access

local dtype, methods = ...
local ffi, errors, finalizers = import('ffi', 'core.errors', 'core.finalizers')
local blocks = import 'tensor.blocks'

local cast, band, int32s = ffi.cast, bit.band, ffi.typeof('int32_t *')
local load, convert, moves = dtype.load, dtype.convert, blocks.moves
local begin_work, end_work = finalizers.begin_work, finalizers.end_work
local exceeded = errors.storage_exceeded

local IS_FLOAT, IS_HALF = dtype.name == 'Double' or dtype.name == 'Float', dtype.name == 'Half'
local WORDS = dtype.name == 'Double' and 2 or 1 -- of 32 bits; those of a nan are above INFINITY
local INFINITY = dtype.name == 'Double' and 0x7ff00000 or 0x7f800000

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
  if IS_HALF or moves() ~= before
    or IS_FLOAT and band(words[WORDS - 1], 0x7fffffff) > INFINITY then
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

-- ------------------------------------------------------------------- storages

local slow_size = methods.size
local read_element, write_element = dtype.read, dtype.write
local structs, need_struct = dtype.storage_structs, dtype.need_storage
local type, tonumber = type, tonumber
local access = {}

-- The struct and the position from 0. Torch7: truncates an index that is no whole number.
local function position(self, key)
  local c = structs[self] or need_struct(self)
  local i = key - key % 1 - 1
  if not (i >= 0 and i < tonumber(c.size)) then errors.argument_error(2, 'out of bounds', '?') end
  return c, i
end

local function read(self, key)
  local c, i = position(self, key)
  local value = read_element(c, i)
  return value
end

local function write(self, key, value)
  local c, i = position(self, key)
  write_element(c, i, value)
end

function access.__index(self, key, ...) -- luacheck: ignore 212
  if type(key) ~= 'number' then
    local method = methods[key]
    if method ~= nil or not tonumber(key) then return method end
    key = tonumber(key)
  end
  local value = read(self, key)
  return value
end

function access.__index__(self, key)
  if tonumber(key) then return access.__index(self, tonumber(key)), true end
  return false
end

function access.__newindex__(self, key, value)
  key = tonumber(key)
  if not key then return false end
  local v = tonumber(value)
  if not v then errors.type_error(3, 'number', value, false, '?') end
  write(self, key, v)
  return true
end

-- Does not look for a struct: that of a storage that is still in a file would read it.
function access.size(self, ...)
  local c = structs[self]
  if c then return tonumber(c.size) end
  return slow_size(self, ...)
end

function access.__newindex(self, key, value, ...) -- luacheck: ignore 212
  if type(key) == 'number' and type(value) == 'number' then
    write(self, key, value)
  elseif not access.__newindex__(self, key, value) then
    errors.fail('the class ' .. dtype.storage_name .. ' cannot be indexed')
  end
end

return access
