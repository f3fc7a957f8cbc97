--- The package tds: hashes, vectors and counters whose values are numbers, strings, booleans,
-- tensors and others of these. The original keeps them outside of Lua's memory; here they are
-- tables within userdata, which compute as the original's.
-- @module tds

local th = ...

local getfenv, setfenv = debug.getfenv, debug.setfenv
local typename, newproxy = th.typename, th.newproxy

local tds = {}

-- What makes objects of a class: a metatable and the userdata from which others are made. The table
-- that holds an object's values is its environment.
local function define(name)
  local proxy = newproxy(true)
  local mt = getmetatable(proxy)
  mt.__version = 0
  local function make()
    local object = newproxy(proxy)
    setfenv(object, { n = 0, values = {} })
    return object
  end
  torch.metatype(name, mt)
  return mt, make
end

local MOST = 2 ^ 53 -- the key of a vector up to which each whole number is one of Lua's

local function check_value(value)
  local kind = type(value)
  if kind == 'number' or kind == 'string' or kind == 'boolean' then return end
  local name = typename(value)
  if not name or not (name:find('^tds%.%u') or name:find('^torch%.%a+Tensor$')) then
    th.fail(('unsupported key/value type <%s> (set)'):format(name or kind))
  end
end

local function check_key(key)
  if key == nil then th.fail('hash index is nil') end
  check_value(key)
end

local function check_place(key)
  if type(key) ~= 'number' or not (key > 0 and key <= MOST) then
    th.fail('positive number expected as key')
  end
  return math.floor(key)
end

local function has_only_numbers(t)
  for key in pairs(t) do
    if type(key) ~= 'number' then return false end
  end
  return true
end

-- A table as a vector or hash; any other value as it is.
local function converted(value)
  if type(value) ~= 'table' then return value end
  local class = has_only_numbers(value) and tds.Vec or tds.Hash
  return (class(value))
end

