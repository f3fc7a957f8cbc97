--- Starts the Lua half of the runtime: loads the modules beside this file in order.
-- Each module is a chunk that gets one table, `th`, and adds what it owns to it. `th` is
-- private; what user code sees are the globals that the modules set on purpose.
-- All chunks are named '[th] ...', by which errors.lua tells our frames from the user's.
-- @script init

local host, source = ...

local th = { host = host, torch = {} }

-- The globals of our modules. While they load, the user's; then also what Lua's libraries were
-- then: a program that changes or clears these does not change what ours do.
local globals = setmetatable({}, { __index = _G, __newindex = _G })
local compile, setfenv, error = loadstring, setfenv, error

--- Compiles Lua of ours.
function th.load(text, name)
  local chunk, message = compile(text, '=[th] ' .. name)
  if not chunk then error(message) end
  return setfenv(chunk, globals)
end

--- Loads a module of ours; a template may be loaded many times, for separate traces.
function th.chunk(name)
  return th.load(source(name), name .. '.lua')
end

-- What a program may replace, and then expects to be used.
local REPLACEABLE = {
  print = true, io = true, os = true, arg = true, _RESULTS = true, _LAST = true,
  _torchimport = true,
}
local LIBRARIES = { 'string', 'table', 'math', 'debug', 'coroutine', 'bit', 'jit' }

local function keep_globals()
  for name, value in next, _G do
    if not REPLACEABLE[name] then rawset(globals, name, value) end
  end
  for _, name in ipairs(LIBRARIES) do
    local copy = {}
    for key, value in next, _G[name] do copy[key] = value end
    rawset(globals, name, copy)
  end
end

for _, name in ipairs{
  'core/compat', 'core/coroutines', 'core/errors', 'core/class', 'core/references', 'core/bridge',
  'core/structs', 'tensor/elements', 'parallel/jobs', 'parallel/thread_pool', 'tensor/formulas',
  'tensor/storage', 'tensor/tensor', 'tensor/torch', 'tensor/utility', 'packages/timer',
  'tensor/kernels', 'tensor/random', 'files/files', 'files/methods', 'files/tensors',
  'files/serialize', 'files/deserialize', 'files/saving', 'packages/print', 'shell',
  'packages/output', 'testing/tester', 'packages/cmdline', 'packages/init',
} do
  th.chunk(name)(th)
end
th.finish_globals()
keep_globals()

return th.shell
