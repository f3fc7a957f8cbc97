--- Raises the errors of operations at the user's line, and writes tracebacks of user frames.
-- @module errors

local th = ...

local error, type, pcall, rawget, tostring = error, type, pcall, rawget, tostring
local getinfo, traceback, raw_metatable = debug.getinfo, debug.traceback, debug.getmetatable
local byte, sub, format = string.byte, string.sub, string.format
local find, match, gmatch, concat = string.find, string.match, string.gmatch, table.concat

--- Whether a frame's source is one of our chunks.
local function is_ours(source)
  return sub(source, 1, 5) == '=[th]'
end
th.is_ours = is_ours

-- The level (from the caller of the function that asks) of the first frame that is not ours.
-- Who uses it must not leave by a tail call: that would shift the levels.
local function user_level()
  local level = 3
  while true do
    local info = getinfo(level, 'Sf')
    if not info then return level - 1 end
    if not is_ours(info.source) then
      -- The frame of a pcall of ours: see th.public.
      local outer = info.func == pcall and getinfo(level + 1, 'S')
      if not outer or not is_ours(outer.source) then return level - 1 end
    end
    level = level + 1
  end
end

local constructors = setmetatable({}, { __mode = 'k' })

--- Makes errors of functions nameless where they were called through a constructor table.
function th.mark_constructor(f)
  constructors[f] = true
end

-- The name that the user's call gives the function at a level of its caller, and its kind.
local function called_as(level)
  local info = getinfo(level + 1, 'nf')
  local name, kind = info.name, info.namewhat
  if not name or kind == 'metamethod' or constructors[info.func] and name ~= 'new' then
    return '?'
  end
  return name, kind
end

--- Raises an error about argument `arg` of the function of ours that the user called.
-- The name and the position follow luaL_argerror: a method's self does not count.
-- @param name the function's name where the call does not tell ('?' for an operator)
function th.argument_error(arg, detail, name)
  local level = user_level()
  local kind
  if not name then
    name, kind = called_as(level - 1)
  end
  if kind == 'method' then
    arg = arg - 1
    if arg == 0 then error(format("calling '%s' on bad self (%s)", name, detail), level) end
  end
  error(format("bad argument #%d to '%s' (%s)", arg, name, detail), level)
end

--- Raises an error at the user's line.
function th.fail(message)
  error(message, user_level())
end

--- Raises an error that Python returned: a byte with the argument's position, the message.
function th.raise(encoded)
  local arg = byte(encoded, 1)
  if arg == 0 then
    th.fail(sub(encoded, 2))
  end
  th.argument_error(arg, sub(encoded, 2))
end

--- The same for a torch function, whose name the reference does not tell.
function th.raise_nameless(encoded)
  local arg = byte(encoded, 1)
  if arg == 0 then
    th.fail(sub(encoded, 2))
  end
  th.argument_error(arg, sub(encoded, 2), '?')
end

--- Raises the error about an argument of the wrong Lua type, as luaL_typerror.
function th.type_error(arg, expected, value, absent, name)
  local got = absent and 'no value' or type(value)
  th.argument_error(arg, expected .. ' expected, got ' .. got, name)
end

local LUA_TYPES = { 'boolean', 'userdata', 'number', 'string', 'table', 'function', 'userdata' }

--- Raises the error about an argument of the wrong class.
-- Torch7: of a value without class it names the Lua type whose number is the position.
function th.class_error(arg, expected, value)
  local got = th.typename(value) or LUA_TYPES[arg]
  th.argument_error(arg, expected .. ' expected, got ' .. got)
end

-- ------------------------------------------------------------ errors of our own Lua

-- What is in front of an error that Lua itself raised in a chunk of ours.
local OUR_PLACE = '^%[th%] [%w_/]+%.lua:%d+: (.*)$'

local function raise_again(message)
  local text = type(message) == 'string' and match(message, OUR_PLACE)
  if text then th.fail(text) end
  error(message, 0)
end

local function finish(ok, ...)
  if ok then return ... end
  raise_again((...))
end

--- The same function, but errors that Lua raises in it ('attempt to index ...') tell the
-- user's line, not one of ours. Not for what is called very often.
function th.public(f)
  return function(...)
    return finish(pcall(f, ...))
  end
end

--- Makes functions in a table public: those whose names a string lists.
function th.make_public(functions, names)
  for name in gmatch(names, '%S+') do functions[name] = th.public(functions[name]) end
end

-- ------------------------------------------------------------------ uncaught errors

local table_text = tostring

--- Sets what writes a table that is an error object.
function th.show_tables_by(write)
  table_text = write
end

-- The text of an error object of any type.
local function describe(object)
  if type(object) == 'string' then return object end
  local mt = raw_metatable(object)
  if type(mt) == 'table' and rawget(mt, '__tostring') ~= nil then
    local ok, text = pcall(tostring, object)
    if ok and type(text) == 'string' then return text end
    if type(text) == 'string' or type(text) == 'number' then return tostring(text) end
  elseif type(object) == 'table' then
    return table_text(object)
  elseif type(object) == 'number' then
    return tostring(object)
  end
  return format('error object is a %s value', type(object))
end

-- What the embedding library says where Python has no memory for the call itself. (Python's
-- functions return their errors.)
local NO_CALL = 'error during Python call'

--- Message and traceback of an uncaught error, from what xpcall returned with th.traceback.
-- Where the stack or the memory was too short for that, it is a message alone.
function th.read_report(report)
  local frames, text = '', report
  if type(report) == 'table' then
    local _
    _, text = pcall(describe, report.object)
    frames = report.frames
  end
  text = tostring(text)
  return text == NO_CALL and 'not enough memory' or text, frames
end

--- The traceback of an error, for xpcall: a report of the error and the user's frames.
function th.traceback(object)
  local lines, ours = {}, nil
  for line in gmatch(traceback('', 2), '\n\t([^\n]+)') do
    if find(line, '[th] ', 1, true) then
      if #lines == 1 and lines[1] == "\t[C]: in function 'error'" then lines[1] = nil end
      ours = match(line, "in function '[^']*'$")
    else
      -- Of our frames the one that the user called shows, as a function that is not Lua's.
      if ours then lines[#lines + 1] = '\t[C]: ' .. ours end
      lines[#lines + 1], ours = '\t' .. line, nil
    end
  end
  while lines[#lines] and match(lines[#lines], '^\t%[C%]: ') do lines[#lines] = nil end
  if #lines == 0 then return { object = object, frames = '' } end
  return { object = object, frames = 'stack traceback:\n' .. concat(lines, '\n') }
end
