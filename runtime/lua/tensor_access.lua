--- Element access for one element type: indexing and the views that Lua makes by itself.
-- A template: loaded once for each type, so that each has bytecode, and with it traces, of
-- its own. Every access is checked against the storage as it is at that moment. What cannot
-- be done here, or must be refused, goes on to Python, which has the rules and the errors.
-- @module tensor_access

local th, dtype, slow = ...

local type, tonumber, newproxy = type, tonumber, newproxy
local floor, ceil = math.floor, math.ceil
local structs, anchors = th.structs, th.anchors
local fetch_struct, storage_object = th.fetch_struct, th.storage_object
local methods = th.torch.getmetatable(dtype.tensor_name)
local prototype = th.proxy(methods)
local View = dtype.view
local ROOM = 8 -- dimensions that a view of ours has room for

local access = {}

-- What an element of this type holds of a number, where FFI's conversion is not C's.
local convert
if dtype.is_float then
  function convert(v) return v end
else
  local limit = dtype.name == 'Long' and 2 ^ 63 or 2 ^ 31
  function convert(v)
    if v > -limit - 1 and v < limit then return v end
    return -limit
  end
end
access.convert = convert

-- The position (from 0) that index k (from 1, or negative: from the end) means among n.
local function position(k, n)
  local i = (k >= 0 and floor(k) or ceil(k)) - 1
  if i < 0 then i = n + i + 1 end
  if i >= 0 and i < n then return i end
end

local function exceeded()
  th.fail('tensor reaches past the end of its storage, which was resized')
end

-- ------------------------------------------------------------------- views

-- A new userdata and its struct for n dimensions. Making either may run the collector: the
-- source's struct is read only afterwards.
local function new_view(n)
  local value, view = newproxy(prototype), View()
  view.size, view.stride = view.geometry, view.geometry + ROOM
  view.nDimension, view.refcount, view.flag = n, 1, 1
  return value, view
end

local function publish(value, view, source, offset)
  view.storage, view.storageOffset = source.storage, offset
  structs[value] = view
  anchors[value] = storage_object(source.storage)
  return value
end

-- The slice i of dimension d (both from 0) of n.
local function select_view(self, n, d, i)
  local value, view = new_view(n - 1)
  local source = structs[self]
  local size, stride = source.size, source.stride
  for e = 0, d - 1 do view.size[e], view.stride[e] = size[e], stride[e] end
  for e = d, n - 2 do view.size[e], view.stride[e] = size[e + 1], stride[e + 1] end
  return publish(value, view, source, source.storageOffset + i * stride[d])
end

local function copy_view(self, n)
  local value, view = new_view(n)
  local source = structs[self]
  for e = 0, n - 1 do view.size[e], view.stride[e] = source.size[e], source.stride[e] end
  return value, view, source
end

function access.select(self, dim, index, ...)
  if type(dim) == 'number' and type(index) == 'number' then
    local c = structs[self] or fetch_struct(self)
    local n = c.nDimension
    if n > 1 and n <= ROOM and dim >= 1 and dim <= n and dim % 1 == 0 and index >= 1
      and index <= tonumber(c.size[dim - 1]) and index % 1 == 0 then
      return select_view(self, n, dim - 1, index - 1)
    end
  end
  return slow.select(self, dim, index, ...)
end

function access.narrow(self, dim, first, size, ...)
  if type(dim) == 'number' and type(first) == 'number' and type(size) == 'number' then
    local c = structs[self] or fetch_struct(self)
    local n = c.nDimension
    if n <= ROOM and dim >= 1 and dim <= n and dim % 1 == 0 and first >= 1 and size >= 1
      and first % 1 == 0 and size % 1 == 0
      and first + size - 1 <= tonumber(c.size[dim - 1]) then
      local value, view, source = copy_view(self, n)
      view.size[dim - 1] = size
      return publish(value, view, source,
        source.storageOffset + (first - 1) * source.stride[dim - 1])
    end
  end
  return slow.narrow(self, dim, first, size, ...)
end

