--- The package threads: pools of threads that do jobs, and locks. Each thread has an engine of its
-- own; jobs, their arguments and results go from one to another as serialized objects.
-- @module threads

local host, bridge, errors = import('host', 'core.bridge', 'core.errors')
local python_calls, deserialize = import('core.python_calls', 'files.deserialize')
local gpu = import 'packages.gpu'

local loadstring = loadstring

local python = bridge.python_half 'threads'

-- ------------------------------------------------------------------ the low level

-- A class of objects that stand for something of Python's by its number: Class() makes one,
-- Class(number) leads to one that another thread has made.
local function class_of_numbers(class, methods, new)
  local mt = {}
  mt.__index = mt
  methods.id = function(number) return number end
  for name, f in pairs(methods) do
    mt[name] = function(...)
      local count, first = select('#', ...), (...)
      if getmetatable(first) ~= mt then errors.type_error(1, class, first, count == 0) end
      return f((...).number, select(2, ...))
    end
  end
  return setmetatable({}, {
    __index = mt,
    __call = function(_, ...)
      local number = select('#', ...) == 0 and new() or tonumber((...))
      if not number then errors.type_error(1, 'number', (...), false, '?') end
      return setmetatable({ number = number }, mt)
    end,
  })
end

local Mutex = class_of_numbers('threads.Mutex', {
  lock = python.lock, unlock = python.unlock, free = python.free_mutex,
}, python.new_mutex)

local function is_mutex(value) return getmetatable(value) == getmetatable(Mutex).__index end

local Condition = class_of_numbers('threads.Condition', {
  wait = function(number, mutex)
    if not is_mutex(mutex) then errors.type_error(2, 'threads.Mutex', mutex, mutex == nil) end
    python.wait(number, mutex.number)
  end,
  signal = python.signal, free = python.free_condition,
}, python.new_condition)

local Thread = class_of_numbers('threads.Thread', {
  free = function(number) python_calls.ask(host.join_worker, number) end,
})
getmetatable(Thread).__call = function(_, ...)
  local source, none = (...), select('#', ...) == 0
  if type(source) ~= 'string' then errors.type_error(1, 'string', source, none, '?') end
  local number = python_calls.ask(host.start_worker, source, package.path, package.cpath,
    gpu.has_gpu(), deserialize.is_trusting())
  return setmetatable({ number = number }, getmetatable(Thread).__index)
end

-- ---------------------------------------------------------------------- messages

local function packed(...) return { n = select('#', ...), ... } end

-- A list as the text and the kind of a message. What the module that serializes gives may be a
-- string or a CharStorage.
local function message_of(serialize, list)
  local data = serialize.save(list)
  if type(data) == 'string' then return data, 'text' end
  if torch.typename(data) ~= 'torch.CharStorage' then
    errors.fail('torch.CharStorage expected, got ' .. torch.type(data))
  end
  return data:string(), 'storage'
end

-- The list of a message.
local function list_of(serialize, text, kind)
  local data = kind == 'storage' and torch.CharStorage():string(text) or text
  return deserialize.trusting(serialize.load, data)
end

-- The code that a thread of a pool runs: jobs of its own queue or of the one that all share, until
-- a message or a job says that it is to end.
local WORKER = [[
__threadid, __queue_running, __queue_specific = %d, true, true
require('threads').serve(%d, %d, %d, '%s')
]]

-- The message that answers a job's: the thread's number and the results.
local function answer_of(serializer, text, kind)
  local serialize = require(serializer)
  local job = list_of(serialize, text, kind)
  local answer = packed(xpcall(job.callback, debug.traceback, unpack(job.args, 1, job.args.n)))
  if not answer[1] then error(answer[2], 0) end
  answer[1] = _G.__threadid
  return message_of(serialize, answer)
end

--- Does the jobs of a pool; what its threads run. Where a job, or what serializes, raises an error,
-- the answer is the text of that.
local function serve(results, shared, specific, serializer)
  while _G.__queue_running do
    local text, id, kind = python.get(_G.__queue_specific and specific or shared)
    if kind == 'stop' then return end
    local ok, answer, answer_kind = pcall(answer_of, serializer, text, kind)
    if not ok then
      answer = ('[thread %d callback] %s'):format(_G.__threadid, errors.error_text(answer))
      answer_kind = 'error'
    end
    python.put(results, answer, id, answer_kind)
  end
