--- Runs commands of the system's shell: os.execute with Lua 5.2's results, and io.popen.
-- Commands do not inherit the limit that keeps this process within the machine's memory: see
-- runtime/core/machine.py.
-- @module commands

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

local commands = {}

local type, ipairs, pcall, floor = type, ipairs, pcall, math.floor
local execute, popen = os.execute, io.popen
local stdout = io.stdout

-- luacheck: globals os.execute io.popen

local before_commands = {}

--- Has a function called before each command, to finish what that may look at.
function commands.before_commands(f) before_commands[#before_commands + 1] = f end

-- Lifts the limit for a command, which a timeout ends from now on.
local function begin()
  for _, f in ipairs(before_commands) do f() end
  return python_calls.ask(host.os_begin_command)
end

-- Puts the limit back, and returns the results of a pcall.
local function finish(limit, ...)
  python_calls.ask(host.os_end_command, limit)
  return errors.results(...)
end

--- os.execute with Lua 5.2's results: success, 'exit' or 'signal', code.
function os.execute(command)
  if command == nil then return execute() ~= 0 end
  stdout:flush()
  local status = finish(begin(), pcall(execute, command))
  if type(status) ~= 'number' then return status end
  local signal, code = status % 128, floor(status / 256)
  if signal ~= 0 then return nil, 'signal', signal end
  if code ~= 0 then return nil, 'exit', code end
  return true, 'exit', 0
end

local function pass(...) return ... end

function io.popen(...)
  -- No tail call of `finish`: the name of this function would be lost.
  return pass(finish(begin(), pcall(popen, ...)))
end

return commands
