--- The Lua 5.2 extensions, which the reference's LuaJIT is built with and this one is not.
-- That `#` of a table calls `__len` is in `length_operator.lua`.
-- @module compat

local errors = import 'core.errors'

local select, type, getmetatable = select, type, getmetatable
local pcall, error = pcall, error
local find, gsub = string.find, string.gsub
local old_pairs, old_ipairs = pairs, ipairs

-- luacheck: globals pairs ipairs rawlen loadstring string.gfind coroutine.running
-- luacheck: globals package python collectgarbage

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
    local own = metafield(value, field)
    if own then
      local f, s, v = own(value)
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
