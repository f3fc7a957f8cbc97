--- Lua's values for Python programs: what they hold, look into, and call (see engine/values.py).
-- A value crosses as a pair of itself and a mark, which is nil for nil, booleans, numbers and
-- strings. Of tables, functions and other objects Python gets a number, under which they are kept
-- here until Python has no more use for it; the mark then tells the Lua type, a number that is the
-- same whenever the object crosses, and the torch class. Tensors and storages cross as their Python
-- objects.
-- @module values

local th = ...
local host, objects, anchor_of = th.host, th.objects, th.anchor_of

local compile, prepare, protected = loadstring, th.loading.prepare, th.protected

local kept, last = {}, 0 -- number -> value
local serials, made = setmetatable({}, { __mode = 'k' }), 0

local function keep(value)
  last = last + 1
  kept[last] = value
  return last
end

-- The pair for a value.
local function encode(value, ...) -- luacheck: ignore 212
  local kind = type(value)
  if kind == 'number' then
    return value, value == 0 and 1 / value < 0 and '-0' or nil
  elseif kind == 'nil' or kind == 'boolean' or kind == 'string' then
    return value, nil
  end
  local id = kind == 'userdata' and th.class_of(value)
  if id and id < host.FIRST_OTHER and (objects[value] or anchor_of(value)) then
    local object = th.to_python(value)
    th.track(object) -- it may come back
    return object, 'object'
  end
  local serial = serials[value]
  if not serial then
    made = made + 1
    serial = made
    serials[value] = serial
  end
  return keep(value), string.format('%s %d %s', kind, serial, th.typename(value) or '')
end

local function encode_all(...)
  local n = select('#', ...)
  if n == 1 then return encode((...)) end
  if n > th.MAX_VALUES then th.fail('too many results') end
  local values, pairs_of = { ... }, {}
  for i = 1, n do pairs_of[2 * i - 1], pairs_of[2 * i] = encode(values[i]) end
  return unpack(pairs_of, 1, 2 * n)
end

local decode_all

-- A function that calls one of Python's.
local function new_function(f)
  local function finish(failure, ...)
    if failure ~= nil then return th.raise(failure) end
    return decode_all(...)
  end
  return function(...)
    th.count_object()
    return finish(f(encode_all(...)))
  end
end

local function decode(value, mark, ...) -- luacheck: ignore 212
  if mark == nil then return value end
  if mark == 'kept' then return kept[value] end
  if mark == '-0' then return -0.0 end
  if mark == 'function' then return new_function(value) end
  th.track(value) -- it may cross again
  return th.wrap(value, mark)
end

function decode_all(...)
  local n = select('#', ...)
  if n == 2 then return decode(...) end
  local marked, values = { ... }, {}
  for i = 1, n / 2 do values[i] = decode(marked[2 * i - 1], marked[2 * i]) end
  return unpack(values, 1, n / 2)
end

-- What Python calls. Each function returns nil and its results, as pairs or numbers, or the message
-- and the traceback of an error.
local values = {}

local function drop_first(_, ...) return ... end

--- Makes Ctrl-C stop what is loaded from now on, also where LuaJIT has compiled it.
function values.begin()
  th.loading.count_loops()
end

--- Runs a chunk. Raises what it raises; its results are dropped.
function values.run(text, name, ...)
  local f, message = compile(text, name)
  if not f then return message, '' end
  local failure, frames = protected(prepare(f), decode_all(...))
  return failure, failure and frames
end

--- The values of an expression, or what a chunk returns.
function values.eval(text, name)
  -- With two values, a call in the expression is no tail call, whose frame tracebacks lack.
  local f = compile('return nil, ' .. text .. '\n', name)
  if f then
    f = prepare(f)
    return protected(function() return encode_all(drop_first(f())) end)
  end
  local chunk, message = compile(text, name)
  if not chunk then return message, '' end
  chunk = prepare(chunk)
  return protected(function() return encode_all(chunk()) end)
end

--- The table of globals.
function values.globals()
  return nil, encode(_G)
end

-- The functions that look into values and change them: Python calls them by `th.protected`.
local looks = {}

function looks.get(id, ...)
  return encode(kept[id][decode(...)])
end

--- A field, and whether it is a method: a function that a table has not by itself.
function looks.field(id, name)
  local self, value = kept[id], kept[id][name]
  local own = type(self) == 'table' and rawget(self, name) ~= nil
  return encode_all(value, type(value) == 'function' and not own)
end

--- The names of fields, one a line: the object's own, then those that its metatables lead to.
function looks.names(id)
  local found, seen, holder = {}, {}, kept[id]
  while holder and not seen[holder] do
    seen[holder] = true
    for key in next, type(holder) == 'table' and holder or {} do
      if type(key) == 'string' then found[#found + 1] = key end
    end
    local metatable = debug.getmetatable(holder)
    local index = metatable and rawget(metatable, '__index')
    holder = type(index) == 'table' and index or metatable -- torch's classes are metatables
  end
  return encode(table.concat(found, '\n'))
end

--- The first keys and values of a table, so many together.
function looks.first(id, count)
  local found, n = {}, 0
  for key, value in next, kept[id] do
    if n == count then break end
    found[n + 1], found[n + 2] = key, value
    n = n + 2
  end
  return encode_all(unpack(found, 1, n))
end

function looks.set(id, key, key_mark, ...)
  kept[id][decode(key, key_mark)] = decode(...)
end

function looks.length(id)
  return #kept[id]
end

function looks.text(id)
  return tostring(kept[id])
end

function looks.call(id, ...)
  return encode_all(kept[id](decode_all(...)))
end

function looks.call_method(id, name, ...)
  local self = kept[id]
  return encode_all(self[name](self, decode_all(...)))
end

--- Keeps a list of a table's keys and values; returns its number and its length.
function looks.entries(id)
  local found, n = {}, 0
  for key, value in pairs(kept[id]) do
    found[n + 1], found[n + 2] = key, value
    n = n + 2
  end
  return keep(found), n
end

--- Elements of a list.
function looks.slice(id, from, to)
  return encode_all(unpack(kept[id], from, to))
end

local finishing = setmetatable({}, { __mode = 'k' }) -- objects -> what completes their fields

--- Keeps a new table, or a new object of a class; returns its number.
function looks.new(class)
  if class == nil then return keep({}) end
  local factory, finish = th.torch.factory(class), nil
  if not factory then factory, finish = th.serial.twins.factory(class) end
  local object = factory and factory()
  if type(object) ~= 'table' then th.fail(string.format('unknown Torch class <%s>', class)) end
  finishing[object] = finish or nil
  return keep(object)
end

--- Sets fields of a table: keys and values in turn, as pairs.
function looks.fill(id, ...)
  local target, marked = kept[id], { ... }
  for i = 1, select('#', ...), 4 do
    local key = decode(marked[i], marked[i + 1])
    target[key] = decode(marked[i + 2], marked[i + 3])
  end
  if finishing[target] then finishing[target](target) end
end

for name, look in pairs(looks) do
  values[name] = function(...) return protected(look, ...) end
end

--- Drops values that Python does not use any more.
function values.drop(...)
  for i = 1, select('#', ...) do kept[(select(i, ...))] = nil end
end

return values
