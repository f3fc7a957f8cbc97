--- Element access for one element type: indexing and the views that Lua makes by itself.
-- A template: loaded once for each type, so that each has bytecode, and with it traces, of
-- its own. Every access is checked against the storage as it is at that moment. What cannot
-- be done here, or must be refused, goes on to Python, which has the rules and the errors.
--
-- How LuaJIT is kept on the user's loop: a trace that starts in a function of ours must end
-- at its return. It does where the function ends in plain returns (no tail call) and calls
-- no C function. All others are vararg, since no trace starts at a vararg function: the
-- metamethods, and what calls newproxy or Python. Otherwise failed traces pile up until
-- LuaJIT refuses every loop in which this code occurs.
-- @module tensor_access

local th, dtype, slow = ...

local type, tonumber, newproxy = type, tonumber, th.newproxy
local floor, ceil = math.floor, math.ceil
-- The structs of this type's tensors alone: nothing here takes another object for one.
local structs, anchors, attach = dtype.structs, th.anchors, th.attach
local fetch_struct, need_struct = dtype.fetch_struct, dtype.need_struct
local storage_object = th.storage_object
local methods = th.torch.getmetatable(dtype.tensor_name)
local prototype = th.proxy(methods)
local View = dtype.view
local dense = th.formulas.dense
local select = select
local bor, SHARED = require('bit').bor, th.SHARED
local ROOM = 8 -- dimensions that a view of ours has room for

local access = {}

local load, convert = dtype.load, dtype.convert

-- The position (from 0) that index k (from 1, or negative: from the end) means among n.
local function position(k, n)
  local i = (k >= 0 and floor(k) or ceil(k)) - 1
  if i < 0 then i = n + i + 1 end
  if i >= 0 and i < n then return i end
end

-- The same for an index inside a table, from which the reference takes 1 before it cuts.
local function table_position(k, n)
  if k > 0 and k < 1 then k = 1 end
  local i = position(k, n)
  return i
end

local function exceeded()
  th.fail('tensor reaches past the end of its storage, which was resized')
end

-- ------------------------------------------------------------------- views

local function changed()
  th.fail('a finalizer has changed the number of dimensions')
end

-- A view of ours for n dimensions, and the struct of the source, of `dims` dimensions, to fill
-- it in from. That is looked up last: making the view may run the collector, and with it
-- finalizers that use the source.
local function new_view(n, self, dims)
  local view = View()
  view.size, view.stride = view.geometry, view.geometry + ROOM
  view.nDimension, view.refcount, view.flag = n, 1, 1
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= dims then changed() end
  return view, c
end

-- The userdata of a view that is filled in.
local function publish(view, anchor, ...) -- luacheck: ignore 212
  local value = newproxy(prototype)
  attach(structs, value, view, anchor)
  return value
end

-- Sets storage and offset; returns what `publish` takes, and the source: it has to live as
-- long as nothing else keeps its storage.
local function locate(view, storage, offset, source)
  view.storage, view.storageOffset = storage, offset
  local anchor = anchors[source]
  if not anchor then
    anchor = storage_object(storage)
  elseif type(anchor) == 'cdata' then
    storage.flag = bor(storage.flag, SHARED)
  end
  return view, anchor, source
end

-- Copies n sizes and strides from position e of a struct to position d of a view. Few
-- dimensions go without a loop: a loop inside the user's loop would split the trace.
local function copy_geometry(view, d, source, e, n)
  if n == 0 then return end
  view.size[d], view.stride[d] = source.size[e], source.stride[e]
  if n == 1 then return end
  view.size[d + 1], view.stride[d + 1] = source.size[e + 1], source.stride[e + 1]
  for k = 2, n - 1 do
    view.size[d + k], view.stride[d + k] = source.size[e + k], source.stride[e + k]
  end
end

-- The slice i of dimension d (both from 0) of n, for `publish`.
local function select_view(self, n, d, i)
  local view, c = new_view(n - 1, self, n)
  copy_geometry(view, 0, c, 0, d)
  copy_geometry(view, d, c, d + 1, n - 1 - d)
  local _, anchor, source = locate(view, c.storage, c.storageOffset + i * c.stride[d], self)
  return view, anchor, source
end

local function narrow_view(self, n, d, first, size)
  local view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  view.size[d] = size
  local _, anchor, source = locate(view, c.storage, c.storageOffset + first * c.stride[d], self)
  return view, anchor, source
end

local function transposed_view(self)
  local view, c = new_view(2, self, 2)
  view.size[0], view.size[1] = c.size[1], c.size[0]
  view.stride[0], view.stride[1] = c.stride[1], c.stride[0]
  local _, anchor, source = locate(view, c.storage, c.storageOffset, self)
  return view, anchor, source
end

