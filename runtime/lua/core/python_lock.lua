--- Lua's functions for Python to call, also where Lua has no memory for arguments or results.
--
-- lupa copies arguments into Lua where no pcall is, and Lua ends the process if they do not fit: so
-- functions take their arguments from Python themselves.
--
-- lupa takes the lock while Lua calls Python. Where Lua has no memory for what Python has returned,
-- its error leaves lupa's C function before that frees the lock again. The thread then has the lock
-- in Lua, and would wait for itself when the call ends that Python has made of Lua.
-- @module python_lock

local ffi, host, memory_reserve = import('ffi', 'host', 'core.memory_reserve')

local python_lock = {}

local pcall, error = pcall, error
local type, pairs = type, pairs

-- Functions of Python's C API: "Initialization, Finalization, and Threads".
local thread_with_lock = ffi.cast('void *(*)(void)', host.thread_with_lock)
local this_thread = ffi.cast('void *(*)(void)', host.this_thread)
local release = ffi.cast('void (*)(int)', host.release_lock)
local WAS_FREE = 1 -- PyGILState_UNLOCKED

--- Frees the lock where this thread has it. Without parameters, so that LuaJIT compiles it.
function python_lock.free_lock()
  -- thread_with_lock tells which thread of the process has the lock; from Python 3.12 on, it is
  -- nil unless that is this thread.
  local thread = this_thread()
  if thread ~= nil and thread_with_lock() == thread then release(WAS_FREE) end
end

local free_lock = python_lock.free_lock

local function finish(ok, ...)
  free_lock()
  if not ok then error((...), 0) end
  return ...
end

--- The functions of a table, for Python to call: the lock is free when they end.
function python_lock.for_python(functions)
  local exported = {}
  for name, f in pairs(functions) do
    local guarded = function(...) return finish(pcall(f, ...)) end
    exported[name] = type(f) == 'function' and guarded or f
  end
  return exported
end

local take = host.take_arguments

-- The results of a pcall of `take`, which is tried once more where there was no memory for them.
local function taken(ok, ...)
  if ok then return ... end
  free_lock()
  memory_reserve.make_room(true)
  return take()
end

--- The arguments that Python has for a function.
function python_lock.arguments()
  return taken(pcall(take))
end

--- The functions of a table, without parameters: they take their arguments from Python.
function python_lock.taking_arguments(functions)
  local exported = {}
  for name, f in pairs(functions) do
    exported[name] = type(f) == 'function' and function() return f(python_lock.arguments()) end or f
  end
  return exported
end

return python_lock
