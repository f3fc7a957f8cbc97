--- Starts the Lua half of the runtime: loads its modules in order.
-- Each module is a chunk that gets the table `th`, and adds to it what other modules need. Programs
-- do not see `th`, only the globals that the modules set for them. The names of all chunks begin
-- with '[th]', by which core/errors.lua recognizes their frames.
-- @script init

local host, source = ...

local th = { host = host, torch = {} }

-- The environment of the modules. While they are loaded, it is the program's. After that, it has
-- copies of the globals and of Lua's libraries as they are then: a program that changes or clears
-- these does not change what the modules do.
local globals = setmetatable({}, { __index = _G, __newindex = _G })
local compile, setfenv, error = loadstring, setfenv, error

--- Compiles a chunk of the runtime.
-- @param text its source
-- @param name the name that is shown behind '[th]'
function th.load(text, name)
  local chunk, message = compile(text, '=[th] ' .. name)
  if not chunk then error(message) end
  return setfenv(chunk, globals)
end

--- Compiles a module. Some are loaded several times, so that each has functions and traces of its
-- own.
function th.chunk(name)
  return th.load(source(name), name .. '.lua')
end

-- Globals that a program may replace; the modules then use the program's.
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
  'core/compat', 'core/python_lock', 'core/coroutines', 'core/errors', 'core/class',
  'core/references', 'core/bridge', 'core/structs', 'tensor/elements', 'parallel/jobs',
  'parallel/thread_pool', 'tensor/formulas', 'tensor/storage', 'tensor/tensor', 'tensor/torch',
  'tensor/utility', 'packages/timer', 'tensor/kernels', 'tensor/random', 'files/files',
  'files/methods', 'files/tensors', 'files/serialize', 'files/deserialize', 'files/saving',
  'packages/print', 'shell', 'names', 'packages/output', 'testing/tester', 'packages/cmdline',
  'packages/init',
} do
  th.chunk(name)(th)
end
th.finish_globals()
keep_globals()

return th.for_python(th.shell)
