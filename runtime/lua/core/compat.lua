--- The Lua 5.2 extensions, which the reference's LuaJIT is built with and this one is not; and
-- commands of the system's shell, whose results are Lua 5.2's.
-- That `#` of a table calls `__len` is in `length_operator.lua`.
-- @module compat

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

local compat = {}

local ffi = require 'ffi'
ffi.cdef 'int pclose(void *stream);'

local io = io -- a program may take the global away
local select, type, getmetatable = select, type, getmetatable
local pcall, error = pcall, error
local find, gsub = string.find, string.gsub
local old_pairs, old_ipairs = pairs, ipairs

-- luacheck: globals pairs ipairs rawlen loadstring string.gfind coroutine.running
-- luacheck: globals package python collectgarbage os.execute io.popen

-- lupa's own access to Python, which would let a program call anything.
python = nil
package.loaded.python = nil

function rawlen(value)
  local kind = type(value)
  if kind ~= 'table' and kind ~= 'string' then
    errors.type_error(1, 'table', value, value == nil)
  end
  return #value
end

local function metafield(value, name)
  local mt = getmetatable(value)
  return type(mt) == 'table' and rawget(mt, name)
end

-- A function that goes through a table as its metatable says.
local function honouring(field, iterate)
  return function(value)
    local metamethod = metafield(value, field)
    if metamethod then
      local f, s, v = metamethod(value)
      return f, s, v
    end
    return iterate(value)
  end
end

pairs, ipairs = honouring('__pairs', old_pairs), honouring('__ipairs', old_ipairs)

table.unpack, string.gfind = unpack, string.gmatch

function table.pack(...) return { n = select('#', ...), ... } end

package.searchers = package.loaders

-- Programs find out whether they run in Lua 5.2 by compiling a chunk that declares a local named
-- `goto`, a reserved word there; they then expect os.execute to return what it does in Lua 5.2.
local plain_loadstring = loadstring
function loadstring(source, ...)
  if type(source) == 'string' and find(source, '^%s*local%s+goto%s*=') then
    local _, message = plain_loadstring('local 1', (...) or source)
    return nil, (gsub(message, "near '1'$", "near 'goto'"))
  end
  return plain_loadstring(source, ...)
end

-- file:write(...) returns the file, so that writes can be chained.
local methods = getmetatable(io.stdout).__index
local old_write = methods.write
function methods.write(self, ...)
  local ok, done, message, code = pcall(old_write, self, ...)
  if not ok then error((gsub(done, "to '%?'", "to 'write'")), 2) end
  if done then return self end
  return done, message, code
end

function io.write(...)
  local ok, done, message, code = pcall(old_write, io.output(), ...)
  if done == 'attempt to use a closed file' then errors.fail('standard file is closed') end
  if not ok then errors.fail((gsub(done, "bad argument #(%d+) to '%?'", function(n)
    return ("bad argument #%d to 'write'"):format(n - 1)
  end))) end
  if done then return io.output() end
  return done, message, code
end

function debug.getuservalue(value)
  if type(value) == 'userdata' then return debug.getfenv(value) end
end

function debug.setuservalue(value, env)
  return debug.setfenv(value, env)
end

-- ------------------------------------------------------------------ commands

-- Commands do not inherit the limit that keeps this process within the machine's memory: see
-- runtime/core/machine.py.

local execute, popen, stdout = os.execute, io.popen, io.stdout

local before_commands = {}

--- Has a function called before each command, to finish what that may look at.
function compat.before_commands(f) before_commands[#before_commands + 1] = f end

-- Lifts the limit for a command, which a timeout ends from now on.
local function begin()
  for _, f in old_ipairs(before_commands) do f() end
  return python_calls.ask(host.os_begin_command)
end

-- Puts the limit back, and returns the results of a pcall.
local function finish(limit, ...)
  python_calls.ask(host.os_end_command, limit)
  return errors.results(...)
end

-- Lua 5.2's results for the status that C's functions return: success, 'exit' or 'signal', code.
local function results_of(status)
  local signal, code = status % 128, math.floor(status / 256)
  if signal ~= 0 then return nil, 'signal', signal end
  if code ~= 0 then return nil, 'exit', code end
  return true, 'exit', 0
end

--- os.execute with Lua 5.2's results.
function os.execute(command)
  if command == nil then return execute() ~= 0 end
  stdout:flush()
  local status = finish(begin(), pcall(execute, command))
  if type(status) ~= 'number' then return status end
  return results_of(status)
end

local pipes = setmetatable({}, { __mode = 'k' }) -- those of io.popen

local function noted(pipe, ...)
  if pipe then pipes[pipe] = true end
  return pipe, ...
end

function io.popen(...)
  -- No tail call of `finish`: the name of this function would be lost.
  return noted(finish(begin(), pcall(popen, ...)))
end

-- close with Lua 5.2's results for a pipe, of which this LuaJIT forgets the command's status.
local function closing(old_close)
  return function(...)
    local pipe = ...
    if not pipes[pipe] or io.type(pipe) ~= 'file' then return old_close(...) end
    local status = ffi.C.pclose(ffi.cast('void *', pipe))
    ffi.cast('void **', tonumber(('%p'):format(pipe)))[0] = nil -- as LuaJIT marks closed files
    if status == -1 then return nil, 'No child processes', ffi.errno() end
    return results_of(status)
  end
end
methods.close, io.close = closing(methods.close), closing(io.close)

return compat
