--- paths: the functions of the reference's package paths, for names of files and folders.
-- @module paths

local host, torch, errors = import('host', 'torch', 'core.errors')
local python_calls = import 'core.python_calls'
local text = errors.check_string

local getinfo = debug.getinfo

-- luacheck: globals paths include
local paths = {}
_G.paths = paths

-- ------------------------------------------------------------------- names

function paths.basename(...)
  local n, name, suffix = select('#', ...), ...
  name = text(1, n, name)
  local base = (name:match('^.*/([^/]+)') or name):match('^[^/]*')
  if suffix == nil then return base end
  suffix = text(2, n, suffix):gsub('^%.', '')
  if suffix ~= '' and #base > #suffix and base:sub(-#suffix - 1) == '.' .. suffix then
    return base:sub(1, -#suffix - 2)
  end
  return base
end

function paths.dirname(...)
  local name = text(1, select('#', ...), (...))
  local folder = name:match('^(.*)/[^/]')
  if not folder then return name:sub(1, 1) == '/' and name or '.' end
  return folder == '' and '/' or folder
end

function paths.extname(...)
  return (text(1, select('#', ...), (...)):match('^.*%.(.*)'))
end

function paths.cwd()
  return (python_calls.ask(host.os_cwd))
end

local function join(base, name)
  if name:sub(1, 1) == '/' then base = '/' end
  for part in name:gmatch('[^/]+') do
    if part == '..' then
      base = base:match('^(.*/)[^/]+/*$') or base:match('^/') or ''
    elseif part ~= '.' then
      base = (base:sub(-1) == '/' and base or base .. '/') .. part
    end
  end
  return base:match('^(.*[^/])/*$') or '/'
end

function paths.concat(...)
  local result, n = paths.cwd(), select('#', ...)
  for i = 1, n do result = join(result, text(i, n, (select(i, ...)))) end
  return result
end

-- ----------------------------------------------------------- files, folders

function paths.filep(...)
  local kind = python_calls.ask(host.os_kind, text(1, select('#', ...), (...)))
  return type(kind) == 'string' and kind ~= 'directory'
end

function paths.dirp(...)
  return python_calls.ask(host.os_kind, text(1, select('#', ...), (...))) == 'directory'
end

function paths.dir(...)
  local listing = python_calls.ask(host.os_listing, text(1, select('#', ...), (...)))
  if type(listing) == 'number' then return nil end
  local names = {}
  for name in listing:gmatch('%Z+') do names[#names + 1] = name end
  return names
end

--- An iterator over the names in a folder.
-- @param include a pattern or a function that the names must match; nil for all
function paths.files(folder, include)
  local names, at = paths.dir(folder) or {}, 0
  local accept = include
  if type(include) == 'string' then
    accept = function(name) return name:find(include) end
  elseif include and type(include) ~= 'function' then
    errors.fail('Expecting optional arg 2 to be function or string. Got : ' .. torch.type(include))
  end
  return function()
    repeat at = at + 1 until not names[at] or not accept or accept(names[at])
    return names[at]
  end
end

local function members(folder, test)
  return paths.files(folder, function(name)
    return name ~= '.' and name ~= '..' and test(paths.concat(folder, name))
  end)
end

function paths.iterdirs(folder) return members(folder, paths.dirp) end

function paths.iterfiles(folder) return members(folder, paths.filep) end

local function outcome(code, name)
  if code == 0 then return true end
  return nil, name .. ': ' .. python_calls.ask(host.os_describe, code), code
end

--- Makes a folder, and the folders above it that do not exist.
function paths.mkdir(...)
  local name = text(1, select('#', ...), (...))
  local parent = paths.dirname(name)
  if parent ~= name and not paths.dirp(parent) then paths.mkdir(parent) end
  return outcome(python_calls.ask(host.os_mkdir, name), name)
end

function paths.rmdir(...)
  local name = text(1, select('#', ...), (...))
  return outcome(python_calls.ask(host.os_rmdir, name), name)
end

local function is_link(name)
  local attributes = python_calls.ask(host.os_attributes, name, false)
  return type(attributes) == 'string' and attributes:find('\nmode link$') ~= nil
end

--- Removes a file, or a folder with all that is in it; `more` must be 'yes'.
-- A symbolic link is removed itself. Torch7: removes what a link to a folder leads to, too.
function paths.rmall(name, more)
  if more ~= 'yes' then return nil, "missing second argument ('yes')" end
  name = text(1, 1, name)
  name = name:match('^(.*[^/])/*$') or name:sub(1, 1)
  if is_link(name) or paths.filep(name) then return os.remove(name) end
  if not paths.dirp(name) then return nil, 'not a file or directory', name end
  -- paths.concat would remove '..' from the name; behind a symbolic link, that is another folder.
  local folder = name:sub(1, 1) == '/' and name or paths.cwd() .. '/' .. name
  for member in paths.files(name) do
    if member ~= '.' and member ~= '..' then
      local path = (folder == '/' and '' or folder) .. '/' .. member
      local ok, message = paths.rmall(path, more)
      if not ok then return ok, message, path end
    end
  end
  return paths.rmdir(name)
end

-- ----------------------------------------------------- paths relative to files

--- The file in which the function at a level is defined, or with `arg` a file in the same folder.
function paths.thisfile(arg, depth)
  if depth ~= nil and type(depth) ~= 'number' and type(depth) ~= 'function' then
    errors.fail("bad argument #1 to 'getinfo' (function or level expected)")
  end
  local info = getinfo(depth or 2, 'S')
  local source = info and info.source:match('^@(.*)')
  local file = source and paths.concat(source)
  if type(arg) ~= 'string' then return file end
  return file and paths.concat(paths.dirname(file), arg) or arg
end

-- Levels count from the function that calls paths.dofile, as in paths.thisfile.
function paths.dofile(name, depth)
  if depth ~= nil and type(depth) ~= 'number' then errors.type_error(2, 'number', depth) end
  local file = paths.thisfile(nil, 1 + (depth or 2))
  name = paths.concat(file and paths.dirname(file) or '.', name)
  local results = { dofile(name) } -- no tail call: an include in the file counts this level
  return unpack(results)
end

--- Runs a file that is in the same folder as the one that calls.
function include(name, depth)
  if depth ~= nil and type(depth) ~= 'number' then errors.type_error(2, 'number', depth) end
  paths.dofile(name, 3 + (depth or 0))
end

function paths.findprogram(...)
  for i = 1, select('#', ...) do
    for folder in (os.getenv('PATH') or '.'):gmatch('[^:]+') do
      local path = paths.concat(folder, (select(i, ...)))
      if paths.filep(path) then return path end
    end
  end
  return nil
end

-- ------------------------------------------------------------------- system

function paths.tmpname() return (python_calls.ask(host.os_tmpname)) end

--- The names of the system, of the machine in the network, and of the processor.
function paths.uname() return python_calls.ask(host.os_uname):match('(.*)\n(.*)\n(.*)') end

function paths.is_win() return paths.uname():match('Windows') end

function paths.is_mac() return paths.uname():match('Darwin') end

function paths.getregistryvalue() errors.fail('This function exists only on windows') end

--- Torch7: its launcher does not set the folder, either.
function paths.execdir() return nil end

--- Loads a C library by its name. The libraries of the reference's own packages are part of th.
function paths.require(...)
  return require(text(1, select('#', ...), (...)))
end

paths.home = os.getenv('HOME') or '.'

return paths
