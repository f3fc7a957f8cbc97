--- Userdata on this side, Python objects on the other, and calls between them.
--
-- A userdata of ours maps to its Python object in `objects`, and to its C struct in the
-- table of its class, once that was asked for (see core/structs.lua). A view that Lua made by
-- itself (see tensor.lua) has a struct and, in `anchors`, the Python storage it keeps alive; Python
-- gets to know it on first need, in `adopt`. (The anchor of a block, see core/structs.lua, is the
-- block.) All these tables are weak: Python never refers to a userdata.
-- @module bridge

local th = ...
local host = th.host

local type, select, newproxy, setmetatable = type, select, th.newproxy, setmetatable
local byte, sub, min, max = string.byte, string.sub, math.min, math.max
local unpack = unpack
local raw_metatable = debug.getmetatable
local band, MOVED = require('bit').band, 16 -- flag of a block's storage that has left it
th.MOVED = MOVED
local track, count_object = th.track, th.count_object

local weak = { __mode = 'k' }
local objects = setmetatable({}, weak)
local anchors = setmetatable({}, weak)
th.objects, th.anchors = objects, anchors

-- The tables grow with what is made between two collections and never shrink, while every
-- collection has to go through them: so it does not wait until there are very many.
local FEW = 16384 -- tensors
local made, most = 0, FEW

local function collect()
  th.collect()
  -- Where many live on it takes longer: as many more as there may be, at 256 bytes each.
  made, most = 0, max(FEW, 4 * th.count_memory())
end

--- Gives a userdata a struct that Lua made, in the table of its class, and what keeps its
-- memory.
function th.attach(structs, value, struct, anchor)
  anchors[value] = anchor
  structs[value] = struct
  if type(anchor) == 'cdata' and band(anchor.own.flag, MOVED) ~= 0 then
    anchors[value] = th.storage_object(anchor.own) -- a finalizer has resized it meanwhile
  end
  made = made + 1
  if made > most then collect() end
end

