--- The standard output: flushing it, and finding out whether all output could be written.
-- @module output

local ffi, host, python_calls = import('ffi', 'host', 'core.python_calls')

local stdout, stderr, kind_of = io.stdout, io.stderr, io.type
local flush, write = getmetatable(stdout).__index.flush, getmetatable(stderr).__index.write

-- The names are our own, since a program may declare C's names in another way.
ffi.cdef[[
extern void *THOutputStream __asm__("stdout");
int THOutputFailed(void *) __asm__("ferror");
]]

local output = {}

-- True if the C library has these names. Without them, only a flush tells of an error.
local known = pcall(function() return ffi.C.THOutputFailed, ffi.C.THOutputStream end)

local failure -- the message of the first flush that has failed

--- Flushes the standard output.
function output.flush()
  if kind_of(stdout) ~= 'file' then return end
  local ok, message = flush(stdout)
  if not ok then failure = failure or message end
end

--- Flushes the standard output. Returns a message if not all output could be written, or nil.
function output.output_error()
  output.flush()
  if failure then return 'write error: ' .. failure end
  if kind_of(stdout) ~= 'file' then return nil end
  if not known or ffi.C.THOutputFailed(ffi.C.THOutputStream) == 0 then return nil end
  return 'write error'
end

local end_all -- of packages/mpi, where a program has several processes

--- Sets the function that ends all processes of a program.
function output.end_all_by(f) end_all = f end

--- Ends the other processes of the program, if there are any: they may wait for this one for ever.
function output.end_all(...)
  if not end_all then return end
  output.flush()
  end_all(...)
end

local leave -- of engine/calls.lua

--- Sets the function that ends what a Python program has called, and nothing else.
function output.leave_by(f) leave = f end

local old_exit = os.exit
--- os.exit, which writes the buffers of open files first. A Python program that has called Lua does
-- not end: see `leave_guest` in engine/calls.lua.
-- If the output could not be written, the status is never that of success.
function os.exit(status, ...) -- luacheck: globals os.exit
  leave(status)
  if host.uses_numpy then host.file_flush_all() end
  local message = output.output_error()
  python_calls.ask(host.leaving)
  if message then
    write(stderr, 'th: ', message, '\n')
    if status == nil or status == true or status == 0 then status = 1 end
  end
  output.end_all(status == false and 1 or tonumber(status) or 0)
  return old_exit(status, ...)
end

return output
