--- lfs: the functions of LuaFileSystem, for programs that need it where it is not installed.
-- @module lfs

local ffi, host, errors, escapes = import('ffi', 'host', 'core.errors', 'core.escapes')
local finalizers, python_calls = import('core.finalizers', 'core.python_calls')
local text = errors.check_string

local kind_of, remove, getfenv, setfenv = io.type, os.remove, debug.getfenv, debug.setfenv

local lfs = { _VERSION = 'LuaFileSystem 1.8.0 (in th)' }

-- A call's argument as a number; nil where it is absent.
local function number(arg, value)
  local found = tonumber(value)
  if value ~= nil and not found then errors.type_error(arg, 'number', value) end
  return found
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

-- ---------------------------------------------------- directories and locks

-- A class of userdata, whose metatable programs find in the registry, too.
-- @return its methods, a function that makes an object of a table, one that returns that table of a
--   call's first argument, and one that sets what is done with the table of an object that is
--   collected
local function class(name)
  local proxy = setfenv(finalizers.newproxy(true), {}) -- is finalized as the objects are
  local mt = debug.getmetatable(proxy)
  mt.__index = {}
  debug.getregistry()[name] = mt
  local function new(content) return setfenv(finalizers.newproxy(proxy), content) end
  local function content_of(n, object)
    if debug.getmetatable(object) ~= mt then errors.type_error(1, name, object, n == 0) end
    return getfenv(object)
  end
  local function finalize_by(f)
    function mt.__gc(object) f(getfenv(object)) end
  end
  return mt.__index, new, content_of, finalize_by
end

local Directory, new_directory, directory_content = class('directory metatable')

function Directory.next(...)
  local directory = directory_content(select('#', ...), ...)
  if not directory.names then errors.argument_error(1, 'closed directory') end
  local name = directory.names()
  if not name then directory.names = nil end
  return name
end

function Directory.close(...)
  directory_content(select('#', ...), ...).names = nil
end

--- An iterator over the names in a directory, and its state.
function lfs.dir(...)
  local name = text(1, select('#', ...), (...))
  local listing = python_calls.ask(host.os_listing, name)
  if type(listing) == 'number' then
    errors.fail(('cannot open %s: %s'):format(escapes.visible_name(name),
      python_calls.ask(host.os_describe, listing)))
  end
  return Directory.next, new_directory{ names = listing:gmatch('%Z+') }
end

local Lock, new_lock, lock_content, finalize_locks_by = class('lock metatable')

local function free(lock)
  if lock.path then remove(lock.path) end
  lock.path = nil
end

function Lock.free(...)
  free(lock_content(select('#', ...), ...))
end
finalize_locks_by(free)

--- Locks a folder by a symbolic link in it, which only one program can make.
function lfs.lock_dir(...)
  local path = text(1, select('#', ...), (...)) .. '/lockfile.lfs'
  local code = python_calls.ask(host.os_link, 'lock', path, true)
  if code ~= 0 then return nil, python_calls.ask(host.os_describe, code) end
  return new_lock{ path = path }
end

-- --------------------------------------------------------------- open files

-- The name is our own, since a program may declare C's name in another way.
ffi.cdef 'int THFileNumber(void *) __asm__("fileno");'

local function check_file(name, n, file)
  local kind = kind_of(file)
  if kind == 'closed file' then errors.fail(name .. ': closed file') end
  if kind ~= 'file' then errors.type_error(1, 'FILE*', file, n == 0) end
end

--- Has no effect but its checks: on this system, files have one mode.
function lfs.setmode(...)
  local n, file, mode = select('#', ...), ...
  check_file('setmode', n, file)
  mode = text(2, n, mode)
  if mode ~= 'binary' and mode ~= 'text' then
    errors.argument_error(2, ("invalid option '%s'"):format(mode))
  end
  return true, 'binary'
end

local function set_lock(file, mode, start, length)
  local code = python_calls.ask(host.os_lock, ffi.C.THFileNumber(file), mode, number(3, start) or 0,
    number(4, length) or 0)
  if code == 0 then return true end
  return nil, python_calls.ask(host.os_describe, code)
end

--- Locks a part of an open file for reading ('r') or writing ('w').
function lfs.lock(...)
  local n, file, mode, start, length = select('#', ...), ...
  check_file('lock', n, file)
  mode = text(2, n, mode):sub(1, 1)
  if not ('rwu'):find(mode, 1, true) or mode == '' then errors.fail('lock: invalid mode') end
  return set_lock(file, mode, start, length)
end

function lfs.unlock(...)
  local n, file, start, length = select('#', ...), ...
  check_file('unlock', n, file)
  return set_lock(file, 'u', start, length)
end

_G.lfs = lfs
return lfs
