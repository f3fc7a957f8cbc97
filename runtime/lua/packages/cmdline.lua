--- torch.CmdLine: options and arguments of a script, its help text and its log file.
-- @module cmdline

local th = ...
local stdout, stderr = io.stdout, io.stderr
local torch = th.torch

local type, tostring, pairs, ipairs = type, tostring, pairs, ipairs
local write = function(...) io.write(...) end

-- luacheck: globals print
local CmdLine = torch.class('torch.CmdLine', torch)

local HELP = { ['-help'] = true, ['-h'] = true, ['--help'] = true }

-- The name of an option's value: the option without its dashes.
local function plain(key)
  return key:match('%-*(.*)')
end

local function padded(text, width)
  return text .. (' '):rep(width - #text)
end

function CmdLine:__init(argseparator, keyseparator)
  self.argseparator, self.keyseparator = argseparator or ',', keyseparator or '='
  self.options, self.arguments, self.helplines = {}, {}, {}
  self.dateformat, self.silentio = nil, false
end

-- ------------------------------------------------------------- declarations

function CmdLine:argument(key, help, kind)
  local argument = { key = key, help = help, type = kind }
  table.insert(self.arguments, argument)
  table.insert(self.helplines, argument)
end

function CmdLine:option(key, default, help, kind)
  if default == nil then th.fail('option ' .. key .. ' has no default value') end
  kind = kind or type(default)
  if type(default) ~= kind then th.fail('option ' .. key .. ' has wrong default type value') end
  self.options[key] = { key = key, default = default, help = help, type = kind }
  table.insert(self.helplines, self.options[key])
end

function CmdLine:text(text)
  text = text or ''
  if type(text) ~= 'string' then error('assertion failed!', 0) end
  table.insert(self.helplines, text)
end

-- ------------------------------------------------------------------ parsing

--- Prints what is wrong with the command line, then the help, and ends the program.
function CmdLine:error(message)
  print('')
  stdout:flush()
  stderr:write(message)
  print('')
  self:help()
  os.exit(1)
end

function CmdLine:default()
  local values = {}
  for key, option in pairs(self.options) do values[plain(key)] = option.default end
  return values
end

function CmdLine:__readArgument__(values, arg, i, n)
  local argument, value = self.arguments[n], arg[i]
  if not argument then
    self:error('invalid argument: ' .. value)
  elseif argument.type and type(value) ~= argument.type then
    self:error('invalid argument type for argument ' .. argument.key .. ' (should be '
      .. argument.type .. ')')
  end
  values[plain(argument.key)] = value
  return 1
end

function CmdLine:__readOption__(values, arg, i)
  local key, value = arg[i], arg[i + 1]
  local option = self.options[key]
  if not option then self:error('unknown option ' .. key) end
  if option.type == 'boolean' then
    values[plain(key)] = not option.default
    return 1
  elseif not value then
    self:error('missing argument for option ' .. key)
  elseif option.type == 'number' then
    value = tonumber(value)
  elseif option.type ~= 'string' then
    self:error('unknown required option type ' .. option.type)
  end
  if not value then
    self:error('invalid type for option ' .. key .. ' (should be ' .. option.type .. ')')
  end
  values[plain(key)] = value
  return 2
end

--- The values of all options and arguments, by name.
-- @param arg the list of words, by default the program's
function CmdLine:parse(arg)
  arg = arg or rawget(_G, 'arg') or {}
  local values, i, n = self:default(), 1, 0
  while i <= #arg do
    if HELP[arg[i]] then
      self:help(arg)
      os.exit(0)
    end
    if self.options[arg[i]] then
      i = i + self:__readOption__(values, arg, i)
    else
      n = n + 1
      i = i + self:__readArgument__(values, arg, i, n)
    end
  end
  if n ~= #self.arguments then self:error('not enough arguments') end
  return values
end

-- --------------------------------------------------------------------- help

local function head(line)
  if line.default ~= nil then return line.key end
  return '<' .. plain(line.key) .. '>'
end

function CmdLine:help(arg)
  write('Usage: ')
  if arg then write(arg[0] .. ' ') end
  write('[options]')
  for _, argument in ipairs(self.arguments) do write(' <' .. plain(argument.key) .. '>') end
  write('\n')
  local width = 0
  for _, line in ipairs(self.helplines) do
    if type(line) == 'table' then width = math.max(width, #head(line)) end
  end
  for _, line in ipairs(self.helplines) do
    if type(line) == 'table' then
      write('  ', padded(head(line), width), line.help and ' ' .. line.help or '')
      if line.default ~= nil then write(' [' .. tostring(line.default) .. ']') end
    else
      write(line)
    end
    write('\n')
  end
end

-- ------------------------------------------------------------ string and log

local function spelled(value)
  if type(value) == 'boolean' then return value and 't' or 'f' end
  return value
end

local function position(arguments, name)
  for i, argument in ipairs(arguments) do
    if plain(argument.key) == name then return i end
  end
end

--- A name for an experiment: a prefix, the arguments, and the options that differ from their
-- defaults.
-- @param ignore name -> true for options that are left out, false for options that are always part
--   of the name
function CmdLine:string(prefix, values, ignore)
  if ignore == nil then th.fail("attempt to index local 'ignore' (a nil value)") end
  local arguments, options = {}, {}
  for name, value in pairs(values) do
    local option = self.options['-' .. name]
    if ignore[name] then
      print('-- ignore option ' .. name)
    elseif option then
      if value ~= option.default or ignore[name] == false then
        value = spelled(value)
        table.insert(options, name .. self.keyseparator .. value)
        print(name, value, option.default)
      end
    else
      local at = position(self.arguments, name)
      if at then
        arguments[at] = name .. self.keyseparator .. value
      else
        print('WARNING: unknown option/argument: ' .. name .. ' IGNORING for DIRECTORY NAME')
      end
    end
  end
  table.sort(options)
  local text, rest = table.concat(arguments, self.argseparator),
    table.concat(options, self.argseparator)
  text = text == '' and rest or text .. self.argseparator .. rest
  prefix = prefix or ''
  return text == '' and prefix or prefix .. self.argseparator .. text
end

--- Makes print write to the log only.
function CmdLine:silent()
  self.silentio = true
end

--- Begins each line of the log with the time, and with a name if there is one.
-- @param format that of os.date
function CmdLine:addTime(name, format)
  format = format or '%Y-%m-%d %H:%M:%S'
  if type(format) ~= 'string' then th.fail('Argument has to be string') end
  self.dateformat = format .. (name ~= nil and '[' .. name .. ']: ' or '')
end

local screen_print -- the function print from before the first log

local function log_line(self, file, ...)
  local parts = { self.dateformat and os.date(self.dateformat) or nil }
  for i = 1, select('#', ...) do parts[#parts + 1] = tostring((select(i, ...))) end
  parts[#parts + 1] = '\n'
  file:write(table.concat(parts, ' '))
  file:flush()
end

--- Makes print write to a log file, too, and writes the values of a table to it.
-- @param file a name or an open file
function CmdLine:log(file, values)
  local log = io.type(file) == 'file' and file or io.open(file, 'w')
  screen_print = screen_print or print
  function print(...)
    if not self.silentio then screen_print(...) end
    log_line(self, log, ...)
  end
  print('[program started on ' .. os.date() .. ']')
  print('[command line arguments]')
  for name, value in pairs(values or {}) do print(name, value) end
  print('[----------------------]')
end

th.make_public(CmdLine, '__init __readOption__ __readArgument__ error silent addTime argument '
  .. 'option text default parse help string log')
