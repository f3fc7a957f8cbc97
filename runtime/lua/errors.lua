--- Raises the errors of operations at the user's line, and writes tracebacks of user frames.
-- @module errors

local th = ...

local error, type = error, type
local getinfo = debug.getinfo
local byte, sub, format = string.byte, string.sub, string.format

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
    local info = getinfo(level, 'S')
    if not info or not is_ours(info.source) then return level - 1 end
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

--- The traceback of an error, for xpcall: message, then the user's frames only.
function th.traceback(message)
  if type(message) ~= 'string' then
    local mt = getmetatable(message)
    message = type(mt) == 'table' and rawget(mt, '__tostring') and tostring(message)
      or 'error object is a ' .. type(message) .. ' value'
  end
  local lines, ours = {}, nil
  for line in debug.traceback('', 2):gmatch('\n\t([^\n]+)') do
    if line:find('[th] ', 1, true) then
      if #lines == 1 and lines[1]:match("^\t%[C%]: in function 'error'$") then lines[1] = nil end
      ours = line:match("in function '[^']*'$")
    else
      -- Of our frames the one that the user called shows, as a function that is not Lua's.
      if ours then lines[#lines + 1] = '\t[C]: ' .. ours end
      lines[#lines + 1], ours = '\t' .. line, nil
    end
  end
  while lines[#lines] and lines[#lines]:match('^\t%[C%]: ') do lines[#lines] = nil end
  if #lines == 0 then return { message, '' } end
  return { message, 'stack traceback:\n' .. table.concat(lines, '\n') }
end
