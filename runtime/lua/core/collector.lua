--- Lua's collector: when the runtime itself collects, and what collectgarbage does besides.
-- @module collector

local host, finalizers = import('host', 'core.finalizers')

local collector = {}

local pcall, error, max, getmetatable = pcall, error, math.max, getmetatable

-- luacheck: globals collectgarbage

local old_collect = collectgarbage
--- Lua's own collectgarbage, which needs no memory to begin.
collector.collect_all = old_collect
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
    finalizers.end_work() -- which an error may have left open
    local result = collect_once(option or 'collect', ...)
    if option ~= 'step' and host.uses_numpy then host.trim() end
    return result
  end
  if option == 'stop' or option == 'restart' then stopped = option == 'stop' end
  if option == 'setpause' then is_pause_ours = false end
  return old_collect(option, ...)
end

--- Collects when the runtime itself needs it; a collector that the program has stopped stays so.
-- @param step the size of a step as collectgarbage takes it; nil for a full collection
function collector.collect(step)
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

local newproxy = finalizers.newproxy
local paced = false -- whether each cycle sets the pause

--- Lets each cycle of the collector set the pause before the next one, by what is in use then.
-- Called in programs that make many tensors.
-- @param at_end called at the end of each cycle
function collector.pace_collector(at_end)
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
function collector.count_memory() return old_collect('count') end

return collector
