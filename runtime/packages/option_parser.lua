--- xlua.OptionParser: command-line options in the manner of Python's optparse.
-- @module option_parser

local errors, escapes = import('core.errors', 'core.escapes')
local stdout, stderr = io.stdout, io.stderr

-- luacheck: globals xlua arg
local OptionParser = {}

-- Shows the help and ends the program.
local function leave(self, status)
  self:help()
  os.exit(status)
end

--- Says what is wrong, then the help, and ends the program.
function OptionParser:fail(message)
  stdout:flush()
  stderr:write(message, '\n')
  leave(self, 1)
end

--- Declares { '-x', '--long', dest =, action =, default =, help =, req =, metavar = }.
function OptionParser:option(description)
  table.insert(self.option_descriptions, description)
  for _, flag in ipairs(description) do self.option_of[flag] = description end
end

-- The program's words, with '--flag=value' as two.
local function words()
  local result = {}
  for _, word in ipairs(arg) do
    local flag, value = word:match('^(%-%-%w+)=(.*)')
    result[#result + 1] = flag or word
    result[#result + 1] = value
  end
  return result
end

-- The value of the option at words[i], and how many words it took.
local function read(self, description, list, i)
  if description.action == 'store_true' then return true, 1 end
  if description.action == 'store_false' then return false, 1 end
  if description.action ~= nil and description.action ~= 'store' then
    return description.default, 1
  end
  local value = list[i + 1] or description.default
  if not value then self:fail('option requires an argument ' .. list[i]) end
  return value, 2
end

local function set_defaults(self, options)
  for _, description in ipairs(self.option_descriptions) do
    if description.default ~= nil and options[description.dest] == nil then
      options[description.dest] = description.default
    end
  end
end

-- Sets options by their words; returns the other words.
local function read_words(self, options, list)
  local rest, i = {}, 1
  while list[i] do
    local word, taken = list[i], 1
    local description = self.option_of[word]
    if description then
      options[description.dest], taken = read(self, description, list, i)
    elseif word:sub(1, 1) == '-' then
      self:fail('invalid option ' .. word)
    else
      rest[#rest + 1] = word
    end
    i = i + taken
  end
  return rest
end

local function check_required(self, options)
  for flag, description in pairs(self.option_of) do
    local missing = description.req and not options[description.dest]
    if missing then self:fail('option ' .. flag .. ' requires an argument ') end
  end
end

--- Reads the global `arg`: the options by destination, and the other words.
function OptionParser:parse(options)
  options = options or {}
  set_defaults(self, options)
  self.options, options.__main__ = options, arg ~= nil
  if not arg then return options, {} end
  local rest = read_words(self, options, words())
  check_required(self, options)
  if options.help then leave(self) end
  return options, rest
end

--- '-f FILE, --file=FILE': an option's flags as the help shows them.
function OptionParser:flags(description) -- luacheck: no self
  local takes_value = description.action == nil or description.action == 'store'
  local shown = {}
  for i, flag in ipairs(description) do
    shown[i] = flag
    if takes_value then
      local name = description.metavar or description.dest:upper()
      shown[i] = flag .. (#flag == 2 and ' ' or '=') .. name
    end
  end
  return table.concat(shown, ', ')
end

function OptionParser:help()
  local program = arg[0] and table.concat(arg, ' ', arg[-1] and -1 or 0, 0) or 'THISPROG'
  local usage = self.usage:gsub('%%prog', (program:gsub('%%', '%%%%')))
  io.stdout:write('Usage: ' .. usage .. '\n\nOptions:\n')
  local width = 0
  for _, description in ipairs(self.option_descriptions) do
    width = math.max(width, #self:flags(description))
  end
  for _, description in ipairs(self.option_descriptions) do
    local flags, note = self:flags(description), ''
    if description.req then
      note = ' [REQUIRED]'
    elseif description.default then
      note = ' [default = ' .. tostring(description.default) .. ']'
    end
    io.stdout:write('  ' .. escapes.padded(flags, width) .. '  ' .. description.help .. note
      .. '\n')
  end
end

local function file_name(self, chosen)
  chosen = chosen or {}
  local parts = {}
  for _, description in ipairs(self.option_descriptions) do
    local key, wanted = description[1], #chosen == 0
    for _, name in ipairs(chosen) do wanted = wanted or name == key end
    local value = self.options[description.dest]
    if value and wanted then parts[#parts + 1] = key .. '=' .. tostring(value) end
  end
  return (table.concat(parts, ','):gsub('/', '|'):gsub(' ', '_'))
end

--- The options' values: a report, or a string to name files by.
-- @param chosen the flags that the file's name tells of; empty for all
function OptionParser:tostring(as_file_name, chosen)
  if as_file_name then return file_name(self, chosen) end
  local script = (arg and arg[0] or 'interpreted.lua'):gsub('.lua', '')
  local text = '<' .. script .. '> configuration:\n'
  for name, value in pairs(self.options) do
    text = text .. ' + ' .. name .. ' = ' .. tostring(value) .. '\n'
  end
  return text
end

function OptionParser:summarize(compact)
  io.write(self:tostring(compact))
end

errors.make_public(OptionParser, 'fail option parse flags help tostring summarize')

--- A parser; `%prog` in the usage stands for the script.
function xlua.OptionParser(usage)
  local parser = { option_descriptions = {}, option_of = {}, usage = usage }
  for name, method in pairs(OptionParser) do parser[name] = method end
  parser:option{ '-h', '--help', dest = 'help', action = 'store_true',
    help = 'show this help message and exit' }
  return parser
end
