--- Counts the turns of a program's loops, and looks for Ctrl-C now and then: see counters.lua.
-- @module counted_loops

local ffi, host, counters = import('ffi', 'host', 'stopping.counters')

local pcall, setfenv, getfenv, tonumber = pcall, setfenv, getfenv, tonumber
local min, max, floor = math.min, math.max, math.floor
local loadstring, dump = loadstring, string.dump
local funcinfo, funcbc = require('jit.util').funcinfo, require('jit.util').funcbc
local band = bit.band
local getinfo, upvalueid, upvaluejoin = debug.getinfo, debug.upvalueid, debug.upvaluejoin

-- A flag that Ctrl-C was pressed. Python sets it at once, while Lua runs; interrupts.lua clears it
-- when the prompt has got the error.
local pressed = ffi.cast('int32_t *', host.pressed)

-- The names are our own, since a program may declare C's names in another way.
ffi.cdef[[
typedef struct { long seconds, nanoseconds; } THTime;
int THClock(int, THTime *) __asm__("clock_gettime");
]]
local MONOTONIC = jit.os == 'OSX' and 6 or 1
local clock, time = ffi.C.THClock, ffi.new('THTime')

-- Limits to the turns that are counted before the next look: as many as take a millisecond or so.
-- Turns that take long then do not make anyone wait, and short ones are not slower for counting.
local LEAST, MOST = 10, 100000
local SHORT, LONG = 0.001, 0.01 -- seconds

local counted_loops = { ADDED = counters.ADDED }

--- The time of a clock that goes evenly, in seconds.
function counted_loops.now()
  clock(MONOTONIC, time)
  return tonumber(time.seconds) + tonumber(time.nanoseconds) * 1e-9
end

--- A pace: called now and then, says how many steps may pass before the next call.
-- @param least the fewest
-- @param most the most
function counted_loops.new_pace(least, most)
  local step, last = least, 0
  return function(restart)
    local now = counted_loops.now()
    local taken = now - last
    last = now
    if restart then
      step = least
    elseif taken < SHORT then
      step = min(2 * step, most)
    elseif taken > LONG then
      step = max(floor(step / 4), least)
    end
    return step
  end
end

local pace = counted_loops.new_pace(LEAST, MOST)
local left = LEAST

local look -- raises an error if Ctrl-C was pressed

--- Sets the function that the loops call now and then.
function counted_loops.look_by(f)
  look = f
end

local function poll()
  -- 0 until the prompt has the error: another loop must not go on after a pcall
  left = pressed[0] == 0 and pace() or 0
  look()
end

-- Has the variable and the function as its upvalues, which functions with counters share.
local function holder() return left, poll end
local LEFT, POLL = upvalueid(holder, 1), upvalueid(holder, 2)

--- Begins to count anew, for another input.
function counted_loops.restart()
  left = pace(true)
end

--- Lets the next turn look for Ctrl-C.
function counted_loops.hurry()
  left = 0
end

--- Tells whether an upvalue is one of the two that counting has added.
function counted_loops.is_hidden(id)
  return id == LEFT or id == POLL
end

--- Tells whether a function counts its turns, or a function within it does.
function counted_loops.counts(f)
  local count = getinfo(f, 'u').nups
  return count >= 2 and upvalueid(f, count) == POLL
end

-- Tells whether a function has anything that may have to be counted. Most inputs have not, and this
-- sees it sooner than a reading of their bytecode would.
local function may_count(f)
  local info = funcinfo(f)
  if info.children then return true end
  for i = 0, info.bytecodes - 1 do
    if counters.is_counted[band(funcbc(f, i), 255)] then return true end
  end
  return false
end

--- A function that was just loaded, with counters in its loops; and whether all are counted.
function counted_loops.add(f)
  if counted_loops.counts(f) or not may_count(f) then return f, true end
  local ok, dumped = pcall(dump, f)
  if not ok then return f, false end -- one in C, or no memory
  local text, complete = counters.add(dumped)
  if not text then return f, complete end
  local counted = loadstring(text, getinfo(f, 'S').source)
  if not counted then return f, false end
  local count = getinfo(counted, 'u').nups
  for i = 1, getinfo(f, 'u').nups do upvaluejoin(counted, i, f, i) end
  upvaluejoin(counted, count - 1, holder, 1)
  upvaluejoin(counted, count, holder, 2)
  return setfenv(counted, getfenv(f)), complete
end

-- ------------------------------------------------------------- whether it can be done

-- A program with each kind of loop; it returns how many turns they make.
local SAMPLE = [[
  local turns, text = 0, ''
  for i = 1, 3 do turns = turns + 1 end
  for _ in pairs{ 1, 2 } do turns = turns + 1 end
  for _ in ('ab'):gmatch('.') do turns = turns + 1 end
  while turns < 10 and text do turns = turns + 1 end
  repeat local last = turns; local function f() return last end turns = turns + 1 until f() > 11
  do ::top:: turns = turns + 1 if turns < 20 then goto top end end
  local function down(n) if n == 0 then return text end turns = turns + 1 return down(n - 1) end
  down(6)
  return turns
]]
--- Tells whether counters can be put into this LuaJIT's bytecode.
function counted_loops.work()
  local plain = loadstring(SAMPLE, '=sample')
  local ok, counted, complete = pcall(counted_loops.add, plain)
  if not ok or not complete or counted == plain then return false end
  local dumped = dump(plain)
  left = MOST
  local made, count = pcall(counted)
  local counts_right = made and left <= MOST - count
  left = 0
  return counts_right and counters.remove(counters.add(dumped)) == dumped
end

return counted_loops
