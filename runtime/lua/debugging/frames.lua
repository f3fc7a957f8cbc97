--- The frames of the program on the stack: where each is, its variables, and code that sees these.
-- Frames of C and of the runtime's own chunks are left out. A frame keeps the values that its
-- variables had when it was taken. While it is alive, what is assigned reaches the variable itself.
-- @module frames

local host, errors, loading = import('host', 'core.errors', 'stopping.loading')

local getinfo, getlocal, setlocal = errors.getinfo, debug.getlocal, debug.setlocal
local getupvalue, setupvalue = debug.getupvalue, debug.setupvalue
local byte, find, match, sub = string.byte, string.find, string.match, string.sub
local running, huge = coroutine.running, math.huge
local depth, is_ours = errors.stack_depth, errors.is_ours

local OUTER_LEVELS = 10 -- at the outer end of the stack, which are the runtime's own
local MAX_FRAMES = 100 -- from the innermost one on
local NAME = '^[%a_][%w_]*$' -- other variables are LuaJIT's own
local HIDDEN = host.KEEP
local CHUNK = '=(debugger)'

local frames = {}

local function add(variables, kind, name, value, index)
  if name == HIDDEN or kind ~= 'vararg' and not find(name, NAME) then return end
  variables[#variables + 1] = { kind = kind, name = name, value = value, index = index }
end

-- The variables of the function at a level for the caller: its upvalues, locals and '...'; of those
-- with one name the last one counts.
local function variables_of(level, f)
  local variables = { count = 0 }
  for i = 1, huge do
    local name, value = getupvalue(f, i)
    if not name then break end
    add(variables, 'upvalue', name, value, i)
  end
  for i = 1, huge do
    local name, value = getlocal(level + 1, i)
    if not name then break end
    add(variables, 'local', name, value, i)
  end
  for i = 1, huge do
    local name, value = getlocal(level + 1, -i)
    if not name then break end
    add(variables, 'vararg', '...[' .. i .. ']', value, i)
    variables.count = i
  end
  return variables
end

-- is_outermost: whether it is the program's first one, such as an input within another chunk.
-- caller: what has called it; the names that functions have in the runtime's own are not theirs.
local function frame_of(info, is_outermost, caller)
  local name = not (caller and is_ours(caller.source)) and info.name
  if info.what == 'main' or is_outermost then name = 'main chunk' end
  return {
    source = info.source, short = info.short_src, line = info.currentline, func = info.func,
    name = name or 'function <' .. info.short_src .. ':' .. info.linedefined .. '>',
  }
end

local function is_shown(info)
  return info.what ~= 'C' and info.currentline > 0 and not is_ours(info.source)
end

-- The level, for the caller, of the program's outermost frame; 0 in a coroutine.
local function outermost(all)
  for level = all, running() and all + 1 or math.max(all - OUTER_LEVELS, 1), -1 do
    if is_shown(getinfo(level + 1, 'Sl')) then return level end
  end
  return 0
end

--- The frames of the program in the running thread, from the innermost one on.
-- @param alive whether what is assigned to their variables reaches these
-- @param most how many
function frames.take(alive, most)
  local list, all = {}, depth()
  local first = outermost(all)
  most = most or MAX_FRAMES
  local level = 1
  local info = getinfo(level, 'nSlf')
  while info and #list < most do
    if is_shown(info) then
      local frame = frame_of(info, level == first, getinfo(level + 1, 'S'))
      frame.variables = variables_of(level, info.func)
      frame.below, frame.alive = all - level, alive
      list[#list + 1] = frame
    end
    level = level + 1
    info = getinfo(level, 'nSlf')
  end
  return list
end

-- ------------------------------------------------------------------ variables

local function find_variable(frame, name)
  local variables = frame.variables
  for i = #variables, 1, -1 do
    local variable = variables[i]
    if variable.name == name and variable.kind ~= 'vararg' then return variable end
  end
end

--- Sets a variable of a frame.
function frames.assign(frame, variable, value)
  variable.value = value
  if variable.kind == 'upvalue' then
    setupvalue(frame.func, variable.index, value)
  elseif frame.alive then
    setlocal(depth() - frame.below, variable.index, value)
  end
end

-- Returns the environment of code that is run in a frame: its names are the frame's variables, then
-- globals. `used.any` becomes true when the code reads a variable of the frame.
local function environment(frame, used)
  local others = getfenv(frame.func)
  return setmetatable({}, {
    __index = function(_, name)
      local variable = find_variable(frame, name)
      if not variable then return others[name] end
      used.any = true
      return variable.value
    end,
    __newindex = function(_, name, value)
      local variable = find_variable(frame, name)
      if variable then frames.assign(frame, variable, value) else others[name] = value end
    end,
  })
end

local function varargs(frame)
  local values = {}
  for _, variable in ipairs(frame.variables) do
    if variable.kind == 'vararg' then values[variable.index] = variable.value end
  end
  return unpack(values, 1, frame.variables.count)
end

-- A message without the position in the code that the debugger has run.
local function plain(message)
  return type(message) == 'string' and match(message, '^%(debugger%):%d+: (.*)$') or message
end

--- Compiles an expression or statements, for `frames.evaluate`. Where it cannot, returns nil and
-- the message.
function frames.compile(code)
  if byte(code, 1) == 61 then code = sub(code, 2) end
  local f, message = loadstring('return ' .. code .. '\n', CHUNK)
  if not f then
    local other
    f, other = loadstring(code, CHUNK, 't')
    -- Text that is no statement at all is told as the expression that it was meant to be.
    local is_open = find(message, "near '<eof>'", 1, true)
    local is_expression = is_open or find(other or '', "'=' expected", 1, true)
    message = is_expression and message or other
  end
  if not f then return nil, plain(message) end
  return (loading.prepare(f))
end

--- Runs code in a frame: returns true and its values, or false and the message.
-- @param f what frames.compile has returned
-- @param used a table whose field `any` is set where the code uses variables of the frame
function frames.evaluate(frame, f, used)
  setfenv(f, environment(frame, used or {}))
  local function finish(ok, ...)
    if ok then return true, ... end
    return false, plain((...))
  end
  return finish(pcall(f, varargs(frame)))
end

return frames
