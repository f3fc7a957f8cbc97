--- xlua.progress: a progress bar with the remaining time and the time of a step; and xlua.Profiler:
-- how long named events take, by the wall clock and in processor time.
-- @module xlua_times

local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')

-- luacheck: globals xlua sys

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

-- -------------------------------------------------------------------------------------- profilers

local Profiler = {}

local UNKNOWN = -1 -- the time of an event that was started only

-- ------------------------------------------------------------------ events

local function known(self, name)
  return self.events[name] or errors.fail('attempt to index a nil value')
end

local function added(self, name)
  local event = { name = name }
  self.events[name] = event
  self.list[#self.list + 1] = event
  return event
end

--- Starts an event, for the first time or again; 'fps': reports show how many fit in a second.
function Profiler:start(name, fps)
  local event = self.events[name] or added(self, name)
  event.fps = event.fps or fps == 'fps' or nil
  event.cpu, event.real = os.clock(), sys.clock()
  if not self.verbose then return end
  io.write('<' .. name .. '>')
  io.flush()
end

-- Adds the method that tells the seconds since an event's start, divided (default: by 1).
local function add_time(name, clock)
  Profiler[name] = function(self, of, divider)
    local event = known(self, of)
    local elapsed = clock() - event[name]
    if divider then elapsed = elapsed / divider end
    event[name .. 'd'] = elapsed
    return elapsed
  end
end

add_time('cpu', function() return os.clock() end)
add_time('real', function() return sys.clock() end)

--- Both times; prints them where the profiler is verbose.
function Profiler:lap(name, divider)
  local real = self:real(name, divider)
  local cpu = self:cpu(name, divider)
  if not self.verbose then return real, cpu end
  io.write('\r')
  self:print(name)
  return real, cpu
end

-- ----------------------------------------------------------------- reports

local function filled(form, event)
  return form:format(event.reald or UNKNOWN, event.cpud or UNKNOWN, event.name)
end

local function row(event)
  local text = filled('$ real %f | cpu %f <%s>', event)
  if not event.fps then return text end
  return text .. (' = %f fps'):format(1 / event.reald)
end

function Profiler:format(name)
  return filled('$ real | cpu: %f | %f <%s>', known(self, name))
end

function Profiler:formatAll()
  local rows = { '$ profiler report:' }
  for i = 1, #self.list do rows[i + 1] = row(self.list[i]) end
  return table.concat(rows, '\n')
end

function Profiler:print(name)
  if self.off then return end
  print(self:format(name))
end

function Profiler:printAll()
  if self.off then return end
  print(self:formatAll())
end

--- Sets the colour of an event, for programs that draw reports.
function Profiler:setColor(name, color)
  local event = self.events[name]
  if not event then
    errors.fail('# ERROR: There is no such profiler - ' .. name .. ', create it first')
  end
  event.color = color
end

errors.make_public(Profiler, 'start cpu real lap format formatAll print printAll setColor')

--- A profiler: mode 'off' prints nothing; a verbose one says when events start, and their laps.
function xlua.Profiler(mode, verbose)
  local self = { events = {}, list = {}, off = mode == 'off', verbose = verbose or false }
  for name, method in pairs(Profiler) do self[name] = method end
  return self
end