local function can_select(c, dim, index)
  local n = c.nDimension
  return n > 1 and n <= ROOM and dim >= 1 and dim <= n and dim % 1 == 0 and index >= 1
    and index <= tonumber(c.size[dim - 1]) and index % 1 == 0
end

local function can_narrow(c, dim, first, size)
  local n = c.nDimension
  return n > 0 and n <= ROOM and dim >= 1 and dim <= n and dim % 1 == 0 and first >= 1
    and size >= 1 and first % 1 == 0 and size % 1 == 0
    and first + size - 1 <= tonumber(c.size[dim - 1])
end

function access.narrow(self, ...)
  local dim, first, size = ...
  if type(dim) == 'number' and type(first) == 'number' and type(size) == 'number' then
    local c = structs[self] or fetch_struct(self)
    if c and can_narrow(c, dim, first, size) then
      local view, anchor = narrow_view(self, c.nDimension, dim - 1, first - 1, size)
      return publish(view, anchor)
    end
  end
  return slow.narrow(self, ...)
end

-- The geometry that x:view(rows, columns) asks for (columns 1 for a vector), or nil.
local function sizes_view(self, n, rows, columns)
  local c = structs[self] or fetch_struct(self)
  if not c or rows < 1 or columns < 1 or rows % 1 ~= 0 or columns % 1 ~= 0
    or rows * columns ~= dense(c) then
    return nil
  end
  local view
  view, c = new_view(n, self, c.nDimension)
  view.size[0], view.stride[0] = rows, columns
  if n == 2 then view.size[1], view.stride[1] = columns, 1 end
  local _, anchor, source = locate(view, c.storage, c.storageOffset, self)
  return view, anchor, source
end

function access.view(self, rows, columns, ...)
  if type(rows) == 'number' and select('#', ...) == 0 then
    local n = columns and 2 or 1
    if n == 1 or type(columns) == 'number' then
      local view, anchor = sizes_view(self, n, rows, columns or 1)
      if view then return publish(view, anchor) end
    end
  end
  if columns == nil and select('#', ...) == 0 then return slow.view(self, rows) end
  return slow.view(self, rows, columns, ...)
end

function access.t(self, ...)
  local c = structs[self] or fetch_struct(self)
  if c and c.nDimension == 2 then
    local view, anchor = transposed_view(self)
    return publish(view, anchor)
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
    i = table_position(first, n)
    if not i then th.argument_error(2, 'start index out of bound', '?') end
    j = i
  end
  if last then
    j = table_position(last, n)
    if not j then th.argument_error(2, 'end index out of bound', '?') end
  end
  if j < i then
    th.argument_error(2, 'end index must be greater or equal to start index', '?')
  end
  return i, j
end

-- What x[{...}] means: a view, or nil, the storage's struct and a position in it.
local function resolve(self, items, ...) -- luacheck: ignore 212
  local c = structs[self] or need_struct(self)
  local n = c.nDimension
  if #items > n then th.argument_error(2, 'too many indices provided', '?') end
  if n == 0 then return methods.new(self) end
  if n > ROOM then th.fail('more than 8 dimensions: use select and narrow') end
  local view
  view, c = new_view(n, self, n)
  copy_geometry(view, 0, c, 0, n)
  local size, stride = view.size, view.stride
  local left, d, offset = n, 0, c.storageOffset
  for i = 1, #items do
    local item = items[i]
    local k = number_of(item)
    if k then
      local at = table_position(k, tonumber(size[d]))
      if not at then th.argument_error(2, 'index out of bound', '?') end
      offset = offset + at * stride[d]
      if left == 1 then return nil, c.storage, offset end
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
  local _, anchor = locate(view, c.storage, offset, self)
  return publish(view, anchor)
end

-- The position in the storage of x[{i, j}] and the like, where it is that plain; or nil.
local function element(c, items)
  local n = c.nDimension
  if #items ~= n or n == 0 then return nil end
  local offset = c.storageOffset
  for d = 0, n - 1 do
    local k = items[d + 1]
    if type(k) ~= 'number' then return nil end
    local i = table_position(k, tonumber(c.size[d]))
    if not i then return nil end
    offset = offset + i * c.stride[d]
  end
  return offset
end

local function read(storage, at)
  if at < 0 or at >= storage.size then exceeded() end
  local value = load(storage.data, at)
  return value
end

-- Whether a selection is an element of a vector, and so a number.
local function is_element(c, dim, index)
  return c.nDimension == 1 and dim == 1 and index >= 1 and index <= tonumber(c.size[0])
    and index % 1 == 0
end

-- Here because of a vector's elements; the other views stand above.
function access.select(self, ...)
  local dim, index = ...
  if type(dim) == 'number' and type(index) == 'number' then
    local c = structs[self] or fetch_struct(self)
    if c and can_select(c, dim, index) then
      local view, anchor = select_view(self, c.nDimension, dim - 1, index - 1)
      return publish(view, anchor)
    elseif c and is_element(c, dim, index) then
      local value = read(c.storage, c.storageOffset + (index - 1) * c.stride[0])
      return value
    end
  end
  return slow.select(self, ...)
