--- The variables of a session: going through what the program has made.
-- No code of the program is run: fields are read raw.
-- @module variables

local session_locals = import 'engine.session_locals'

local variables = {}

local MAX_NAMES = 10000 -- globals that are gone through

--- Calls a function with the name and value of each variable that the program has made: locals of
-- the session, and globals. Returns how many globals there are beyond MAX_NAMES.
function variables.each_variable(f)
  local names, values = session_locals.all()
  for _, name in ipairs(names) do f(name, values[name], true) end
  local hidden = rawget(_G, '_preloaded_')
  local seen = 0
  for name, value in next, _G do
    local own = type(name) == 'string' and values[name] == nil
    if own and not (type(hidden) == 'table' and rawget(hidden, name)) then
      seen = seen + 1
      if seen <= MAX_NAMES then f(name, value) end
    end
  end
  return math.max(seen - MAX_NAMES, 0)
end

return variables
