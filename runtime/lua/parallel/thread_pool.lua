--- Work on raw memory that threads share out without Python's lock.
-- Each thread has a Lua state of its own, and all load this module. They see the same board: a
-- block of memory with the job, its parameters and what is left of it. The thread that posts a
-- job takes part; the others look out for jobs awake for a while, then asleep. One thread's
-- share that is late is taken by the others, piece by piece. (They are started by
-- runtime/compute/thread_pool.py; what they do is in parallel/jobs.lua.)
--
-- Shares and pieces depend on the size of a job and on torch.setnumthreads alone. How many
-- threads do them, one or all, and which thread does which, may depend on what else the machine
-- does: the results have the same bits.
-- @module thread_pool

local th = ...
local ffi = require 'ffi'
local C = ffi.C

local jobs, index_of = th.jobs, th.job_index
local chunk = th.chunk
local cast, sqrt, ceil, min = ffi.cast, math.sqrt, math.ceil, math.min
local getinfo, running = debug.getinfo, coroutine.running
local select, pcall, error, tonumber, unpack = select, pcall, error, tonumber, unpack

local MOST = 64         -- threads
local ROOM = 24         -- parameters of a job
local PIECES = 2        -- of a share, where a job does not mind
local LARGEST = 2 ^ 30  -- positions of a piece: what C functions count with an int
local EVEN = 64         -- positions that vectors of any processor divide
local MANY = 16         -- times that: so many that rounding to it does no harm
local AWAKE = 4096      -- looks, each after a rest, before a thread goes to sleep
local REST = 16         -- square roots: a chain of these leaves the processor to its other half

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
void *th_calloc(size_t, size_t) __asm__("calloc");
void th_free(void *) __asm__("free");
]]

-- The numbers are doubles, which hold addresses too. pthread's types are opaque: there is room.
local Board = ffi.typeof([[struct {
  int64_t lock[8], sleep[8], wake[8];
  volatile int posted, running, sleepers, failed, ending;
  int job, shares, threads, process;
  double piece, parameters[$], first[$], last[$];
}]], ROOM, MOST, MOST)
local board_pointer = ffi.typeof('$ *', Board)

local thread_pool = { MOST = MOST }
th.thread_pool = thread_pool

--- Whether this system has what threads need.
function thread_pool.can_share()
  return (pcall(function() return C.th_mutex_trylock, C.th_cond_wait, C.th_yield end))
end

-- Waits a moment without taking much of the processor: threads may share one. Now and then
-- another process may have it. The call lets LuaJIT read memory again.
local function rest(times)
  local x = times
  for _ = 1, REST do x = sqrt(x + 1) end
  if x < 0 or times % 128 == 127 then C.th_yield() end
  C.th_nothing(0)
end

-- Never sleeps: what holds a lock is done with it soon.
local function acquire(mutex)
  local times = 0
  while C.th_mutex_trylock(mutex) ~= 0 do
    rest(times)
    times = times + 1
  end
end

-- The next piece of what is left, of one's own share first; nil where nothing is left.
local function claim(board, me, done)
  acquire(board.lock)
  board.running = board.running - done
  local shares = board.shares
  for k = me, me + shares - 1 do
    local share = k % shares
    local at, last = board.first[share], board.last[share]
    if at < last then
      last = min(at + board.piece, last)
      board.first[share], board.running = last, board.running + 1
      C.th_mutex_unlock(board.lock)
      return at, last
    end
  end
  C.th_mutex_unlock(board.lock)
end

local failure -- the message of what failed in this thread

local function take_part(board, me)
  local at, last = claim(board, me, 0)
  while at do
    local ok, message = pcall(jobs[board.job], board.parameters, at, last)
    if not ok then board.failed, failure = 1, message end
    at, last = claim(board, me, 1)
  end
end

-- Waits for a job that is not the one seen before; returns its number. Who falls asleep while a
-- job is posted may miss it: the others do its share.
local function await(board, seen)
  for times = 1, AWAKE do
    if board.posted ~= seen or board.ending ~= 0 then return board.posted end
    rest(times)
  end
  C.th_mutex_lock(board.sleep)
  board.sleepers = board.sleepers + 1
  while board.posted == seen and board.ending == 0 do C.th_cond_wait(board.wake, board.sleep) end
  board.sleepers = board.sleepers - 1
  C.th_mutex_unlock(board.sleep)
  return board.posted
end

-- Only for a board that no other thread looks at.
local function start(board)
  ffi.fill(cast('char *', board), ffi.sizeof(Board))
  C.th_mutex_init(board.lock, nil)
  C.th_mutex_init(board.sleep, nil)
  C.th_cond_init(board.wake, nil)
  board.process = C.th_getpid()
end

-- A fork leaves the threads that look at a board behind, and locks as they had them.
local function start_after_fork(board)
  if board.process ~= C.th_getpid() then start(board) end
end

--- Prepares a board for the first thread of a process that is going to look at it.
function thread_pool.prepare_board(address)
  start_after_fork(cast(board_pointer, address))
end

--- The address of a new board.
function thread_pool.new_board()
  local board = cast(board_pointer, C.th_calloc(1, ffi.sizeof(Board)))
  start(board)
  return tonumber(cast('intptr_t', board))
end

--- Frees a board that no thread looks at any more.
function thread_pool.free_board(address)
  C.th_free(cast('void *', address))
end

local function wake(board)
  C.th_mutex_lock(board.sleep)
  C.th_cond_broadcast(board.wake)
  C.th_mutex_unlock(board.sleep)
end

