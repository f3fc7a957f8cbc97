--- xlua: the functions of the reference's package xlua, for printing, globals, tables and strings.
-- @module xlua

local host, errors, escapes = import('host', 'core.errors', 'core.escapes')
local python_calls, cmdline = import('core.python_calls', 'packages.cmdline')

-- luacheck: globals xlua xprint xerror xrequire sys print
-- luacheck: globals table.splice table.prune string.split string.tosymbol
local xlua = {}
_G.xlua = xlua

local protected = {} -- the names of the globals from before the program runs
for name in pairs(_G) do protected[name] = true end

-- ----------------------------------------------------------------- printing

local function write_table(object)
  local text = tostring(object)
  if not text:find('table: ') then
    if type(object.usage) == 'string' then
      io.write(object.usage, '\n\nFIELDS:\n')
    else
      io.write(text .. ':\n')
    end
  end
  io.write('{')
  local first = true
  for key, value in pairs(object) do
    if not first then io.write(',\n ') end
    first = false
    local shown = type(value) == 'userdata' and '<userdata>'
      or escapes.shortened(tostring(value), sys.COLORS.none .. ' ... ')
    io.write('[' .. tostring(key) .. '] = ' .. shown)
  end
  io.write('}')
end

--- Prints a value; for a table each field on a line.
function xlua.print(object, ...)
  local is_table = type(object) == 'table'
  local mt = is_table and getmetatable(object)
  local text = mt and mt.__tostring__ or not is_table and tostring
  if text then io.write(text(object)) else write_table(object) end
  local more = select('#', ...) > 0
  io.write(more and '    ' or '\n')
  if more then print(...) end
end

--- Makes io.write and print write to a file, too.
-- @param append whether the file keeps what it has
function xlua.log(file, append)
  os.execute('mkdir -p "' .. sys.dirname(file) .. '"')
  local log = assert(io.open(file, append and 'a' or 'w'))
  local write = io.write
  io._write, _G._print = write, print
  print = xlua.print
  function io.write(...)
    write(...)
    cmdline.write_log(log, table.concat{ ... })
  end
end

-- ------------------------------------------------------------------ globals

--- Removes all globals of the program, and unloads the packages among them.
function xlua.clearall()
  for name in pairs(_G) do
    if not protected[name] then
      _G[name] = nil
      if package.loaded[name] ~= nil then package.loaded[name] = nil end
    end
  end
  collectgarbage()
end

function xlua.clear(name)
  _G[name] = nil
  collectgarbage()
end

--- Prints which globals are packages, and the program's other globals.
function xlua.who()
  local libraries, variables = {}, {}
  for name, value in pairs(_G) do
    if package.loaded[name] ~= nil and name ~= '_G' then
      libraries[#libraries + 1] = name
    elseif not protected[name] then
      variables[name] = value
    end
  end
  for _, part in ipairs{ '', 'Global Libs:', libraries, '', 'Global Vars:', variables, '' } do
    xlua.print(part)
  end
end

-- --------------------------------------------------------------------- time

--- A time in seconds as text, in its two largest units: '1h5m'.
function xlua.formatTime(seconds)
  local text, units = '', 0
  for _, unit in ipairs{ { 'D', 86400 }, { 'h', 3600 }, { 'm', 60 }, { 's', 1 } } do
    local n = math.floor(seconds / unit[2])
    seconds = seconds - n * unit[2]
    if n > 0 and units < 2 then
      text, units = text .. n .. unit[1], units + 1
    end
  end
  local rest = math.floor(seconds * 1000)
  if rest > 0 and units < 2 then text = text .. rest .. 'ms' end
  return text == '' and '0ms' or text
end

-- ------------------------------------------------------------------- errors

--- Raises an error with a red message, '<domain> message', and the usage below it.
function xlua.error(message, domain, usage)
  local colours = sys.COLORS
  if domain then message = '<' .. domain .. '> ' .. message end
  local text = colours.Red .. tostring(message) .. colours.none
  errors.fail(usage and text .. '\n' .. usage or text)
end

function xlua.trycatch(try, catch)
  local ok, message = pcall(try)
  if not ok then catch(message) end
end

-- ----------------------------------------------------------------- packages

--- Tells whether a package is installed, and the file that it would be loaded from.
function xlua.installed(name)
  local all = package.path .. ';' .. package.cpath
  for template in all:gmatch('.-;') do
    local path = template:gsub(';', ''):gsub('%?', name)
    if python_calls.ask(host.os_kind, path) == 'file' then return true, path end
  end
  return false, all
end

--- Loads a package; if that fails, prints a message and returns false.
function xlua.require(name)
  local ok, value = pcall(require, name)
  if ok then return value end
  print(value)
  print('warning: <' .. name .. '> could not be loaded (is it installed?)')
  return false
end

--- A copy of a table in which values are replaced by environment variables of the same names.
function xlua.envparams(default)
  local values = {}
  for name, value in pairs(default) do
    local given = os.getenv(name)
    if given ~= nil then
      local word = given:lower()
      if type(value) == 'number' then
        given = assert(tonumber(given))
      elseif type(value) == 'boolean' and (word == 'true' or word == 'false') then
        given = word == 'true'
      end
      value = given
    end
    values[name] = value
  end
  return values
end

-- --------------------------------------------------------- tables, strings

--- A list without `length` elements from `start` on, and a list of those elements.
function table.splice(list, start, length)
  start, length = start or 1, length or 1
  local remaining, removed = {}, {}
  for i, value in ipairs(list) do
    local target = (i < start or i >= start + length) and remaining or removed
    target[#target + 1] = value
  end
  return remaining, removed
end

--- A list without duplicates.
-- @param hash a function whose results are equal for duplicates; nil to compare the values
-- @param merge a function that makes one value of two duplicates; nil to take the last one
function table.prune(list, hash, merge)
  local by_key, result = {}, {}
  for _, value in ipairs(list) do
    local key = value
    if hash then key = hash(value) end
    if merge and by_key[key] then value = merge(value, by_key[key]) end
    by_key[key] = value
  end
  for _, value in pairs(by_key) do result[#result + 1] = value end
  return result
end

string.split = sys.split

--- The value of the expression in a string.
function string.tosymbol(text)
  local ok, value = pcall(loadstring('return ' .. text))
  if not ok then errors.fail(value) end
  if not value then errors.fail('symbol "' .. text .. '" does not exist') end
  return value
end

for _, part in ipairs{ 'xlua_usage', 'xlua_times', 'option_parser' } do
  import('packages.' .. part)
end

errors.make_public(xlua, 'usage usage_module unpack unpack_class error table2string installed '
  .. 'formatTime envparams clear log print progress require trycatch')
errors.make_public(string, 'tosymbol')
errors.make_public(table, 'splice prune')
xerror, xprint, xrequire = xlua.error, xlua.print, xlua.require
return xlua
