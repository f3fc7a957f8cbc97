--- torch.Timer: the real, user and system time that has passed while the timer was running.
-- @module timer

local host, classes, errors = import('host', 'core.classes', 'core.errors')
local finalizers, python_calls = import('core.finalizers', 'core.python_calls')

-- timer -> { start = the times of the last start, sum = the times until then, stopped = whether }
local states = setmetatable({}, { __mode = 'k' })

local function now()
  local real, user, sys = python_calls.ask(host.times)
  return { real = real, user = user, sys = sys }
end

local function state_of(self)
  return states[self] or errors.class_error(1, 'torch.Timer', self)
end

local function elapsed(state)
  local times, result = now(), {}
  for _, key in ipairs{ 'real', 'user', 'sys' } do
    result[key] = state.sum[key] + (state.stopped and 0 or times[key] - state.start[key])
  end
  return result
end

local mt

local function new()
  local self = finalizers.newproxy(classes.proxy(mt))
  states[self] = { start = now(), sum = { real = 0, user = 0, sys = 0 } }
  return self
end

mt = torch.newmetatable('torch.Timer', nil, new, nil, nil, torch)

--- Sets the times to 0; a running timer goes on from there.
function mt.reset(self)
  local state = state_of(self)
  state.start, state.sum = now(), { real = 0, user = 0, sys = 0 }
  return self
end

function mt.stop(self)
  local state = state_of(self)
  if not state.stopped then state.sum, state.stopped = elapsed(state), true end
  return self
end

function mt.resume(self)
  local state = state_of(self)
  if state.stopped then state.start, state.stopped = now(), false end
  return self
end

--- The times in seconds: { real =, user =, sys = }.
function mt.time(self)
  return elapsed(state_of(self))
end

function mt.__tostring__(self)
  return 'torch.Timer [status: ' .. (state_of(self).stopped and 'stopped' or 'running') .. ']'
end
