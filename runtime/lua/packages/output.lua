--- The standard output: what could not be written to it is an error of the program.
-- @module output

local th = ...
local host, shell = th.host, th.shell
local ffi = require 'ffi'

local stdout, stderr, kind_of = io.stdout, io.stderr, io.type
local flush, write = getmetatable(stdout).__index.flush, getmetatable(stderr).__index.write

-- Under names of our own: a program may declare these differently.
ffi.cdef[[
extern void *THOutputStream __asm__("stdout");
int THOutputFailed(void *) __asm__("ferror");
]]

-- Where the C library has no such names, only a flush tells.
local known = pcall(function() return ffi.C.THOutputFailed, ffi.C.THOutputStream end)

local failure -- why the output could not be written, where a flush said so

--- Writes out what is buffered.
function shell.flush()
  if kind_of(stdout) ~= 'file' then return end
  local ok, message = flush(stdout)
  if not ok then failure = failure or message end
end

--- Writes out what is buffered; says why not all output was written, or returns nil.
function shell.output_error()
  shell.flush()
  if failure then return 'write error: ' .. failure end
  if kind_of(stdout) ~= 'file' then return nil end
  if not known or ffi.C.THOutputFailed(ffi.C.THOutputStream) == 0 then return nil end
  return 'write error'
end

local old_exit = os.exit
--- os.exit, which writes out what open files hold back.
-- Where the output could not be written, the status is never that of success.
function os.exit(status, ...) -- luacheck: globals os.exit
  host.file_flush_all()
  local message = shell.output_error()
  if message then
    write(stderr, 'th: ', message, '\n')
    if status == nil or status == true or status == 0 then status = 1 end
  end
  return old_exit(status, ...)
end
