--- Raises errors with the position of the program's line, and writes tracebacks of its frames.
-- Frames of the runtime's own chunks, whose names begin with '[th]', are left out of both.
-- @module errors

local host, type_names = import('host', 'core.type_names')

local errors = {}

local error, type, pcall, xpcall, rawget = error, type, pcall, xpcall, rawget
local tostring, tonumber, select = tostring, tonumber, select
local getinfo, traceback, raw_metatable = debug.getinfo, debug.traceback, debug.getmetatable
local byte, sub, format = string.byte, string.sub, string.format
local find, match, gmatch, concat = string.find, string.match, string.gmatch, table.concat
local floor = math.floor
local INTERRUPTED = host.INTERRUPTED

--- Tells whether a frame's source is one of the runtime's own chunks.
local function is_ours(source)
  return sub(source, 1, 5) == '=[th]'
end
errors.is_ours = is_ours
errors.getinfo = getinfo -- Lua's own: programs may have another one

--- Returns the number of levels of the running thread, from the caller's on. They are counted by
-- doubling and halving: there may be many thousands, and Lua finds each from the innermost one on.
function errors.stack_depth()
  local low, high = 1, 2
  while getinfo(high, 'f') do low, high = high, 2 * high end
  while high - low > 1 do
    local middle = floor((low + high) / 2)
    if getinfo(middle, 'f') then low = middle else high = middle end
  end
  return low - 1
end

-- luacheck: globals error

--- Lua's error. A level that is a frame of the runtime gives no position, as one in C gives none.
-- The tail calls leave the frame of Lua's own error alone, as if it had been called.
function _G.error(message, level, ...)
  local number = tonumber(level)
  local info = number and number > 1 and getinfo(number + 1, 'S')
  if info and is_ours(info.source) then return error(message, 0) end
  if level == nil then return error(message) end
  return error(message, level, ...)
end

-- The level of the first frame of the program, as the caller of this function passes it to
-- `error`. The caller must not leave by a tail call: that would shift the levels.
local function user_level()
  local level = 3
  while true do
    local info = getinfo(level, 'Sf')
    if not info then return level - 1 end
    if not is_ours(info.source) then
      -- Skips a pcall that was called by the runtime: see errors.public.
      local outer = info.func == pcall and getinfo(level + 1, 'S')
      if not outer or not is_ours(outer.source) then return level - 1 end
    end
    level = level + 1
  end
end

local PACKAGE = '^=%[th%] packages/%w+/' -- the chunks of a package that is a folder

-- The level, counted as user_level does, of the frame that has called an operation: the program's,
-- or one of a package that is a folder, which calls operations as programs do.
local function calling_level()
  local level = 3
  while true do
    local info = getinfo(level, 'S')
    if not info or not is_ours(info.source) or find(info.source, PACKAGE) then return level - 1 end
    level = level + 1
  end
end

local constructors = setmetatable({}, { __mode = 'k' })

--- Declares a constructor: its errors name it '?' where a constructor table has called it.
function errors.mark_constructor(f)
  constructors[f] = true
end

-- The name by which the program has called the function at a level, and its kind ('method', …).
local function called_as(level)
  local info = getinfo(level + 1, 'nf')
  local name, kind = info.name, info.namewhat
  if not name or kind == 'metamethod' or constructors[info.func] and name ~= 'new' then
    return '?'
  end
  return name, kind
end

-- Raises an error about argument `arg` of the function that the frame at a level has called.
local function argument_error(find_level, arg, detail, name)
  local level = user_level()
  local kind
  if not name then
    name, kind = called_as(find_level() - 1)
  end
  if kind == 'method' then
    arg = arg - 1
    if arg == 0 then error(format("calling '%s' on bad self (%s)", name, detail), level) end
  end
  error(format("bad argument #%d to '%s' (%s)", arg, name, detail), level)
end

--- Raises an error about argument `arg` of the function that the program has called.
-- Names the function and does not count a method's self, like luaL_argerror.
-- @param name the name to show; where it is nil, the one that the function was called by
function errors.argument_error(arg, detail, name)
  argument_error(user_level, arg, detail, name)
end

local WRONG_ARGUMENT = "^bad argument #(%d+) to '[^']*' %((.*)%)$"

