--- The userdata that stand for Python objects, and calls of Python functions from Lua.
--
-- `objects` maps the userdata of a tensor, storage or other object to its Python object. The
-- table of a class (see c_structs.lua) maps the userdata to its C struct, from the first use of
-- the struct on. A view or block that Lua has made itself has a struct but no Python object until
-- an operation in Python needs one, which `adopt` then makes. Until then it has an anchor, which
-- keeps the memory: a Python storage, or a block (a cdata) itself; see keep_alive.lua. All tables
-- by userdata have weak keys: Python never refers to a userdata.
-- @module bridge

local host, c_structs, class_ids = import('host', 'core.c_structs', 'core.class_ids')
local collector, errors, finalizers = import('core.collector', 'core.errors', 'core.finalizers')
local keep_alive, references = import('core.keep_alive', 'core.references')
local type_names = import 'core.type_names'

local bridge = {}

local type, select, newproxy, setmetatable = type, select, finalizers.newproxy, setmetatable
local sub, min, max = string.sub, math.min, math.max
local unpack = unpack
local band, MOVED = require('bit').band, tonumber(host.FLAGS:match('MOVED (%d+)'))
local begin_work, end_work = finalizers.begin_work, finalizers.end_work
local objects, prototypes = references.objects, class_ids.prototypes
local track, count_object = references.track, references.count_object
local holders, anchor_of = keep_alive.holders, keep_alive.anchor_of
local new_holder, STRUCT, ANCHOR = keep_alive.new_holder, keep_alive.STRUCT, keep_alive.ANCHOR

-- These tables grow with the tensors that Lua makes between two collections, and never shrink;
-- every collection has to traverse them. So Lua collects before there are very many.
local MIN_LIMIT = 16384 -- tensors
local FIRST_LIMIT = 1024 -- the first time, since pace_collector then sees what the program does
local made, limit = 0, FIRST_LIMIT

local function collect()
  collector.pace_collector(function() made = 0 end)
  collector.collect()
  -- A collection takes as long as there is memory in use. So the next one is due when tensors
  -- have been made for as much again, at 256 bytes each.
  made, limit = 0, max(MIN_LIMIT, 4 * collector.count_memory())
end

--- Registers a tensor that Lua has made.
-- @param structs the table of its class
-- @param value its userdata, which `maker` has made
-- @param struct its C struct
-- @param anchor what keeps its memory: a Python storage or a block
function bridge.attach(structs, value, struct, anchor)
  local holder = holders[value]
  holder[STRUCT], holder[ANCHOR] = struct, anchor
  structs[value] = struct
  if type(anchor) == 'cdata' and band(anchor.own.flag, MOVED) ~= 0 then
    -- A finalizer has resized it meanwhile.
    c_structs.keep_storage(value, c_structs.storage_object(anchor.own))
  end
  made = made + 1
  if made > limit then collect() end
end

local SPARE = 64 -- userdata that are made at once

local function make_one(proxy, structs, ...) -- luacheck: ignore 212
  local value = newproxy(proxy)
  new_holder(value)
  structs[value] = false
  return value
end

-- Makes userdata for later; returns how many.
local function make_spare(spare, proxy, structs, ...) -- luacheck: ignore 212
  for i = 1, SPARE do spare[i] = make_one(proxy, structs) end
  return SPARE
end

--- A function that makes userdata for `attach`, many at once, which have their places in its tables
-- already. LuaJIT does not compile the call that makes one, and of code that adds a key to a table
-- it compiles two copies, since the key of a freed userdata may still be there.
-- @param structs the table of their class
function bridge.maker(proxy, structs)
  local spare, count = {}, 0
  return function(...) -- luacheck: ignore 212
    local n = count
    if n > 0 then
      local value = spare[n]
      spare[n], count = false, n - 1
      if value then return value end -- otherwise a finalizer has taken it meanwhile
    end
    count = make_spare(spare, proxy, structs)
    local value = make_one(proxy, structs)
    return value
  end
end

-- The class ids of storages. Python may return the same storage several times; see
-- core/references.lua.
local FIRST_STORAGE, LAST_STORAGE = host.FIRST_STORAGE, host.FIRST_OTHER - 1

