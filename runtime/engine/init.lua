--- Starts the Lua half of the runtime: loads its modules in order, and returns the functions that
-- Python calls. Programs do not see the modules, only the globals that these set for them. The
-- names of all chunks begin with '[th]', by which core/errors.lua recognizes their frames.
-- @script init

local host = import 'host'

local type, rawset, setmetatable, pairs, ipairs = type, rawset, setmetatable, pairs, ipairs

-- Traces of nn's layers, which call several operations, and of the turns of loops that are written
-- out (tensor/formulas.lua) are long, and each address in them is a constant: LuaJIT would give up
-- at 500 constants, 500 snapshots or 4000 instructions.
jit.opt.start('maxirconst=4000', 'maxsnap=1000', 'maxrecord=8000')

-- Functions that need numpy are not there at the start. Python loads numpy, and all the operations,
-- when it is asked for the first of them; host.uses_numpy tells whether it was.
rawset(host, 'uses_numpy', false)
setmetatable(host, { __index = function(_, name, ...) -- luacheck: ignore 212
  local entry = host.find(name)
  if type(entry) == 'string' then import 'core.errors'.raise(entry) end
  rawset(host, name, entry)
  rawset(host, 'uses_numpy', true)
  return entry
end })

-- In this order they change Lua's own functions, and make the globals of programs.
for _, name in ipairs{
  'core.errors', 'core.finalizers', 'core.collector', 'core.compat', 'core.memory_reserve',
  'core.compiling', 'core.classes', 'core.bridge', 'tensor.elements',
  'parallel.thread_pool', 'tensor.formulas', 'tensor.reductions', 'tensor.small',
  'tensor.storage_class', 'tensor.tensor', 'tensor.torch', 'packages.timer',
  'tensor.random', 'files.files', 'files.methods',
  'files.tensors', 'files.serialize', 'files.twins', 'files.deserialize', 'files.saving',
  'packages.print', 'stopping.loading', 'packages.output', 'testing.tester',
  'packages.cmdline', 'packages.init',
} do
  import(name)
end
import 'tensor.operations'.forget() -- every collection would look through the list

-- The functions that Python calls, by name.
local functions = {
  -- Calls a function of values.lua, which programs in Python need.
  values = function(name, ...) return import 'engine.values'[name](...) end,
}
for _, name in ipairs{ 'shell', 'front_ends', 'session_locals', 'completion', 'inspect', 'who' } do
  for key, f in pairs(import('engine.' .. name)) do functions[key] = f end
end
functions.flush, functions.output_error = import 'packages.output'.flush,
  import 'packages.output'.output_error

local python_calls, python_lock = import 'core.python_calls', import 'core.python_lock'
local collector, thread_pool = import 'core.collector', import 'parallel.thread_pool'

-- The functions that operations in Python call, by name.
local called = { collect = collector.collect, leave_block = import 'core.c_structs'.leave_block,
  run = thread_pool.run, parameters = thread_pool.parameters, values = functions.values }
for name, kernel in pairs(import 'compute.lua_kernels') do called[name] = kernel end
called = python_lock.for_python(called)

-- Gives Python these functions, in a new coroutine: see python_calls.hand_over.
function functions.hand_over(register)
  python_calls.hand_over(register, called)
end

import 'packages.trepl'.finish_globals()

-- Globals that a program may replace; the modules then use the program's. The environment of the
-- modules has copies of all other globals, and of Lua's libraries, as they are now: a program that
-- changes or clears these does not change what the modules do.
local REPLACEABLE = {
  print = true, io = true, os = true, arg = true, _RESULTS = true, _LAST = true,
  _torchimport = true,
  import = true, -- the modules have a function of this name of their own
}
local LIBRARIES = { 'string', 'table', 'math', 'debug', 'coroutine', 'bit', 'jit' }

local globals = getfenv(1)
for name, value in next, _G do
  if not REPLACEABLE[name] then rawset(globals, name, value) end
end
for _, name in ipairs(LIBRARIES) do
  local copy = {}
  for key, value in next, _G[name] do copy[key] = value end
  rawset(globals, name, copy)
end

local exported = python_lock.for_python(python_lock.taking_arguments(functions))
-- Without what stands around the others, for which there may be no memory when this is called.
exported.collect_all = collector.collect_all
return exported
