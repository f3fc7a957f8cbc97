--- torch.CmdLine: options and arguments of a script, its help text and its log file.
-- @module cmdline

local errors, escapes = import('core.errors', 'core.escapes')

local cmdline = {}
local stdout, stderr = io.stdout, io.stderr

local write = function(...) io.write(...) end

-- luacheck: globals print
local CmdLine = torch.class('torch.CmdLine', torch)

local HELP = { ['-help'] = true, ['-h'] = true, ['--help'] = true }

-- The name of an option's value: the option's without its dashes.
local function plain(key)
  return key:match('%-*(.*)')
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

--- Declares an option; kind: the type of its values (default: that of the default).
function CmdLine:option(key, default, help, kind)
  local given = type(default)
  local wrong = given == 'nil' and ' has no default value'
    or kind and kind ~= given and ' has wrong default type value'
  if wrong then errors.fail('option ' .. key .. wrong) end
  local option = { type = given, default = default, key = key, help = help }
  self.options[key] = option
  table.insert(self.helplines, option)
end

--- Puts a line into the help text.
function CmdLine:text(text)
  if text and type(text) ~= 'string' then error('assertion failed!', 0) end
  table.insert(self.helplines, text or '')
end

-- ------------------------------------------------------------------ parsing

-- Shows the help and ends the program; arg[0] is its name.
local function leave(self, status, arg)
  self:help(arg)
  os.exit(status)
end

--- Says what is wrong, then the help, and ends the program.
function CmdLine:error(message)
  print('')
  stdout:flush()
  stderr:write(message)
  print('')
  return leave(self, 1)
end

function CmdLine:default()
  local values = {}
  for key, option in pairs(self.options) do values[plain(key)] = option.default end
  return values
end

local function should_be(kind)
  return ' (should be ' .. kind .. ')'
end

--- Reads the n-th argument, words[i]; returns how many words it took.
function CmdLine:__readArgument__(values, words, i, n)
  local argument, word = self.arguments[n], words[i]
  if not argument then self:error('invalid argument: ' .. word) end
  local kind = argument.type
  if kind and kind ~= type(word) then
    self:error('invalid argument type for argument ' .. argument.key .. should_be(kind))
  end
  values[plain(argument.key)] = word
  return 1
end

-- Functions from a word to the value of an option of a type; they return nil for a wrong word.
local CONVERTED = { number = tonumber, string = tostring }

--- Reads the option arg[i] and the value behind it; returns how many words they took.
function CmdLine:__readOption__(values, arg, i)
  local key, word = arg[i], arg[i + 1]
  local option = self.options[key] or self:error('unknown option ' .. key)
  local kind, name = option.type, plain(key)
  if kind == 'boolean' then
    values[name] = not option.default
    return 1
  end
  if not word then self:error('missing argument for option ' .. key) end
  local converted = CONVERTED[kind] or self:error('unknown required option type ' .. kind)
  local value = converted(word)
  if value == nil then self:error('invalid type for option ' .. key .. should_be(kind)) end
  values[name] = value
  return 2
end

--- The values of all options and arguments, from a list of words (default: the program's).
function CmdLine:parse(words)
  words = words or rawget(_G, 'arg') or {}
  local values, i, n = self:default(), 1, 0
  while words[i] do
    local word = words[i]
    if HELP[word] then leave(self, 0, words) end
    if self.options[word] then
      i = i + self:__readOption__(values, words, i)
    else
      n = n + 1
      i = i + self:__readArgument__(values, words, i, n)
    end
  end
  if self.arguments[n + 1] then self:error('not enough arguments') end
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
      write('  ', escapes.padded(head(line), width), line.help and ' ' .. line.help or '')
      if line.default ~= nil then write(' [' .. tostring(line.default) .. ']') end
    else
      write(line)
    end
    write('\n')
  end
end

-- ------------------------------------------------------------ string and log



local function position(arguments, name)
  for i, argument in ipairs(arguments) do
    if plain(argument.key) == name then return i end
  end
end

--- A name for an experiment: a prefix, the arguments, and the options that differ from their
-- defaults (`ignore[name] == false`: in any case).
function CmdLine:string(prefix, values, ignore)
  local arguments, options = {}, {}
  local each, all = pairs(values)
  if ignore == nil then errors.fail("attempt to index local 'ignore' (a nil value)") end
  for name, value in each, all do
    local option = self.options['-' .. name]
    if ignore[name] then
      print('-- ignore option ' .. name)
    elseif option then
      if value ~= option.default or ignore[name] == false then
        if type(value) == 'boolean' then value = value and 't' or 'f' end
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

--- Lets print write to the log only, and not to the screen.
function CmdLine:silent()
  self.silentio = true
end

--- Puts the time, and a name, in front of every line of the log.
function CmdLine:addTime(name, format)
  if format and type(format) ~= 'string' then errors.fail('Argument has to be string') end
  local label = name == nil and '' or '[' .. name .. ']: '
  self.dateformat = (format or '%Y-%m-%d %H:%M:%S') .. label
end

local failed_logs = setmetatable({}, { __mode = 'k' })

--- Writes a text to a log, and flushes it. An error is reported once for each log, and the program
-- goes on. It is not compiled: LuaJIT's compiled flush reports no error.
function cmdline.write_log(file, text)
  local ok, message = file:write(text)
  if ok then ok, message = file:flush() end
  if ok or failed_logs[file] then return end
  failed_logs[file] = true
  io.stderr:write('th: the log is not complete: ', message, '\n')
end
jit.off(cmdline.write_log)

local screen_print -- the function print from before the first log

local function log_line(self, file, ...)
  local text = self.dateformat and os.date(self.dateformat) .. ' ' or ''
  for i = 1, select('#', ...) do text = text .. tostring((select(i, ...))) .. ' ' end
  cmdline.write_log(file, text .. '\n')
end

--- Lets print write to a log, too, and writes the values of a table there.
-- @param file the name of the log, or an open file
function CmdLine:log(file, values)
  local log, message = file
  if io.type(file) ~= 'file' then log, message = io.open(file, 'w') end
  if not log then errors.fail(message) end
  screen_print = screen_print or print
  print = errors.public(function(...)
    if not self.silentio then screen_print(...) end
    log_line(self, log, ...)
  end)
  print('[program started on ' .. os.date() .. ']')
  print('[command line arguments]')
  for name, value in pairs(values or {}) do print(name, value) end
  print('[----------------------]')
end

errors.make_public(CmdLine, '__init __readOption__ __readArgument__ error silent addTime argument '
  .. 'option text default parse help string log')

return cmdline
