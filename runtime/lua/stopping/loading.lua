--- Lets Ctrl-C stop the loops of what programs load: counters are put into each chunk, and hidden.
-- Only where there is a prompt: Ctrl-C ends a script.
-- @module loading

local compiling, errors, finalizers = import('core.compiling', 'core.errors', 'core.finalizers')
local counted_loops, counters = import('stopping.counted_loops', 'stopping.counters')
local interrupts = import 'stopping.interrupts'
local results = errors.results

local type, pcall, error, select = type, pcall, error, select
local getinfo, upvalueid = debug.getinfo, debug.upvalueid
local sethook = debug.sethook
local find, unpack = string.find, unpack

-- Lua's functions that this module replaces, under their own names: errors name them so.
local loadstring, load, loadfile = loadstring, load, loadfile
local dump = string.dump
local getupvalue, setupvalue, upvaluejoin = debug.getupvalue, debug.setupvalue, debug.upvaluejoin

local loading = { counts = false }

--- A function that was just loaded, with counters if there is a prompt; and whether all loops of it
-- can be stopped.
function loading.prepare(f)
  if not loading.counts then return f, false end
  return counted_loops.add(f)
end

local function prepared(f, ...)
  if type(f) == 'function' then return (counted_loops.add(f)) end
  return f, ...
end

local function pass(...) return ... end

-- No function below leaves by a tail call before `results` has returned: its name would be lost.
local replaced = {}

-- A function that loads, whose result counts.
local function preparing(f)
  return function(...) return pass(prepared(results(pcall(f, ...)))) end
end

replaced.loadstring, replaced.load = preparing(loadstring), preparing(load)
replaced.loadfile = preparing(loadfile)

function replaced.dofile(...)
  local name = ...
  if name ~= nil and type(name) ~= 'string' and type(name) ~= 'number' then
    errors.type_error(1, 'string', name, false)
  end
  local f, message = loadfile(name)
  if not f then error(message, 0) end
  return pass(prepared(f)()) -- no tail call: functions that look for their caller count this one
end

-- --------------------------------------------------- what programs see of functions

-- An index at which no function has an upvalue.
local NOWHERE = 1000

local function is_hidden(f, i)
  if type(f) ~= 'function' or type(i) ~= 'number' or not getupvalue(f, i) then return false end
  return counted_loops.is_hidden(upvalueid(f, i))
end

local function shown(f, i)
  return is_hidden(f, i) and NOWHERE or i
end

-- The arguments of a function that takes a function and the index of an upvalue.
local function arguments(...)
  local f, i = ...
  if is_hidden(f, i) then return f, NOWHERE, select(3, ...) end
  return ...
end

local debugging = {}

for name, f in next, { getupvalue = getupvalue, setupvalue = setupvalue, upvalueid = upvalueid } do
  debugging[name] = function(...) return pass(results(pcall(f, arguments(...)))) end
end

function debugging.upvaluejoin(f, i, ...)
  local g, k = ...
  if is_hidden(g, k) then return pass(results(pcall(upvaluejoin, f, shown(f, i), g, NOWHERE))) end
  return pass(results(pcall(upvaluejoin, f, shown(f, i), ...)))
end

local OUR_FRAMES = 2 -- between the program's function and Lua's getinfo: below, and pcall

local function of_level(level)
  return type(level) == 'number' and level > 0 and level + OUR_FRAMES or level
end

-- The function that debug.getinfo was asked about, for a caller one level further in than pcall.
local function function_at(first, second)
  if type(first) == 'function' then return first end
  if type(first) ~= 'thread' then return getinfo(of_level(first), 'f').func end
  return type(second) == 'function' and second or getinfo(first, second, 'f').func
end

function debugging.getinfo(...)
  local first, second = ...
  if type(first) == 'number' and first < 0 then return nil end
  local info
  if type(first) == 'thread' or select('#', ...) == 0 then
    info = results(pcall(getinfo, ...))
  else
    info = results(pcall(getinfo, of_level(first), select(2, ...)))
  end
  if info and info.nups and counted_loops.counts(function_at(first, second)) then
    info.nups = info.nups - counted_loops.ADDED
  end
  return info
end

local program_hook = {} -- the program's own hook, mask and count

-- Sets the program's own hook, beside which the debugger's is called.
local function set_own_hook()
  local f, mask, count = unpack(program_hook, 1, 3)
  local debugger, blind = interrupts.line_hook, finalizers.blind_hook(f)
  if not debugger then return sethook(f, mask, count) end
  local wants_lines = find(mask, 'l', 1, true)
  return finalizers.sethook(function(event, line)
    if event == 'line' then
      debugger(event, line, 1)
      if not wants_lines then return end
    end
    return blind(event, line) -- a tail call: it adds no level
  end, wants_lines and mask or mask .. 'l', count)
end

interrupts.set_own_hook_by(set_own_hook)

-- A program's own hook replaces the hook that looks for Ctrl-C, which returns when the program's is
-- removed.
function debugging.sethook(...)
  local f, mask, count = select(type((...)) == 'thread' and 2 or 1, ...)
  interrupts.own_hook = type(f) == 'function' and (mask ~= '' or (count or 0) > 0)
  if not interrupts.own_hook and f == nil then return interrupts.begin_hook() end
  program_hook = { f, mask, count }
  if interrupts.own_hook and interrupts.line_hook then return set_own_hook() end
  return sethook(...) -- a tail call: the hook does not see lines of ours
end

function debugging.gethook()
  if interrupts.own_hook then return unpack(program_hook, 1, 3) end
  return nil, '', 0
end

local function dump_as_written(...)
  local dumped = results(pcall(dump, ...))
  return counted_loops.counts((...)) and counters.remove(dumped) or dumped
end

-- ------------------------------------------------------------------ commands

local SIGINT = 2
local execute = os.execute

-- While a command runs, Ctrl-C is for the command alone: a loop of commands would go on.
local function execute_and_look(...)
  local done, how, code = execute(...)
  local ended = how == 'signal' and code == SIGINT or how == 'exit' and code == 128 + SIGINT
  if ended then interrupts.command_was_interrupted() end
  return done, how, code
end

local globals = getfenv(1) -- of the modules: see core/loader.lua

-- Replaces a function of Lua's for the program and for the modules.
-- @param library the name of its table; nil for a global
local function replace(library, name, f)
  if library then
    _G[library][name], rawget(globals, library)[name] = f, f
  else
    _G[name] = f
    rawset(globals, name, f)
  end
end

--- Begins to put counters into what is loaded. They are left out where LuaJIT's bytecode is not
-- what is known here.
function loading.count_loops()
  if loading.counts or not counted_loops.work() then return end
  loading.counts = true
  for name, f in next, replaced do replace(nil, name, f) end
  for name, f in next, debugging do replace('debug', name, f) end
  replace('string', 'dump', dump_as_written)
  os.execute = execute_and_look
  for i, search in ipairs(package.loaders) do
    if search == compiling.search_files then package.loaders[i] = preparing(search) end
  end
end

return loading
