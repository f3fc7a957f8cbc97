--- The package tds: hashes, vectors and counters whose values are numbers, strings, booleans,
-- tensors and others of these. The original keeps them outside of Lua's memory; here they are
-- tables within userdata, which compute as the original's.
-- @module tds

local bridge, errors, escapes = import('core.bridge', 'core.errors', 'core.escapes')
local finalizers, type_names = import('core.finalizers', 'core.type_names')
local serial = import 'files.serialize'
local fail = errors.fail

local getfenv, setfenv = debug.getfenv, debug.setfenv
local typename, newproxy = type_names.typename, finalizers.newproxy

local tds = {}

-- Defines a class: returns its metatable and the function that makes its objects. The table that
-- holds an object's values is its environment.
local function define(name)
  local proxy = newproxy(true)
  local mt = getmetatable(proxy)
  mt.__version = 0
  local function make()
    local object = newproxy(proxy)
    setfenv(object, { n = 0, living = 0, values = {} })
    return object
  end
  torch.metatype(name, mt)
  return mt, make
end

local function check_value(value)
  local kind = type(value)
  if kind == 'number' or kind == 'string' or kind == 'boolean' then return end
  local name = typename(value)
  if not name or not (name:find('^tds%.%u') or name:find('^torch%.%a+Tensor$')) then
    fail(('unsupported key/value type <%s> (set)'):format(name or kind))
  end
end

local function check_key(key)
  if key == nil then fail('hash index is nil') end
  check_value(key)
end

local function check_place(key)
  if type(key) ~= 'number' or not (key > 0) then fail('positive number expected as key') end
  return math.max(math.floor(key), 1)
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

-- The constructor table of a class, to which programs may add fields; files use the same one.
local function constructor(mt)
  mt.__factory = mt.__new
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
    fail('lua table or nothing expected')
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
  if key ~= key then fail('hash index is nan') end
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
    out[i + 1] = lines_of(escapes.padded(head, width) .. ' : ', shown[i])
  end
  return closed(out)
end

errors.make_public(Hash, '__write __read __tostring')

tds.Hash = constructor(Hash)
tds.hash = tds.Hash
torch.metatype('tds_hash', { __factory = Hash.__new, __read = Hash.__read })

-- ---------------------------------------------------------------------- vectors

-- A vector has `n` places, of which `living` are not nil. The others take no memory, and no loop
-- below goes through them.
local Vec, new_vec = define('tds.Vec')
local methods = {}

local MOST = 2 ^ 32 -- places of a vector, for which the reference takes 64 GB
local MOST_REPEATED = 2 ^ 31 - 1 -- Lua's string.rep makes an empty string of more

local function set(held, at, value)
  if value ~= nil then check_value(value) end
  if at > MOST then fail('out of memory') end
  local had, has = held.values[at] ~= nil, value ~= nil
  held.values[at], held.n = value, math.max(held.n, at)
  held.living = held.living + (has and 1 or 0) - (had and 1 or 0)
end

