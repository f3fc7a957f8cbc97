--- Shares out work on raw memory to threads that do not need Python's lock.
-- Each thread has a Lua state of its own, which loads this module. All threads of an engine see one
-- struct, the shared job: which job is to be done, with which parameters, and what of it is left.
-- The thread that posts a job takes part in it. The others look for a new job for a while, and
-- then sleep until one is posted. Each thread does a share of the positions, in pieces; a thread
-- that has done its share goes on with pieces of the others'. runtime/compute/thread_pool.py starts
-- the threads; the jobs are in parallel/jobs.lua.
--
-- Shares and pieces depend on the size of a job and on torch.setnumthreads alone. How many threads
-- do them, and which thread does which, may depend on the load of the machine: the results have the
-- same bits.
-- @module thread_pool

local ffi, jobs, raw_memory = import('ffi', 'parallel.jobs', 'parallel.memory')
local C = ffi.C

local functions, index_of = jobs.functions, jobs.index_of
local cast, sqrt, ceil, min = ffi.cast, math.sqrt, math.ceil, math.min
local getinfo, running = debug.getinfo, coroutine.running
local select, pcall, error, tonumber, unpack = select, pcall, error, tonumber, unpack

local MAX_THREADS = 64
local MAX_NUMBERS = 32    -- of a job's parameters
local PIECES = 2          -- of a share, if the job does not say how large pieces are
local MAX_PIECE = 2 ^ 30  -- positions; C functions count them with an int
local VECTOR = 64         -- positions; the vectors of every processor hold a divisor of that
local ROUNDED = 16        -- vectors from which on a share is rounded up to whole vectors
local FAILED, OUT_OF_RANGE = 1, 2 -- how a thread tells the others of an error
local SPINS = 4096        -- for a new job before a thread sleeps, each after a rest
local ROOTS = 16          -- computed in a rest; one waits for the other, so that a thread that has
                          -- the same core can use it meanwhile

ffi.cdef[[
int th_mutex_init(void *, void *) __asm__("pthread_mutex_init");
int th_mutex_trylock(void *) __asm__("pthread_mutex_trylock");
int th_mutex_lock(void *) __asm__("pthread_mutex_lock");
int th_mutex_unlock(void *) __asm__("pthread_mutex_unlock");
int th_cond_init(void *, void *) __asm__("pthread_cond_init");
int th_cond_wait(void *, void *) __asm__("pthread_cond_wait");
int th_cond_broadcast(void *) __asm__("pthread_cond_broadcast");
int th_yield(void) __asm__("sched_yield");
int th_getpid(void) __asm__("getpid");
int th_nothing(int) __asm__("abs");
int th_compare(const void *, const void *, size_t) __asm__("memcmp");
void th_copy(intptr_t to, intptr_t from, size_t bytes) __asm__("memcpy");
void th_fill(intptr_t to, int byte, size_t bytes) __asm__("memset");
]]

-- Numbers are doubles, which can hold addresses, too. `posted` counts jobs; `running` the pieces at
-- work. A mutex or condition of pthread has at most 64 bytes.
local SharedJob = ffi.typeof([[struct {
  int64_t lock[8], sleep[8], wake[8];
  volatile int posted, running, sleepers, failed, ending;
  int job, shares, threads, process;
  double piece, parameters[$], first[$], last[$];
}]], MAX_NUMBERS, MAX_THREADS, MAX_THREADS)
local shared_job_pointer = ffi.typeof('$ *', SharedJob)

jobs.part 'parallel.sorting'

local thread_pool = { MAX_THREADS = MAX_THREADS }

--- Tells whether this system has the C functions that threads need.
function thread_pool.can_share()
  return (pcall(function() return C.th_mutex_trylock, C.th_cond_wait, C.th_yield end))
end

-- Waits a moment and leaves the processor's core to the thread it may be shared with; now and then
-- to another process. After the call of a C function, LuaJIT reads memory anew.
local function rest(times)
  local x = times
  for _ = 1, ROOTS do x = sqrt(x + 1) end
  if x < 0 or times % 128 == 127 then C.th_yield() end
  C.th_nothing(0)
