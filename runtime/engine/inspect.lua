--- Describes values for the help of the prompt, as tables of strings, numbers and booleans.
-- Nothing here runs code of the program: fields and metatables are read raw, geometry and elements
-- from the structs. What takes time in proportion to a value's size has a limit.
-- @module inspect

local ffi, torch, c_structs, class_ids = import('ffi', 'torch', 'core.c_structs', 'core.class_ids')
local errors, type_names, completion = import('core.errors', 'core.type_names', 'engine.completion')
local session_locals, layouts = import('engine.session_locals', 'tensor.layouts')

local inspect = {}

local getinfo, raw_metatable = debug.getinfo, debug.getmetatable
local find, sub, format, concat = string.find, string.sub, string.format, table.concat
local sort, ceil, io_type = table.sort, math.ceil, io.type

local structs = c_structs.by_class

local MAX_LOOKS = 1000000    -- at elements, for their minimum and so on; at entries, to count them
local MAX_KEYS = 1000        -- of a table, to be listed
local MAX_TEXT = 200         -- bytes of a string that are shown

local function address_of(pointer)
  return format('0x%x', tonumber(ffi.cast('intptr_t', ffi.cast('void *', pointer))))
end

-- The struct of a tensor or storage and its element type; nil for other values.
local function struct_of(value)
  if type(value) ~= 'userdata' then return nil end
  local id = class_ids.class_of(value)
  local struct = id and structs[id] and structs[id][value]
  if not struct then struct, id = c_structs.fetch_struct(value) end
  if not struct then return nil end
  for _, dtype in ipairs(c_structs.dtypes) do
    if id == dtype.tensor_id then return struct, dtype, true end
    if id == dtype.storage_id then return struct, dtype, false end
  end
end

-- ---------------------------------------------------------------- numbers in memory

-- Adds to the facts what the elements are like. If there are more than MAX_LOOKS, elements at
-- equal distances are looked at.
-- @param position gives the place in memory of the element with a number, from 0
local function add_statistics(facts, data, load, count, position)
  local step = ceil(count / MAX_LOOKS)
  if step % 2 == 0 then step = step + 1 end -- the sizes of most dimensions are even
  local low, high, total, good, nans = math.huge, -math.huge, 0, 0, 0
  for i = 0, count - 1, step do
    local value = load(data, position(i))
    if value ~= value then
      nans = nans + 1
    else
      good, total = good + 1, total + value
      if value < low then low = value end
      if value > high then high = value end
    end
  end
  facts.looked_at, facts.nans = good + nans, nans
  if good > 0 then facts.min, facts.max, facts.mean = low, high, total / good end
end

local function identity(i)
  return i
end

-- The function that gives the place of a tensor's element with a number, from the first one's.
local function positions(sizes, strides)
  local n = #sizes
  return function(i)
    local at = 0
    for d = n, 1, -1 do
      local size = sizes[d]
      local k = i % size
      at, i = at + k * strides[d], (i - k) / size
    end
    return at
  end
end

-- ---------------------------------------------------------------- tensors and storages

local function geometry(struct)
  local sizes, strides, count = {}, {}, struct.nDimension > 0 and 1 or 0
  for d = 1, struct.nDimension do
    sizes[d], strides[d] = tonumber(struct.size[d - 1]), tonumber(struct.stride[d - 1])
    count = count * sizes[d]
  end
  return sizes, strides, count
end

local function describe_storage(facts, struct, dtype, statistics)
  facts.category, facts.element, facts.elements = 'storage', dtype.name, tonumber(struct.size)
  facts.storage, facts.storage_size = address_of(struct), facts.elements
  facts.element_size = ffi.sizeof(dtype.ctype)
  if statistics then add_statistics(facts, struct.data, dtype.load, facts.elements, identity) end
end

local function describe_tensor(facts, struct, dtype, statistics)
  local sizes, strides, count = geometry(struct)
  facts.category, facts.element, facts.elements = 'tensor', dtype.name, count
  facts.sizes, facts.strides = concat(sizes, 'x'), concat(strides, 'x')
  facts.element_size, facts.contiguous = ffi.sizeof(dtype.ctype), layouts.contiguous(struct) > 0
  local storage, first = struct.storage, tonumber(struct.storageOffset)
  facts.offset, facts.storage_size = first + 1, 0
  if storage == nil then return end
  facts.storage, facts.storage_size = address_of(storage), tonumber(storage.size)
  facts.beyond = count > 0 and not layouts.is_within(struct)
  if statistics and count > 0 and not facts.beyond then
    local position = facts.contiguous and identity or positions(sizes, strides)
    add_statistics(facts, storage.data + first, dtype.load, count, position)
  end
end

-- ---------------------------------------------------------------- other values

local function shown_key(key)
  if type(key) == 'string' then return find(key, '^[%a_][%w_]*$') and key or format('[%q]', key) end
  return '[' .. (type(key) == 'number' and tostring(key) or type(key)) .. ']'
end

