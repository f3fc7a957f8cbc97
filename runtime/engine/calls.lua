--- Calls of the program's functions and inputs: what Python gets of their results and errors, and
-- what Ctrl-C may stop.
-- @module calls

local ffi, host, errors = import('ffi', 'host', 'core.errors')
local memory_reserve, python_lock = import('core.memory_reserve', 'core.python_lock')
local output, interrupts = import('packages.output', 'stopping.interrupts')

local xpcall, pcall, error, type, unpack = xpcall, pcall, error, type, unpack
local tobit = bit.tobit
local pressed = ffi.cast('int32_t *', host.pressed) -- by Ctrl-C: see stopping/interrupts.lua
local STOP = 1

local calls = {}

--- Reads the results of an xpcall with errors.traceback: returns nil if there was no error,
-- otherwise the message and the traceback of the program's frames.
function calls.outcome(ok, report)
  interrupts.finish()
  if ok then
    memory_reserve.make_room(false)
    return nil
  end
  local message, frames = errors.read_report(report)
  -- Ctrl-C may be pressed again while the traceback of the first one is made.
  if interrupts.stopped and message == 'error in error handling' then message = host.INTERRUPTED end
  memory_reserve.make_room(memory_reserve.is_out_of_memory(message))
  return message, frames
end

--- Calls a function of the prompt; returns nil, or the message and the traceback of its error.
function calls.run(f, ...)
  interrupts.over = false
  return calls.outcome(xpcall(f, errors.handle_error, ...))
end

--- Calls a function of a front end, which runs code of the program; returns what it lists.
function calls.between_inputs(f, ...)
  interrupts.over = false
  local ok, list = pcall(f, ...)
  interrupts.drop()
  interrupts.over = true
  if not ok then error(list, 0) end
  return unpack(list)
end

ffi.cdef 'int th_flush(void *) __asm__("fflush");'
local stdout = io.stdout
local stream = ffi.cast('void **', tonumber(('%p'):format(stdout))) -- see output.py
local C = ffi.C

--- Writes what the program has written, before Python writes.
function calls.flush() C.th_flush(stream[0]) end
local flush = calls.flush

local encode -- of values.lua, once a Python program needs that
local depth = 0 -- of calls for Python programs that are open: a Python function may make another
local guest = false -- whether a Python program has called, which `os.exit` must not end

--- Sets the function that makes the pair of values.lua of a value.
function calls.encode_by(f) encode = f end

-- Looking for room takes longer than a short call.
local CALLS = 2000
local count = 0

local guarded = python_lock.for_python{
  make_room = memory_reserve.make_room,

  -- Returns the message and frames of an error, or of the stop where a pcall has caught it; and the
  -- pair of values.lua for the object that was raised, or the mark 'message' where it was a text.
  failed = function(stop, ok, report)
    local message, frames
    if depth > 0 then
      if ok then return host.INTERRUPTED, '' end
      message, frames = errors.read_report(report)
    else
      message, frames = calls.outcome(false, stop and host.INTERRUPTED or report)
      interrupts.stopped, guest = false, false
    end
    local has_object = not stop and type(report) == 'table' and type(report.object) ~= 'string'
    if has_object and encode then return message, frames, encode(report.object) end
    return message, frames, nil, 'message'
  end,
}
local failed, free_lock = guarded.failed, python_lock.free_lock

-- LuaJIT compiles this: what is compiled reads `pressed` in no time.
local function is_stopped()
  free_lock()
  return pressed[0] == STOP
end

-- Returns nothing, or what `failed` does.
local function leave(ok, value)
  depth = depth - 1
  flush()
  local stop = is_stopped()
  if stop or not ok then return failed(stop, ok, value) end
  if depth > 0 then return end
  interrupts.over, guest = true, false
  count = count + 1
  if count == CALLS then
    count = 0
    guarded.make_room(false)
  end
end

local function end_call(ok, ...)
  local message, frames, value, mark = leave(ok, (...))
  if message then return message, frames, value, mark end
  return ...
end

-- Python's exceptions are raised in Lua where Python handles a signal before its function begins.
local function handle_error(object)
  if type(object) == 'userdata' and host.stop_by(object) then object = host.INTERRUPTED end
  return errors.traceback(object) -- a tail call: it counts levels
end

local function begin_guest_call()
  guest, interrupts.over = true, false
  depth = depth + 1
end

--- Calls a function for a Python program: returns its results, or the message and the traceback of
-- its error.
function calls.for_guest(f, ...)
  begin_guest_call()
  return end_call(xpcall(f, handle_error, ...))
end

local function end_quick_call(ok, value, list)
  local message, frames, object, mark = leave(ok, value)
  if message then return message, frames, object, mark end
  if list then return nil, unpack(list, 1, list.n) end
  return value
end

local QUICK = [[
  local f, begin, finish, handle_error, xpcall = ...
  return function(a, b, c, d, e)
    begin()
    return finish(xpcall(f, handle_error, a, b, c, d, e))
  end
]]

--- A function that calls one of up to five parameters for a Python program, which may call it at
-- once. LuaJIT compiles it by itself: it has a text of its own, and no '...', which could not be
-- returned out of a pcall.
-- @param f returns a value, or nil and a table of the results behind a nil
function calls.quick_for_guest(f)
  local call = import.compile(QUICK, 'quick call')
  return call(f, begin_guest_call, end_quick_call, handle_error, xpcall)
end

local function end_call_without_results(ok, ...)
  if ok then return end_call(ok) end
  return end_call(ok, ...)
end

--- Runs a chunk for a Python program; returns nothing, or its error's message and traceback.
function calls.run_for_guest(f, ...)
  begin_guest_call()
  return end_call_without_results(xpcall(f, handle_error, ...))
end

--- Ends what a Python program has called, where that is so, by an error that no pcall catches.
-- @param status that of os.exit
function calls.leave_guest(status)
  if status == nil or status == true then status = 0 end
  status = status == false and 1 or tonumber(status)
  if not guest or not status then return end
  host.leave(tobit(status))
  interrupts.interrupt()
  error(host.INTERRUPTED, 0)
end

output.leave_by(calls.leave_guest)

return calls
