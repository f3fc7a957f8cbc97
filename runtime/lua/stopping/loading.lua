--- Lets Ctrl-C stop the loops of what programs load: counters are put into each chunk, and hidden.
-- Only where there is a prompt: Ctrl-C ends a script.
-- @module loading

local th = ...
local turns = th.turns

local type, pcall, error, select = type, pcall, error, select
local getinfo, upvalueid = debug.getinfo, debug.upvalueid
local sethook, gethook = debug.sethook, debug.gethook

-- Lua's functions that this module replaces, under their own names: errors name them so.
local loadstring, load, loadfile = loadstring, load, loadfile
local getupvalue, setupvalue, upvaluejoin = debug.getupvalue, debug.setupvalue, debug.upvaluejoin

local loading = { counts = false }
th.loading = loading

--- A function that was just loaded, with counters if there is a prompt; and whether all loops of it
-- can be stopped.
function loading.prepare(f)
  if not loading.counts then return f, false end
  return turns.add(f)
end

local function prepared(f, ...)
  if type(f) == 'function' then return (turns.add(f)) end
  return f, ...
end

local function pass(...) return ... end

local replaced = {}

replaced.loadstring = th.public(function(...) return prepared(loadstring(...)) end)
replaced.load = th.public(function(...) return prepared(load(...)) end)
replaced.loadfile = th.public(function(...) return prepared(loadfile(...)) end)

function replaced.dofile(...)
  local name = ...
  if name ~= nil and type(name) ~= 'string' and type(name) ~= 'number' then
    th.type_error(1, 'string', name, false, 'dofile')
  end
  local f, message = loadfile(name)
  if not f then error(message, 0) end
  return pass(prepared(f)()) -- no tail call: functions that look for their caller count this one
end

-- --------------------------------------------------- what programs see of functions

-- Where a function has no upvalue.
local NOWHERE = 1000

local function is_hidden(f, i)
  if type(f) ~= 'function' or type(i) ~= 'number' or not getupvalue(f, i) then return false end
  return turns.is_hidden(upvalueid(f, i))
end

local function shown(f, i)
  return is_hidden(f, i) and NOWHERE or i
end

local debugging = {}

debugging.getupvalue = th.public(function(f, i) return pass(getupvalue(f, shown(f, i))) end)
debugging.setupvalue = th.public(function(f, i, ...)
  return pass(setupvalue(f, shown(f, i), ...))
end)
debugging.upvalueid = th.public(function(f, i) return pass(upvalueid(f, shown(f, i))) end)
debugging.upvaluejoin = th.public(function(f, i, g, k)
  return pass(upvaluejoin(f, shown(f, i), g, shown(g, k)))
end)

local OUR_FRAMES = 2 -- between the program's function and debug.getinfo: below, and pcall

local function of_level(level)
  return type(level) == 'number' and level > 0 and level + OUR_FRAMES or level
end

function debugging.getinfo(...)
  local first, second, third = ...
  local ok, info
  if type(first) == 'thread' then
    ok, info = pcall(getinfo, ...)
  else
    ok, info = pcall(getinfo, of_level(first), select(2, ...))
  end
  if not ok then th.fail(info) end
  if not info or not info.nups then return info end
  local f = type(first) == 'function' and first or type(second) == 'function' and second
  if not f and type(first) == 'thread' then
    f = getinfo(first, second, 'f').func
  elseif not f then
    f = getinfo(of_level(first) - 1, 'f').func -- without pcall's frame
  end
  if turns.counts(f) then info.nups = info.nups - 2 end
  return info, third and nil
end

-- A program's own hook takes the place of the one that looks for Ctrl-C; without it, that one is
-- back.
function debugging.sethook(...)
  sethook(...)
  loading.own_hook = gethook() ~= nil
  if not loading.own_hook then loading.program_left_hook() end
end

function debugging.gethook(...)
  if loading.own_hook then return gethook(...) end
end

local function dump(f, ...)
  if type(f) ~= 'function' then th.type_error(1, 'function', f, f == nil, 'dump') end
  local ok, dumped = pcall(turns.dump, f, ...)
  if not ok then th.fail(dumped) end
  return dumped
end

-- ------------------------------------------------------------------ commands

local SIGINT = 2
local execute = os.execute

-- While a command runs, Ctrl-C is for the command alone: a loop of commands would go on.
local function execute_and_look(...)
  local done, how, code = execute(...)
  local ended = how == 'signal' and code == SIGINT or how == 'exit' and code == 128 + SIGINT
  if ended then th.command_was_interrupted() end
  return done, how, code
end

--- Begins to put counters into what is loaded. They are left out where LuaJIT's bytecode is not
-- what is known here.
function loading.count_loops()
  if loading.counts or not turns.work() then return end
  loading.counts = true
  for name, f in next, replaced do th.replace(nil, name, f) end
  for name, f in next, debugging do th.replace('debug', name, f) end
  th.replace('string', 'dump', dump)
  os.execute = execute_and_look
  local load_lua = package.loaders[2]
  package.loaders[2] = function(...) return prepared(load_lua(...)) end
end