end

-- Takes a lock without sleeping: who holds it needs it for a moment only.
local function acquire(mutex)
  local times = 0
  while C.th_mutex_trylock(mutex) ~= 0 do
    rest(times)
    times = times + 1
  end
end

-- First and last position of the next piece: of the thread's own share, then of the others'; nil if
-- none is left. `me` is the number of the thread, `done` how many pieces it has done just now.
local function claim(shared_job, me, done)
  acquire(shared_job.lock)
  shared_job.running = shared_job.running - done
  local shares = shared_job.shares
  for k = me, me + shares - 1 do
    local share = k % shares
    local at, last = shared_job.first[share], shared_job.last[share]
    if at < last then
      last = min(at + shared_job.piece, last)
      shared_job.first[share], shared_job.running = last, shared_job.running + 1
      C.th_mutex_unlock(shared_job.lock)
      return at, last
    end
  end
  C.th_mutex_unlock(shared_job.lock)
end

local failure -- the message of the last error of a job in this thread

local function take_part(shared_job, me)
  local at, last = claim(shared_job, me, 0)
  while at do
    local ok, message = pcall(functions[shared_job.job], shared_job.parameters, at, last)
    if not ok then
      shared_job.failed = message == jobs.OUT_OF_RANGE and OUT_OF_RANGE or FAILED
      failure = message
    end
    at, last = claim(shared_job, me, 1)
  end
end

-- Waits until another job than number `seen` is posted, or the threads are to end; returns the
-- job's number. A thread that falls asleep while a job is posted may miss it: the others do its
-- share. `spins` is how often the thread spins before it sleeps.
local function await(shared_job, seen, spins)
  for times = 1, spins do
    if shared_job.posted ~= seen or shared_job.ending ~= 0 then return shared_job.posted end
    rest(times)
  end
  C.th_mutex_lock(shared_job.sleep)
  shared_job.sleepers = shared_job.sleepers + 1
  while shared_job.posted == seen and shared_job.ending == 0 do
    C.th_cond_wait(shared_job.wake, shared_job.sleep)
  end
  shared_job.sleepers = shared_job.sleepers - 1
  C.th_mutex_unlock(shared_job.sleep)
  return shared_job.posted
end

-- Initializes a shared job that no other thread uses.
local function start(shared_job)
  ffi.fill(cast('char *', shared_job), ffi.sizeof(SharedJob))
  C.th_mutex_init(shared_job.lock, nil)
  C.th_mutex_init(shared_job.sleep, nil)
  C.th_cond_init(shared_job.wake, nil)
  shared_job.process = C.th_getpid()
end

-- A forked process has none of the threads, but locks as they had them: it must begin anew.
local function start_after_fork(shared_job)
  if shared_job.process ~= C.th_getpid() then start(shared_job) end
end

--- To be called in a process before its first thread is started.
function thread_pool.prepare_shared_job(address)
  start_after_fork(cast(shared_job_pointer, address))
end

--- The address of a new shared job.
function thread_pool.new_shared_job()
  local shared_job = cast(shared_job_pointer, C.th_calloc(1, ffi.sizeof(SharedJob)))
  start(shared_job)
  return tonumber(cast('intptr_t', shared_job))
end

--- Frees a shared job that no thread uses any more.
function thread_pool.free_shared_job(address)
  C.th_free(cast('void *', address))
end

local function wake(shared_job)
  C.th_mutex_lock(shared_job.sleep)
  C.th_cond_broadcast(shared_job.wake)
  C.th_mutex_unlock(shared_job.sleep)
end

--- Lets all threads return from `work`.
function thread_pool.stop(address)
  local shared_job = cast(shared_job_pointer, address)
  if shared_job.process ~= C.th_getpid() then return end -- the threads are another process's
  shared_job.ending = 1
  wake(shared_job)
end

