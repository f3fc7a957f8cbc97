--- The table torch: the functions that are in Python, the default type, FFI access, threads, time.
-- @module torch

local ffi, host, torch, bridge = import('ffi', 'host', 'torch', 'core.bridge')
local c_structs, errors, python_calls = import('core.c_structs', 'core.errors', 'core.python_calls')
local type_names, formulas = import('core.type_names', 'tensor.formulas')
local operations, small = import('tensor.operations', 'tensor.small')
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
  local function struct_of(self)
    return c_structs.settled_struct(self, structs) or errors.class_error(1, mt.__typename, self)
  end

  function mt.data(self, asnumber)
    local data = elements(struct_of(self))
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

-- -------------------------------------------------------------------- the rest

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
