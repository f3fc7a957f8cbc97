--- Starts the Lua half of the runtime: loads its modules in order.
-- Each module is a chunk that gets the table `th`, and adds to it what other modules need. Programs
-- do not see `th`, only the globals that the modules set for them. The names of all chunks begin
-- with '[th]', by which core/errors.lua recognizes their frames.
-- @script init

local host, source = ...

local type, rawset, setmetatable, byte = type, rawset, setmetatable, string.byte

local th = { host = host, torch = {} }

-- Traces of nn's layers, which call several operations, and of the turns of loops that are written
-- out (tensor/formulas.lua) are long, and each address in them is a constant: LuaJIT would give up
-- at 500 constants, 500 snapshots or 4000 instructions.
jit.opt.start('maxirconst=4000', 'maxsnap=1000', 'maxrecord=8000')

-- Functions that need numpy are not there at the start. Python loads numpy, and all the operations,
-- when it is asked for the first of them; th.uses_numpy tells whether it was.
setmetatable(host, { __index = function(_, name, ...) -- luacheck: ignore 212
  local found = host.find(name)
  if type(found) == 'string' then th.raise(found) end
  rawset(host, name, found)
  th.uses_numpy = true
  return found
end })

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

local dump = string.dump
local REPEATED = {
  ['tensor/access'] = true, ['tensor/queries'] = true, ['tensor/views'] = true,
  ['tensor/shapes'] = true, ['tensor/table_index'] = true, ['tensor/geometry'] = true,
  ['tensor/copies'] = true, ['tensor/element_access'] = true, ['tensor/loops'] = true,
  ['files/access'] = true, ['files/text'] = true,
}
local dumped = {} -- module -> its bytecode, which is loaded ten times as quickly as its source

--- Compiles a module. Some are loaded several times, so that each has functions and traces of its
-- own.
function th.chunk(name)
  if dumped[name] then return th.load(dumped[name], name .. '.lua') end
  local text = source(name)
  if byte(text) == 0 then th.raise(text) end -- the bytes of an error
  local chunk = th.load(text, name .. '.lua')
  if REPEATED[name] then dumped[name] = dump(chunk) end
  return chunk
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

--- Replaces a function of Lua's for the program and for the modules.
-- @param library the name of its table; nil for a global
function th.replace(library, name, f)
  if library then
    _G[library][name], rawget(globals, library)[name] = f, f
  else
    _G[name] = f
    rawset(globals, name, f)
  end
end

for _, name in ipairs{
  'core/visible', 'core/compat', 'core/reserve', 'core/python_lock', 'core/coroutines',
  'core/errors', 'core/waiting', 'core/tokens', 'core/line_calls', 'core/lengths',
  'core/compiling', 'core/class',
  'core/references', 'core/holders', 'core/bridge', 'core/commands', 'core/structs',
  'parallel/numbers', 'parallel/memory', 'tensor/elements', 'parallel/jobs',
  'parallel/sorting', 'parallel/thread_pool', 'tensor/blocks',
  'tensor/layouts', 'tensor/formulas', 'tensor/reductions', 'tensor/small', 'tensor/operations',
  'tensor/storage', 'tensor/tensor', 'tensor/torch', 'tensor/utility', 'packages/timer',
  'compute/lua_kernels', 'tensor/random', 'files/files', 'files/methods',
  'files/tensors',
  'files/serialize', 'files/twins', 'files/deserialize', 'files/saving', 'packages/print',
  'stopping/dumps', 'stopping/counters', 'stopping/turns', 'stopping/loading', 'shell',
  'front_ends', 'results', 'session_locals', 'names', 'packages/output', 'testing/tester',
  'packages/cmdline', 'packages/init', 'variables', 'inspect', 'who',
} do
  th.chunk(name)(th)
end
th.operations = nil -- every collection would look through it
th.finish_globals()
keep_globals()

local functions = th.for_python(th.taking_arguments(th.shell))
-- Without what stands around the others, for which there may be no memory when this is called.
functions.collect_all = th.collect_all
return functions
