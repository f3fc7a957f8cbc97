--- xlua.progress: a progress bar with the remaining time and the time of a step.
-- @module xlua_progress

local host, python_calls = import('host', 'core.python_calls')

-- luacheck: globals xlua

local MAX_WIDTH = 120  -- characters of the bar with the texts beside it
local TEXT_WIDTH = 34  -- characters for the texts
local STEPS = 100      -- the last steps, of which the time of a step is the mean

local width -- of the terminal, at most MAX_WIDTH; found out for the first bar
local bar   -- { timer =, times =, steps = } of the bar that is being drawn, or nil
local last_percent = -1

local function drawn(percent, length)
  local full = math.min(math.max(percent - 1, 0), length)
  local head = percent >= 1 and percent <= length and '>' or ''
  return ('='):rep(full) .. head .. ('.'):rep(length - full - #head)
end

local function step_time(current, elapsed)
  if current == bar.steps[1] then return 0 end
  return (elapsed - bar.times[1]) / (current - bar.steps[1])
end

local function remember(current, elapsed)
  table.insert(bar.steps, current)
  table.insert(bar.times, elapsed)
  if #bar.steps > STEPS then
    table.remove(bar.steps, 1)
    table.remove(bar.times, 1)
  end
end

-- Starts a new bar, or moves the cursor to the beginning of the line.
local function start_or_return(current, percent)
  if not bar and (last_percent == -1 or percent < last_percent) then
    local timer = torch.Timer()
    bar = { timer = timer, times = { timer:time().real }, steps = { current } }
  else
    io.write('\r')
  end
end

--- Draws step `current` of `goal`.
function xlua.progress(current, goal)
  width = width or math.min(python_calls.ask(host.os_columns), MAX_WIDTH)
  local length = width - TEXT_WIDTH
  local percent = math.floor(current * length / goal)
  start_or_return(current, percent)
  if not bar then return end
  last_percent = percent
  local beside = width - length - 4
  io.write(' [', drawn(percent, length), '] ', (' '):rep(beside), ('\b'):rep(beside))
  local elapsed = bar.timer:time().real
  local step = step_time(current, elapsed)
  remember(current, elapsed)
  local time = percent < length
    and ' ETA: ' .. xlua.formatTime(math.max(0, (goal - current) * step))
    or ' Tot: ' .. xlua.formatTime(elapsed)
  time = time .. ' | Step: ' .. xlua.formatTime(step)
  io.write(time, ('\b'):rep(math.floor(5 + #time + length / 2)), ' ', current, '/', goal, ' ')
  if percent == length then
    bar = nil
    io.write('\n')
  end
  io.write('\r')
  io.flush()
end