--- Returns the results of a pcall of one of Lua's functions, which a function of ours replaces. Its
-- errors about arguments tell the program's line and the name by which the program has called ours.
function errors.results(ok, ...)
  if ok then return ... end
  local message = (...)
  local arg, detail
  if type(message) == 'string' then arg, detail = match(message, WRONG_ARGUMENT) end
  if arg then errors.argument_error(tonumber(arg), detail) end
  error(message, 0)
end

--- Raises an error with the position of the program's line.
function errors.fail(message)
  error(message, user_level())
end

--- Calls a function, and then another one with whether that ended without an error, which is raised
-- again.
function errors.finally(release, f, ...)
  local function finish(ok, ...)
    release(ok)
    if not ok then error((...), 0) end
    return ...
  end
  return finish(pcall(f, ...))
end

--- Tells whether a pcall or xpcall of the program catches errors that are raised now.
function errors.is_protected()
  local level = 2
  while true do
    local info = getinfo(level, 'f')
    if not info then return false end
    if info.func == pcall or info.func == xpcall then
      local outer = getinfo(level + 1, 'S')
      if outer and not is_ours(outer.source) then return true end
    end
    level = level + 1
  end
end

local note_interrupt

--- Sets the function that is told when an operation in Python was interrupted.
function errors.note_interrupts_by(f)
  note_interrupt = f
end

--- Raises an error that Python has returned: a byte with the argument's position (0 for none),
-- then the message.
-- @param name the function's name, as errors.argument_error takes it
function errors.raise(encoded, name)
  local arg = byte(encoded, 1)
  if arg == 0 then
    local message = sub(encoded, 2)
    if message == INTERRUPTED then note_interrupt() end
    errors.fail(message)
  end
  argument_error(calling_level, arg, sub(encoded, 2), name)
end

--- Raises an error of Python's for a torch function, which the reference's message names '?'.
function errors.raise_nameless(encoded)
  errors.raise(encoded, '?')
end

--- Raises the error of luaL_typerror about an argument of the wrong Lua type.
-- @param absent whether the call has no such argument
function errors.type_error(arg, expected, value, absent, name)
  local got = absent and 'no value' or type(value)
  errors.argument_error(arg, expected .. ' expected, got ' .. got, name)
end

--- Raises an error where an argument is not of a type of Lua's (a number may be a string of digits)
-- or of a class; 'torch.Tensor' stands for all tensors.
function errors.check_argument(arg, value, expected)
  local class = type_names.typename(value)
  if type(value) == expected or expected == 'number' and tonumber(value) or class == expected
    or expected == 'torch.Tensor' and class and find(class, '^torch%.%a+Tensor$') then
    return
  end
  errors.argument_error(arg, format('%s expected, got %s', expected, class or type(value)))
end

--- A call's argument as a string; a number is converted, as by Lua's C functions.
-- @param arg its position
-- @param n how many arguments the call has
function errors.check_string(arg, n, value)
  local kind = type(value)
  if kind == 'string' then return value end
  if kind == 'number' then return tostring(value) end
  errors.type_error(arg, 'string', value, n < arg)
end

-- Lua's types by their numbers in Lua's C interface.
local LUA_TYPES = { 'boolean', 'userdata', 'number', 'string', 'table', 'function', 'userdata' }

--- Raises the error about an argument of the wrong class.
-- Torch7: where the argument has no class, names not its Lua type but the one whose number is the
-- argument's position.
function errors.class_error(arg, expected, value)
  local got = type_names.typename(value) or LUA_TYPES[arg]
  errors.argument_error(arg, expected .. ' expected, got ' .. got)
end

--- Raises the error about a tensor whose storage was resized below the tensor's elements.
function errors.storage_exceeded()
  errors.fail('tensor reaches past the end of its storage, which was resized')
end

-- ------------------------------------------------------- errors in the runtime's own Lua

-- An error that Lua itself has raised in one of the runtime's chunks; captures the message.
local OWN_POSITION = '^%[th%] [%w_/]+%.lua:%d+: (.*)$'

local function raise_again(message)
  local text = type(message) == 'string' and match(message, OWN_POSITION)
  if text then errors.fail(text) end
  error(message, 0)
end

local function finish(ok, ...)
  if ok then return ... end
  raise_again((...))
end

--- Returns a function that calls f, with the position of the program's line in errors that Lua
-- raises ('attempt to index ...'). The pcall takes time: not for functions called very often.
function errors.public(f)
  return function(...)
    return finish(pcall(f, ...))
  end