--- Sets the Python function that does slices: of the number of the work, and two positions.
function thread_pool.hand_over(do_slice)
  jobs.shared.do_slice = do_slice
end

--- Takes part in every job until `stop`, as thread number `me`; the one that posts is number 0.
function thread_pool.work(address, me, do_slice)
  local shared_job = cast(shared_job_pointer, address)
  local seen, spins = 0, SPINS
  thread_pool.hand_over(do_slice)
  while shared_job.ending == 0 do
    seen = await(shared_job, seen, spins)
    spins = me < shared_job.threads and SPINS or 0 -- who is not needed now may not be for long
    if spins > 0 and shared_job.ending == 0 then take_part(shared_job, me) end
  end
end

-- Rounds a number of positions up; a large one to whole vectors. C functions do what is left at the
-- end of a range in another way than vectors: there must be none within the positions.
local function round_up(x)
  local unit = x > ROUNDED * VECTOR and VECTOR or 1
  return ceil(x / unit) * unit
end

-- The positions of a share, and of a piece of it.
local function division(shares, size, piece)
  local share = round_up(size / shares)
  return share, min(piece > 0 and piece or round_up(share / PIECES), MAX_PIECE)
end

local function post(shared_job, index, shares, threads, size, piece)
  local share
  share, piece = division(shares, size, piece)
  acquire(shared_job.lock)
  shared_job.job, shared_job.shares, shared_job.threads = index, shares, threads
  shared_job.failed, shared_job.piece = 0, piece
  for k = 0, shares - 1 do
    shared_job.first[k], shared_job.last[k] = k * share, min((k + 1) * share, size)
  end
  shared_job.posted = (shared_job.posted + 1) % MAX_PIECE
  C.th_mutex_unlock(shared_job.lock)
  if shared_job.sleepers > 0 then wake(shared_job) end
end

-- Waits until no thread is at a piece any more.
local function finish(shared_job)
  local times = 0
  while shared_job.running > 0 do
    rest(times)
    times = times + 1
  end
  acquire(shared_job.lock) -- from here on this thread sees what the others have written
  C.th_mutex_unlock(shared_job.lock)
end

local function share_out(shared_job, index, shares, threads, size, piece)
  post(shared_job, index, shares, threads, size, piece)
  take_part(shared_job, 0)
  finish(shared_job)
end

-- The number of jobs that are under way in this thread, one within the other: the collector may run
-- a finalizer within a job, and the finalizer may need a job too. The jobs of each depth have
-- parameters, and memory for intermediate results, of their own.
local depth, levels = 0, {}
local owner -- the coroutine that began the outermost job
local counted = {} -- functions that raise `depth` -> true
local is_sharing = false

--- Tells whether other threads are at a job of this one.
function thread_pool.is_sharing() return is_sharing end

local function new_level(d)
  local job_functions = d > 1 and jobs.copy().functions or functions
  local parameters = raw_memory.working_memory('double', MAX_NUMBERS)
  local level = { jobs = job_functions, parameters = parameters }
  levels[d] = level
  return level
end

local function do_shares(index, shares, size, piece, ...)
  if depth == 0 then owner = running() end
  depth = depth + 1
  local level = levels[depth]
  if not level or #level.jobs < #functions then level = new_level(depth) end
  local run, parameters = level.jobs[index], level.parameters
  for i = 1, select('#', ...) do parameters[i - 1] = (select(i, ...)) end
  local share, step = division(shares, size, piece)
  for first = 0, size - 1, share do
    local at, last = first, min(first + share, size)
    while at < last do
      run(parameters, at, min(at + step, last))
      at = at + step
    end
  end
end

counted[do_shares] = true

-- Does all shares in this thread.
local function do_alone(...)
  local before = depth
  local ok, message = pcall(do_shares, ...)
  depth = before
  if not ok then error(message, 0) end
end

-- Raises the error of a full stack before a job is posted, where there is no room to do it.
local STACK, nothing = 200, {}
local function check_stack()
  return select('#', unpack(nothing, 1, STACK))
end

