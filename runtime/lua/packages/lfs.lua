--- lfs: the functions of LuaFileSystem, for programs that need it where it is not installed.
-- @module lfs

local th = ...
local host = th.host
local text = th.check_string

local type, select = type, select

local lfs = { _VERSION = 'LuaFileSystem 1.8.0 (in th)' }

function lfs.currentdir() return (th.ask(host.os_cwd)) end

local function outcome(code)
  if code == 0 then return true end
  return nil, th.ask(host.os_describe, code), code
end

function lfs.chdir(...)
  local name = text(1, select('#', ...), (...))
  local code = th.ask(host.os_chdir, name)
  if code == 0 then return true end
  return nil, ("Unable to change working directory to '%s'\n%s\n")
    :format(name, th.ask(host.os_describe, code))
end

function lfs.mkdir(...)
  return outcome(th.ask(host.os_mkdir, text(1, select('#', ...), (...))))
end

function lfs.rmdir(...)
  return outcome(th.ask(host.os_rmdir, text(1, select('#', ...), (...))))
end

function lfs.touch(...)
  local name, access, modification = ...
  name = text(1, select('#', ...), name)
  return outcome(th.ask(host.os_touch, name, access, modification))
end

function lfs.link(...)
  local target, name, symbolic = ...
  local n = select('#', ...)
  target, name = text(1, n, target), text(2, n, name)
  return outcome(th.ask(host.os_link, target, name, symbolic and true or false))
end

local function failed(name, code)
  return nil, ("cannot obtain information from file '%s': %s")
    :format(name, th.ask(host.os_describe, code)), code
end

local function attributes(name, what, follow)
  local lines = th.ask(host.os_attributes, name, follow)
  if type(lines) == 'number' then return failed(name, lines) end
  local result = type(what) == 'table' and what or {}
  for key, value in lines:gmatch('(%S+) ([^\n]+)') do result[key] = tonumber(value) or value end
  -- Permissions are a string, even where tonumber would read them as a number.
  result.permissions = lines:match('permissions (%S+)')
  if not follow and result.mode == 'link' then
    result.target = th.ask(host.os_readlink, name)
  end
  if type(what) ~= 'string' then return result end
  if result[what] == nil then th.fail(("invalid attribute name '%s'"):format(what)) end
  return result[what]
end

--- All attributes of a file as a table, or one of them by its name.
-- @param what the attribute's name, or a table that gets all of them
function lfs.attributes(...)
  local name, what = ...
  return attributes(text(1, select('#', ...), name), what, true)
end

function lfs.symlinkattributes(...)
  local name, what = ...
  return attributes(text(1, select('#', ...), name), what, false)
end

-- ------------------------------------------------------------- directories

local Directory = {}
Directory.__index = Directory

function Directory:next()
  if not self.names then th.argument_error(1, 'closed directory', 'next') end
  local name = self.names()
  if not name then self.names = nil end
  return name
end

function Directory:close()
  self.names = nil
end

--- An iterator over the names in a directory, and its state.
function lfs.dir(...)
  local name = text(1, select('#', ...), (...))
  local listing = th.ask(host.os_listing, name)
  if type(listing) == 'number' then
    th.fail(('cannot open %s: %s'):format(name, th.ask(host.os_describe, listing)))
  end
  return Directory.next, setmetatable({ names = listing:gmatch('%Z+') }, Directory)
end

-- ------------------------------------------------- without effect on this system

function lfs.setmode() return true, 'binary' end

function lfs.lock() return true end

function lfs.unlock() return true end

return lfs
