--- torch.Timer: real, user and system time since it was made, less the time it stood still.
-- @module timer

local th = ...
local torch, host = th.torch, th.host

local running = setmetatable({}, { __mode = 'k' }) -- timer -> { start =, sum =, stopped = }

local function now()
  local real, user, sys = th.ask(host.times)
  return { real = real, user = user, sys = sys }
end

local function state(self)
  local s = running[self]
  if not s then
    th.class_error(1, 'torch.Timer', self)
  end
  return s
end

local function elapsed(s)
  local t, result = now(), {}
  for _, key in ipairs{ 'real', 'user', 'sys' } do
    result[key] = s.sum[key] + (s.stopped and 0 or t[key] - s.start[key])
  end
  return result
end

local mt

local function new()
  local self = th.newproxy(th.proxy(mt))
  running[self] = { start = now(), sum = { real = 0, user = 0, sys = 0 } }
  return self
end

mt = torch.newmetatable('torch.Timer', nil, new, nil, nil, torch)

--- Starts again from zero.
function mt.reset(self)
  local s = state(self)
  s.start, s.sum = now(), { real = 0, user = 0, sys = 0 }
  return self
end

function mt.stop(self)
  local s = state(self)
  if not s.stopped then s.sum, s.stopped = elapsed(s), true end
  return self
end

function mt.resume(self)
  local s = state(self)
  if s.stopped then s.start, s.stopped = now(), false end
  return self
end

--- Seconds so far: { real =, user =, sys = }.
function mt.time(self)
  return elapsed(state(self))
end

function mt.__tostring__(self)
  return 'torch.Timer [status: ' .. (state(self).stopped and 'stopped' or 'running') .. ']'
end
