--- The table torch: the functions that are in Python, the default type, FFI access, threads, time.
-- @module torch

local th = ...
local torch, host = th.torch, th.host
local ffi = require 'ffi'

local raw_metatable = debug.getmetatable

-- luacheck: globals torch
rawset(_G, 'torch', torch)
package.loaded.torch = torch

for _, operation in ipairs(th.operations) do
  local name = operation.name
  if operation.of_torch then torch[name] = th.stub(name, nil, operation.mark) end
end

-- --------------------------------------------------------------- default type

local function set_default(dtype)
  torch.Tensor = torch.getconstructortable(dtype.tensor_name)
  torch.Storage = torch.getconstructortable(dtype.storage_name)
end
set_default(th.dtypes[th.DOUBLE + 1]) -- as Python has it at its start (runtime/calls/plans.py)

function torch.setdefaulttensortype(tname)
  if type(tname) ~= 'string' then th.fail('string expected') end
  local dtype
  for _, d in ipairs(th.dtypes) do
    if d.tensor_name == tname then dtype = d end
  end
  if not dtype then
    th.fail(('<%s> is not a string describing a torch object'):format(tname))
  end
  th.ask(host.set_default_type, dtype.index)
  th.small.forget()
  set_default(dtype)
end

function torch.getdefaulttensortype()
  local mt = getmetatable(torch.Tensor)
  return mt and mt.__typename
end

-- -------------------------------------------------------------------- queries

function torch.isTensor(object)
  local name = th.typename(object)
  return name ~= nil and name:find('torch.*Tensor') ~= nil
end

function torch.isStorage(object)
  local name = th.typename(object)
  return name ~= nil and name:find('torch.*Storage') ~= nil
end
torch.Tensor.isTensor = torch.isTensor

function torch.totable(object)
  if torch.isTensor(object) or torch.isStorage(object) then return object:totable() end
  th.fail('obj must be a Storage or a Tensor')
end

-- ----------------------------------------------------------------- FFI access

local intptr = ffi.typeof('intptr_t')

-- Adds the methods data and cdata to a class. data returns a pointer to the elements of a tensor,
-- from its offset on, or of a storage; cdata a pointer to the struct. With `asnumber`, they return
-- the address as a cdata of the type intptr_t.
local function add_pointers(mt, structs, elements)
  local function struct_of(self)
    return th.settled_struct(self, structs) or th.class_error(1, mt.__typename, self)
  end

  function mt.data(self, asnumber)
    local data = elements(struct_of(self))
    return data ~= nil and asnumber and ffi.cast(intptr, data) or data
  end

  function mt.cdata(self, asnumber)
    local c = th.struct_pointer(self, structs) or th.class_error(1, mt.__typename, self)
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

for _, dtype in ipairs(th.dtypes) do
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
      th.fail(("attempt to index local 'self' (a %s value)"):format(kind))
    end
    local method = self[name]
    if method == nil then th.fail(("attempt to call method '%s' (a nil value)"):format(name)) end
    if method == call then th.fail('stack overflow') end -- the argument is the table torch itself
    return method(self, asnumber)
  end
  return call
end
torch.data, torch.cdata = access('data'), access('cdata')

-- -------------------------------------------------------------------- the rest

function torch.tic() return (th.ask(host.clock)) end

function torch.toc(start)
  local since = tonumber(start)
  if not since then th.type_error(1, 'number', start, start == nil) end
  return th.ask(host.clock) - since
end

--- The number of threads that large operations are divided among.
function torch.getnumthreads() return (th.ask(host.get_threads)) end

function torch.setnumthreads(count)
  if type(count) ~= 'number' then th.type_error(1, 'number', count, count == nil) end
  th.ask(host.set_threads, count)
  th.formulas.forget_threads()
end

function torch.getnumcores() return (th.ask(host.count_cores)) end

function torch.isatty(file)
  if io.type(file) == nil then th.type_error(1, 'FILE*', file, file == nil) end
  return (th.ask(host.isatty, file == io.stdin and 0 or file == io.stderr and 2 or 1))
end

function torch.updateerrorhandlers() end

function torch.updatethreadlocals() end
