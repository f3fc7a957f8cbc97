--- The table torch: the functions that are in Python, the default type, FFI access, threads, time,
-- and the manual's utility functions besides classes: identity, environments, paths.
-- @module torch

local ffi, host, torch, bridge = import('ffi', 'host', 'torch', 'core.bridge')
local c_structs, errors, finalizers = import('core.c_structs', 'core.errors', 'core.finalizers')
local python_calls, type_names = import('core.python_calls', 'core.type_names')
local formulas, operations, small = import('tensor.formulas', 'tensor.operations', 'tensor.small')
local storage_class = import 'tensor.storage_class'
local fail = errors.fail

local raw_metatable = debug.getmetatable

-- luacheck: globals torch
rawset(_G, 'torch', torch)
package.loaded.torch = torch

for _, operation in ipairs(operations.all) do
  local name = operation.name
  if operation.of_torch then torch[name] = bridge.stub(name, nil, operation.mark) end
end

-- --------------------------------------------------------------- default type

local function set_default(dtype)
  torch.Tensor = torch.getconstructortable(dtype.tensor_name)
  torch.Storage = torch.getconstructortable(dtype.storage_name)
end
-- The default is double, as Python has it at its start (runtime/calls/plans.py).
set_default(c_structs.dtypes[c_structs.DOUBLE + 1])

function torch.setdefaulttensortype(tname)
  if type(tname) ~= 'string' then fail('string expected') end
  local dtype
  for _, d in ipairs(c_structs.dtypes) do
    if d.tensor_name == tname then dtype = d end
  end
  if not dtype then
    fail(('<%s> is not a string describing a torch object'):format(tname))
  end
  python_calls.ask(host.set_default_type, dtype.index)
  small.forget()
  set_default(dtype)
end

function torch.getdefaulttensortype()
  local mt = getmetatable(torch.Tensor)
  return mt and mt.__typename
end

-- -------------------------------------------------------------------- queries

function torch.isTensor(object)
  local name = type_names.typename(object)
  return name ~= nil and name:find('torch.*Tensor') ~= nil
end

function torch.isStorage(object)
  local name = type_names.typename(object)
  return name ~= nil and name:find('torch.*Storage') ~= nil
end
torch.Tensor.isTensor = torch.isTensor

function torch.totable(object)
  if torch.isTensor(object) or torch.isStorage(object) then return object:totable() end
  fail('obj must be a Storage or a Tensor')
end

-- ----------------------------------------------------------------- FFI access

local intptr = ffi.typeof('intptr_t')

-- Adds the methods data and cdata to a class. data returns a pointer to the elements of a tensor,
-- from its offset on, or of a storage; cdata a pointer to the struct. With `asnumber`, they return
-- the address as a cdata of the type intptr_t.
local function add_pointers(mt, structs, elements)
  function mt.data(self, asnumber)
    local c = c_structs.settled_struct(self, structs) or errors.class_error(1, mt.__typename, self)
    local data = elements(c)
    return data ~= nil and asnumber and ffi.cast(intptr, data) or data
  end

  function mt.cdata(self, asnumber)
    local c = c_structs.struct_pointer(self, structs) or errors.class_error(1, mt.__typename, self)
    return asnumber and ffi.cast(intptr, c) or c
  end
end

local function tensor_elements(c)
  if c.storage == nil then return nil end
  return c.storage.data + c.storageOffset
end

local function storage_elements(c)
  return c.data
end

for _, dtype in ipairs(c_structs.dtypes) do
  add_pointers(torch.getmetatable(dtype.tensor_name), dtype.structs, tensor_elements)
  add_pointers(torch.getmetatable(dtype.storage_name), dtype.storage_structs, storage_elements)
end

-- Makes a function that calls a method of its argument; for nil or false it returns nil.
local function access(name)
  local function call(self, asnumber)
    if not self then return nil end
    local kind = type(self)
    local mt = kind == 'userdata' and raw_metatable(self)
    if kind ~= 'table' and not (mt and mt.__index ~= nil) then
      fail(("attempt to index local 'self' (a %s value)"):format(kind))
    end
    local method = self[name]
    if method == nil then fail(("attempt to call method '%s' (a nil value)"):format(name)) end
    if method == call then fail('stack overflow') end -- the argument is the table torch itself
    return method(self, asnumber)
  end
  return call
end
torch.data, torch.cdata = access('data'), access('cdata')

-- ----------------------------------------------------------- time and threads

function torch.tic() return (python_calls.ask(host.clock)) end

function torch.toc(start)
  local since = tonumber(start)
  if not since then errors.type_error(1, 'number', start, start == nil) end
  return python_calls.ask(host.clock) - since
end

--- The number of threads that large operations are divided among.
function torch.getnumthreads() return (python_calls.ask(host.get_threads)) end

function torch.setnumthreads(count)
  if type(count) ~= 'number' then errors.type_error(1, 'number', count, count == nil) end
  python_calls.ask(host.set_threads, count)
  formulas.forget_threads()
end

function torch.getnumcores() return (python_calls.ask(host.count_cores)) end