end

--- Replaces functions in a table by their public ones.
-- @param names the functions' names, separated by blanks; nil for all functions
function errors.make_public(functions, names)
  if names then
    for name in gmatch(names, '%S+') do functions[name] = errors.public(functions[name]) end
    return
  end
  for name, value in next, functions do
    if type(value) == 'function' then functions[name] = errors.public(value) end
  end
end

-- ------------------------------------------------------------------ uncaught errors

local table_text = tostring

--- Sets the function that gives the text of an error object that is a table.
function errors.show_tables_by(write)
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

--- The text of an error object, whatever it is.
function errors.error_text(object)
  local _, text = pcall(describe, object)
  return tostring(text)
end

-- lupa's error where Python has no memory for a call. (Other errors are returned by Python's
-- functions.)
local CALL_FAILED = 'error during Python call'

--- Message and traceback of an uncaught error.
-- @param report what xpcall has returned with errors.traceback; if the stack or the memory was too
--   small for a traceback, it is a message
function errors.read_report(report)
  local frames, text = '', report
  if type(report) == 'table' then text, frames = errors.error_text(report.object), report.frames end
  text = tostring(text)
  return text == CALL_FAILED and 'not enough memory' or match(text, OWN_POSITION) or text, frames
end

-- The lines of Lua's traceback without the runtime's frames, except for the function that the
-- program has called: it is shown as if it were written in C.
local function program_frames(text)
  local lines, ours = {}, nil
  for line in gmatch(text, '\n\t([^\n]+)') do
    if find(line, '[th] ', 1, true) then
      if #lines == 1 and lines[1] == "\t[C]: in function 'error'" then lines[1] = nil end
      ours = match(line, "in function '[^']*'$")
    else
      if ours then lines[#lines + 1] = '\t[C]: ' .. ours end
      lines[#lines + 1], ours = '\t' .. line, nil
    end
  end
  while lines[#lines] and match(lines[#lines], '^\t%[C%]: ') do lines[#lines] = nil end
  return lines
end

-- An error of Lua's in one of the runtime's chunks, with the position of the program's line.
local function at_program(object)
  local text = type(object) == 'string' and match(object, OWN_POSITION)
  if not text then return object end
  local info = getinfo(user_level(), 'Sl')
  local line = info and info.currentline or -1
  return line > 0 and format('%s:%d: %s', info.short_src, line, text) or text
end

--- The error that ends a program where the debugger was told to: it needs no traceback.
errors.ENDED = 'the program was ended in the debugger'

--- The message handler for xpcall: returns the error object and a traceback of the program's
-- frames, as errors.read_report takes them.
function errors.traceback(object)
  if object == errors.ENDED then return { object = object, frames = '' } end
  object = at_program(object)
  local lines = program_frames(traceback('', 2))
  if #lines == 0 then return { object = object, frames = '' } end
  return { object = object, frames = 'stack traceback:\n' .. concat(lines, '\n') }
end

local note -- what the debugger does with an error; nil: nothing

--- Sets the function that is told of each error of the code that people run.
function errors.note_errors_by(f)
  note = f
end

local was_noted = false

--- Tells whether the function was told of the last error, and has not failed.
function errors.was_noted() return was_noted end

--- The message handler of what people run: errors.traceback, besides what the debugger does. That
-- fails where the stack is full.
function errors.handle_error(object)
  if note then was_noted = pcall(note, object) end
  return errors.traceback(object) -- a tail call: it counts levels
end

-- luacheck: globals debug.traceback

--- Lua's debug.traceback, of the program's frames.
function debug.traceback(...)
  local thread, message, level = ...
  local given = select('#', ...) > 1
  if type(thread) ~= 'thread' then
    thread, message, level = nil, ...
    given = select('#', ...) > 0
  end
  if given and type(message) ~= 'string' and type(message) ~= 'number' then return message end
  local text
  if thread then
    text = traceback(thread, '', tonumber(level) or 0)
  else
    text = traceback('', (tonumber(level) or 1) + 1)
  end
  local lines = program_frames(text)
  local heading = message and message .. '\nstack traceback:' or 'stack traceback:'
  if #lines == 0 then return heading end
  return heading .. '\n' .. concat(lines, '\n')
end

return errors
