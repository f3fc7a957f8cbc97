--- xlua.OptionParser: command-line options in the manner of Python's optparse.
-- @module option_parser

local _ = ...
local stdout, stderr = io.stdout, io.stderr

local pairs, ipairs, tostring = pairs, ipairs, tostring

-- luacheck: globals xlua arg
local OptionParser = {}

--- A new parser.
-- @param usage the text of the help's first line; `%prog` stands for the script
function xlua.OptionParser(usage)
  local self = { usage = usage, option_descriptions = {}, option_of = {} }
  for name, method in pairs(OptionParser) do self[name] = method end
  self:option{ '-h', '--help', action = 'store_true', dest = 'help',
    help = 'show this help message and exit' }
  return self
end

function OptionParser:fail(message)
  stdout:flush()
  stderr:write(message .. '\n')
  self:help()
  os.exit(1)
end

--- Declares an option: { '-x', '--long', dest =, action =, default =, help =, req =, metavar = }.
function OptionParser:option(description)
  table.insert(self.option_descriptions, description)
  for _, flag in ipairs(description) do self.option_of[flag] = description end
end

-- The words of the command line; '--flag=value' becomes two words.
local function words()
  local result = {}
  for _, word in ipairs(arg) do
    local flag, value = word:match('^(%-%-%w+)=(.*)')
    result[#result + 1] = flag or word
    result[#result + 1] = value
  end
  return result
end

-- The value of the option at list[i], and how many words the option takes.
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

--- Reads the global `arg`. Returns the options' values by destination, and the other words.
function OptionParser:parse(options)
  options = options or {}
  local rest = {}
  set_defaults(self, options)
  self.options = options
  options.__main__ = arg ~= nil
  if not arg then return options, rest end
  local list, i = words(), 1
  while i <= #list do
    local description, taken = self.option_of[list[i]], 1
    if description then
      options[description.dest], taken = read(self, description, list, i)
    elseif list[i]:match('^%-') then
      self:fail('invalid option ' .. list[i])
    else
      rest[#rest + 1] = list[i]
    end
    i = i + taken
  end
  for flag, description in pairs(self.option_of) do
    if description.req and not options[description.dest] then
      self:fail('option ' .. flag .. ' requires an argument ')
    end
  end
  if options.help then
    self:help()
    os.exit()
  end
  return options, rest
end

--- An option's flags as the help shows them: '-f FILE, --file=FILE'.
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
  local program = arg[-1] and arg[-1] .. ' ' .. arg[0] or arg[0] or 'THISPROG'
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
    io.stdout:write('  ' .. flags .. (' '):rep(width - #flags) .. '  ' .. description.help .. note
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

--- The options' values as text.
-- @param as_file_name whether the text is to be a file name, otherwise it is a report
-- @param chosen the flags of the options that are part of a file name; empty for all
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