function access.t(self, ...)
  local c = structs[self] or fetch_struct(self)
  if c and c.nDimension == 2 then
    local value, view, source = copy_view(self, 2)
    view.size[0], view.size[1] = source.size[1], source.size[0]
    view.stride[0], view.stride[1] = source.stride[1], source.stride[0]
    return publish(value, view, source, source.storageOffset)
  end
  return slow.t(self, ...)
end

-- ------------------------------------------------------------ index by table

local function number_of(item)
  local kind = type(item)
  if kind == 'number' then return item end
  if kind == 'string' then return tonumber(item) end
end

-- First and last position that a range {first, last} means among n.
local function range(item, n)
  local first, last = number_of(item[1]), number_of(item[2])
  local i, j = 0, n - 1
  if first then
    i = position(first, n)
    if not i then th.argument_error(2, 'start index out of bound', '?') end
    j = i
  end
  if last then
    j = position(last, n)
    if not j then th.argument_error(2, 'end index out of bound', '?') end
  end
  if j < i then
    th.argument_error(2, 'end index must be greater or equal to start index', '?')
  end
  return i, j
end

-- What x[{...}] means: a view, or nil, the storage's struct and a position in it.
local function resolve(self, items)
  local c = structs[self] or fetch_struct(self)
  local n = c.nDimension
  if #items > n then th.argument_error(2, 'too many indices provided', '?') end
  if n > ROOM then return slow.at(self, items) end
  local value, view, source = copy_view(self, n)
  local size, stride = view.size, view.stride
  local left, d, offset = n, 0, source.storageOffset
  for i = 1, #items do
    local item = items[i]
    local k = number_of(item)
    if k then
      local at = position(k, tonumber(size[d]))
      if not at then th.argument_error(2, 'index out of bound', '?') end
      offset = offset + at * stride[d]
      if left == 1 then return nil, source.storage, offset end
      for e = d, left - 2 do size[e], stride[e] = size[e + 1], stride[e + 1] end
      left = left - 1
    elseif type(item) == 'table' then
      local first, last = range(item, tonumber(size[d]))
      offset = offset + first * stride[d]
      size[d] = last - first + 1
      d = d + 1
    else
      break
    end
  end
  view.nDimension = left
  return publish(value, view, source, offset)
end

-- The position in the storage of x[{i, j}] and the like, where it is that plain; or nil.
local function element(c, items)
  local n = c.nDimension
  if #items ~= n or n == 0 then return nil end
  local offset = c.storageOffset
  for d = 0, n - 1 do
    local k = items[d + 1]
    if type(k) ~= 'number' then return nil end
    local i = position(k, tonumber(c.size[d]))
    if not i then return nil end
    offset = offset + i * c.stride[d]
  end
  return offset
end

local function read(storage, at)
  if at >= 0 and at < storage.size then return tonumber(storage.data[at]) end
  return exceeded()
end

local function write(storage, at, v)
  if at >= 0 and at < storage.size then
    storage.data[at] = convert(v)
    return
  end
  return exceeded()
end

-- --------------------------------------------------------------- __index__

local function index_table(self, items)
  local c = structs[self] or fetch_struct(self)
  local at = element(c, items)
  if at then return read(c.storage, at) end
  local view, storage, offset = resolve(self, items)
  if view then return view end
  return read(storage, offset)
end

local function long_storage_items(self, key)
  local items = key:totable()
  local c = structs[self] or fetch_struct(self)
  if #items ~= c.nDimension then th.argument_error(2, 'invalid size', '?') end
  return items
end

-- The value, and whether the key names an element at all.
local function index_other(self, key)
  if type(key) == 'table' then return index_table(self, key), true end
  local name = th.typename(key)
  if name == 'torch.LongStorage' then
    return index_table(self, long_storage_items(self, key)), true
  elseif name == 'torch.ByteTensor' then
    return methods.maskedSelect(self, key), true
  end
  return nil, false
end

local function index_number(self, k)
  local c = structs[self] or fetch_struct(self)
  local n = c.nDimension
  if n == 0 then th.argument_error(1, 'empty tensor', '?') end
  local i = position(k, tonumber(c.size[0]))
  if not i then th.argument_error(2, 'out of range', '?') end
  if n == 1 then return read(c.storage, c.storageOffset + i * c.stride[0]) end
  if n > ROOM then return slow.select(self, 1, i + 1) end
  return select_view(self, n, 0, i)
