--- The package threads: pools of threads that do jobs, and locks. Each thread has an engine of its
-- own; jobs, their arguments and results go from one to another as serialized objects.
-- @module threads

local th = ...
local host = th.host

local loadstring = loadstring

local python = th.python_half 'threads'

-- ------------------------------------------------------------------ the low level

-- A class of objects that stand for something of Python's by its number: Class() makes one,
-- Class(number) leads to one that another thread has made.
local function class_of_numbers(methods, new)
  methods.__index = methods
  function methods:id() return self.number end
  return setmetatable({}, {
    __index = methods,
    __call = function(_, number)
      return setmetatable({ number = number or new() }, methods)
    end,
  })
end

local Mutex = class_of_numbers({
  lock = function(self) python.lock(self.number) end,
  unlock = function(self) python.unlock(self.number) end,
  free = function(self) python.free_mutex(self.number) end,
}, python.new_mutex)

local Condition = class_of_numbers({
  wait = function(self, mutex) python.wait(self.number, mutex.number) end,
  signal = function(self) python.signal(self.number) end,
  free = function(self) python.free_condition(self.number) end,
}, python.new_condition)

local Thread = class_of_numbers({
  free = function(self) th.ask(host.join_worker, self.number) end,
})
getmetatable(Thread).__call = function(_, source)
  if type(source) ~= 'string' then th.type_error(1, 'string', source) end
  local number = th.ask(host.start_worker, source, package.path, package.cpath,
    th.has_gpu(), th.serial.is_trusting())
  return setmetatable({ number = number }, getmetatable(Thread).__index)
end

-- ------------------------------------------------------------------------ queues

local function packed(...) return { n = select('#', ...), ... } end

-- Sends a list by a queue, about the job of a number. What the module that serializes gives may be
-- a string or a CharStorage.
local function send(queue, serialize, id, list)
  local data = serialize.save(list)
  local is_storage = type(data) ~= 'string'
  python.put(queue, is_storage and data:string() or data, id, is_storage)
end

-- The next message of a queue: the number of its job, and what pcall returns of reading its list.
local function receive(queue, serialize)
  local text, id, is_storage = python.get(queue)
  local data = is_storage and torch.CharStorage():string(text) or text
  return id, pcall(th.serial.trusting, serialize.load, data)
end

-- What a thread of a pool runs: jobs of its own queue or of the one that all share, until one says
-- that it is to end.
local WORKER = [[
__threadid, __queue_running, __queue_specific = %d, true, true
require('threads').serve(%d, %d, %d, '%s')
]]

local function answered(ok, ...) return packed(ok, _G.__threadid, ...) end

local function run_job(job)
  return xpcall(job.callback, debug.traceback, unpack(job.args, 1, job.args.n))
end

--- Does the jobs of a pool; what its threads run. An answer is whether a job has ended without an
-- error, the thread's number, and the results or the error's message.
local function serve(results, shared, specific, serializer)
  local serialize = require(serializer)
  while _G.__queue_running do
    local id, is_read, job = receive(_G.__queue_specific and specific or shared, serialize)
    local answer = is_read and answered(run_job(job)) or answered(false, job)
    local ok, message = pcall(send, results, serialize, id, answer)
    if not ok then send(results, serialize, id, answered(false, message)) end
  end
end

-- ------------------------------------------------------------------------- pools

-- Jobs of our own: functions of the runtime itself are not written to messages.
local nothing = loadstring('', '=threads')
local be_specific = loadstring('__queue_specific = true', '=threads')
local be_shared = loadstring('__queue_specific = false', '=threads')
local stop = loadstring('__queue_running = false', '=threads')

local Threads = { __serialize = 'threads.serialize' }
Threads.__index = Threads

--- Sets, or returns, the name of the module that serializes jobs and results.
function Threads.serialization(name)
  if name == nil then return Threads.__serialize end
  if type(name) ~= 'string' then th.fail('assertion failed!') end
  Threads.__serialize = name
end

local function check_running(self)
  if not self.__running then th.fail('thread system is not running') end
end