local function describe_table(facts, value)
  local count, keys, length = 0, {}, #value
  for key in next, value do
    count = count + 1
    if count > MAX_LOOKS then break end
    local listed = type(key) == 'number' and key >= 1 and key <= length
    if not listed and #keys < MAX_KEYS then keys[#keys + 1] = shown_key(key) end
  end
  sort(keys)
  facts.entries, facts.length, facts.keys = count, length, concat(keys, '\n')
  facts.has_metatable = raw_metatable(value) ~= nil
end

local LIBRARIES = { 'torch', 'paths', 'sys', 'xlua', 'lfs', 'dok', 'image', 'string', 'table',
  'math', 'io', 'os', 'debug', 'coroutine', 'bit', 'jit', 'ffi', 'package' }
local CLASSES = { 'File', 'DiskFile', 'PipeFile', 'MemoryFile', 'Timer', 'CmdLine', 'Tester',
  'Generator' }

-- The key of a value in a table, a name; of several, the first in alphabetic order.
local function key_of(holder, value)
  local found
  for key, other in next, holder do
    if rawequal(other, value) and type(key) == 'string' and (not found or key < found) then
      found = key
    end
  end
  return found
end

local function libraries()
  local result = {}
  local function add(name, holder)
    if type(holder) == 'table' then result[#result + 1] = { name, holder } end
  end
  for _, name in ipairs(LIBRARIES) do add(name .. '.', rawget(package.loaded, name)) end
  for _, dtype in ipairs(c_structs.dtypes) do
    add('Tensor:', torch.getmetatable(dtype.tensor_name))
    add('Storage:', torch.getmetatable(dtype.storage_name))
  end
  for _, name in ipairs(CLASSES) do add(name .. ':', torch.getmetatable('torch.' .. name)) end
  add('file:', rawget(raw_metatable(io.stdout), '__index'))
  add('', _G)
  return result
end

-- Returns the name that programs have for a library's function: 'torch.sum', 'Tensor:sum', 'pairs'.
local function known_name(f)
  for _, entry in ipairs(libraries()) do
    local key = key_of(entry[2], f)
    if key then return entry[1] .. key end
  end
end

local function describe_function(facts, f)
  local info = getinfo(f, 'Su')
  facts.what, facts.source = info.what, info.source
  facts.first, facts.last = info.linedefined, info.lastlinedefined
  -- Of LuaJIT's own functions, some are bytecode, defined in line -1.
  facts.own = info.what ~= 'C' and info.linedefined >= 0 and not errors.is_ours(info.source)
  facts.parameters = completion.parameters_of(f)
  if not facts.own then facts.known_as = known_name(f) end
end

-- The texts of objects by their classes: the functions of the runtime, not those of a program that
-- has replaced them.
local texts = {}
for _, name in ipairs{ 'DiskFile', 'PipeFile', 'MemoryFile', 'Timer' } do
  texts['torch.' .. name] = torch.getmetatable('torch.' .. name).__tostring__
end

local function describe_object(facts, value)
  local text = texts[facts.class] or io_type
  local ok, shown = pcall(text, value)
  if ok then facts.text = shown end
end

local function describe_scalar(facts, value)
  local kind = type(value)
  if kind == 'string' then
    facts.length, facts.text = #value, sub(value, 1, MAX_TEXT)
  elseif kind == 'number' or kind == 'boolean' then
    facts.text = tostring(value)
  end
end

-- The facts about a value, by their names.
local function describe(value, statistics)
  local kind = type(value)
  local facts = { kind = kind, class = type_names.typename(value), category = kind }
  local struct, dtype, is_tensor = struct_of(value)
  if struct then
    (is_tensor and describe_tensor or describe_storage)(facts, struct, dtype, statistics)
  elseif kind == 'table' then
    describe_table(facts, value)
  elseif kind == 'function' then
    describe_function(facts, value)
  elseif kind == 'userdata' then
    describe_object(facts, value)
  else
    describe_scalar(facts, value)
  end
  return facts
end

inspect.describe = describe

-- ---------------------------------------------------------------- what Python asks for

-- The address of the storage that a value's elements are in, or nil.
local function storage_of(value)
  local struct, _, is_tensor = struct_of(value)
  if not struct or is_tensor and struct.storage == nil then return nil end
  return address_of(is_tensor and struct.storage or struct)
end

-- The variables, other than one, whose elements are in a storage.
local function sharers(address, path)
  local names = {}
  session_locals.each_variable(function(name, value)
    if name ~= path and storage_of(value) == address then names[#names + 1] = name end
  end)
  sort(names)
  return concat(names, ' ')
end

--- The facts about the value that a dotted path leads to; nil where there is none.
-- @param statistics whether elements are looked at, and variables that share them
function inspect.inspect(path, statistics)
  local value = completion.value_at(path)
  if value == nil then return nil end
  local facts = describe(value, statistics)
  if statistics and facts.storage then facts.shared = sharers(facts.storage, path) end
  return facts
end

return inspect
