--- require: files relative to the one that calls, C modules, and messages about missing modules.
-- @module require

local ffi, host, compiling, errors = import('ffi', 'host', 'core.compiling', 'core.errors')
local python_calls, provided = import('core.python_calls', 'packages.provided')

local required = {}

local searchpath = package.searchpath

-- luacheck: globals require paths

-- ---------------------------------------------------------------- C modules

local exported = false

-- Lets C modules find the functions of Lua's C API, which Python loads for lupa alone.
local function export()
  if not exported then
    exported = true
    python_calls.ask(host.export_lua)
  end
end

local plain_loadlib = package.loadlib
function package.loadlib(...)
  export()
  return plain_loadlib(...)
end

-- Raises an error for a C module that needs the tensors of the reference's C core.
local function check_library(name)
  local file = searchpath(name, package.cpath)
  if not file then return end
  if python_calls.ask(host.file_mentions, file, provided.C_CORE) then
    error(("the C library '%s' (%s) is built against Torch7's own C core, which is not part of "
      .. 'this program'):format(name, file), 0)
  end
  export()
end

for i = 3, #package.loaders do
  local load = package.loaders[i]
  package.loaders[i] = function(name, ...)
    -- The last searcher looks for the library of the first part of a dotted name.
    check_library(i == 3 and name or name:match('^[^.]*'))
    return load(name, ...)
  end
end

local KNOWN_C = {}
for name in ([[lpeg socket.core mime.core ssl.core zlib term.core struct posix readline lsqlite3
  treplutils lua-utf8]]):gmatch('%S+') do KNOWN_C[name] = true end

--- The modules that were loaded from files of Lua, in this order: their names, and by these the
-- file's path and what it was like then (see ../reloading.lua).
local modules = {}
required.modules = modules

compiling.note_modules_by(function(name, path)
  if not modules[name] then modules[#modules + 1] = name end
  modules[name] = { path = path, stamp = python_calls.ask(host.os_stamp, path) }
end)

-- A line about a package that `th --install` brings, or nil.
local function about_package(name)
  local first = name:match('^[^.]*')
  for known, _, what in import 'packages.sources':gmatch('(%S+) (%S+) ([^\n]+)') do
    if known == first then
      return ("\n\t'%s' (%s) is a package of Lua files: th --install %s brings it")
        :format(first, what, first)
    end
  end
end

-- C libraries of packages of which few functions need them -> the package.
local PARTLY_IN_C = { libnnx = 'nnx', libunsup = 'unsup' }

-- Lets such a package load without its library, and says so.
local function without_library(name)
  local package_name = PARTLY_IN_C[name]
  if not package_name or not searchpath(package_name, package.path) then return end
  return function()
    io.stderr:write(("th: the C library '%s' is not present: what %s computes in C does not work\n")
      :format(name, package_name))
    _G[package_name] = _G[package_name] or {} -- as libunsup does
    return true
  end
end

--- Descriptions of packages of Torch7 that th cannot have, and advice, by the first part of the
-- packages' names.
local impossible = {}
required.impossible_packages = impossible
for names, about in pairs {
  ['loadcaffe mattorch camera audio npy4th'] = {
    "is built against Torch7's own C core, which th does not have", 'leave it out' },
  ['qt qtwidget qttorch qtuiloader qtide qtcore qtgui display'] = {
    'opens windows, which th does not', 'leave it out, or write to files' },
  ['cltorch clnn cunnx fbcunn nccl'] = {
    'is for GPUs, and th computes on the processor', 'leave it out' },
  graphicsmagick = { 'is a library for pictures in C, which th does not have',
    'use the package image of th: image.load, image.save, image.scale' },
  ['lmdb matio'] = { 'reads files by a library in C, which th does not have',
    'write what it holds to .t7 or HDF5 files, which th reads' },
} do
  for name in names:gmatch('%S+') do impossible[name] = about end
end

-- The last searcher: adds to the message about a missing module what it is.
package.loaders[#package.loaders + 1] = function(name)
  local load = without_library(name)
  if load then return load end
  local about = about_package(name)
  if about then return about end
  local lack = impossible[name:match('^[^.]+')]
  if lack then return ("\n\t'%s' %s: %s"):format(name, lack[1], lack[2]) end
  if name:match('^lib') or KNOWN_C[name] then
    return ("\n\t'%s' is a C library, and it is not present: it has to be built for LuaJIT 2.1 "
      .. 'and found on package.cpath (LUA_CPATH)'):format(name)
  end
end

-- A package may pass the result of searchpath to ffi.load. If that is nil, the error here names the
-- library that was looked for last.
local not_found
function package.searchpath(name, path, ...)
  local file, message = searchpath(name, path, ...)
  if not file and path == package.cpath then not_found = name end
  return file, message
end

local TENSORS = 'THDoubleTensor_' -- in libraries that work on the reference's tensors
local CORE_LIBRARIES = { TH = true, THC = true, THNN = true, THCUNN = true }

-- Raises an error for such a library: they would take our structs for the reference's.
local function check_tensors(name)
  if type(name) ~= 'string' then return end
  local base = name:match('([^/]*)$'):gsub('^lib', ''):match('^[^.]*')
  local is_file = name:find('/', 1, true)
  if CORE_LIBRARIES[base] or is_file and python_calls.ask(host.file_mentions, name, TENSORS) then
    errors.fail(("the C library '%s' works on tensors of Torch7's own C core, which is not part of "
      .. 'this program'):format(name))
  end
end

local plain_load = ffi.load
function ffi.load(name, ...)
  check_tensors(name)
  if name == nil and not_found then
    errors.fail(("the C library '%s' is not present: it was not found on package.cpath (LUA_CPATH)")
      :format(not_found))
  end
  local ok, library = pcall(plain_load, name, ...)
  if not ok then errors.fail(library) end
  return library
end

-- ----------------------------------------------------------- relative names

-- The file that a relative name leads to: one of Lua source, or a folder's init.lua.
local function file_of(path)
  if paths.filep(path .. '.lua') then return path .. '.lua' end
  return paths.filep(path) and path or paths.concat(path, 'init.lua')
end

-- The folder of the file whose function is at a level.
local function caller_folder(level)
  local file = debug.getinfo(level + 1, 'S').source:gsub('^@', '')
  return paths.filep(file) and paths.dirname(file) or '.'
end

-- ------------------------------------------------------------------ require

local plain_require = require

local function require_beside(name)
  return dofile(file_of(paths.concat('.', name)))
end

--- Lua's require; a name that begins with a dot is that of a file relative to the one that calls.
-- Torch7: such a file runs each time. Any other name is at last looked for in the working
-- directory, too.
function require(...)
  local name = ...
  if type(name) ~= 'string' then
    if type(name) ~= 'number' then errors.type_error(1, 'string', name, select('#', ...) == 0) end
    name = tostring(name)
  end
  if name:sub(1, 1) == '.' then
    return dofile(file_of(paths.concat(caller_folder(2), name)))
  end
  if package.loaded[name] ~= nil or package.preload[name] or provided.provides(name)
    or searchpath(name, package.path) then
    return plain_require(name) -- unprotected: an error in the package keeps its traceback
  end
  local ok, value = pcall(plain_require, name)
  if ok then return value end
  local beside, other = pcall(require_beside, name)
  if beside then return other end
  if type(value) == 'string' and value:find("^module '") then errors.fail(value) end
  error(value, 0)
end

return required