--- A pool of threads, in each of which some functions are called first; and their last results.
function Threads.new(count, ...)
  local functions = { ... }
  if #functions == 0 then functions[1] = nothing end
  local self = setmetatable({
    N = count, endcallbacks = { n = 0 }, errors = false, __specific = true, __running = true,
    serializer = Threads.__serialize, serialize = require(Threads.__serialize),
    results = python.new_queue(2 ^ 31), shared = python.new_queue(count),
    specifics = {}, threads = {},
  }, Threads)
  for i = 1, count do
    self.specifics[i] = python.new_queue(count)
    self.threads[i] = Thread(
      WORKER:format(i, self.results, self.shared, self.specifics[i], self.serializer))
  end
  self.__gc__ = newproxy(true)
  getmetatable(self.__gc__).__gc = function() pcall(self.terminate, self) end
  local returned = {}
  for j = 1, #functions do
    for i = 1, count do
      self:addjob(i, functions[j], function(...)
        if j == #functions then table.insert(returned, { ... }) end
      end, i)
    end
  end
  self:specific(false)
  return self, returned
end

function Threads:isrunning() return self.__running end

--- Sets, or returns, whether each job is for the thread that its first argument names.
function Threads:specific(flag)
  check_running(self)
  if flag == nil then return self.__specific end
  if type(flag) ~= 'boolean' then th.fail('boolean expected') end
  self:synchronize()
  if self.__specific == flag then return end
  for i = 1, self.N do
    if self.__specific then self:addjob(i, be_shared) else self:addjob(be_specific) end
  end
  self.__specific = flag
  self:synchronize()
end

--- Waits for one job's end, and calls its end callback.
function Threads:dojob()
  check_running(self)
  self.errors = false
  local id, is_read, answer = receive(self.results, self.serialize)
  if not is_read then answer = packed(false, 0, answer) end
  local ok, thread = answer[1], answer[2]
  local callback = self.endcallbacks[id]
  self.endcallbacks[id], self.endcallbacks.n = nil, self.endcallbacks.n - 1
  if not ok then
    self.errors = true
    th.fail(('[thread %d callback] %s'):format(thread, tostring(answer[3])))
  end
  local done, message = xpcall(function() return callback(unpack(answer, 3, answer.n)) end,
    debug.traceback)
  if not done then
    self.errors = true
    th.fail(('[thread %d endcallback] %s'):format(thread, tostring(message)))
  end
end

local function check_index(self, index)
  if type(index) ~= 'number' or index < 1 or index > self.N then
    th.fail('thread index expected')
  end
end

--- Whether a job can be added without waiting for another one's end.
function Threads:acceptsjob(index)
  check_running(self)
  if self.__specific then check_index(self, index) end
  return not python.is_full(self.__specific and self.specifics[index] or self.shared)
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
  if type(callback) ~= 'function' then th.fail('function callback expected') end
  if endcallback ~= nil and type(endcallback) ~= 'function' then
    th.fail('function (or nil) endcallback expected')
  end
  while not self:acceptsjob(index) do self:dojob() end
  local id = #self.endcallbacks + 1
  self.endcallbacks[id] = endcallback or function() end
  self.endcallbacks.n = self.endcallbacks.n + 1
  local args = { n = math.max(select('#', ...) - first - 1, 0), select(first + 2, ...) }
  send(index and self.specifics[index] or self.shared, self.serialize, id,
    { callback = callback, args = args })
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

local function finish(self)
  for i = 1, self.N do
    if self.__specific then self:addjob(i, stop) else self:addjob(stop) end
  end
  self:synchronize()
  for i = 1, self.N do self.threads[i]:free() end
  python.free_queue(self.results)
  python.free_queue(self.shared)
  for i = 1, self.N do python.free_queue(self.specifics[i]) end
end

--- Ends the threads when all jobs are done.
function Threads:terminate()
  if not self.__running or self.errors then return end
  th.finally(function() self.__running = false end, finish, self)
end

-- --------------------------------------------------------------------- the module

-- What `safe` returns is a function of a program: it may be a job, too.
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
  if type(f) ~= 'function' then th.fail('function, [mutex] expected') end
  local locked = make_safe(f, (mutex or Mutex()):id())
  return locked
end

local constructor = setmetatable({}, {
  __newindex = Threads, __index = Threads,
  __call = function(_, ...) return Threads.new(...) end,
})

return setmetatable({
  Thread = Thread, Mutex = Mutex, Condition = Condition, Threads = constructor, safe = safe,
  serve = serve,
}, getmetatable(constructor))
