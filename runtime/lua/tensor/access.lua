--- Element access for one element type: indexing by numbers, tables and masks; totable.
-- This chunk is loaded once for each type, so that each has functions, and with them traces, of
-- its own. Every access is checked against the storage's current size. Calls that this code does
-- not handle, or that must raise an error, are passed on to Python (`slow`), which has all rules
-- and messages.
--
-- LuaJIT must be able to compile a loop of the program with this code in it. A trace that starts in
-- a function here must end where the function returns. That is so if the function has no tail call
-- and calls no C function. All other functions (the metamethods, and those that call newproxy or
-- Python) are vararg functions, at which LuaJIT starts no traces. Otherwise traces are aborted
-- again and again, until LuaJIT blacklists every loop in which this code occurs.
-- @module tensor_access

local dtype, slow = ...
local c_structs, class_ids, errors = import('core.c_structs', 'core.class_ids', 'core.errors')
local finalizers, type_names = import('core.finalizers', 'core.type_names')

local type, tonumber = type, tonumber
-- The structs of tensors of this type alone, so that no other object is taken for one.
local structs, fetch_struct, need_struct = dtype.structs, dtype.fetch_struct, dtype.need_struct
local methods = dtype.methods
local publish, select_view, can_select = dtype.publish, dtype.select_view, dtype.can_select
local position, table_position, resolve = dtype.position, dtype.table_position, dtype.resolve
local number_of, exceeded = dtype.number_of, errors.storage_exceeded
local begin_work, end_work = finalizers.begin_work, finalizers.end_work
local ROOM = c_structs.ROOM

local access = {}

local load, read, write = dtype.load, dtype.read, dtype.write

-- The distance, in elements of the storage, of position k of dimension d from position 1; nil if k
-- is no position.
local function reach(c, d, k)
  if type(k) ~= 'number' then return nil end
  local i = table_position(k, tonumber(c.size[d]))
  return i and i * c.stride[d]
end

-- The position in the storage of an element x[{i, j}]; nil unless all items are numbers in range,
-- one for each dimension.
local function element(c, items)
  local n = c.nDimension
  if #items ~= n or n == 0 then return nil end
  local offset, distance = c.storageOffset, reach(c, 0, items[1])
  if not distance then return nil end
  offset = offset + distance
  if n == 1 then return offset end
  distance = reach(c, 1, items[2])
  if not distance then return nil end
  offset = offset + distance
  for d = 2, n - 1 do
    distance = reach(c, d, items[d + 1])
    if not distance then return nil end
    offset = offset + distance
  end
  return offset
end

-- Tells whether x:select(dim, index) is an element of a vector, and so a number.
local function is_element(c, dim, index)
  return c.nDimension == 1 and dim == 1 and index >= 1 and index <= tonumber(c.size[0])
    and index % 1 == 0
end

function access.select(self, ...)
  local dim, index = ...
  if type(dim) == 'number' and type(index) == 'number' then
    local c = structs[self] or fetch_struct(self)
    if c and can_select(c, dim, index) then
      local view, anchor = select_view(self, c.nDimension, dim - 1, index - 1)
      return (publish(view, anchor))
    elseif c and is_element(c, dim, index) then
      local value = read(c.storage, c.storageOffset + (index - 1) * c.stride[0])
      return value
    end
  end
  return slow.select(self, ...)
end

-- Element k of a vector; nil if self is no vector or k is out of range.
local function vector_element(self, k)
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= 1 then return nil end
  local i = position(k, tonumber(c.size[0]))
  if not i then return nil end
  local value = read(c.storage, c.storageOffset + i * c.stride[0])
  return value
end

-- Sets element k of a vector; returns false if self is no vector or k is out of range.
local function set_vector_element(self, k, v)
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= 1 then return false end
  local i = position(k, tonumber(c.size[0]))
  if not i then return false end
  write(c.storage, c.storageOffset + i * c.stride[0], v)
  return true
end

-- Row k of a tensor of two or more dimensions: arguments for `publish`; nil if there is none.
local function row_view(self, k)
  local c = structs[self] or need_struct(self)
  local n = c.nDimension
  local i = n > 1 and n <= ROOM and position(k, tonumber(c.size[0]))
  if not i then return nil end
  local view, anchor, source = select_view(self, n, 0, i)
  return view, anchor, source
end

-- --------------------------------------------------------------- __index__

local function plain_element(self, items)
  local c = structs[self] or need_struct(self)
  local at = element(c, items)
  if not at then return nil end
  local value = read(c.storage, at)
  return value
end

local function index_table(self, items, ...) -- luacheck: ignore 212
  local value = plain_element(self, items)
  if value ~= nil then return value end
  local view, storage, offset = resolve(self, items)
  if view then return view end
  return read(storage, offset)
end

local function long_storage_items(self, key)
  local items = key:totable()
  local c = structs[self] or need_struct(self)
  if #items ~= c.nDimension then errors.argument_error(2, 'invalid size', '?') end
  return items
end

local function require_masks()
  if not methods.maskedSelect then
    errors.fail('ByteTensor based indexing not yet supported with half type')
  end
end

-- The value of x[key] and true, or nil and false for a key that is no index.
local function index_other(self, key, ...) -- luacheck: ignore 212
  if type(key) == 'table' then return index_table(self, key), true end
  local name = type_names.typename(key)
  if name == 'torch.LongStorage' then
    return index_table(self, long_storage_items(self, key)), true
  elseif name == 'torch.ByteTensor' then
    require_masks()
    return methods.maskedSelect(self, key), true
  end
  return nil, false
end