-- Class id (as Python's dispatch.class_id) -> a userdata whose metatable new ones share.
local prototypes = {}
local classes = setmetatable({}, weak) -- metatable -> class id

--- Ties a class id of Python's to a metatable.
function th.bind_class(id, mt)
  prototypes[id] = th.proxy(mt)
  classes[mt] = id
end

--- The class id that a metatable was tied to, or nil.
function th.class_of_metatable(mt)
  return classes[mt]
end

--- The class id of an object of ours by its metatable, or nil.
function th.class_of(value)
  return classes[raw_metatable(value)]
end

-- Class ids of storages: the objects that come to Lua more than once.
local FIRST_STORAGE, LAST_STORAGE = 21, 40

--- A new userdata for a Python object.
local function wrap(object, id)
  if id >= FIRST_STORAGE and id <= LAST_STORAGE then track(object) end
  count_object()
  local value = newproxy(prototypes[id])
  objects[value] = object
  return value
end
th.wrap = wrap

-- ------------------------------------------------------- arguments to Python

-- Python reads a whole number as int, which has no negative zero; as text it survives.
local NEGATIVE_ZERO = '-0'

local foreign = {} -- Lua type or class name -> the marker that stands for such a value

local function marker(value)
  local name = th.typename(value)
  local key = name or type(value)
  local object = foreign[key]
  if not object then
    object = host.foreign(type(value), name)
    foreign[key] = object
  end
  return object
end

local to_python

local MOST_VALUES = 1000 -- that go over in one call: Lua's stack has room for some thousands

-- A table of torch objects goes over as a list, and of another list its first element, which
-- is enough to be refused; Python never looks into any other table.
local function table_to_python(value)
  local first = value[1]
  if type(first) ~= 'userdata' or not (anchors[first] or objects[first]) then
    if first == nil or type(first) == 'table' or getmetatable(value) then return marker(value) end
    return host.list(to_python(first))
  end
  local items = {}
  for i = 1, #value do items[i] = to_python(value[i]) end
  count_object()
  local list = host.list(unpack(items, 1, min(#items, MOST_VALUES)))
  for i = MOST_VALUES + 1, #items, MOST_VALUES do
    host.extend(list, unpack(items, i, min(#items, i + MOST_VALUES - 1)))
  end
  return list
end

function to_python(value, ...) -- luacheck: ignore 212
  local kind = type(value)
  if kind == 'userdata' then
    return objects[value] or anchors[value] and th.adopt(value)
      or objects[value] or marker(value) -- a finalizer may have used it between these looks
  elseif kind == 'number' then
    if value == 0 and 1 / value < 0 then return NEGATIVE_ZERO end
    return value
  elseif kind == 'table' then
    return table_to_python(value)
  elseif kind == 'nil' or kind == 'string' or kind == 'boolean' then
    return value
  end
  return marker(value)
end
th.to_python = to_python

-- ------------------------------------------------------- results from Python

-- Destinations stand among a call's first three arguments: a, b, c.
local function pick(a, b, c, value, kind, ...) -- luacheck: ignore 212
  if kind > 0 then return wrap(value, kind) end
  if kind == 0 then return value end
  return kind == -1 and a or kind == -2 and b or c
end

local function many(a, b, c, n, ...)
  if n == 1 then
    local value, kind = ...
    return pick(a, b, c, value, kind)
  end
  local results = {}
  for i = 1, n do
    local value, kind = select(2 * i - 1, ...)
    results[i] = pick(a, b, c, value, kind)
  end
  return unpack(results, 1, n)
end

-- Reads what an entry of calls/plans.py returned.
local function finish(raise, a, b, c, r, kind, ...)
  if r == nil then
    if kind == nil then return a end
    return many(a, b, c, kind, ...)
  end
  local t = type(r)
  if t == 'userdata' then
    local value = wrap(r, kind)
    return value
  elseif t == 'string' then
    return raise(r)
  end
  return r
end

local function convert_all(n, ...)
  if n > MOST_VALUES then th.fail('too many arguments') end
  local converted = { ... }
  for i = 1, n do converted[i] = to_python(converted[i]) end
  return unpack(converted, 1, n)
end

-- There are two thousand stubs, which every collection visits. So what they share is shared by
-- type, and each has little of its own.

-- What makes stubs for the operations of a type: functions that call Python.
local function python_stubs(dtype, untyped)
  local raise = (dtype or untyped) and th.raise or th.raise_nameless
  return function(entry) -- the name, until the first call
    return function(...)
      if type(entry) == 'string' then entry = host.entry(entry, dtype) end
      local n = select('#', ...)
      local a, b, c = ...
      if n == 1 then
        return finish(raise, a, b, c, entry(objects[a] or to_python(a)))
      elseif n == 2 then
        return finish(raise, a, b, c, entry(objects[a] or to_python(a), to_python(b)))
      elseif n == 3 then
        return finish(raise, a, b, c, entry(objects[a] or to_python(a), to_python(b), to_python(c)))
      end
      return finish(raise, a, b, c, entry(convert_all(n, ...)))
    end
  end
end

local formulas -- the module that knows which operations those are

--- Sets what finds Lua code for an operation (see tensor/formulas.lua).
function th.run_formulas_of(module)
  formulas = module
end

-- The same for operations that Lua can run by itself.
local function quick_stubs(dtype)
  local make_slow = python_stubs(dtype)
  local space = dtype and 'method' or 'function'
  local pattern = formulas.pattern
  return function(name)
    local slow = make_slow(name)
    local runners = {} -- pattern -> what runs it, or false
    return function(...)
      local n = select('#', ...)
      local a, b, c, d = ...
      if n <= 4 then
        local code = pattern(n, a, b, c, d)
        local run = runners[code]
        if run == nil then
          run = formulas.find(name, space, code)
          runners[code] = run
        end
        if run then
          local result, second = run(a, b, c, d)
          if second ~= nil then return result, second end
          if result ~= nil then return result end
        end
      end
      return slow(...)
    end
  end
end

local makers = { ['*'] = {}, ['!'] = {}, [''] = {} } -- mark -> type -> what makes stubs

--- A Lua function that calls an entry of Python's; the entry is asked for on first use.
-- @param mark '*' where Lua can run the operation by itself, '!' where it is one
--   function for all types
-- @param dtype the index of the element type it is a method of; nil for a torch function
function th.stub(name, dtype, mark)
  if mark == '*' and dtype and dtype ~= th.DOUBLE then mark = '' end
  local by_type, key = makers[mark or ''], dtype or 'torch'
  if not by_type[key] then
    by_type[key] = mark == '*' and quick_stubs(dtype) or python_stubs(dtype, mark == '!')
  end
  return by_type[key](name)
end

--- Calls a Python function of the host's with plain values; raises the error it returns.
-- Its results are bytes that start with '\1' in front of a string, or anything but bytes.
function th.ask(f, ...)
  count_object()
  local r, a, b = f(...)
  if type(r) == 'string' then
    if byte(r, 1) == 1 then return sub(r, 2) end
    return th.raise(r)
  end
  return r, a, b
end
