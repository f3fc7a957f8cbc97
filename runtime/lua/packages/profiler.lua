--- xlua.Profiler: real and processor time of named events.
-- @module profiler

local th = ...

local pairs, ipairs = pairs, ipairs

-- luacheck: globals xlua sys
local Profiler = {}

--- A profiler; mode 'off' prints nothing, verbose says when an event starts.
function xlua.Profiler(mode, verbose)
  local self = { events = {}, list = {}, off = mode == 'off', verbose = verbose or false }
  for name, method in pairs(Profiler) do self[name] = method end
  return self
end

function Profiler:start(name, fps)
  local event = self.events[name]
  if not event then
    event = { name = name }
    self.events[name] = event
    table.insert(self.list, event)
  end
  event.cpu, event.real = os.clock(), sys.clock()
  if fps == 'fps' then event.fps = true end
  if self.verbose then
    io.write('<' .. name .. '>')
    io.flush()
  end
end

function Profiler:setColor(name, color)
  local event = self.events[name]
  if not event then
    th.fail('# ERROR: There is no such profiler - ' .. name .. ', create it first')
  end
  event.color = color
end

function Profiler:cpu(name, divider)
  local event = self.events[name]
  event.cpud = (os.clock() - event.cpu) / (divider or 1)
  return event.cpud
end

function Profiler:real(name, divider)
  local event = self.events[name]
  event.reald = (sys.clock() - event.real) / (divider or 1)
  return event.reald
end

function Profiler:lap(name, divider)
  local real, cpu = self:real(name, divider), self:cpu(name, divider)
  if self.verbose then
    io.write('\r')
    self:print(name)
  end
  return real, cpu
end

function Profiler:format(name)
  local event = self.events[name]
  return ('$ real | cpu: %f | %f <%s>'):format(event.reald or -1, event.cpud or -1, name)
end

function Profiler:print(name)
  if not self.off then print(self:format(name)) end
end

function Profiler:formatAll()
  local lines = { '$ profiler report:' }
  for _, event in ipairs(self.list) do
    local line = ('$ real %f | cpu %f <%s>'):format(event.reald or -1, event.cpud or -1,
      event.name)
    if event.fps then line = line .. (' = %f fps'):format(1 / event.reald) end
    lines[#lines + 1] = line
  end
  return table.concat(lines, '\n')
end

function Profiler:printAll()
  if not self.off then print(self:formatAll()) end
end

--- Draws the report with a painter of a graphical package.
function Profiler:displayAll(args)
  local painter, zoom = args.painter or args.win, args.zoom or 1
  local size, x, y = args.font or 24 * zoom, args.x or 0, args.y or 0
  if not painter then th.fail('# ERROR: Profiler.displayAll() needs a painter') end
  painter:setfont(qt.QFont{ serif = false, italic = false, size = size }) -- luacheck: ignore 113
  if self.off then return end
  local i = 0
  for line in self:formatAll():gmatch('\n([^\n]+)') do
    i = i + 1
    painter:setcolor(self.list[i].color or 'black')
    painter:moveto(x, y)
    painter:show(line)
    y = y + size * 1.5
  end
end