function torch.isatty(file)
  if io.type(file) == nil then errors.type_error(1, 'FILE*', file, file == nil) end
  return (python_calls.ask(host.isatty, file == io.stdin and 0 or file == io.stderr and 2 or 1))
end

function torch.updateerrorhandlers() end

function torch.updatethreadlocals() end

-- ----------------------------------------------------------------- identity

local function address(object)
  return tonumber((('%p'):format(object):gsub('^builtin#', '')))
end

local function check_object(arg, object)
  if not type_names.typename(object) then errors.argument_error(arg, 'Torch object expected') end
end

--- The address of an object's C struct, or of the Lua object: a number that identifies it.
function torch.pointer(object)
  local kind = type(object)
  if kind == 'cdata' then
    return tonumber(ffi.cast(intptr, ffi.cast('void *', object)))
  elseif kind == 'userdata' then
    check_object(1, object)
    local c = c_structs.struct_pointer(object)
    return c and tonumber(ffi.cast(intptr, c)) or address(object)
  elseif kind == 'table' or kind == 'thread' or kind == 'function' then
    return address(object)
  elseif kind == 'string' or kind == 'number' then
    return tonumber(ffi.cast(intptr, ffi.cast('const char *', tostring(object))))
  end
  errors.fail('Torch object, table, thread, cdata or function expected')
end

--- Tells whether two values are the same object: tables by identity, tensors by their C struct.
function torch.isequal(a, b)
  if type(a) == 'userdata' and type(b) == 'userdata' then
    check_object(1, a)
    check_object(2, b)
    return rawequal(a, b) or storage_class.same_object(a, b)
  end
  return type(a) == 'table' and type(b) == 'table' and rawequal(a, b)
end

--- The object whose C struct is at an address, given as a number or as cdata's pointer.
-- Torch7: takes any address for that of a struct; here the object must exist.
function torch.pushudata(pointer, tname)
  if type(tname) ~= 'string' then errors.type_error(2, 'string', tname, tname == nil) end
  if type(pointer) ~= 'number' and type(pointer) ~= 'cdata' then
    errors.argument_error(1, 'expecting number or cdata')
  end
  local wanted = type(pointer) == 'number' and pointer or torch.pointer(pointer)
  if wanted == 0 then return nil end
  local mt = torch.getmetatable(tname)
  if not mt then
    errors.fail('Torch internal problem: cannot find metatable for type <' .. tname .. '>')
  end
  local owner = c_structs.owner_of(wanted)
  if owner ~= nil and raw_metatable(owner) == mt then return owner end
  errors.fail(('no %s lives at this address'):format(tname))
end

local ids = {} -- type name -> a userdata that only this type has

--- A value that identifies a class, for quick comparisons; nil where there is no such class.
function torch.typename2id(tname)
  if type(tname) ~= 'string' then errors.type_error(1, 'string', tname, tname == nil) end
  if not torch.getmetatable(tname) then return nil end
  ids[tname] = ids[tname] or finalizers.newproxy()
  return ids[tname]
end

--- A value that identifies the class of an object; nil where it has none.
function torch.id(...)
  if select('#', ...) == 0 then errors.argument_error(1, 'value expected') end
  local tname = type_names.typename((...))
  return tname and torch.typename2id(tname)
end

--- The field __version of an object's metatable.
function torch.version(...)
  if select('#', ...) == 0 then errors.argument_error(1, 'value expected') end
  local object = ...
  local mt = raw_metatable(object)
  if type(object) == 'cdata' then
    local tname = type_names.typename(object)
    mt = tname and torch.getmetatable(tname)
  end
  if type(mt) == 'table' then return rawget(mt, '__version') end
end

-- ------------------------------------------------------------- environments

local function check_holder(object)
  if type(object) ~= 'function' and type(object) ~= 'userdata' then
    errors.type_error(1, 'function or userdata', object, object == nil)
  end
end

function torch.getenv(object)
  check_holder(object)
  return debug.getfenv(object) or {}
end

function torch.setenv(object, env)
  check_holder(object)
  if type(env) ~= 'table' then errors.type_error(2, 'table', env, env == nil) end
  debug.setfenv(object, env)
end

-- -------------------------------------------------------------------- paths

--- The folder of the file that a package is loaded from; without a name, the folder above torch's.
function torch.packageLuaPath(name)
  if not name then return (torch.packageLuaPath('torch') or ''):match('(.*)/') end
  for template in package.path:gmatch('[^;]+') do
    local path = template:gsub('%?', (tostring(name):gsub('%%', '%%%%')))
    local file = io.open(path)
    if file then
      file:close()
      return path:match('(.*)/')
    end
  end
end

function torch.include(package_name, file)
  local folder = torch.packageLuaPath(package_name)
  if not folder then errors.fail('attempt to concatenate a nil value') end
  dofile(folder .. '/' .. file)
end

-- ------------------------------------------------------------------ tracking

torch._heaptracking = true

--- Sets what torch._heaptracking says. Torch7: counts memory only then; here it is always counted.
function torch.setheaptracking(enabled)
  if type(enabled) ~= 'boolean' then errors.class_error(1, 'boolean', enabled) end
  torch._heaptracking = enabled
end
