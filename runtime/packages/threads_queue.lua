--- The module threads.queue: jobs that wait, first in, first out. The original's threads share it;
-- here it belongs to one, so that nobody else can fill or empty it.
-- @module threads_queue

local errors = import 'core.errors'

local Queue = {}
Queue.__index = Queue

--- Adds a job: a function, and what it is called with.
function Queue:addjob(callback, ...)
  if self.isfull == 1 then errors.fail('the queue is full, and no other thread empties it') end
  local save = require(self.serialize).save
  self.jobs[self.tail] = { save(callback), save({ n = select('#', ...), ... }) }
  self.tail = (self.tail + 1) % self.size
  self.isfull, self.isempty = self.tail == self.head and 1 or 0, 0
end

--- Does the first job; returns what it returns.
function Queue:dojob()
  if self.isempty == 1 then errors.fail('the queue is empty, and no other thread fills it') end
  local load, job = require(self.serialize).load, self.jobs[self.head]
  self.head = (self.head + 1) % self.size
  self.isfull, self.isempty = 0, self.head == self.tail and 1 or 0
  local arguments = load(job[2])
  return load(job[1])(unpack(arguments, 1, arguments.n))
end

function Queue.new(size, serialize)
  local queue = { size = size, serialize = serialize, jobs = {}, head = 0, tail = 0 }
  queue.isempty, queue.isfull = 1, 0
  return setmetatable(queue, Queue)
end

return setmetatable({}, { __index = Queue, __call = function(_, ...) return Queue.new(...) end })
