--- Calls of functions of runtime/host, which take and return plain values.
-- @module python_calls

local errors, references = import('core.errors', 'core.references')

local python_calls = {}

local type, byte, sub = type, string.byte, string.sub
local create, resume, running = coroutine.create, coroutine.resume, coroutine.running
local yield, error = coroutine.yield, error
local count_object = references.count_object

--- Calls a function of runtime/host with plain values; raises the error that it returns.
-- A string that the function returns begins with '\1'; bytes that do not are an error.
function python_calls.ask(f, ...)
  count_object()
  local r, a, b = f(...)
  if type(r) == 'string' then
    if byte(r, 1) == 1 then return sub(r, 2) end
    return errors.raise(r)
  end
  return r, a, b
end

-- ------------------------------------------- Lua objects that Python keeps

-- lupa remembers for each Lua object that Python gets the coroutine that it came from. It calls
-- functions in that coroutine, and uses it again when Python frees the object. So the coroutine
-- must still exist then, and must not be running. A coroutine of the program may have been
-- collected; and the main thread may be waiting for a coroutine, or be in the middle of a
-- finalizer. So such objects come from coroutines that are never collected.

local all = {}  -- keeps the coroutines from being collected
local free = {} -- those that wait for the next function to call

local function keep(f)
  local thread = create(f)
  all[#all + 1] = thread
  return thread
end

local function work(f, ...)
  return work(yield(f(...))) -- yield returns the next function and its arguments
end

local function release(thread, ok, ...)
  if not ok then error((...), 0) end -- the error has ended the coroutine: it is not free
  free[#free + 1] = thread
  return ...
end

--- Calls a function of Python's that keeps one of its arguments, in a coroutine of ours.
function python_calls.call_apart(f, ...)
  if not running() then return f(...) end -- the main thread is never collected
  local thread = free[#free]
  free[#free] = nil
  thread = thread or keep(work)
  return release(thread, resume(thread, f, ...))
end

--- Gives Python functions that it may call at any time, in whatever coroutine Lua has called
-- Python; one call at a time.
-- @param register a function of Python's that takes the table of functions
-- @param functions the table
function python_calls.hand_over(register, functions)
  local ok, message = resume(keep(function() register(functions) end))
  if not ok then error(message, 0) end
end

return python_calls