--- Lets all threads return from `work`.
function thread_pool.stop(address)
  local board = cast(board_pointer, address)
  if board.process ~= C.th_getpid() then return end -- a fork, which has none of them
  board.ending = 1
  wake(board)
end

--- Sets what does the slices of jobs in Python: a function of a number, and the positions.
function thread_pool.hand_over(do_slice)
  th.do_slice = do_slice
end

--- Does its part of every job until the board ends, as thread `me` (the one that posts is 0).
function thread_pool.work(address, me, do_slice)
  local board = cast(board_pointer, address)
  local seen = 0
  thread_pool.hand_over(do_slice)
  while board.ending == 0 do
    seen = await(board, seen)
    if me < board.threads and board.ending == 0 then take_part(board, me) end
  end
end

-- The least number that is not below x: of many positions one that EVEN divides, so that
-- what C functions do with a rest does not depend on the number of threads.
local function round_up(x)
  local unit = x > MANY * EVEN and EVEN or 1
  return ceil(x / unit) * unit
end

-- How large shares are, and the pieces of a share.
local function division(shares, size, piece)
  local share = round_up(size / shares)
  return share, min(piece > 0 and piece or round_up(share / PIECES), LARGEST)
end

local function post(board, index, shares, threads, size, piece)
  local share
  share, piece = division(shares, size, piece)
  acquire(board.lock)
  board.job, board.shares, board.threads = index, shares, threads
  board.failed, board.piece = 0, piece
  for k = 0, shares - 1 do
    board.first[k], board.last[k] = k * share, min((k + 1) * share, size)
  end
  board.posted = (board.posted + 1) % LARGEST
  C.th_mutex_unlock(board.lock)
  if board.sleepers > 0 then wake(board) end
end

local function finish(board)
  local times = 0
  while board.running > 0 do
    rest(times)
    times = times + 1
  end
  acquire(board.lock) -- what the others wrote is to be seen from here on
  C.th_mutex_unlock(board.lock)
end

local function share_out(board, index, shares, threads, size, piece)
  post(board, index, shares, threads, size, piece)
  take_part(board, 0)
  finish(board)
end

-- A finalizer that the collector runs within a job may ask for another one, and so on: for each
-- depth there are jobs with memory of their own, and parameters.
local depth, levels = 0, {}
local owner -- the coroutine that began the outermost job

local function new_level(d)
  local own = jobs
  if d > 1 then
    chunk('parallel/jobs')(th)
    own = th.jobs
  end
  local level = { jobs = own, parameters = ffi.new('double[?]', ROOM) }
  levels[d] = level
  return level
end

local function do_shares(index, shares, size, piece, ...)
  if depth == 0 then owner = running() end
  depth = depth + 1
  local level = levels[depth] or new_level(depth)
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

-- Does all shares in this thread.
local function do_alone(...)
  local before = depth
  local ok, message = pcall(do_shares, ...)
  depth = before
  if not ok then error(message, 0) end
end

-- Raises the error of a stack without room for a job, before anything is shared.
local STACK, nothing = 200, {}
local function check_stack()
  return select('#', unpack(nothing, 1, STACK))
end

-- Does a job with the other threads.
local function do_together(board, index, shares, threads, size, piece, ...)
  check_stack()
  start_after_fork(board)
  th.uninterruptible = true -- to leave early would free memory that others write to
  depth, failure, owner = 1, nil, running()
  for i = 1, select('#', ...) do board.parameters[i - 1] = (select(i, ...)) end
  local ok, message = pcall(share_out, board, index, shares, threads, size, piece)
  if not ok then finish(board) end
  if ok and board.failed ~= 0 then ok, message = false, failure or 'another thread failed' end
  depth, th.uninterruptible = 0, false
  if not ok then error(message, 0) end
end

-- Makes the depth right. Where the stack ends in compiled code, no pcall of ours catches that
-- error, and nothing is counted down. So jobs that seem to be under way are looked for.
local function correct_depth()
  if running() ~= owner then return end
  local level, found = 2, 0
  local info = getinfo(level, 'f')
  while info do
    if info.func == do_shares or info.func == do_together then found = found + 1 end
    level = level + 1
    info = getinfo(level, 'f')
  end
  depth = found
end

--- The parameters of a job, as Python reads them: 'name count' in order, one a line.
function thread_pool.parameters(name)
  local lines = {}
  for k, parameter in ipairs(th.job_parameters[name]) do lines[k] = table.concat(parameter, ' ') end
  return table.concat(lines, '\n')
end

--- Does a job for all of 0 to size - 1.
-- @param address of the board
-- @param shares into how many it is divided: 1 for a job that is not worth sharing out
-- @param threads how many do them: 1 for this one alone
-- @param piece how many positions they do at a time, within their shares; 0 for some part
-- @param ... the numbers of the job's parameters in order: numbers and addresses
function thread_pool.run(name, address, shares, threads, size, piece, ...)
  local index = index_of[name]
  if depth > 0 then correct_depth() end
  if threads > 1 and depth == 0 then
    do_together(cast(board_pointer, address), index, shares, threads, size, piece, ...)
  else
    do_alone(index, shares, size, piece, ...)
  end
end

--- The same with a table of the parameters by their names; a list for one of several numbers.
function thread_pool.run_named(name, address, shares, threads, size, piece, given)
  local numbers = {}
  for _, parameter in ipairs(th.job_parameters[name]) do
    local value, count = given[parameter[1]], parameter[2]
    for k = 1, count do
      numbers[#numbers + 1] = count == 1 and value or value[k]
    end
  end
  thread_pool.run(name, address, shares, threads, size, piece, unpack(numbers))
end
