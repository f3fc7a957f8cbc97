--- Lua's values for Python programs: what they hold, look into, and call (see engine/values.py).
-- A single nil, boolean, number or string crosses as it is. All else, and several values, cross as
-- pairs, behind a nil: a value and a mark. The mark is nil for the types above. For a table, a
-- function or another object Python gets a number; the object is kept here under that number until
-- Python no longer needs it. The object's mark tells its Lua type, a number that is the same
-- whenever it crosses, and its torch class. Tensors and storages cross as their Python objects.
-- @module values

local host, torch, bridge, class_ids = import('host', 'torch', 'core.bridge', 'core.class_ids')
local errors, keep_alive = import('core.errors', 'core.keep_alive')
local python_calls, python_lock = import('core.python_calls', 'core.python_lock')
local references, type_names, calls = import('core.references', 'core.type_names', 'engine.calls')
local twins, interrupts, loading = import('files.twins', 'stopping.interrupts', 'stopping.loading')
local objects, anchor_of = references.objects, keep_alive.anchor_of

local compile, prepare, for_guest = loadstring, loading.prepare, calls.for_guest
local arguments = python_lock.arguments
local byte, sub, match, min = string.byte, string.sub, string.match, math.min
local resume, status, error = coroutine.resume, coroutine.status, error

local values_by_id, last = {}, 0 -- number -> value
local serials, made = setmetatable({}, { __mode = 'k' }), 0

local function keep(value)
  last = last + 1
  values_by_id[last] = value
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
  local id = kind == 'userdata' and class_ids.class_of(value)
  if id and id < host.FIRST_OTHER and (objects[value] or anchor_of(value)) then
    local object = bridge.to_python(value)
    python_calls.ask(host.leave_block, object) -- it may end before arrays of elements do
    references.track(object) -- it may come back
    return object, 'object'
  end
  local serial = serials[value]
  if not serial then
    made = made + 1
    serial = made
    serials[value] = serial
  end
  return keep(value), string.format('%s %d %s', kind, serial, type_names.typename(value) or '')
end

local function encode_all(...)
  local n = select('#', ...)
  if n == 1 then return encode((...)) end
  if n > bridge.MAX_VALUES then errors.fail('too many results') end
  local values, pairs_of = { ... }, {}
  for i = 1, n do pairs_of[2 * i - 1], pairs_of[2 * i] = encode(values[i]) end
  return unpack(pairs_of, 1, 2 * n)
end

-- Tells whether a value other than nil crosses as it is.
local function is_plain(value)
  local kind = type(value)
  if kind == 'number' then return value ~= 0 or 1 / value > 0 end
  return kind == 'string' or kind == 'boolean'
end

-- Values as they cross.
local function crossing(...)
  local n, value = select('#', ...), ...
  if n == 0 then return end
  if n == 1 and (value == nil or is_plain(value)) then return value end
  return nil, encode_all(...)
end

-- Returns values that cross in the form that `calls.quick_for_guest` takes.
local function packed(value, ...)
  local n = select('#', ...)
  if n == 0 then return value end
  return nil, { n = n, ... }
end

local decode_all

-- Returns or raises the results of a Python function, which has returned one value, of a string
-- with \1 before it; a message with \0 before it; or nil and pairs, or false for no values.
local function returned(ok, value, ...)
  if not ok then
    host.stop_by(value) -- Python has handled a signal before the function began
    return errors.raise('\0' .. host.INTERRUPTED)
  elseif type(value) == 'string' then
    if byte(value) ~= 1 then return errors.raise(value) end
    return sub(value, 2)
  elseif select('#', ...) == 0 then
    return value
  elseif (...) == false then
    return
  end
  return decode_all(...)
end

-- A function that calls one of Python's.
local function new_function(f)
  references.count_object()
  return function(...)
    calls.flush()
    return returned(pcall(f, crossing(...)))
  end
end

local function decode(value, mark, ...) -- luacheck: ignore 212
  if mark == nil then return value end
  if mark == 'kept' then return values_by_id[value] end
  if mark == '-0' then return -0.0 end
  if mark == 'function' then return new_function(value) end
  references.track(value) -- it may cross again
  return bridge.wrap(value, mark)
end

-- Counts the objects among pairs, before anything is allocated (see core/references.lua).
local function track_all(...)
  for i = 2, select('#', ...), 2 do
    local value, mark = select(i - 1, ...)
    if type(mark) == 'number' then references.track(value) end
  end
end

-- The values that pairs stand for, or three numbers: that of a list, and from where to where.
function decode_all(...)
  local n = select('#', ...)
  if n == 2 then return decode(...) end
  if n == 3 then
    local list, from, to = ...
    return unpack(values_by_id[list], from, to)
  end
  track_all(...)
  local marked, values = { ... }, {}
  for i = 1, n / 2 do values[i] = decode(marked[2 * i - 1], marked[2 * i]) end
  return unpack(values, 1, n / 2)