-- x[k] where `vector_element` has found none: a row, or an error.
local function index_number(self, k, ...) -- luacheck: ignore 212
  local view, anchor = row_view(self, k)
  if view then return (publish(view, anchor)) end
  local n = self:nDimension()
  if n == 0 then errors.argument_error(1, 'empty tensor', '?') end
  local i = position(k, self:size(1))
  if not i then errors.argument_error(2, 'out of range', '?') end
  return slow.select(self, 1, i + 1)
end

--- Torch7's method __index__: returns the value of x[key] and true, or false for a key that is no
-- index.
function access.__index__(self, key)
  local k = number_of(key)
  if k then
    local value = vector_element(self, k)
    if value == nil then value = index_number(self, k) end
    return value, true
  end
  local value, is_there = index_other(self, key)
  if is_there then return value, true end
  return false
end

--- The metamethod __index: looks for an element first, then for a method.
function access.__index(self, key, ...) -- luacheck: ignore 212
  local kind = type(key)
  local value
  if kind == 'number' then
    value = vector_element(self, key)
    if value == nil then value = index_number(self, key) end
  elseif kind == 'string' then
    value = methods[key]
    if value == nil and tonumber(key) then value = access.__index__(self, key) end
  else
    local found
    value, found = index_other(self, key)
    if not found then value = methods[key] end
  end
  return value
end

-- ------------------------------------------------------------ __newindex__

-- Raises an error unless a value that is to be assigned is a tensor.
local function require_source(value)
  local name = type_names.typename(value)
  if not (name and name:find('^torch%.%a+Tensor$')) then
    errors.type_error(3, 'torch.*Tensor', value, false, '?')
  end
end

local function set_number(self, k, value, ...) -- luacheck: ignore 212
  local c = structs[self] or need_struct(self)
  local n = c.nDimension
  if n == 0 then errors.argument_error(1, 'empty tensor', '?') end
  local i = position(k, tonumber(c.size[0]))
  local v = number_of(value)
  if v and n == 1 then
    if not i then errors.argument_error(2, 'out of range', '?') end
    return write(c.storage, c.storageOffset + i * c.stride[0], v)
  end
  if not v then require_source(value) end
  if not i then errors.argument_error(3, 'out of range', '?') end
  if not v and n > 1 and n <= ROOM then
    local struct, _, source = select_view(self, n, 0, i)
    if dtype.copy_to_struct(struct, value) and source then return end
  end
  local row = methods.narrow(self, 1, i + 1, 1)
  if v then methods.fill(row, v) else methods.copy(row, value) end
end

local function real_value(value)
  local v = number_of(value)
  if not v then errors.type_error(3, 'number', value, false, '?') end
  return v
end

local function set_plain_element(self, items, v)
  local c = structs[self] or need_struct(self)
  local at = element(c, items)
  if not at then return false end
  write(c.storage, at, v)
  return true
end

local function set_table(self, items, value, ...) -- luacheck: ignore 212
  if type(value) == 'number' and set_plain_element(self, items, value) then return end
  local view, storage, offset = resolve(self, items)
  if not view then return write(storage, offset, real_value(value)) end
  local v = number_of(value)
  if v then return methods.fill(view, v) end
  require_source(value)
  methods.copy(view, value)
end

local function set_mask(self, mask, value)
  require_masks()
  local v = number_of(value)
  if v then return methods.maskedFill(self, mask, v) end
  if type_names.typename(value) ~= dtype.tensor_name then
    errors.fail('number or ' .. dtype.tensor_name .. ' expected')
  end
  methods.maskedCopy(self, mask, value)
end

--- Torch7's method __newindex__: sets x[key] and returns true, or returns false for a key that is
-- no index.
function access.__newindex__(self, key, value)
  local k = number_of(key)
  if k then
    set_number(self, k, value)
    return true
  end
  if type(key) == 'table' then
    set_table(self, key, value)
    return true
  end
  local name = type_names.typename(key)
  if name == 'torch.LongStorage' then
    real_value(value)
    set_table(self, long_storage_items(self, key), value)
    return true
  elseif name == 'torch.ByteTensor' then
    set_mask(self, key, value)
    return true
  end
  return false
end

--- The metamethod __newindex: sets x[key].
function access.__newindex(self, key, value, ...) -- luacheck: ignore 212
  if type(key) == 'number' and type(value) == 'number' and set_vector_element(self, key, value) then
    return
  end
  if not access.__newindex__(self, key, value) then
    errors.fail('the class ' .. dtype.tensor_name .. ' cannot be indexed')
  end
end

-- ------------------------------------------------------------------ totable

local function row(c, d, at)
  local size, stride = tonumber(c.size[d]), tonumber(c.stride[d])
  if at + (size - 1) * stride >= tonumber(c.storage.size) then exceeded() end
  local data, result = c.storage.data + at, {}
  for i = 0, size - 1 do result[i + 1] = load(data, i * stride) end
  return result
end

local function nested(c, d, at)
  if d == c.nDimension - 1 then return row(c, d, at) end
  local result = {}
  for i = 1, tonumber(c.size[d]) do
    result[i] = nested(c, d + 1, at)
    at = at + tonumber(c.stride[d])
  end
  return result
end

--- The elements as nested tables; an empty table for an empty tensor.
-- Torch7: the function of each class takes tensors of any type.
function access.totable(self)
  local c = c_structs.settled_struct(self, structs)
  if not c then
    local actual_type = c_structs.dtypes[class_ids.class_of(self)]
    if actual_type and actual_type ~= dtype then return actual_type.totable(self) end
    need_struct(self)
  end
  begin_work()
  local result = c.nDimension > 0 and nested(c, 0, tonumber(c.storageOffset)) or {}
  end_work()
  return result
end
dtype.totable = access.totable

return access
