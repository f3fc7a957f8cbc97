--- The storage classes: element access, constructors, and the methods that are in Python.
-- @module storage_class

local host, torch, bridge, c_structs = import('host', 'torch', 'core.bridge', 'core.c_structs')
local class_ids, classes, errors = import('core.class_ids', 'core.classes', 'core.errors')
local finalizers, keep_alive = import('core.finalizers', 'core.keep_alive')
local type_names, blocks = import('core.type_names', 'tensor.blocks')
local operations = import 'tensor.operations'

local storage_class = {}

local type, tonumber, ipairs, select = type, tonumber, ipairs, select
local rawequal, FIRST_STORAGE = rawequal, host.FIRST_STORAGE

-- Tells whether a value is a tensor that Lua alone knows: no other value stands for the same one.
local function is_only_value(value)
  local anchor = keep_alive.anchor_of(value)
  return anchor ~= nil and type(anchor) ~= 'function' and class_ids.class_of(value) < FIRST_STORAGE
end

local function same_object(a, b)
  if rawequal(a, b) then return true end
  if is_only_value(a) or is_only_value(b) then return false end
  if type_names.typename(a) ~= type_names.typename(b) then return false end
  local x, y = c_structs.settled_struct(a), c_structs.settled_struct(b)
  return x ~= nil and x == y
end
storage_class.same_object = same_object

-- Writes the numbers in a table to memory.
local function fill(data, items, n, convert)
  for i = 1, n do
    local v = items[i]
    if type(v) ~= 'number' then
      v = type(v) ~= 'boolean' and tonumber(v)
        or errors.fail(('element at index %d is not a number'):format(i))
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
  fill(c_structs.fetch_struct(value).data, items, n, dtype.convert)
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

local function add_totable(mt, dtype)
  local load, structs, need_struct = dtype.load, dtype.storage_structs, dtype.need_storage
  function mt.totable(self)
    local c = structs[self] or need_struct(self)
    finalizers.begin_work()
    local data, result = c.data, {}
    for i = 1, tonumber(c.size) do result[i] = load(data, i - 1) end
    finalizers.end_work()
    return result
  end
end

for _, dtype in ipairs(c_structs.dtypes) do
  local make = bridge.stub('Storage.new', dtype.index)
  local function new(...)
    if type((...)) == 'table' then return from_table(dtype, make, (...)) end
    local value = sized(dtype, select('#', ...), ...)
    if value then return value end
    value = make(...) -- no tail call: core/errors.lua looks for this constructor's frame
    return value
  end
  errors.mark_constructor(new)
  local mt = torch.newmetatable(dtype.storage_name, nil, new, nil,
    function() return empty(dtype) end,
    torch)
  dtype.make_storage = bridge.maker(classes.proxy(mt), dtype.storage_structs)
  class_ids.bind_class(dtype.storage_id, mt)
  operations.add(mt, 'Storage.', dtype.index)
  for name, f in pairs(import.instance('tensor.storage_access', dtype, mt)) do mt[name] = f end
  add_totable(mt, dtype)
  mt.new, mt.__eq__ = new, same_object
  mt.__len__, mt.__tostring__ = mt.size, bridge.stub('Storage.tostring', dtype.index)
  mt.tostring = nil
end

return storage_class
