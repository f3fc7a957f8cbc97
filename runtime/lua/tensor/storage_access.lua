--- Access to the elements of storages of one type; loaded once for each type, as access.lua.
-- @module storage_access

local dtype, methods = ...
local errors = import 'core.errors'
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
