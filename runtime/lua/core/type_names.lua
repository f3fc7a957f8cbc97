--- The type names of values: those of torch's classes, and others.
-- @module type_names

local type_names = {}

local type, rawget, tonumber = type, rawget, tonumber
local getmetatable, setmetatable = getmetatable, setmetatable

-- Type name -> metatable, and metatable -> type name. Packages read these in Lua's registry, and
-- clear entries of theirs to declare a class anew.
local registry = debug.getregistry()
local given_names = setmetatable({}, { __mode = 'k' }) -- metatable of no class -> type name
local cdata_names = {}                             -- ctype id -> type name

--- The metatable of a value, or nil.
local function metatable_of(value)
  local mt = getmetatable(value)
  return type(mt) == 'table' and mt or nil
end
type_names.metatable_of = metatable_of

--- The type name of a value, or nil.
function type_names.typename(value)
  if type(value) == 'cdata' then
    return cdata_names[tonumber(require('ffi').typeof(value))]
  end
  local mt = metatable_of(value)
  local name = mt and (registry[mt] or given_names[mt])
  if type(name) ~= 'string' then return nil end
  -- getmetatable gives the class's metatable for a constructor table, which is no object of it.
  if type(value) == 'table' and rawget(mt, '__constructor') == value then return nil end
  return name
end

--- Lets objects with a metatable have a type name, without making a class of that name.
function type_names.name_metatable(mt, name)
  given_names[mt] = name
end

--- Gives the objects of a C type a type name.
function type_names.name_ctype(ctype, name)
  cdata_names[tonumber(require('ffi').typeof(ctype))] = name
end

return type_names
