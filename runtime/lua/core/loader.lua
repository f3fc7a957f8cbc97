--- Loads the modules of the runtime's Lua half, each once in a Lua state.
-- A module is a chunk that names at its top what it uses, by `import`, which its environment has,
-- and returns a table of what it offers:
--
--     local errors = import 'core.errors'
--     local ffi, c_structs = import('ffi', 'core.c_structs')
--
-- Python's functions are the module 'host', the table torch is 'torch'; both only the engine has.
-- `import.instance` loads a chunk once more, with arguments of its own: so each element type has
-- functions of its own, of which LuaJIT makes traces of their own.
-- @script loader

local source, keep, host = ...

local loadstring, setfenv, setmetatable, type = loadstring, setfenv, setmetatable, type
local pcall, error, ipairs, collectgarbage = pcall, error, ipairs, collectgarbage
local byte, sub, gsub, dump = string.byte, string.sub, string.gsub, string.dump
local version = jit.version
local concat = table.concat

-- The environment of the modules. While an engine's are loaded, it is the program's; then
-- engine/init.lua keeps what they use.
local environment = host and setmetatable({}, { __index = _G, __newindex = _G }) or _G

-- The values that modules have returned, by the modules' names.
local loaded = { ffi = require 'ffi', bit = require 'bit', host = host, torch = host and {} }
local under_way = {} -- the names of modules that are being loaded, the outermost first
local import = {}
rawset(environment, 'import', import)

--- Compiles a text of the runtime's, or bytecode.
-- @param name the name that is shown behind '[th]'
function import.compile(text, name)
  local chunk, message = loadstring(text, '=[th] ' .. name)
  if not chunk then error(message) end
  return setfenv(chunk, environment)
end

local BYTECODE = 27 -- the first byte

local function path_of(name)
  return (gsub(name, '%.', '/'))
end

local function compiled(name)
  local path = path_of(name)
  local text = source(path, version)
  if byte(text) == 0 then -- the bytes of an error
    if loaded['core.errors'] then loaded['core.errors'].raise(text) end
    error(sub(text, 2), 0)
  end
  if byte(text) ~= BYTECODE then
    text = dump(import.compile(text, path .. '.lua'))
    keep(path, version, text)
  end
  return import.compile(text, path .. '.lua')
end

local chunks = {} -- module -> the chunk of its first instance; then its bytecode, which is loaded
                  -- ten times as quickly as its source

--- A module as a function of its arguments: another function at each call.
function import.chunk(name)
  local chunk = chunks[name]
  if not chunk then
    chunk = compiled(name)
    chunks[name] = chunk
    return chunk
  end
  if type(chunk) == 'function' then chunks[name] = dump(chunk) end
  return import.compile(chunks[name], path_of(name) .. '.lua')
end

--- Loads a module once more, with arguments; returns what it returns.
function import.instance(name, ...)
  return import.chunk(name)(...)
end

local function load(name)
  local module = compiled(name)()
  if module == nil then module = true end
  loaded[name] = module
end

local function import_one(name)
  if loaded[name] ~= nil then return loaded[name] end
  for i, other in ipairs(under_way) do
    if other == name then
      error('modules import each other: ' .. concat(under_way, ' > ', i) .. ' > ' .. name, 0)
    end
  end
  -- No finalizer runs meanwhile, which could need the same module.
  local is_running = collectgarbage('isrunning')
  collectgarbage('stop')
  under_way[#under_way + 1] = name
  local ok, message = pcall(load, name)
  under_way[#under_way] = nil
  if is_running then collectgarbage('restart') end
  if not ok then error(message, 0) end
  return loaded[name]
end

local function import_all(_, name, ...)
  if ... == nil then return import_one(name) end
  return import_one(name), import_all(nil, ...)
end

return setmetatable(import, { __call = import_all })
