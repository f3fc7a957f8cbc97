--- The Lua 5.2 extensions, which the reference's LuaJIT is built with and this one is not.
-- That `#` of a table calls `__len` is in `lengths.lua`.
-- @module compat

local th = ...

local select, type, getmetatable = select, type, getmetatable
local pcall, error = pcall, error
local find, gsub, max = string.find, string.gsub, math.max
local old_pairs, old_ipairs = pairs, ipairs

-- luacheck: globals pairs ipairs rawlen loadstring string.gfind coroutine.running
-- luacheck: globals package python collectgarbage

-- lupa's own access to Python, which would let a program call anything.
python = nil
package.loaded.python = nil

function rawlen(value)
  local kind = type(value)
  if kind ~= 'table' and kind ~= 'string' then
    th.type_error(1, 'table', value, value == nil)
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

local old_collect = collectgarbage
--- Lua's own collectgarbage, which needs no memory to begin.
th.collect_all = old_collect
local stopped, collecting = false, false
local is_pause_ours = true -- whether the program has not set the pause of the collector

local GARBAGE = 8192         -- kB between collections where Lua uses little memory
local SMALL_HEAP = 65536     -- kB that Lua uses
local SOON, LATER = 120, 200 -- pauses of the collector, in percent; the second is Lua's own

-- A collection within another one does nothing. A finalizer may ask for one; that would run the
-- next finalizer, which might do the same, and so on until the stack overflows.
local function collect_once(option, step)
  if collecting then return 0 end
  collecting = true
  local ok, result = pcall(old_collect, option, step)
  collecting = false
  if not ok then error(result, 0) end
  return result
end

--- Lua's collectgarbage; remembers whether the program has stopped the collector.
function collectgarbage(option, ...)
  if option == nil or option == 'collect' or option == 'step' then
    th.end_work() -- which an error may have left open
    local result = collect_once(option or 'collect', ...)
    if option ~= 'step' and th.uses_numpy then th.host.trim() end
    return result
  end
  if option == 'stop' or option == 'restart' then stopped = option == 'stop' end
  if option == 'setpause' then is_pause_ours = false end
  return old_collect(option, ...)
end

--- Collects when the runtime itself needs it; a collector that the program has stopped stays so.
-- @param step the size of a step as collectgarbage takes it; nil for a full collection
function th.collect(step)
  collect_once(step and 'step' or 'collect', step)
  if stopped then old_collect('stop') end
end

-- Sets when the collector begins again. Where Lua uses much memory for tensors, it would grow to
-- several times that; where it uses little, collections that look through all that Lua has would
-- take longer than the operations.
local function set_pause()
  if not is_pause_ours then return end
  local used = old_collect('count')
  old_collect('setpause', used < SMALL_HEAP and max(SOON, 100 + 100 * GARBAGE / used) or LATER)
end

local newproxy = newproxy
local paced = false -- whether each cycle sets the pause

--- Lets each cycle of the collector set the pause before the next one, by what is in use then.
-- Called in programs that make many tensors.
-- @param at_end called at the end of each cycle
function th.pace_collector(at_end)
  if paced then return end
  paced = true
  local watch = newproxy(true)
  getmetatable(watch).__gc = function(old)
    set_pause()
    at_end()
    newproxy(old) -- which the next cycle finalizes
  end
end

--- The kB that Lua uses.
function th.count_memory() return old_collect('count') end

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
  if not ok then th.fail((gsub(done, "bad argument #(%d+) to '%?'", function(n)
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
