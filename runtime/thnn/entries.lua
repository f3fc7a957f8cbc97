--- The module nn.THNN: functions of nn's backend, which nn's Lua files call with pointers to the C
-- structs of tensors. Rows (runtime/thnn/table.py) tell what there is. A call is computed by Lua
-- where it knows the jobs of such a call (repeats.lua); else by Python, with the tensors whose
-- structs the pointers lead to.
-- @module nn.THNN

local ffi, host, bridge, c_structs = import('ffi', 'host', 'core.bridge', 'core.c_structs')
local errors, finalizers = import('core.errors', 'core.finalizers')
local python_calls, references = import('core.python_calls', 'core.references')
local type_names, random_numbers = import('core.type_names', 'tensor.random')
local repeated_calls = import 'thnn.repeats'
local objects = references.objects

import 'thnn.all_jobs'

local type, tonumber, select = type, tonumber, select
local floor, ceil = math.floor, math.ceil
local istype, typeof = ffi.istype, ffi.typeof

local TYPES = { 'Float', 'Double' }
local LETTERS = { I = 'Long', N = 'Int' } -- the element types of other tensors than THTensor

local by_name = {}
for _, dtype in ipairs(c_structs.dtypes) do by_name[dtype.name] = dtype end

-- The element type of a parameter of some kind; nil for what is no tensor.
local function element_of(kind, dtype)
  return kind == 'T' and dtype or LETTERS[kind] and by_name[LETTERS[kind]]
end

-- ------------------------------------------------------------------ arguments

local shown = { ['nil'] = 'nil', string = 'string', table = 'table', userdata = 'userdata',
  ['function'] = 'function', number = 'number', boolean = 'boolean', thread = 'thread' }

-- The error of LuaJIT's FFI about an argument that is not of a parameter's C type.
local function cannot_convert(at, value, wanted)
  local got = shown[type(value)] or tostring(typeof(value)):match('^ctype<(.*)>$')
  errors.argument_error(at, ("cannot convert '%s' to '%s'"):format(got, wanted), 'v')
end

local function is_null(value)
  return value == nil -- also a cdata that is a null pointer
end

-- Makes a function that gives the Python object of the tensor that a pointer leads to.
local function tensor_reader(dtype, optional)
  local wanted = dtype.tensor_pointer
  local ctype = 'struct TH' .. dtype.name .. 'Tensor *'
  return function(value, at)
    if is_null(value) then
      if optional then return nil end
      errors.argument_error(at, 'a tensor is expected, got NULL', 'v')
    end
    if type(value) ~= 'cdata' or not istype(wanted, value) then cannot_convert(at, value, ctype) end
    local owner = c_structs.owner_of(value)
    if owner == nil then errors.argument_error(at, 'no tensor lives at this address', 'v') end
    return objects[owner] or bridge.to_python(owner)
  end
end

local readers = {}

-- The type that nn's RReLU has a pointer to, as in the reference, unless a program has declared it.
if not pcall(typeof, 'THGenerator') then
  ffi.cdef[[
    typedef struct {
      unsigned long the_initial_seed;
      int left;
      int seeded;
      unsigned long next;
      unsigned long state[624];
      double normal_x;
      double normal_y;
      double normal_rho;
      int normal_is_valid;
    } THGenerator;
  ]]
end

-- The default generator's address stands for it (lua/tensor/random.lua). Here, the userdata of any
-- generator do, too.
function readers.G(value, at)
  if type_names.typename(value) == 'torch.Generator' then return bridge.to_python(value) end
  if type(value) ~= 'cdata' then cannot_convert(at, value, 'THGenerator *') end
  if ffi.cast('void *', value) ~= ffi.cast('void *', random_numbers.generator_memory) then
    errors.argument_error(at, 'no generator lives at this address', 'v')
  end
  return bridge.to_python(torch._gen) -- luacheck: ignore 113
end

