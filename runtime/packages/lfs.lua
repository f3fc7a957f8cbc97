--- lfs: the functions of LuaFileSystem, for programs that need it where it is not installed.
-- @module lfs

local host, errors, escapes = import('host', 'core.errors', 'core.escapes')
local python_calls = import 'core.python_calls'
local text = errors.check_string

local lfs = { _VERSION = 'LuaFileSystem 1.8.0 (in th)' }

-- A call's argument as a number; nil where it is absent.
local function number(arg, value)
  local result = tonumber(value)
  if value ~= nil and not result then errors.type_error(arg, 'number', value) end
  return result
end

function lfs.currentdir() return (python_calls.ask(host.os_cwd)) end

local function outcome(code)
  if code == 0 then return true end
  return nil, python_calls.ask(host.os_describe, code), code
end

function lfs.chdir(...)
  local name = text(1, select('#', ...), (...))
  local code = python_calls.ask(host.os_chdir, name)
  if code == 0 then return true end
  return nil, ("Unable to change working directory to '%s'\n%s\n")
    :format(name, python_calls.ask(host.os_describe, code))
end

for _, name in ipairs{ 'mkdir', 'rmdir' } do
  lfs[name] = function(...)
    return outcome(python_calls.ask(host['os_' .. name], text(1, select('#', ...), (...))))
  end
end

function lfs.touch(...)
  local name, access, modification = ...
  name = text(1, select('#', ...), name)
  return outcome(python_calls.ask(host.os_touch, name, number(2, access), number(3, modification)))
end

function lfs.link(...)
  local target, name, symbolic = ...
  local n = select('#', ...)
  target, name = text(1, n, target), text(2, n, name)
  return outcome(python_calls.ask(host.os_link, target, name, symbolic and true or false))
end

local function failed(name, code)
  return nil, ("cannot obtain information from file '%s': %s")
    :format(name, python_calls.ask(host.os_describe, code)), code
end

local function attributes(name, what, follow)
  local lines = python_calls.ask(host.os_attributes, name, follow)
  if type(lines) == 'number' then return failed(name, lines) end
  local result = type(what) == 'table' and what or {}
  for key, value in lines:gmatch('(%S+) ([^\n]+)') do result[key] = tonumber(value) or value end
  -- Permissions are a string, even where tonumber would read them as a number.
  result.permissions = lines:match('permissions (%S+)')
  if not follow and result.mode == 'link' then
    result.target = python_calls.ask(host.os_readlink, name)
  end
  if type(what) == 'number' then what = tostring(what) end
  if type(what) ~= 'string' then return result end
  if result[what] == nil then errors.fail(("invalid attribute name '%s'"):format(what)) end
  return result[what]
end

-- All attributes of a file as a table, or one of them by its name.
-- lfs.symlinkattributes tells those of a link itself.
for short, follows in pairs{ attributes = true, symlinkattributes = false } do
  lfs[short] = function(...)
    local name, what = ...
    return attributes(text(1, select('#', ...), name), what, follows)
  end
end

-- -------------------------------------------------------------- directories

local Directory = {}
Directory.__index = Directory

local function check_directory(n, value)
  if getmetatable(value) ~= Directory then errors.type_error(1, 'directory', value, n == 0) end
  return value
end

function Directory.next(...)
  local directory = check_directory(select('#', ...), (...))
  if not directory.names then errors.argument_error(1, 'closed directory') end
  local name = directory.names()
  if not name then directory.names = nil end
  return name
end

function Directory.close(...)
  check_directory(select('#', ...), (...)).names = nil
end

--- An iterator over the names in a directory, and its state.
function lfs.dir(...)
  local name = text(1, select('#', ...), (...))
  local listing = python_calls.ask(host.os_listing, name)
  if type(listing) == 'number' then
    errors.fail(('cannot open %s: %s'):format(escapes.visible_name(name),
      python_calls.ask(host.os_describe, listing)))
  end
  return Directory.next, setmetatable({ names = listing:gmatch('%Z+') }, Directory)
end

_G.lfs = lfs
return lfs