--- A new userdata for a Python object.
local function wrap(object, id)
  if id >= FIRST_STORAGE and id <= LAST_STORAGE then track(object) end
  count_object()
  local value = newproxy(prototypes[id])
  objects[value] = object
  return value
end
bridge.wrap = wrap

-- ------------------------------------------------------- arguments to Python

-- lupa passes a whole number as int, which has no negative zero; Python reads this string as a
-- float.
local NEGATIVE_ZERO = '-0'

-- Lua type or class name -> the Python object that is passed for such a value (see `Foreign` in
-- runtime/calls/forms.py).
local foreign = {}

local function marker(value)
  local name = type_names.typename(value)
  local key = name or type(value)
  local object = foreign[key]
  if not object then
    object = host.foreign(type(value), name)
    foreign[key] = object
  end
  return object
end

local to_python

local MAX_VALUES = 1000 -- passed in one call: Lua's stack has room for some thousands
bridge.MAX_VALUES = MAX_VALUES

-- A table of torch objects is passed as a Python list. A list that begins with another value, such
-- as a number, is passed as a list of that value alone: no operation takes it anyway. For any other
-- table a marker is passed.
local function table_to_python(value)
  local first = value[1]
  if type(first) ~= 'userdata' or not (anchor_of(first) or objects[first]) then
    if first == nil or type(first) == 'table' or getmetatable(value) then return marker(value) end
    return host.list(to_python(first))
  end
  local items = {}
  for i = 1, #value do items[i] = to_python(value[i]) end
  count_object()
  local list = host.list(unpack(items, 1, min(#items, MAX_VALUES)))
  for i = MAX_VALUES + 1, #items, MAX_VALUES do
    host.extend(list, unpack(items, i, min(#items, i + MAX_VALUES - 1)))
  end
  return list
end

function to_python(value, ...) -- luacheck: ignore 212
  local kind = type(value)
  if kind == 'userdata' then
    return objects[value] or anchor_of(value) and c_structs.adopt(value)
      or objects[value] or marker(value) -- a finalizer may have adopted it since the first look-up
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
bridge.to_python = to_python

-- ------------------------------------------------------- results from Python

-- The form of the results that Python returns is described in runtime/calls/results.py.

-- One result from the pair of value and kind; a, b, c: the call's first three arguments, among
-- which its destinations are.
local function decode(a, b, c, value, kind, ...) -- luacheck: ignore 212
  if kind > 0 then return wrap(value, kind) end
  if kind == 0 then return value end
  return kind == -1 and a or kind == -2 and b or c
end

-- n results from their pairs.
local function decode_all(a, b, c, n, ...)
  if n == 1 then
    local value, kind = ...
    return decode(a, b, c, value, kind)
  end
  local results = {}
  for i = 1, n do
    local value, kind = select(2 * i - 1, ...)
    results[i] = decode(a, b, c, value, kind)
  end
  return unpack(results, 1, n)
end

-- The results of a call from all that Python has returned; or raises its error.
local function finish(raise, a, b, c, r, kind, ...)
  if r == nil then
    if kind == nil then return a end
    return decode_all(a, b, c, kind, ...)
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
  if n > MAX_VALUES then errors.fail('too many arguments') end
  local converted = { ... }
  for i = 1, n do converted[i] = to_python(converted[i]) end
  return unpack(converted, 1, n)
end

-- A stub is the Lua function for one operation of one type. There are two thousand of them, which
-- every collection traverses. So stubs of one type share all upvalues but one.

-- A function that makes the stubs of a type (nil for torch's functions) that call Python.
local function python_stubs(dtype, untyped)
  local raise = (dtype or untyped) and errors.raise or errors.raise_nameless
  return function(entry) -- the operation's name, from the first call on the Python function
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

local formulas -- the module tensor/formulas.lua

--- Sets the module that finds Lua code for an operation (see tensor/formulas.lua).
function bridge.run_formulas_of(module)
  formulas = module
end

--- A stub that lets a Lua function compute a call, if there is one for the call's arguments and it
-- does not return nil. Returns the stub, and the table of the functions that it has met.
-- @param slow the stub for all other calls
-- @param choose gives the function for up to 7 arguments, or false: by that table, the operation's
--   name, the number of arguments and these
function bridge.stub_trying(slow, choose, name)
  local runners = {}
  return function(...)
    local n = select('#', ...)
    local a, b, c, d, e, f, g = ...
    local run = choose(runners, name, n, a, b, c, d, e, f, g)
    if run then
      begin_work()
      local first, second, third = run(a, b, c, d, e, f, g)
      end_work()
      if third ~= nil then return first, second, third end
      if second ~= nil then return first, second end
      if first ~= nil then return first end
    end
    return slow(...)
  end, runners
end

-- Finds the Lua code of a formula for a call of a torch function, whose arguments tell the element
-- type. Those of one type have a table of their own.
local function choose_for_function(runners, name, n, a, b, c, d, e)
  local code = n <= 5 and formulas.pattern(n, a, b, c, d, e) or 0
  local index = code > 0 and formulas.type_of(a, b)
  if not index then return false end
  local of_type = runners[index]
  if not of_type then
    if not formulas.TYPES[index] then return false end
    of_type = {}
    runners[index] = of_type
  end
  local run = of_type[code]
  if run == nil then
    run = formulas.find(name, 'function', code, index)
    of_type[code] = run
  end
  return run
end

-- Makes a function that does so for calls of methods of one type.
local function chooser_for_methods(dtype)
  return function(runners, name, n, a, b, c, d, e)
    if n > 5 then return false end
    local code = formulas.pattern(n, a, b, c, d, e)
    local run = runners[code]
    if run == nil then
      run = formulas.find(name, 'method', code, dtype)
      runners[code] = run
    end
    return run
  end
end

-- A function that makes the stubs of a type for operations that have Lua formulas: a stub calls
-- Python only where the Lua code for a pattern of arguments is missing or returns nil.
local function formula_stubs(dtype)
  local make_slow = python_stubs(dtype)
  local choose = dtype and chooser_for_methods(dtype) or choose_for_function
  return function(name)
    local stub = bridge.stub_trying(make_slow(name), choose, name)
    return stub
  end
end

local add_small -- of the module tensor/small.lua

--- Sets the function that adds Lua functions for few elements to a stub (see tensor/small.lua).
function bridge.run_small_by(f)
  add_small = f
end

local makers = { ['*'] = {}, ['!'] = {}, [''] = {} } -- mark -> type -> function that makes stubs

--- The Lua function for an operation; it gets the Python function when it is first called.
-- @param name the operation's name
-- @param dtype the index of the element type it is a method of; nil for a torch function
-- @param mark '*' if the operation has a Lua formula, '!' if it is the same function for all
--   types, otherwise '' or nil; '+' behind it if it has a Lua function for few elements
function bridge.stub(name, dtype, mark)
  local small = mark and sub(mark, -1) == '+'
  if small then mark = sub(mark, 1, -2) end
  if mark == '*' and dtype and not formulas.TYPES[dtype] then mark = '' end
  local by_type, key = makers[mark or ''], dtype or 'torch'
  if not by_type[key] then
    by_type[key] = mark == '*' and formula_stubs(dtype) or python_stubs(dtype, mark == '!')
  end
  local stub = by_type[key](name)
  return small and add_small(name, dtype, stub) or stub
end

--- The Lua function for a function of a package's Python half (see runtime/packages), which is
-- imported when one of its functions is first called. Errors about arguments name the function by
-- what stands behind the last dot.
-- @param dtype the index of the element type that the function is for; nil where it is for all
function bridge.package_function(package, name, dtype)
  local entry
  local short = name:match('[^.]+$')
  local function raise(encoded) errors.raise(encoded, short) end
  return function(...)
    if not entry then
      local answer = host.package_function(package, name, dtype)
      if type(answer) == 'string' then raise(answer) end
      entry = answer
    end
    local a, b, c = ...
    return finish(raise, a, b, c, entry(convert_all(select('#', ...), ...)))
  end
end

--- The functions of a package's Python half by their names, each made when it is first looked up.
function bridge.python_half(package)
  return setmetatable({}, { __index = function(functions, name)
    functions[name] = bridge.package_function(package, name)
    return functions[name]
  end })
end

return bridge
