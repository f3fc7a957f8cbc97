--- The variables of a session: looking up values, and going through what the program has made.
-- No code of the program is run: fields and metatables are read raw.
-- @module variables

local th = ...

local type, next, rawget, select, ipairs = type, next, rawget, select, ipairs
local raw_metatable = debug.getmetatable
local match, gmatch, max = string.match, string.gmatch, math.max

local MAX_DEPTH = 20    -- metatables of metatables
local MAX_NAMES = 10000 -- globals that are gone through

-- A field of a value, of its metatable or what that inherits, read raw.
local function field(value, name)
  for _ = 1, MAX_DEPTH do
    local found
    if type(value) == 'table' then found = rawget(value, name) end
    if found ~= nil then return found end
    local mt = raw_metatable(value)
    if type(mt) ~= 'table' then return nil end
    found = rawget(mt, name)
    if found ~= nil then return found end
    local index = rawget(mt, '__index')
    value = type(index) == 'table' and index or mt
  end
end

-- A local of the session, or a global.
local function variable(name)
  local value
  if th.session_locals then value = select(2, th.session_locals())[name] end
  if value == nil then value = field(_G, name) end
  return value
end

--- The value that a dotted path leads to; nil where there is none.
function th.value_at(path)
  local first, rest = match(path, '^([^.]+)(.*)$')
  if not first then return nil end
  local value = variable(first)
  for name in gmatch(rest, '[^.]+') do
    if value == nil then return nil end
    value = field(value, name)
  end
  return value
end

--- Calls a function with the name and value of each variable that the program has made: locals of
-- the session, and globals. Returns how many globals there are beyond MAX_NAMES.
function th.each_variable(f)
  local names, values = {}, {}
  if th.session_locals then names, values = th.session_locals() end
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
  return max(seen - MAX_NAMES, 0)
end
