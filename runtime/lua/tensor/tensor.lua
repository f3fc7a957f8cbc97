--- The tensor classes: constructors, apply, split, and the methods that are in Python.
-- @module tensor

local host, torch, bridge, c_structs = import('host', 'torch', 'core.bridge', 'core.c_structs')
local class_ids, classes, errors = import('core.class_ids', 'core.classes', 'core.errors')
local type_names, blocks = import('core.type_names', 'tensor.blocks')
local operations, storage_class = import('tensor.operations', 'tensor.storage_class')

local type, tonumber, select = type, tonumber, select
local new_sizes = torch.getmetatable('torch.LongStorage').new

-- ---------------------------------------------------------------- from tables

local function shape(items)
  local sizes = {}
  while type(items) == 'table' and #items > 0 do
    if #sizes == host.MAX_DIMENSIONS then errors.fail('invalid tensor definition') end
    sizes[#sizes + 1] = #items
    items = items[1]
  end
  return sizes
end

-- Writes the numbers in nested tables to memory one after the other; returns the next position.
local function fill(data, at, items, sizes, d, convert)
  if type(items) ~= 'table' then errors.fail('invalid tensor definition') end
  if #items ~= sizes[d] then errors.fail('invalid tensor sizes') end
  if d < #sizes then
    for i = 1, sizes[d] do at = fill(data, at, items[i], sizes, d + 1, convert) end
    return at
  end
  for i = 1, sizes[d] do
    local v = items[i]
    if type(v) ~= 'number' then
      v = type(v) == 'string' and tonumber(v) or errors.fail('invalid element (not a number)')
    end
    data[at] = convert(v)
    at = at + 1
  end
  return at
end

-- A block for sizes in a table; nil where they are too many elements or dimensions.
local function new_block(dtype, sizes)
  local n, count = #sizes, 1
  if n > c_structs.ROOM then return nil end
  for d = 1, n do
    count = count * sizes[d]
    if count > blocks.MAX then return nil end
  end
  local block = blocks.new(dtype, count, n)
  for d = 1, n do block.size[d - 1] = sizes[d] end
  blocks.set_strides(block, n)
  return block
end

-- A large tensor is made by Python. resize: the original method. A program may have replaced it in
-- the class; but the memory that is written here must have been allocated.
local function from_table(dtype, make, resize, items, convert)
  local sizes = shape(items)
  if #sizes == 0 then return make() end
  local block = new_block(dtype, sizes)
  if block then
    fill(block.own.data, 0, items, sizes, 1, convert)
    return (blocks.publish(dtype, block))
  end
  local value = make()
  resize(value, new_sizes(sizes))
  fill(c_structs.fetch_struct(value).storage.data, 0, items, sizes, 1, convert)
  return value
end

-- ------------------------------------------------------------------ functions

local loop_copies = setmetatable({}, { __mode = 'v' }) -- place of a function -> loops for it
local MIN_FOR_COPY = 4096 -- elements

-- The name of the element type in errors of the loops.
local function loop_type(dtype)
  return dtype.name == 'Long' and 'int64_t' or dtype.name == 'Char' and 'char' or dtype.ctype
end

-- The loops to run a function over n elements. If there are many, it is a copy of the chunk for the
-- place in the source where the function is defined: see tensor/loops.lua.
local function loops_for(dtype, f, n)
  if n < MIN_FOR_COPY then return dtype.loops end
  local info = debug.getinfo(f, 'S')
  local place = dtype.name .. info.source .. ':' .. info.linedefined
  if info.what == 'C' then place = dtype.name .. tostring(f) end
  local loops = loop_copies[place]
  if not loops then
    loops = import.instance('tensor.loops', dtype.load, dtype.wrap, loop_type(dtype))
    loop_copies[place] = loops
  end
  return loops
end

local function check_function(arg, f, absent)
  if type(f) ~= 'function' then errors.type_error(arg, 'function', f, absent) end
end

local function cursor(dtype, arg, value)
  local c = c_structs.settled_struct(value, dtype.structs)
  return dtype.loops.cursor(c or errors.class_error(arg, dtype.tensor_name, value))
end

-- Returns the cursor of a further tensor of map or map2. Torch7: has other errors for it, in Lua.
local function source_cursor(dtype, arg, value)
  local name = type_names.typename(value)
  if not torch.isTensor(value) then
    errors.fail(("bad argument #%d to 'map' (tensor expected)"):format(arg))
  elseif name ~= dtype.tensor_name then
    errors.fail(("bad argument #%d to 'map' (%s expected, got %s)")
      :format(arg, dtype.tensor_name, name))
  end
  return cursor(dtype, arg, value)
end

local is_within = false -- whether a program's function runs that has got an element, or has failed

-- Makes a function public (see core/errors.lua) only for calls of it by a program's function that
-- another call of it runs: one that does so again and again comes to the end of the stack,
-- anywhere. For few elements the pcall would take as long as the rest.
local function public_within(f)
  local public = errors.public(f)
  return function(...)
    if is_within then return (public(...)) end
    is_within = true
    local result = f(...)
    is_within = false
    return result
  end
end

local function add_loops(mt, dtype)
  dtype.loops = import.instance('tensor.loops', dtype.load, dtype.wrap, loop_type(dtype))

  function mt.apply(self, f)
    local x = cursor(dtype, 1, self)
    check_function(2, f)
    loops_for(dtype, f, x.total).apply(x, f)
    return self
  end

  function mt.map(self, src, f)
    local x, y = cursor(dtype, 1, self), source_cursor(dtype, 1, src)
    check_function(3, f)
    if x.total ~= y.total then errors.fail('size mismatch') end
    loops_for(dtype, f, x.total).map(x, y, f)
    return self
  end

  function mt.map2(self, src1, src2, f)
    local x = cursor(dtype, 1, self)
    local y, z = source_cursor(dtype, 1, src1), source_cursor(dtype, 2, src2)
    check_function(4, f)
    if x.total ~= y.total or x.total ~= z.total then errors.fail('size mismatch') end
    loops_for(dtype, f, x.total).map2(x, y, z, f)
    return self
  end

  for _, name in ipairs{ 'apply', 'map', 'map2' } do mt[name] = public_within(mt[name]) end
end

-- ------------------------------------------------------------- split and chunk

local function extent(tensor, dim)
  local n = tensor:dim()
  if dim < 1 or dim > n then
    errors.fail(("bad argument #1 to 'size' (dimension %d out of range of %dD tensor)")
      :format(dim, n))
  end
  return tensor:size(dim)
end

local function split(result, tensor, size, dim)
  if torch.type(result) ~= 'table' then
    result, tensor, size, dim = {}, result, tensor, size
  else
    for key in pairs(result) do result[key] = nil end
  end
  dim = dim or 1
  local start, length = 1, extent(tensor, dim)
  if type(size) ~= 'number' then
    errors.fail(("bad argument #1 to 'min' (number expected, got %s)"):format(type(size)))
  end
  while start <= length do
    local taken = math.min(size, length - start + 1)
    result[#result + 1] = tensor:narrow(dim, start, taken)
    start = start + taken
  end
  return result
end

local function chunk(result, tensor, n, dim)
  if torch.type(result) ~= 'table' then
    result, tensor, n, dim = {}, result, tensor, n
  end
  dim = dim or 1
  return split(result, tensor, math.ceil(extent(tensor, dim) / n), dim)
end
split, chunk = errors.public(split), errors.public(chunk)
torch.split, torch.chunk = split, chunk

local real = errors.public(function(self)
  return self:type(torch.getdefaulttensortype())
end)

-- --------------------------------------------------------------- the classes

-- The chunks that are loaded for each type, in an order in which each finds what it uses.
local CHUNKS = {
  'tensor.queries', 'tensor.views', 'tensor.shapes', 'tensor.table_index', 'tensor.access',
  'tensor.geometry',
  'tensor.copies',
}

for _, dtype in ipairs(c_structs.dtypes) do
  local make = bridge.stub('new', dtype.index)
  local slow = {}
  local function new(...)
    if type((...)) == 'table' then
      return from_table(dtype, make, slow.resize, (...), dtype.convert)
    end
    local value = dtype.construct(select('#', ...), ...)
    if value then return value end
    value = make(...) -- no tail call: core/errors.lua looks for this constructor's frame
    return value
  end
  errors.mark_constructor(new)
  local mt = torch.newmetatable(dtype.tensor_name, nil, new, nil, function() return new() end,
    torch)
  dtype.methods, dtype.make = mt, bridge.maker(classes.proxy(mt), dtype.structs)
  class_ids.bind_class(dtype.tensor_id, mt)
  operations.add(mt, '', dtype.index)
  for name, f in pairs(mt) do slow[name] = f end
  for _, module in ipairs(CHUNKS) do
    for name, f in pairs(import.instance(module, dtype, slow)) do mt[name] = f end
  end
  if dtype.name ~= 'Half' then add_loops(mt, dtype) end
  mt.new, mt.split, mt.chunk, mt.at = new, split, chunk, nil
  mt.__len__, mt.__eq__ = mt.size, storage_class.same_object
  mt.__tostring__, mt.tostring = mt.tostring, nil
  mt.real = real
  for _, name in ipairs{ 'add', 'sub', 'mul', 'div', 'mod', 'unm' } do
    mt['__' .. name .. '__'], mt['operator_' .. name] = mt['operator_' .. name], nil
  end
end