end

-- The functions that Python calls. Each returns its results as they cross, or the message and the
-- traceback of an error.
local values = { encode = encode }
calls.encode_by(encode)

local function drop_first(_, ...) return ... end

-- Functions for plain values, by name. None leaves by a tail call of one that has '...': see
-- calls.quick_for_guest.
local quick = {}

--- Makes Ctrl-C stop what is loaded from now on: where LuaJIT has compiled it, if loops count.
-- @param register a function that gets a table of functions which Python may call at once, with
--   numbers, booleans and nil
-- @return where the pointer to the C stream of io.stdout is
function values.begin(counts, register)
  if counts then loading.count_loops() end
  interrupts.set_interruptible(true)
  register(quick)
  return string.format('%p', io.stdout)
end

--- Runs a chunk. Raises what it raises; its results are dropped.
function values.run(text, name, ...)
  local f, message = compile(text, name, 't')
  if not f then return message, '' end
  return calls.run_for_guest(prepare(f), decode_all(...))
end

-- The error of a text that is neither an expression nor a chunk: that of the expression where only
-- its end is missing, or where no chunk begins so.
local function syntax_error(text, name, of_chunk)
  local _, of_expression = compile('return nil, ' .. text, name)
  local near = match(of_chunk, "unexpected symbol near '(.*)'$")
  local begins = near and sub(match(text, '^%s*(.*)'), 1, #near) == near
  local is_open = of_expression and match(of_expression, "near '<eof>'$")
  return (is_open or begins) and of_expression or of_chunk
end

--- The values of an expression, or what a chunk returns.
function values.eval(text, name)
  -- With two values, a call in the expression is no tail call, whose frame tracebacks lack.
  local f = compile('return nil, ' .. text .. '\n', name)
  if f then
    f = prepare(f)
    return for_guest(function() return crossing(drop_first(f())) end)
  end
  local chunk, message = compile(text, name, 't')
  if not chunk then return syntax_error(text, name, message), '' end
  chunk = prepare(chunk)
  return for_guest(function() return crossing(chunk()) end)
end

--- The table of globals.
function values.globals()
  return crossing(_G)
end

-- The functions that look into values and change them: Python calls them by `calls.for_guest`.
local looks = {}

function looks.get(id, ...)
  return crossing(values_by_id[id][(decode_all(...))])
end

-- A field; of a function also whether it is a method: one that a table has not by itself.
local function field(self, name, value)
  if type(value) ~= 'function' then return crossing(value) end
  return crossing(value, not (type(self) == 'table' and rawget(self, name) ~= nil))
end

function looks.field(id, name)
  return field(values_by_id[id], name, values_by_id[id][name])
end

function quick.get_number(id, key)
  local value, more = packed(crossing(values_by_id[id][key]))
  return value, more
end

function quick.set_plain(id)
  local key, value = arguments()
  values_by_id[id][key] = value
end

--- The names of fields, one a line: the object's own, then those that its metatables lead to.
function looks.names(id)
  local keys, seen, holder = {}, {}, values_by_id[id]
  while holder and not seen[holder] do
    seen[holder] = true
    for key in next, type(holder) == 'table' and holder or {} do
      if type(key) == 'string' then keys[#keys + 1] = key end
    end
    local metatable = debug.getmetatable(holder)
    local index = metatable and rawget(metatable, '__index')
    holder = type(index) == 'table' and index or metatable -- torch's classes are metatables
  end
  return table.concat(keys, '\n')
end

--- The first keys and values of a table, so many together.
function looks.first(id, count)
  local pairs_in_turn, n = {}, 0
  for key, value in next, values_by_id[id] do
    if n == count then break end
    pairs_in_turn[n + 1], pairs_in_turn[n + 2] = key, value
    n = n + 2
  end
  return nil, encode_all(unpack(pairs_in_turn, 1, n))
end

local names, count_names = {}, 0

--- Gives a number to a name that is often asked for: so it needs no memory when it crosses.
function looks.name(name)
  count_names = count_names + 1
  names[count_names] = name
  return count_names
end

function quick.get_named(id, name)
  local value, more = packed(crossing(values_by_id[id][names[name]]))
  return value, more
end

function quick.field_named(id, name)
  name = names[name]
  local value, more = packed(field(values_by_id[id], name, values_by_id[id][name]))
  return value, more
end

function looks.set(id, ...)
  local key, value = decode_all(...)
  values_by_id[id][key] = value
end

function looks.length(id)
  return #values_by_id[id]
end

function looks.text(id)
  return tostring(values_by_id[id])
end

function looks.call(id, ...)
  return crossing(values_by_id[id](decode_all(...)))
end

function quick.call_plain(id)
  local value, more = packed(crossing(values_by_id[id](arguments())))
  return value, more
end

-- Calls a function with n numbers and booleans, three at most, which cross as they are.
function quick.call_few(id, n, a, b, c)
  local f = values_by_id[id]
  local value, more
  if n == 1 then
    value, more = packed(crossing(f(a)))
  elseif n == 0 then
    value, more = packed(crossing(f()))
  elseif n == 2 then
    value, more = packed(crossing(f(a, b)))
  else
    value, more = packed(crossing(f(a, b, c)))
  end
  return value, more
end

local function resumed(thread, ok, ...)
  if not ok then error((...), 0) end
  return crossing(status(thread) ~= 'dead', ...)
end

--- Resumes a coroutine: whether it has not ended, and what it yields or returns.
function looks.resume(id, ...)
  local thread = values_by_id[id]
  if status(thread) == 'dead' then return false end
  return resumed(thread, resume(thread, decode_all(...)))
end

function looks.call_method(id, name, ...)
  local self = values_by_id[id]
  return crossing(self[name](self, decode_all(...)))
end

--- Keeps a list of a table's keys and values, but for those of the keys 1, 2, ...; returns the
-- list's number, its length, how many such keys there are, and how many values of theirs are plain,
-- up to the first one that is not.
function looks.entries(id)
  local source, n, plain = values_by_id[id], 0, nil
  for key, value in next, source do
    if key ~= n + 1 then break end
    n = key
    if not plain and not is_plain(value) then plain = n - 1 end
  end
  local pairs_in_turn, count = {}, 0
  for key, value in next, source, n > 0 and n or nil do
    pairs_in_turn[count + 1], pairs_in_turn[count + 2] = key, value
    count = count + 2
  end
  return nil, keep(pairs_in_turn), count, n, plain or n
end

--- Elements of a list.
function looks.slice(id, from, to)
  return nil, encode_all(unpack(values_by_id[id], from, to))
end

--- Plain elements of a list.
function looks.plain_slice(id, from, to)
  return nil, unpack(values_by_id[id], from, to)
end

local function new_object(class)
  local factory, finish = torch.factory(class), nil
  if not factory then factory, finish = twins.factory(class) end
  local object = factory and factory()
  if type(object) ~= 'table' then errors.fail(string.format('unknown Torch class <%s>', class)) end
  return object, finish
end

-- Two functions: one returns the next of the values that Python hands over, a list of some at a
-- time; the other copies so many of them into a list.
local function reader(more)
  local part, i, n
  local function fill(...)
    part, i, n = { ... }, 1, select('#', ...)
  end
  fill(more())
  local function read()
    if i > n then fill(more()) end
    i = i + 1
    return part[i - 1]
  end
  local function copy(count, into)
    local done = 0
    while done < count do
      if i > n then fill(more()) end
      local run = min(count - done, n - i + 1)
      for j = 1, run do into[done + j] = part[i + j - 1] end
      done, i = done + run, i + run
    end
    return into
  end
  return read, copy
end

--- Keeps a new list of values of Python's, with all that containers among them hold, to any depth;
-- returns its number.
-- @param more a function of Python's that returns the next values. The first container is the list.
--   Of each there come the number of the keys 1, 2, ..., and their values; the number of other
--   entries, and their keys, and their values. Before values comes whether they are plain; others
--   are pairs. The mark of a container is 'table', and the class of an object behind a blank; its
--   value is its place among all containers, which come in the order in which they are named.
function looks.build(more)
  local read, copy = reader(more)
  local tables, finishing = { {} }, {}
  local function value()
    local read_value, mark = read(), read()
    local class = mark ~= 'table' and type(mark) == 'string' and match(mark, '^table (.+)')
    if mark ~= 'table' and not class then return decode(read_value, mark) end
    local t = tables[read_value]
    if t then return t end
    if not class then
      t = {}
    else
      t, finishing[read_value] = new_object(class)
    end
    tables[read_value] = t
    return t
  end
  local function list(n, into)
    if read() then return copy(n, into) end
    for i = 1, n do into[i] = value() end
    return into
  end
  local i = 1
  while tables[i] do
    local t = list(read(), tables[i])
    local n = read()
    if n > 0 then
      local keys, others = list(n, {}), list(n, {})
      for j = 1, n do t[keys[j]] = others[j] end
    end
    if finishing[i] then finishing[i](t) end
    i = i + 1
  end
  return keep(tables[1])
end

for name, look in pairs(looks) do
  values[name] = function(...) return for_guest(look, ...) end
end
for name, look in pairs(quick) do
  quick[name] = calls.quick_for_guest(look)
  values[name] = quick[name]
end

--- Drops values that Python does not use any more.
function values.drop(...)
  for i = 1, select('#', ...) do values_by_id[(select(i, ...))] = nil end
end

return values
