--- Manual, Torch utility functions, except classes: identity, environments, paths.
-- @module utility

local ffi, torch, c_structs, errors = import('ffi', 'torch', 'core.c_structs', 'core.errors')
local finalizers, type_names = import('core.finalizers', 'core.type_names')
local storage_class = import 'tensor.storage_class'

local type, select, rawequal, rawget, tonumber = type, select, rawequal, rawget, tonumber
local raw_metatable = debug.getmetatable
local intptr = ffi.typeof('intptr_t')

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
