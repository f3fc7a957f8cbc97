--- Runs commands of the system's shell: os.execute with Lua 5.2's results, and io.popen.
-- Commands do not inherit the limit that keeps this process within the machine's memory: see
-- runtime/core/machine.py.
-- @module commands

local th = ...
local host = th.host

local type, error, pcall, tonumber, floor, match = type, error, pcall, tonumber, math.floor,
  string.match
local execute, popen = os.execute, io.popen
local stdout = io.stdout

-- luacheck: globals os.execute io.popen

local WRONG_ARGUMENT = "^bad argument #(%d+) to '[^']*' %((.*)%)$"

-- Puts the limit back, and returns the results of a pcall. Its errors about arguments tell the
-- program's line and the name by which the program has called our function.
local function finish(limit, ok, ...)
  if limit then th.ask(host.os_put_limit_back, limit) end
  if ok then return ... end
  local message = (...)
  local arg, detail
  if type(message) == 'string' then arg, detail = match(message, WRONG_ARGUMENT) end
  if arg then th.argument_error(tonumber(arg), detail) end
  error(message, 0)
end

--- os.execute with Lua 5.2's results: success, 'exit' or 'signal', code.
function os.execute(command)
  if command == nil then return execute() ~= 0 end
  stdout:flush()
  local status = finish(th.ask(host.os_lift_limit), pcall(execute, command))
  if type(status) ~= 'number' then return status end
  local signal, code = status % 128, floor(status / 256)
  if signal ~= 0 then return nil, 'signal', signal end
  if code ~= 0 then return nil, 'exit', code end
  return true, 'exit', 0
end

local function pass(...) return ... end

function io.popen(...)
  -- No tail call of `finish`: the name of this function would be lost.
  return pass(finish(th.ask(host.os_lift_limit), pcall(popen, ...)))
end