end

local function write(storage, at, v)
  if at < 0 or at >= storage.size then exceeded() end
  storage.data[at] = convert(v)
end

-- Element k of a vector; nil where self is no vector, or k outside.
local function vector_element(self, k)
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= 1 then return nil end
  local i = position(k, tonumber(c.size[0]))
  if not i then return nil end
  local value = read(c.storage, c.storageOffset + i * c.stride[0])
  return value
end

-- Sets element k of a vector; whether there is one.
local function set_vector_element(self, k, v)
  local c = structs[self] or need_struct(self)
  if c.nDimension ~= 1 then return false end
  local i = position(k, tonumber(c.size[0]))
  if not i then return false end
  write(c.storage, c.storageOffset + i * c.stride[0], v)
  return true
end

-- Row k of a matrix or more, for `publish`; nil where there is none.
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
  if #items ~= c.nDimension then th.argument_error(2, 'invalid size', '?') end
  return items
end

local function require_masks()
  if not methods.maskedSelect then
    th.fail('ByteTensor based indexing not yet supported with half type')
  end
end

-- The value, and whether the key names an element at all.
local function index_other(self, key, ...) -- luacheck: ignore 212
  if type(key) == 'table' then return index_table(self, key), true end
  local name = th.typename(key)
  if name == 'torch.LongStorage' then
    return index_table(self, long_storage_items(self, key)), true
  elseif name == 'torch.ByteTensor' then
    require_masks()
    return methods.maskedSelect(self, key), true
  end
  return nil, false
end

-- What x[k] means where it is no element of a vector: a row, or an error.
local function index_number(self, k, ...) -- luacheck: ignore 212
  local view, anchor = row_view(self, k)
  if view then return publish(view, anchor) end
  local n = self:nDimension()
  if n == 0 then th.argument_error(1, 'empty tensor', '?') end
  local i = position(k, self:size(1))
  if not i then th.argument_error(2, 'out of range', '?') end
  return slow.select(self, 1, i + 1)
end

--- The reference's __index__: the element, and true; or false for a key that names none.
function access.__index__(self, key)
  local k = number_of(key)
  if k then
    local value = vector_element(self, k)
    if value == nil then value = index_number(self, k) end
    return value, true
  end
  local value, found = index_other(self, key)
  if found then return value, true end
  return false
end

--- The metamethod: elements by number first, then methods by name.
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

local function require_source(value)
  local name = th.typename(value)
  if not (name and name:find('^torch%.%a+Tensor$')) then
    th.type_error(3, 'torch.*Tensor', value, false, '?')
  end
end

local function set_number(self, k, value, ...) -- luacheck: ignore 212
  local c = structs[self] or need_struct(self)
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
function access.__newindex(self, key, value, ...) -- luacheck: ignore 212
  if type(key) == 'number' and type(value) == 'number' and set_vector_element(self, key, value) then
    return
  end
  if not access.__newindex__(self, key, value) then
    th.fail('the class ' .. dtype.tensor_name .. ' cannot be indexed')
  end
end

-- ----------------------------------------------------------------- queries

function access.size(self, dim, ...)
  local c = structs[self] or fetch_struct(self)
  if type(dim) == 'number' and c and dim >= 1 and dim <= c.nDimension then
    return tonumber(c.size[dim - 1])
  end
  return slow.size(self, dim, ...)
end

function access.stride(self, dim, ...)
  local c = structs[self] or fetch_struct(self)
  if type(dim) == 'number' and c and dim >= 1 and dim <= c.nDimension then
    return tonumber(c.stride[dim - 1])
  end
  return slow.stride(self, dim, ...)
end

function access.dim(self, ...)
  local c = structs[self] or fetch_struct(self)
  return c and c.nDimension or slow.dim(self, ...)
end
access.nDimension = access.dim

function access.nElement(self, ...)
  local c = structs[self] or fetch_struct(self)
  if not c then return slow.nElement(self, ...) end
  local n = c.nDimension > 0 and 1 or 0
  for d = 0, c.nDimension - 1 do n = n * tonumber(c.size[d]) end
  return n
end

function access.storageOffset(self, ...)
  local c = structs[self] or fetch_struct(self)
  return c and tonumber(c.storageOffset) + 1 or slow.storageOffset(self, ...)
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

--- Nested tables of the elements; empty for an empty tensor.
-- Torch7: one function for all types.
function access.totable(self)
  local c = th.settled_struct(self, structs)
  if not c then
    local own = th.dtypes[th.class_of(self)]
    if own and own ~= dtype then return own.totable(self) end
    need_struct(self)
  end
  return c.nDimension > 0 and nested(c, 0, tonumber(c.storageOffset)) or {}
end
dtype.totable = access.totable

return access