end

-- ------------------------------------------------------------------------- pools

-- Jobs of our own: functions of the runtime itself are not written to messages.
local nothing = loadstring('', '=threads')
local be_specific = loadstring('__queue_specific = true', '=threads')
local be_shared = loadstring('__queue_specific = false', '=threads')

local MOST = 1024 -- threads of a pool: each has an engine, which takes some MB
local PATIENCE = 0.5 -- seconds between looks at whether the threads that do jobs still run

local Threads = { __serialize = 'threads.serialize' }
Threads.__index = Threads

--- Sets, or returns, the name of the module that serializes jobs and results.
function Threads.serialization(name)
  if not name then return Threads.__serialize end
  if type(name) ~= 'string' then errors.fail('assertion failed!') end
  Threads.__serialize = name
end

local function check_running(self)
  if not self.__running then errors.fail('thread system is not running') end
end

local function check_new(n, count, ...)
  if not tonumber(count) then errors.type_error(1, 'number', count, false, '?') end
  if not (count >= 0) then errors.fail('threads: queue new out of memory') end
  if count > MOST then errors.fail('threads: thread new failed') end
  for i = 1, n - 1 do
    if type((select(i, ...))) ~= 'function' then errors.fail('function callback expected') end
  end
end

-- Lets the threads of a pool end when they have done the jobs that they do now.
local function finish(self)
  if not self.__running then return end
  self.__running = false
  python.free_queue(self.results, 0)
  python.free_queue(self.shared, self.N)
  for _, queue in ipairs(self.specifics) do python.free_queue(queue, 1) end
end

-- Starts the threads of a pool, and calls some functions in each; their last results.
local function start(self, functions)
  for i = 1, self.N do
    self.specifics[i] = python.new_queue()
    self.threads[i] = Thread(
      WORKER:format(i, self.results, self.shared, self.specifics[i], self.serializer))
  end
  local returned = {}
  for j = 1, #functions do
    for i = 1, self.N do
      self:addjob(i, functions[j], function(...)
        if j == #functions then table.insert(returned, { ... }) end
      end, i)
    end
  end
  self:specific(false)
  return returned
end

--- A pool of threads, in each of which some functions are called first; and their last results.
function Threads.new(...)
  check_new(select('#', ...), ...)
  local functions = { select(2, ...) }
  if #functions == 0 then functions[1] = nothing end
  local self = setmetatable({
    N = (...), endcallbacks = { n = 0 }, errors = false, __specific = true, __running = true,
    serializer = Threads.__serialize, serialize = require(Threads.__serialize),
    results = python.new_queue(), shared = python.new_queue(), specifics = {}, threads = {},
    __gc__ = newproxy(true),
  }, Threads)
  getmetatable(self.__gc__).__gc = function()
    pcall(self.terminate, self)
    finish(self)
  end
  local function end_failed(ok) if not ok then finish(self) end end
  return self, errors.finally(end_failed, start, self, functions)
end

function Threads:isrunning() return self.__running end

--- Sets, or returns, whether each job is for the thread that its first argument names.
function Threads:specific(flag)
  check_running(self)
  if flag == nil then return self.__specific end
  if type(flag) ~= 'boolean' then errors.fail('boolean expected') end
  self:synchronize()
  if self.__specific == flag then return end
  for i = 1, self.N do
    if self.__specific then self:addjob(i, be_shared) else self:addjob(be_specific) end
  end
  self.__specific = flag
  self:synchronize()
end

-- The next answer: the number of its job, and what pcall returns of reading it.
local function receive(self)
  if self.endcallbacks.n == 0 then errors.fail('there is no job to wait for') end
  while true do
    local text, id, kind = python.get(self.results, PATIENCE)
    if kind == 'error' then return id, false, text end
    if text then return id, pcall(list_of, self.serialize, text, kind) end
    for i, thread in ipairs(self.threads) do
      if not python_calls.ask(host.worker_runs, thread.number) then
        finish(self)
        errors.fail(('thread %d has ended before its jobs'):format(i))
      end
    end
  end
