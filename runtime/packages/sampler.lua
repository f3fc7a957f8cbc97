--- Samples of where a program is, taken by LuaJIT's own profiler, for the prompt's %profile.
-- @module sampler

local sampler = {}

local clock = os.clock
local concat, sort, gmatch, find = table.concat, table.sort, string.gmatch, string.find
local profiler = require 'jit.profile'

local INTERVAL = 'li1' -- milliseconds between samples; with lines
local DEPTH = 100 -- frames in which a line of the program is looked for
local PATIENCE = 0.1 -- seconds for the first sample

local counts -- place and state -> number of samples
local caller -- the thread that runs the program

-- The innermost line of the program itself in a thread, not of the runtime's Lua code; or nil.
local function place(thread)
  for frame in gmatch(profiler.dumpstack(thread, 'pl\n', DEPTH), '[^\n]+') do
    if not find(frame, '^%[th%]') and not find(frame, '^%[builtin') and find(frame, ':%d+$') then
      return frame
    end
  end
end

-- Python calls Lua in threads of its own. A sample that is taken there belongs to the line that has
-- called Python. The first sample, before the program begins, tells which thread that is in.
local function find_caller()
  caller = nil
  profiler.start(INTERVAL, function(thread) caller = thread end)
  local start = clock()
  repeat until caller or clock() - start > PATIENCE
  profiler.stop()
end

--- Begins to take samples.
function sampler.start()
  find_caller()
  counts = {}
  profiler.start(INTERVAL, function(thread, samples, state)
    local key = (place(thread) or caller and place(caller) or '?') .. '\t' .. state
    counts[key] = (counts[key] or 0) + samples
  end)
end

--- Ends it; returns lines of place, state of LuaJIT and number of samples, with tabs between them.
function sampler.stop()
  profiler.stop()
  local lines = {}
  for key, n in pairs(counts) do lines[#lines + 1] = key .. '\t' .. n end
  sort(lines)
  return concat(lines, '\n')
end

return sampler