function readers.r(value, at)
  if type(value) == 'cdata' then value = tonumber(value) end
  if type(value) ~= 'number' then cannot_convert(at, value, 'double') end
  return value
end

-- Makes a function that cuts a number to a whole one of a C type with so many bits.
local function whole_reader(ctype, bits)
  local limit = 2 ^ (bits - 1)
  return function(value, at)
    if type(value) == 'cdata' then value = tonumber(value) end
    if type(value) ~= 'number' then cannot_convert(at, value, ctype) end
    local whole = value < 0 and ceil(value) or floor(value)
    if not (whole >= -limit and whole < limit) then -- C leaves open what becomes of it
      errors.argument_error(at, ('%s expected, got %s'):format(ctype, tostring(value)), 'v')
    end
    return whole
  end
end

readers.i, readers.l = whole_reader('int', 32), whole_reader('int64_t', 64)

function readers.b(value, at)
  if type(value) == 'number' then return value ~= 0 end
  if type(value) ~= 'boolean' then cannot_convert(at, value, 'bool') end
  return value
end

-- ------------------------------------------------------------------ functions

-- The rows, as runtime/thnn/table.py writes them.
local rows, names = {}, {}
local function read_rows()
  for name, kinds, repeats, parameters in
    python_calls.ask(host.thnn_rows):gmatch('(%S+) (%S+) (%d) (%S+)\n')
  do
    local row = { name = name, names = {}, kinds = {}, optional = {}, repeats = repeats == '1' }
    for parameter in parameters:gmatch('[^,]+') do row.names[#row.names + 1] = parameter end
    for kind, optional in kinds:gmatch('(%a)(%??)') do
      row.kinds[#row.kinds + 1], row.optional[#row.kinds + 1] = kind, optional == '?'
    end
    rows[name], names[#names + 1] = row, name
  end
end

-- The source of the function that calls the function of a row: a1, a2 … are its arguments behind
-- the library's state; r1, r2 … read them for Python. o1, o2 … are the tensors that pointers
-- lead to, which a finalizer must not take away in the meantime.
local SOURCE = [[
local few, entry, raise, READERS = ...
return function(_, ARGUMENTS, ...)
  local done, OWNERS
  if few then done, OWNERS = few(ARGUMENTS) end
  if done then return end
  local failure = entry(READ)
  if failure then raise(failure, 'v', OWNERS) end
end
]]

-- The source of a function that repeats a call with pointers of the right types, whose tensors are
-- alive. These are returned, too: so they are not collected in the meantime.
local TYPED = [[
local few, type, istype, owner_of, begin_work, end_work, TYPES = ...
return function(ARGUMENTS)
  if not (TESTS) then return nil end
  OWNERS
  begin_work()
  local done = few(ARGUMENTS)
  end_work()
  return done, KEPT
end
]]

-- Conditions for parameters, by kind: numbers must be whole where C would cut them, and fit an int.
local WHOLE = 'type(#) == "number" and # % 1 == 0 and # >= -0x80000000 and # < 0x80000000'
local TESTED = { b = 'type(#) == "boolean"', i = WHOLE, l = WHOLE }

-- Makes that function for a row and an element type.
local function typed(row, dtype, few)
  local tests, arguments, pointers, owners, kept, types = {}, {}, {}, {}, {}, {}
  for i, kind in ipairs(row.kinds) do
    local a, element = 'a' .. i, element_of(kind, dtype)
    arguments[i] = a
    if element then
      local k = #pointers + 1
      pointers[k], types[k], kept[k] = element.tensor_pointer, 't' .. k, 'o' .. k
      local test = ('type(%s) == "cdata" and istype(t%d, %s) and %s ~= nil'):format(a, k, a, a)
      tests[#tests + 1] = row.optional[i] and ('(%s == nil or %s)'):format(a, test) or test
      owners[k] = ('local o%d = %s ~= nil and owner_of(%s) '):format(k, a, a)
        .. ('if o%d == nil then return nil end'):format(k)
    elseif kind ~= 'G' then
      tests[#tests + 1] = (TESTED[kind] or 'type(#) == "number"'):gsub('#', a)
    end
  end
  local source = TYPED:gsub('%u%u%u%u+', {
    TYPES = table.concat(types, ', '), ARGUMENTS = table.concat(arguments, ', '),
    TESTS = table.concat(tests, ' and '), OWNERS = table.concat(owners, ' '),
    KEPT = table.concat(kept, ', '),
  })
  local chunk = import.compile(source, 'thnn/' .. row.name .. '.lua')
  return chunk(few, type, istype, c_structs.owner_of, finalizers.begin_work, finalizers.end_work,
    unpack(pointers))
end

local function make(row, dtype)
  local few = row.repeats and repeated_calls.make(row, dtype)
  local list, read, readers_of, names_of, owners = {}, {}, {}, {}, {}
  for i, kind in ipairs(row.kinds) do
    local element = element_of(kind, dtype)
    list[i], names_of[i] = 'a' .. i, 'r' .. i
    if element then owners[#owners + 1] = 'o' .. i end
    readers_of[i] = element and tensor_reader(element, row.optional[i]) or readers[kind]
    read[i] = ('r%d(a%d, %d)'):format(i, i, i + 1)
  end
  local arguments = table.concat(list, ', ')
  local source = SOURCE:gsub('%u%u+', {
    ARGUMENTS = arguments,
    READERS = table.concat(names_of, ', '), READ = table.concat(read, ', '),
    OWNERS = table.concat(owners, ', '),
  })
  local chunk = import.compile(source, 'thnn/' .. row.name .. '.lua')
  return chunk(few and typed(row, dtype, few), host.thnn_entry(row.name), errors.raise,
    unpack(readers_of))
end

-- The function of a row for an element type. What it calls is made at the first call: there are
-- many functions, and a program uses few.
local function function_of(row, dtype)
  local count, call = #row.kinds + 1, nil
  return function(...)
    if select('#', ...) ~= count then errors.fail('wrong number of arguments for function call') end
    call = call or make(row, dtype)
    call(...)
  end
end

-- ------------------------------------------------------------------ the module

local THNN = { C = {}, kernels = {}, NULL = ffi.NULL or nil }

function THNN.getState()
  return THNN.NULL
end

function THNN.optionalTensor(tensor)
  return tensor and tensor:cdata() or THNN.NULL
end

--- Functions of a library for an element type, by their names without prefix and type. They get the
-- library's state from a function.
function THNN.bind(library, function_names, type_name, get_state)
  local bound, prefix = {}, 'THNN_' .. type_name
  for _, name in ipairs(function_names) do
    local ok, f = pcall(function() return library[prefix .. name] end)
    if ok then
      bound[name] = function(...) f(get_state(), ...) end
    else
      print('not found: ' .. prefix .. name .. f)
    end
  end
  return bound
end

--- Calls a function for the tensors of a type name by its own name.
function THNN.runKernel(name, tensor_type, ...)
  local kernels = THNN.kernels[tensor_type]
  if not kernels then errors.fail('Unsupported tensor type: ' .. tensor_type) end
  local f = kernels[name]
  if not f then
    errors.fail(("Function '%s' not found for tensor type '%s'."):format(name, tensor_type))
  end
  f(...)
end

read_rows()
for _, type_name in ipairs(TYPES) do
  local dtype = by_name[type_name]
  for _, name in ipairs(names) do
    THNN.C['THNN_' .. type_name .. name] = function_of(rows[name], dtype)
  end
  local kernels = THNN.bind(THNN.C, names, type_name, THNN.getState)
  THNN.kernels[dtype.tensor_name] = kernels
  torch.getmetatable(dtype.tensor_name).THNN = kernels -- luacheck: ignore 113
end
setmetatable(THNN.C, { __index = function(_, symbol)
  errors.fail(("missing declaration for symbol '%s'"):format(tostring(symbol)))
end })

return THNN