end

--- Waits for one job's end, and calls its end callback.
function Threads:dojob()
  check_running(self)
  self.errors = false
  local id, ok, answer = receive(self)
  local callback = self.endcallbacks[id]
  self.endcallbacks[id], self.endcallbacks.n = nil, self.endcallbacks.n - 1
  if not ok then
    self.errors = true
    errors.fail(tostring(answer))
  end
  local done, message = xpcall(function() return callback(unpack(answer, 2, answer.n)) end,
    debug.traceback)
  if not done then
    self.errors = true
    errors.fail(('[thread %d endcallback] %s'):format(answer[1], tostring(message)))
  end
end

local function check_index(self, index)
  if type(index) ~= 'number' or index < 1 or index > self.N then
    errors.fail('thread index expected')
  end
end

-- The most jobs that have been added and whose end callbacks have not been called: the reference's
-- queues (of jobs, also each thread's own, and of results) hold N each, and each thread one more.
local function most_jobs(self)
  local queues = self.__specific and self.N or 1
  return self.N * (queues + 2)
end

--- Tells whether a job can be added without waiting for another one's end.
function Threads:acceptsjob(index)
  check_running(self)
  if self.__specific then check_index(self, index) end
  local waiting = python.waiting(self.__specific and self.specifics[index] or self.shared)
  return waiting < self.N and self.endcallbacks.n < most_jobs(self)
end

--- Adds a job: a function that a thread calls with the arguments that follow, and one that is
-- called here with its results.
function Threads:addjob(...)
  check_running(self)
  self.errors = false
  local index, first = nil, 1
  if self.__specific then
    index, first = (...), 2
    check_index(self, index)
  end
  local callback, endcallback = select(first, ...)
  if type(callback) ~= 'function' then errors.fail('function callback expected') end
  if endcallback ~= nil and type(endcallback) ~= 'function' then
    errors.fail('function (or nil) endcallback expected')
  end
  while not self:acceptsjob(index) do self:dojob() end
  local args = { n = math.max(select('#', ...) - first - 1, 0), select(first + 2, ...) }
  local text, kind = message_of(self.serialize, { callback = callback, args = args })
  local id = #self.endcallbacks + 1
  python.put(index and self.specifics[index] or self.shared, text, id, kind)
  self.endcallbacks[id] = endcallback or nothing
  self.endcallbacks.n = self.endcallbacks.n + 1
end

function Threads.haserror() return false end -- errors are raised at once

function Threads:hasjob()
  check_running(self)
  return self.endcallbacks.n > 0
end

--- Waits for the end of all jobs.
function Threads:synchronize()
  if not self.__running then return end
  self.errors = false
  while self:hasjob() do self:dojob() end
end

--- Ends the threads when all jobs are done.
function Threads:terminate()
  if not self.__running or self.errors then return end
  errors.finally(function() finish(self) end, self.synchronize, self)
  for _, thread in ipairs(self.threads) do thread:free() end
end

-- --------------------------------------------------------------------- the module

-- Makes the function that `safe` returns, which is one of a program: it may be a job, too.
local make_safe = loadstring([[
local f, number = ...
local function finish(mutex, ...)
  mutex:unlock()
  return ...
end
return function(...)
  local mutex = require('threads').Mutex(number)
  mutex:lock()
  return finish(mutex, f(...))
end
]], '=threads.safe')

--- A function that calls another one while it holds a mutex, also in another thread.
local function safe(f, mutex)
  if type(f) ~= 'function' or mutex ~= nil and not is_mutex(mutex) then
    errors.fail('function, [mutex] expected')
  end
  local locked = make_safe(f, (mutex or Mutex()):id())
  return locked
end

errors.make_public(Threads)

local constructor = setmetatable({}, {
  __newindex = Threads, __index = Threads,
  __call = function(_, ...) return Threads.new(...) end,
})

return setmetatable({
  Thread = Thread, Mutex = Mutex, Condition = Condition, Threads = constructor, safe = safe,
  serve = serve,
}, getmetatable(constructor))
