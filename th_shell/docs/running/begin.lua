--- Begins a run of a page, in any Lua: sets the seed, the clock, and the order of named fields.
-- Runs differ in these, so that what depends on them is another text in another run. A clock that
-- is put forward goes on by a step at each look, too: so does the time that something takes.
-- @script begin

local body = ...
local concat, getinfo, sort = table.concat, debug.getinfo, table.sort
local ipairs, next, pairs, rawget, setmetatable = ipairs, next, pairs, rawget, setmetatable
local tonumber, tostring, type = tonumber, tostring, type
local floor, randomseed, os, time, date = math.floor, math.randomseed, os, os.time, os.date

local SMALL = 1e4 -- a seed that is greater may be what the clock has told
local MOST = 1000 -- a table with more keys keeps its own order

local given = {}
for name, number in body:gmatch('(%a+) (%d+)') do given[name] = tonumber(number) end
local seed, later = given.seed or 1, given.clock or 0
local step, passed, looked = given.step or 0, 0, false

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
local sys = not given.forward and package.loaded.sys -- of a Torch7 that is not this project's
if sys then sys.clock = forward(sys.clock, later) end

-- Seeds from the clock are replaced: they would give another stream at each time of the day.
function math.randomseed(number)
  randomseed(looked and tonumber(number) and tonumber(number) > SMALL and seed or number)
  looked = false
end
randomseed(seed - 1) -- 0 is what LuaJIT begins with

-- A text of a key or value that is the same wherever objects lie. depth: of contents that count.
local function described(value, depth)
  local kind = type(value)
  if kind == 'function' then
    local info = getinfo(value, 'S')
    return info.short_src .. info.linedefined
  elseif kind ~= 'table' or depth == 0 then
    return (kind == 'number' or kind == 'string' or kind == 'boolean') and tostring(value) or kind
  end
  local texts = {}
  for k, v in next, value do
    texts[#texts + 1] = described(k, depth - 1) .. '=' .. described(v, depth - 1)
    if #texts > MOST then break end
  end
  sort(texts)
  return concat(texts, ',')
end

-- The keys of a table behind another one, and their places, in the order of this run. nil where it
-- is the same in all runs (true and false), and where there are too many to be sorted.
local function ordered_keys(t, key)
  local keys, places, texts, is_free = {}, {}, {}, false
  for k in next, t, key do
    keys[#keys + 1] = k
    is_free = is_free or type(k) ~= 'boolean'
    if #keys > MOST then return nil end
  end
  if not is_free or #keys < 2 then return nil end
  for i = 1, #keys do texts[keys[i]] = described(keys[i], 1) .. ':' .. described(t[keys[i]], 1) end
  sort(keys, function(a, b)
    if given.falling == 1 then a, b = b, a end
    local kind, other = type(a), type(b)
    if kind ~= other then return kind < other end
    if kind == 'number' or kind == 'string' then return a < b end
    return texts[a] < texts[b]
  end)
  for i = 1, #keys do places[keys[i]] = i end
  return keys, places
end

-- Returns the next key and its value in the order of this run, which `order` keeps from key to key.
local function follow(t, key, order)
  local following, value = next(t, key)
  if key == nil then order.keys, order.places = nil, nil end
  local place = order.places and order.places[key] or 0
  local is_in_array = place == 0 and (key == nil or type(key) == 'number')
  if is_in_array and following == (key or 0) + 1 then return following, value end
  if place == 0 then order.keys, order.places = ordered_keys(t, key) end
  if not order.keys then return following, value end
  repeat -- the loop may have removed fields
    place = place + 1
    following = order.keys[place]
    value = rawget(t, following)
  until following == nil or value ~= nil
  return following, value
end

-- At the end `next` returns nil alone.
local function pair(key, value)
  if key == nil then return nil end
  return key, value
end

local orders = setmetatable({}, {__mode = 'k'})

local function ordered_next(t, key)
  if type(t) ~= 'table' then return next(t, key) end
  orders[t] = orders[t] or {}
  return pair(follow(t, key, orders[t]))
end

local function ordered_pairs(t)
  local how, over, first = pairs(t)
  if how ~= next then return how, over, first end
  local order = {}
  return function(other, key) -- as `next`, it may be used for another table
    if other ~= t then return ordered_next(other, key) end
    return pair(follow(t, key, order))
  end, t, nil
end

function table.foreach(t, act)
  for key, value in ordered_pairs(t) do
    local result = act(key, value)
    if result ~= nil then return result end
  end
end

-- th's own modules have globals of their own.
for _, globals in ipairs({_G, getfenv(print)}) do
  globals.next, globals.pairs = ordered_next, ordered_pairs
end