end

--- The reference's __index__: the element, and true; or false for a key that names none.
function access.__index__(self, key)
  local k = number_of(key)
  if k then return index_number(self, k), true end
  local value, found = index_other(self, key)
  if found then return value, true end
  return false
end

--- The metamethod: elements by number first, then methods by name.
function access.__index(self, key)
  local kind = type(key)
  if kind == 'number' then
    local c = structs[self] or fetch_struct(self)
    if c.nDimension == 1 then
      local i = position(key, tonumber(c.size[0]))
      if i then return read(c.storage, c.storageOffset + i * c.stride[0]) end
    end
    return index_number(self, key)
  elseif kind == 'string' then
    local method = methods[key]
    if method == nil and tonumber(key) then return index_number(self, tonumber(key)) end
    return method
  end
  local value, found = index_other(self, key)
  if found then return value end
  return methods[key]
end

-- ------------------------------------------------------------ __newindex__

local function require_source(value)
  local name = th.typename(value)
  if not (name and name:find('^torch%.%a+Tensor$')) then
    th.type_error(3, 'torch.*Tensor', value, false, '?')
  end
end

local function set_number(self, k, value)
  local c = structs[self] or fetch_struct(self)
  local n = c.nDimension
  if n == 0 then th.argument_error(1, 'empty tensor', '?') end
  local i = position(k, tonumber(c.size[0]))
  local v = number_of(value)
  if v and n == 1 then
    if not i then th.argument_error(2, 'out of range', '?') end
    return write(c.storage, c.storageOffset + i * c.stride[0], v)
  end
  if not v then require_source(value) end
  if not i then th.argument_error(3, 'out of range', '?') end
  local row = access.narrow(self, 1, i + 1, 1)
  if v then methods.fill(row, v) else methods.copy(row, value) end
end

local function real_value(value)
  local v = number_of(value)
  if not v then th.type_error(3, 'number', value, false, '?') end
  return v
end

local function set_table(self, items, value)
  local c = structs[self] or fetch_struct(self)
  local at = type(value) == 'number' and element(c, items)
  if at then return write(c.storage, at, value) end
  local view, storage, offset = resolve(self, items)
  if not view then return write(storage, offset, real_value(value)) end
  local v = number_of(value)
  if v then return methods.fill(view, v) end
  require_source(value)
  methods.copy(view, value)
end

local function set_mask(self, mask, value)
  local v = number_of(value)
  if v then return methods.maskedFill(self, mask, v) end
  if th.typename(value) ~= dtype.tensor_name then
    th.fail('number or ' .. dtype.tensor_name .. ' expected')
  end
  methods.maskedCopy(self, mask, value)
end

--- The reference's __newindex__: whether the key names an element, which is then set.
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
  local name = th.typename(key)
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

--- The metamethod.
function access.__newindex(self, key, value)
  if type(key) == 'number' and type(value) == 'number' then
    local c = structs[self] or fetch_struct(self)
    if c.nDimension == 1 then
      local i = position(key, tonumber(c.size[0]))
      if i then
        local storage, at = c.storage, c.storageOffset + i * c.stride[0]
        if at >= 0 and at < storage.size then
          storage.data[at] = convert(value)
          return
        end
      end
    end
  end
  if not access.__newindex__(self, key, value) then
    th.fail('the class ' .. dtype.tensor_name .. ' cannot be indexed')
  end
end

-- ------------------------------------------------------------------ totable

local function nested(c, n, d, at)
  local size, stride = tonumber(c.size[d]), tonumber(c.stride[d])
  local result = {}
  for i = 1, size do
    if d == n - 1 then
      result[i] = read(c.storage, at)
    else
      result[i] = nested(c, n, d + 1, at)
    end
    at = at + stride
  end
  return result
end

function access.totable(self)
  local c = th.settled_struct(self)
  if c.nDimension == 0 then return {} end
  return nested(c, c.nDimension, 0, tonumber(c.storageOffset))
end

return access
