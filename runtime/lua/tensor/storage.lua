--- The storage classes: element access, constructors, and the methods that are in Python.
-- @module storage

local th = ...
local band, RESIZABLE = require('bit').band, th.flags.RESIZABLE
local torch = th.torch

local type, tonumber, tostring, ipairs, select = type, tonumber, tostring, ipairs, select
local find = string.find
local blocks = th.blocks
local rawequal, FIRST_STORAGE = rawequal, th.host.FIRST_STORAGE

--- Adds the operations of a class to its metatable.
-- @param prefix 'Storage.' for storages, '' for tensors
-- @param index the index of the element type
function th.add_operations(mt, prefix, index)
  index = tostring(index)
  for _, operation in ipairs(th.operations) do
    if operation.prefix == prefix and find(operation.types, index, 1, true) then
      mt[operation.name] = th.stub(prefix .. operation.name, tonumber(index), operation.mark)
    end
  end
end

-- Whether a value is a tensor that Lua alone knows: no other value stands for the same one.
local function is_only_value(value)
  local anchor = th.anchor_of(value)
  return anchor ~= nil and type(anchor) ~= 'function' and th.class_of(value) < FIRST_STORAGE
end

local function same_object(a, b)
  if rawequal(a, b) then return true end
  if is_only_value(a) or is_only_value(b) then return false end
  if th.typename(a) ~= th.typename(b) then return false end
  local x, y = th.settled_struct(a), th.settled_struct(b)
  return x ~= nil and x == y
end
th.same_object = same_object

--- Element access for one type; loaded once for each type, as tensor/access.lua.
th.storage_access = th.load([[
  local th, dtype, methods = ...
  local slow_size = methods.size
  local read_element, write_element = dtype.read, dtype.write
  local structs, need_struct = dtype.storage_structs, dtype.need_storage
  local type, tonumber = type, tonumber
  local access = {}

  -- The struct and the position from 0. Torch7: truncates an index that is no whole number.
  local function position(self, key)
    local c = structs[self] or need_struct(self)
    local i = key - key % 1 - 1
    if not (i >= 0 and i < tonumber(c.size)) then th.argument_error(2, 'out of bounds', '?') end
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

  function access.__index(self, key, ...)
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
    if not v then th.type_error(3, 'number', value, false, '?') end
    write(self, key, v)
    return true
  end

  -- Does not look for a struct: that of a storage that is still in a file would read it.
  function access.size(self, ...)
    local c = structs[self]
    if c then return tonumber(c.size) end
    return slow_size(self, ...)
  end

  function access.__newindex(self, key, value, ...)
    if type(key) == 'number' and type(value) == 'number' then
      write(self, key, value)
    elseif not access.__newindex__(self, key, value) then
      th.fail('the class ' .. dtype.storage_name .. ' cannot be indexed')
    end
  end

  return access
]], 'storage_access.lua')

-- Writes the numbers in a table to memory.
local function fill(data, items, n, convert)
  for i = 1, n do
    local v = items[i]
    if type(v) ~= 'number' then
      v = type(v) ~= 'boolean' and tonumber(v)
        or th.fail(('element at index %d is not a number'):format(i))
    end
    data[i - 1] = convert(v)
  end
end

-- A storage of the numbers in a table.
local function from_table(dtype, make, items)
  local n = #items
  if n > 0 and n <= blocks.MAX then
    local store = blocks.new_store(dtype, n)
    fill(store.own.data, items, n, dtype.convert)
    return (blocks.publish_store(dtype, store))
  end
  local value = make(n)
  fill(th.fetch_struct(value).data, items, n, dtype.convert)
  return value
end

-- An empty storage.
local function empty(dtype)
  return (blocks.publish_store(dtype, blocks.new_store(dtype, 0)))
end

-- A small storage of a size, the constructor's only argument; nil for others.
local function sized(dtype, count, n)
  if count == 0 then return empty(dtype) end
  if count ~= 1 or type(n) ~= 'number' or not (n >= 1 and n <= blocks.MAX) or n % 1 ~= 0 then
    return nil
  end
  local store = blocks.new_store(dtype, n)
  blocks.leave_undetermined(dtype, store.own.data, n)
  return (blocks.publish_store(dtype, store))
end

-- Adds resize where the size stays as it is.
local function add_resize(mt, dtype)
  local structs, slow_resize = dtype.storage_structs, mt.resize
  function mt.resize(self, ...)
    local c = structs[self]
    if c and select('#', ...) == 1 and band(c.flag, RESIZABLE) ~= 0
      and (...) == tonumber(c.size) then
      return self
    end
    return slow_resize(self, ...)
  end
end

local function add_totable(mt, dtype)
  local load, structs, need_struct = dtype.load, dtype.storage_structs, dtype.need_storage
  function mt.totable(self)
    local c = structs[self] or need_struct(self)
    th.begin_work()
    local data, result = c.data, {}
    for i = 1, tonumber(c.size) do result[i] = load(data, i - 1) end
    th.end_work()
    return result
  end
end

for _, dtype in ipairs(th.dtypes) do
  local make = th.stub('Storage.new', dtype.index)
  local function new(...)
    if type((...)) == 'table' then return from_table(dtype, make, (...)) end
    local value = sized(dtype, select('#', ...), ...)
    if value then return value end
    value = make(...) -- no tail call: core/errors.lua looks for this constructor's frame
    return value
  end
  th.mark_constructor(new)
  local mt = torch.newmetatable(dtype.storage_name, nil, new, nil,
    function() return empty(dtype) end,
    torch)
  dtype.make_storage = th.maker(th.proxy(mt), dtype.storage_structs)
  th.bind_class(dtype.storage_id, mt)
  th.add_operations(mt, 'Storage.', dtype.index)
  for name, f in pairs(th.storage_access(th, dtype, mt)) do mt[name] = f end
  add_totable(mt, dtype)
  add_resize(mt, dtype)
  mt.new, mt.__eq__ = new, same_object
  mt.__len__, mt.__tostring__ = mt.size, th.stub('Storage.tostring', dtype.index)
  mt.tostring = nil
end