-- The places that are not nil, in order, from a first one up to a last one.
local function living_places(held, first, last)
  local places = {}
  last = math.min(last or held.n, held.n)
  if last - first < held.living then
    for at = first, last do
      if held.values[at] ~= nil then places[#places + 1] = at end
    end
  else
    for at in pairs(held.values) do
      if at >= first and at <= last then places[#places + 1] = at end
    end
    table.sort(places)
  end
  return places
end

-- Moves the values from a place on one place forwards (-1) or backwards (1).
local function move(held, first, step)
  local places, values = living_places(held, first), held.values
  for i = step < 0 and 1 or #places, step < 0 and #places or 1, -step do
    local at = places[i]
    values[at + step], values[at] = values[at], nil
  end
end

function Vec.__new(_, ...)
  local vec = new_vec()
  local given = select('#', ...) == 1 and type((...)) == 'table' and (...) or { ... }
  if not has_only_numbers(given) then fail('lua table with number keys expected') end
  for key, value in pairs(given) do vec[key] = converted(value) end
  return vec
end

function Vec:__index(key)
  if type(key) == 'number' then return getfenv(self).values[check_place(key)] end
  return rawget(methods, key) or fail('invalid key (number) or method name')
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
    fail('[key] value expected')
  end
  at = check_place(at)
  if value ~= nil then check_value(value) end
  local held = getfenv(self)
  set(held, math.max(held.n + 1, at), nil)
  move(held, at, 1)
  set(held, at, value)
end

--- Removes the value at a place, by default the last.
function methods:remove(at)
  local held = getfenv(self)
  at = check_place(at or held.n)
  if at > held.n then return end
  set(held, at, nil)
  move(held, at + 1, -1)
  held.n = held.n - 1
end

function methods:resize(size)
  if type(size) ~= 'number' or not (size >= 0) then fail('size must be a positive number') end
  if size > MOST then return end -- Torch7: this is no error
  local held = getfenv(self)
  size = math.floor(size)
  for _, at in ipairs(living_places(held, size + 1)) do set(held, at, nil) end
  held.n = size
end

-- The values of some places in order. Torch7: as the C library merges, by which of equal values
-- the last one comes first.
local function merged(values, places, first, last, compare)
  if first == last then return { values[places[first]] } end
  local middle = first + math.floor((last - first + 1) / 2)
  local left = merged(values, places, first, middle - 1, compare)
  local right = merged(values, places, middle, last, compare)
  local result, i, j = {}, 1, 1
  for at = 1, #left + #right do
    if j > #right or i <= #left and compare(left[i], right[j]) then
      result[at], i = left[i], i + 1
    else
      result[at], j = right[j], j + 1
    end
  end
  return result
end

--- Sorts by a function that tells whether its first argument comes before its second.
function methods:sort(compare)
  if type(compare) ~= 'function' then fail('compare function must be a lua or C function') end
  local held = getfenv(self)
  local places, n, values, skipped = living_places(held, 1), held.n, {}, 0
  if #places == 0 then return end
  for at, value in ipairs(merged(held.values, places, 1, #places, compare)) do
    if skipped == 0 and #places < n and compare(nil, value) then skipped = n - #places end
    values[at + skipped] = value
  end
  held.values, held.n, held.living = values, n, #places
end

function methods:concat(separator, first, last)
  local held, parts = getfenv(self), {}
  separator, first, last = separator or '', first or 1, last or held.n
  if first > last then return '' end
  local at = check_place(first)
  local function add_nils(stop)
    local count = math.min(stop - at, MOST_REPEATED)
    if count > 0 then parts[#parts + 1] = ('nil'):rep(count, separator) end
  end
  for _, place in ipairs(living_places(held, at, last)) do
    add_nils(place)
    parts[#parts + 1], at = tostring(held.values[place]), place + 1
  end
  add_nils(last + 1)
  return table.concat(parts, separator)
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

errors.make_public(Vec, '__write __read __tostring')
errors.make_public(methods, 'insert remove resize sort concat concatstorage')

tds.Vec = constructor(Vec)
tds.vec = tds.Vec

-- --------------------------------------------------------------------- counters

-- Threads share counters: Python has them, by numbers.
local python = bridge.python_half 'threads'
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
  if type(value) ~= 'number' then errors.type_error(2, 'number', value, value == nil) end
  python.set_counter(number_of(self), value)
end

function Counter.__new() return new_counter() end
function Counter.__index(_, key) return rawget(counting, key) or fail('no such method') end
function Counter:__tostring() return 'tds.AtomicCounter=' .. self:get() end

-- For another thread the counter itself is written, otherwise its value.
function Counter:__write(file)
  file:writeLong(serial.numbered and number_of(self) or self:get())
end
function Counter:__read(file)
  local number = file:readLong()
  if serial.numbered then getfenv(self).number = number else self:set(number) end
end

errors.make_public(Counter, '__write __read __tostring')
errors.make_public(counting, 'inc get set')

Counter.__factory = Counter.__new
tds.AtomicCounter = setmetatable({}, { __call = function() return new_counter() end })
tds.atomic_counter = tds.AtomicCounter

return tds