-- Does a job, whose parameters the shared job has, with the other threads. Returns whether it was
-- done, or false and the message of its error.
local function share_with_others(shared_job, ...)
  is_sharing = true -- Ctrl-C must not free memory that other threads write to
  failure = nil
  local ok, message = pcall(share_out, shared_job, ...)
  if not ok then finish(shared_job) end
  if ok and shared_job.failed == OUT_OF_RANGE then failure = jobs.OUT_OF_RANGE end
  if ok and shared_job.failed ~= 0 then ok, message = false, failure or 'another thread failed' end
  is_sharing = false
  return ok, message
end

-- Does a job with the other threads.
local function do_together(shared_job, index, shares, threads, size, piece, ...)
  check_stack()
  start_after_fork(shared_job)
  depth, owner = 1, running()
  for i = 1, select('#', ...) do shared_job.parameters[i - 1] = (select(i, ...)) end
  local ok, message = share_with_others(shared_job, index, shares, threads, size, piece)
  depth = 0
  if not ok then error(message, 0) end
end

counted[do_together] = true

-- Corrects `depth`: an error in compiled code, when the stack is full, may pass by the pcall above,
-- so that the job is not counted down. The stack tells which jobs are under way.
local function correct_depth()
  if running() ~= owner then return end
  local level, jobs_on_stack = 2, 0
  local info = getinfo(level, 'f')
  while info do
    if counted[info.func] then jobs_on_stack = jobs_on_stack + 1 end
    level = level + 1
    info = getinfo(level, 'f')
  end
  depth = jobs_on_stack
end

--- Begins what calls job functions (`jobs` in parallel/jobs.lua) of its own; false where a job is
-- under way in this thread. Until `finish_outermost`, nothing else does so.
-- @param f the function that is on the stack meanwhile
function thread_pool.begin_outermost(f)
  if depth > 0 then
    correct_depth()
    if depth > 0 then return false end
  end
  owner, depth, counted[f] = running(), 1, true
  return true
end

function thread_pool.finish_outermost()
  depth = 0
end

--- Does a job with the other threads, for what `begin_outermost` has begun.
-- @param count how many parameters it has
function thread_pool.run_within(name, address, shares, threads, size, parameters, count)
  local shared_job = cast(shared_job_pointer, address)
  check_stack()
  start_after_fork(shared_job)
  for i = 0, count - 1 do shared_job.parameters[i] = parameters[i] end
  local ok, message = share_with_others(shared_job, index_of[name], shares, threads, size, 0)
  if not ok then error(message, 0) end
end

--- The parameters of a job in order, for Python: lines of a name and its count of numbers.
function thread_pool.parameters(name)
  local lines = {}
  for k, parameter in ipairs(jobs.parameters[name]) do lines[k] = table.concat(parameter, ' ') end
  return table.concat(lines, '\n')
end

--- Does a job for all of 0 to size - 1.
-- @param address that of the shared job
-- @param shares how many the positions are divided into; 1 for a job that is not worth sharing out
-- @param threads how many do them; 1 for this one alone
-- @param piece the positions of a piece; 0 for a number that suits the shares
-- @param ... the numbers of the job's parameters, in order
function thread_pool.run(name, address, shares, threads, size, piece, ...)
  local index = index_of[name]
  if depth > 0 then correct_depth() end
  if threads > 1 and depth == 0 then
    do_together(cast(shared_job_pointer, address), index, shares, threads, size, piece, ...)
  else
    do_alone(index, shares, size, piece, ...)
  end
end

--- Does a job with a table of its parameters by their names; a list for one of several numbers.
function thread_pool.run_named(name, address, shares, threads, size, piece, given)
  local numbers = {}
  for _, parameter in ipairs(jobs.parameters[name]) do
    local value, count = given[parameter[1]], parameter[2]
    for k = 1, count do
      numbers[#numbers + 1] = count == 1 and value or value[k]
    end
  end
  thread_pool.run(name, address, shares, threads, size, piece, unpack(numbers))
end

return thread_pool
