--- The global functions of the reference's package trepl: who, import, monitor_G, colours; and
-- Penlight's modules.
-- @module trepl

local host, errors, escapes = import('host', 'core.errors', 'core.escapes')
local front_end, python_calls = import('core.front_end', 'core.python_calls')
local type_names, printing = import('core.type_names', 'packages.print')
local penlight = import 'packages.penlight'

local trepl_package = {}

local getinfo = debug.getinfo

-- luacheck: globals sys who import monitor_G noColors _torchimport _preloaded_

-- ------------------------------------------------------------------ colours

local colours = {} -- name -> escape sequence; '' for all if the output is no terminal
for name, code in pairs(sys.COLORS) do colours[name] = code end
for name, code in pairs{ bright = 1, dim = 2, underline = 4, blink = 5, reverse = 7, hidden = 8 } do
  colours[name] = '\27[' .. code .. 'm'
end

-- Functions by the names of colours, each of which gives a text that colour.
local function painters()
  local result = {}
  for name in pairs(colours) do
    result[name] = function(txt) return colours[name] .. txt .. colours.none end
  end
  return result
end

--- Turns colours off.
function noColors()
  for name in pairs(colours) do colours[name] = '' end
end
if not python_calls.ask(host.isatty, 1) then noColors() end

-- ---------------------------------------------------------------- variables

-- What `who` says of a value: the sizes of a tensor or table, the beginning of a string.
local function described(value)
  local kind = type(value)
  if kind == 'userdata' then
    return printing.size_string(value) or tostring(value)
  elseif kind == 'table' then
    return type_names.typename(value) or 'table - size: ' .. #value
  elseif kind == 'string' then
    return 'string : "' .. escapes.shortened(value, '...') .. '"'
  end
  return tostring(value)
end

-- Prints the globals whose names are wanted, with the '=' signs below each other.
local function list(width, wanted)
  for name, value in pairs(_G) do
    if wanted(name) then
      local label = '[' .. tostring(name) .. ']'
      print(label .. (' '):rep(width - #label + 2) .. ' = ' .. described(value))
    end
  end
end

--- Lists the globals that the program has made.
-- @param system whether the other globals are listed before them
function who(system)
  local width = 0
  for name in pairs(_G) do width = math.max(width, #tostring(name)) end
  if system then
    print('== System Variables ==')
    list(width, function(name) return _preloaded_[name] end)
  end
  print('== User Variables ==')
  list(width, function(name) return not _preloaded_[name] end)
  print('==')
end

--- Makes a package's functions global.
-- @param package its name
-- @param forced whether globals of the same names are replaced
function _G.import(package, forced)
  local returned = require(package)
  local symbols = rawget(_G, package) or type(returned) == 'table' and returned
  if not symbols then return end
  _torchimport = rawget(_G, '_torchimport') or {}
  _torchimport[package] = symbols
  for name, value in pairs(symbols) do
    if forced or not rawget(_G, name) then _G[name] = value end
  end
end

errors.make_public(_G, 'import')

-- ----------------------------------------------------------- global monitor

-- Returns the place where the program has used a global, four calls further out, in colours.
local function place()
  local info = getinfo(5, 'Sl')
  local file = info.source:gsub('^[@=]', '')
  if info.currentline > 0 then
    return colours.magenta .. file .. colours.none .. ':' .. colours.green .. info.currentline
      .. colours.none
  end
  return colours.yellow .. '[C-module]' .. colours.none
end

-- Says that a program uses a global in a way that is monitored; if strict, by an error.
local function reported(what, name, strict)
  local message = colours.red .. what .. ': ' .. colours.blue .. tostring(name) .. colours.none
    .. ' @ ' .. place()
  if strict then errors.fail((message:gsub('\27%[[%d;]*m', ''))) end -- errors show them as digits
  print(message)
end

--- Reports each global that is made from now on, and each that is read before it was made.
-- @param callback a function to call with the name and 'newindex' or 'index'; true to raise an
--   error; nil to print a message
function monitor_G(callback)
  local strict = type(callback) == 'boolean'
  if strict then callback = nil end
  for _, name in ipairs{ 'stringx', 'tablex', 'path', 'dir', 'text' } do
    local ok, module = pcall(require, 'pl.' .. name)
    if ok then rawset(_G, name, module) end
  end
  local made = {}
  for name in pairs(_G) do made[name] = true end
  local function report(name, event, what)
    if callback then
      callback(name, event)
    else
      reported(what, name, strict)
    end
  end
  setmetatable(_G, {
    __newindex = function(globals, name, value)
      if not made[name] then report(name, 'newindex', 'created global variable') end
      made[name] = true
      rawset(globals, name, value)
    end,
    __index = function(_, name)
      report(name, 'index', 'attempt to read undeclared variable')
    end,
  })
end

-- ----------------------------------------------------------------- packages

-- The prompt's chunk is loaded later than this one.
local function open_prompt()
  front_end.open_prompt()
end
_G.th = { prompt = open_prompt }
_G.repl = open_prompt
package.loaded.trepl = open_prompt

package.preload['trepl.colors'] = function() return colours end
package.preload['trepl.colorize'] = painters
package.preload.treplutils = function()
  return { isatty = function() return torch.isatty(io.stdout) end } -- whatever it is given
end

--- To be called when all modules are loaded: remembers the globals that are not the program's.
function trepl_package.finish_globals()
  penlight.prepare()
  _preloaded_ = { arg = true, _preloaded_ = true }
  for name in pairs(_G) do _preloaded_[name] = true end
end

return trepl_package
