--- Lua threads (coroutines) that are never collected, for what Python keeps of Lua.
-- The embedding library remembers for each Lua object that Python gets the thread that it came
-- from: it calls functions in that thread, and touches it when Python lets go of the object.
-- So the thread must be there then, and stand still. The program's coroutines are collected; the
-- main thread may wait for one of them, or be interrupted by the collector for a finalizer.
-- @module threads

local th = ...

local create, resume, running = coroutine.create, coroutine.resume, coroutine.running
local yield, error = coroutine.yield, error

local all = {}  -- keeps the threads
local free = {} -- those that wait for something to do

local function keep(f)
  local thread = create(f)
  all[#all + 1] = thread
  return thread
end

local function work(f, ...)
  return work(yield(f(...))) -- what it is to do next
end

local function release(thread, ok, ...)
  if not ok then error((...), 0) end -- then it has ended
  free[#free + 1] = thread
  return ...
end

--- Calls a function of Python's that keeps one of its arguments.
function th.call_apart(f, ...)
  if not running() then return f(...) end -- the main thread is always there
  local thread = free[#free]
  free[#free] = nil
  thread = thread or keep(work)
  return release(thread, resume(thread, f, ...))
end

--- Hands functions over to Python, to be called at any time: from operations that Lua called
-- in whatever thread, once at a time.
-- @param register a function of Python's, which gets the table of functions
function th.hand_over(register, functions)
  local ok, message = resume(keep(function() register(functions) end))
  if not ok then error(message, 0) end
end
