--- xlua.Profiler: how long named events take, by the wall clock and in processor time.
-- @module profiler

local errors = import 'core.errors'

-- luacheck: globals xlua sys
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
