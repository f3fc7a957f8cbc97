--- Begins a run of a page, in any Lua: sets the seed, the clock, and the order of named fields.
-- Runs differ in these, so that what depends on them is another text in another run. A clock that
-- is put forward goes on by a step at each look, too: so does the time that something takes.
-- @script begin

local body = ...
local getmetatable, pairs, rawget, sort = debug.getmetatable, pairs, rawget, table.sort
local tonumber, type = tonumber, type
local floor, randomseed, os, time, date = math.floor, math.randomseed, os, os.time, os.date

local STEP = 3.7 -- seconds
local SMALL = 1e4 -- a seed that is greater may be what the clock has told
local MOST = 1000 -- a table with more named fields keeps its own order

local given = {}
for name, number in body:gmatch('(%a+) (%d+)') do given[name] = tonumber(number) end
local seed, later = given.seed or 1, given.clock or 0
local step, passed, looked = later > 0 and STEP or 0, 0, false

local function forward(clock, seconds)
  return function()
    passed, looked = passed + step, true
    return clock() + seconds + passed
  end
end

local now = forward(time, later)
function os.time(at) return at and time(at) or floor(now()) end
function os.date(format, at) return date(format or '%c', at or time() + later) end
os.clock = forward(os.clock, 0)
local sys = package.loaded.sys -- Torch7's
if sys then sys.clock = forward(sys.clock, later) end

-- What the clock seeds would be another stream at each time of the day.
function math.randomseed(number)
  randomseed(looked and tonumber(number) and tonumber(number) > SMALL and seed or number)
  looked = false
end
randomseed(seed - 1) -- 0 is what LuaJIT begins with

-- The keys of a table, names behind all others; nil where they are few or too many to be sorted.
local function sorted_keys(t)
  local keys, names = {}, {}
  for key in pairs(t) do
    local list = type(key) == 'string' and names or keys
    list[#list + 1] = key
    if #names > MOST then return nil end
  end
  if #names < 2 then return nil end
  sort(names)
  for i = 1, #names do keys[#keys + 1] = names[given.falling == 1 and #names + 1 - i or i] end
  return keys
end

local function ordered_pairs(t)
  local meta = getmetatable(t)
  local has_own = meta and rawget(meta, '__pairs')
  local keys = type(t) == 'table' and not has_own and sorted_keys(t)
  if not keys then return pairs(t) end
  local at = 0
  return function()
    local value
    repeat -- the loop may have removed fields
      at = at + 1
      value = keys[at] ~= nil and rawget(t, keys[at])
    until value ~= nil
    return keys[at], value
  end, t, nil
end

_G.pairs = ordered_pairs
getfenv(print).pairs = ordered_pairs -- for th's own modules, which have globals of their own
