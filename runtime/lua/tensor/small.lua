--- Computes operations on few elements without Python, by functions of the Lua halves of ops/.
-- For each pattern of argument kinds, Python is asked once (runtime/calls/plans.py) which function
-- computes such a call, and with which arguments. For calls that it does not handle, a function
-- changes nothing and returns nil; these go on to Python.
-- @module small

local host, bridge, c_structs = import('host', 'core.bridge', 'core.c_structs')
local class_ids, python_calls = import('core.class_ids', 'core.python_calls')

local type, getmetatable, rawget = type, getmetatable, rawget

local small = {}

-- ------------------------------------------------------------------ patterns

-- The kinds of arguments, by Lua's type or the id of their class; see runtime/calls/plans.py.
local KINDS = { number = 1, boolean = 2, string = 14 }
local NONE = 0 / 0 -- for other values: it makes the whole pattern a nan
local FIRST_TENSOR, FLOATS, DOUBLES, LONG_STORAGE = 3, 11, 12, 13
local of_class = { [host.FIRST_STORAGE + c_structs.LONG] = LONG_STORAGE }
for i, dtype in ipairs(c_structs.dtypes) do of_class[dtype.tensor_id] = FIRST_TENSOR + i - 1 end

local class_of_metatable = class_ids.class_of_metatable

-- The kind of a list of tensors, by its first element; NONE for other tables.
local function list_kind(value)
  local first = rawget(value, 1)
  if type(first) ~= 'userdata' or getmetatable(value) then return NONE end
  local kind = of_class[class_of_metatable(getmetatable(first)) or 0]
  return kind == FIRST_TENSOR + c_structs.DOUBLE and DOUBLES
    or kind == FIRST_TENSOR + c_structs.DOUBLE - 1 and FLOATS or NONE
end

local function kind_of(value)
  local lua_type = type(value)
  if lua_type == 'userdata' then
    return of_class[class_of_metatable(getmetatable(value)) or 0] or NONE
  end
  if lua_type == 'table' then return list_kind(value) end
  return KINDS[lua_type] or NONE
end

-- The pattern of up to 7 arguments as a number; nil if there is one of another kind.
local function pattern(n, a, b, c, d, e, f, g)
  if n == 0 then return 0 end
  local code = kind_of(a)
  if n >= 2 then code = code + 16 * kind_of(b) end
  if n >= 3 then code = code + 256 * kind_of(c) end
  if n >= 4 then code = code + 4096 * kind_of(d) end
  if n >= 5 then code = code + 65536 * kind_of(e) end
  if n >= 6 then code = code + 1048576 * kind_of(f) end
  if n >= 7 then code = code + 2 ^ 24 * kind_of(g) end
  if code == code then return code end
end

-- ----------------------------------------------------------------- functions

local modules = {} -- module -> element type -> its functions

--- The functions of the Lua half of a module for one element type: name -> function. Those that
-- the type does not have are absent.
function small.functions(module, dtype)
  local of_types = modules[module] or {}
  modules[module] = of_types
  if not of_types[dtype] then
    small.tools = small.tools or import 'ops._operands'
    of_types[dtype] = import.instance('ops.' .. module, dtype, small.tools)
  end
  return of_types[dtype]
end

local CALL = [[
local run = ...
return function(a1, a2, a3, a4, a5, a6, a7, ...)
  local first, second, third = run(%s)
  return first, second, third
end
]]

-- Asks Python for the function of a pattern of arguments; false if there is none.
local function find(name, dtype, code)
  local description = python_calls.ask(host.find_small, name, dtype, code)
  if not description then return false end
  local index, module, func, arguments = description:match('^(%d+) (%S+) (%S+) (.*)$')
  local run = small.functions(module, c_structs.dtypes[index + 1])[func]
  return run and import.compile(CALL:format(arguments), 'ops/' .. module .. '.lua')(run) or false
end

--- Must be called before Python frees the memory of the engine.
function small.close()
  if small.tools then small.tools.closed = true end
end

-- --------------------------------------------------------------------- stubs

local of_functions = {} -- for each torch function: pattern of arguments -> the Lua function

--- Forgets the functions that were found; must be called when the default element type has changed.
function small.forget()
  for _, runners in ipairs(of_functions) do
    for code in pairs(runners) do runners[code] = nil end
  end
end

-- Makes a function that returns the Lua function for the arguments of a call, or false.
-- @param dtype the element type of a method; nil for the functions of torch
local function chooser(dtype)
  return function(runners, name, n, a, b, c, d, e, f, g)
    local code = n <= 7 and pattern(n, a, b, c, d, e, f, g)
    if not code then return false end
    local run = runners[code]
    if run == nil then
      run = find(name, dtype, code)
      runners[code] = run
    end
    return run
  end
end

local choosers = {} -- element type, or 'torch' -> chooser

--- Makes a stub (core/bridge.lua) that tries the operation's Lua function first.
-- @param slow the stub for all other calls
bridge.run_small_by(function(name, dtype, slow)
  local key = dtype or 'torch'
  choosers[key] = choosers[key] or chooser(dtype)
  local stub, runners = bridge.stub_trying(slow, choosers[key], name)
  if not dtype then of_functions[#of_functions + 1] = runners end
  return stub
end)

return small