-- The lines of a value behind its key.
local function lines_of(head, value)
  local text = tostring(value) or type(value)
  return head .. text:gsub('\n([^\n])', '\n' .. (' '):rep(#head) .. '%1')
end

local MOST_SHOWN = 20

-- The text of the lines for an object, of which the first opens it; with as many entries as are
-- shown there may be others.
local function closed(lines)
  if #lines > MOST_SHOWN then lines[#lines + 1] = '...' end
  return table.concat(lines, '\n') .. '\n}'
end

-- The constructor table of a class, to which programs may add fields.
local function constructor(mt)
  return setmetatable({}, {
    __index = mt, __newindex = mt, __call = function(_, ...) return mt.__new(mt, ...) end,
  })
end

-- ----------------------------------------------------------------------- hashes

local Hash, new_hash = define('tds.Hash')

function Hash.__new(_, ...)
  local hash = new_hash()
  local given = ...
  if select('#', ...) == 1 and type(given) == 'table' then
    for key, value in pairs(given) do hash[converted(key)] = converted(value) end
  elseif select('#', ...) > 0 then
    th.fail('lua table or nothing expected')
  end
  return hash
end

function Hash:__index(key)
  check_key(key)
  return getfenv(self).values[key]
end

function Hash:__newindex(key, value)
  check_key(key)
  if value == nil and key ~= key then return end
  if key ~= key then th.fail('hash index is nan') end
  if value ~= nil then check_value(value) end
  local held = getfenv(self)
  local had, has = held.values[key] ~= nil, value ~= nil
  held.values[key] = value
  held.n = held.n + (has and 1 or 0) - (had and 1 or 0)
end

function Hash:__len() return getfenv(self).n end
function Hash:__pairs() return pairs(getfenv(self).values) end

function Hash:__write(file)
  file:writeLong(#self)
  for key, value in pairs(getfenv(self).values) do
    file:writeObject(key)
    file:writeObject(value)
  end
end

function Hash:__read(file)
  for _ = 1, file:readLong() do
    local key = file:readObject()
    self[key] = file:readObject()
  end
end

local function key_text(key)
  local kind = type(key)
  return (kind == 'string' or kind == 'number' or kind == 'boolean') and tostring(key)
    or torch.type(key)
end

function Hash:__tostring()
  local out, heads, shown, width = { ('tds.Hash[%d]{'):format(#self) }, {}, {}, 0
  for key, value in pairs(getfenv(self).values) do
    heads[#heads + 1], shown[#shown + 1] = key_text(key), value
    width = math.max(width, #heads[#heads])
    if #heads == MOST_SHOWN then break end
  end
  for i, head in ipairs(heads) do
    out[i + 1] = lines_of(th.padded(head, width) .. ' : ', shown[i])
  end
  return closed(out)
end

th.make_public(Hash, '__write __read __tostring')

Hash.__factory = Hash.__new
tds.Hash = constructor(Hash)
tds.hash = tds.Hash
torch.metatype('tds_hash', { __factory = Hash.__new, __read = Hash.__read })

-- ---------------------------------------------------------------------- vectors

local Vec, new_vec = define('tds.Vec')
local methods = {}

local function set(held, at, value)
  if value ~= nil then check_value(value) end
  held.values[at], held.n = value, math.max(held.n, at)
end

function Vec.__new(_, ...)
  local vec = new_vec()
  local given = select('#', ...) == 1 and type((...)) == 'table' and (...) or { ... }
  if not has_only_numbers(given) then th.fail('lua table with number keys expected') end
  for key, value in pairs(given) do vec[key] = converted(value) end
  return vec
end

function Vec:__index(key)
  if type(key) == 'number' then return getfenv(self).values[check_place(key)] end
  return rawget(methods, key) or th.fail('invalid key (number) or method name')
end

function Vec:__newindex(key, value) set(getfenv(self), check_place(key), value) end
function Vec:__len() return getfenv(self).n end

function Vec:__pairs()
  local held, at = getfenv(self), 0
  return function()
    at = at + 1
    if at <= held.n then return at, held.values[at] end
  end
end
Vec.__ipairs = Vec.__pairs

--- Inserts a value at a place, by default behind the last.
function methods:insert(...)
  local at, value
  if select('#', ...) == 1 then
    at, value = #self + 1, (...)
  elseif select('#', ...) == 2 then
    at, value = ...
  else
    th.fail('[key] value expected')
  end
  at = check_place(at)
  if value ~= nil then check_value(value) end
  local held = getfenv(self)
  for i = held.n, at, -1 do held.values[i + 1] = held.values[i] end
  held.values[at], held.n = value, math.max(held.n + 1, at)
end

--- Removes the value at a place, by default the last.
function methods:remove(at)
  local held = getfenv(self)
  at = check_place(at or held.n)
  if at > held.n then return end
  for i = at, held.n do held.values[i] = held.values[i + 1] end
  held.n = held.n - 1
end

function methods:resize(size)
  if type(size) ~= 'number' or not (size >= 0 and size <= MOST) then
    th.fail('size must be a positive number')
  end
  local held = getfenv(self)
  for i = size + 1, held.n do held.values[i] = nil end
  held.n = math.floor(size)
end

--- Sorts by a function that tells whether its first argument comes before its second.
function methods:sort(compare)
  if type(compare) ~= 'function' then th.fail('compare function must be a lua or C function') end
  local held = getfenv(self)
  table.sort(held.values, function(a, b) return compare(a, b) end)
end

function methods:concat(separator, first, last)
  local parts = {}
  for i = first or 1, last or #self do parts[#parts + 1] = tostring(self[i]) end
  return table.concat(parts, separator or '')
end

function methods:concatstorage(...)
  return torch.CharStorage():string(self:concat(...))
end

function Vec:__write(file)
  file:writeLong(#self)
  for i = 1, #self do file:writeObject(self[i]) end
end

function Vec:__read(file)
  local held = getfenv(self)
  for i = 1, file:readLong() do set(held, i, file:readObject()) end
end

function Vec:__tostring()
  local out = { ('tds.Vec[%d]{'):format(#self) }
  for i = 1, math.min(#self, MOST_SHOWN) do
    out[#out + 1] = lines_of(('%5d : '):format(i), self[i])
  end
  return closed(out)
end

th.make_public(Vec, '__write __read __tostring')
th.make_public(methods, 'insert remove resize sort concat concatstorage')

Vec.__factory = Vec.__new
tds.Vec = constructor(Vec)
tds.vec = tds.Vec

-- --------------------------------------------------------------------- counters

-- Threads share counters: Python has them, by numbers.
local python = th.python_half 'threads'
local Counter, new_counter = define('tds.AtomicCounter')
local counting = {}

local function number_of(counter)
  local held = getfenv(counter)
  held.number = held.number or python.new_counter()
  return held.number
end

function counting:inc() return (python.increase(number_of(self))) end
function counting:get() return (python.count(number_of(self))) end
function counting:set(value)
  if type(value) ~= 'number' then th.type_error(2, 'number', value, value == nil) end
  python.set_counter(number_of(self), value)
end

function Counter.__new() return new_counter() end
function Counter.__index(_, key) return rawget(counting, key) or th.fail('no such method') end
function Counter:__tostring() return 'tds.AtomicCounter=' .. self:get() end

-- For another thread the counter itself is written, otherwise its value.
function Counter:__write(file)
  file:writeLong(th.serial.numbered and number_of(self) or self:get())
end
function Counter:__read(file)
  local number = file:readLong()
  if th.serial.numbered then getfenv(self).number = number else self:set(number) end
end

th.make_public(Counter, '__write __read __tostring')
th.make_public(counting, 'inc get set')

Counter.__factory = Counter.__new
tds.AtomicCounter = setmetatable({}, { __call = function() return new_counter() end })
tds.atomic_counter = tds.AtomicCounter

return tds
