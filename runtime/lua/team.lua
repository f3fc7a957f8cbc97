--- Work on raw memory that threads share out without Python's lock.
-- Each thread has a Lua state of its own, and all load this module. They see the same board: a
-- block of memory with the job, its parameters and what is left of it. The thread that posts a
-- job takes part; the others look out for jobs awake for a while, then asleep. One thread's
-- share that is late is taken by the others, piece by piece. (runtime/team.py starts them.)
-- @module team

local th = ...
local ffi = require 'ffi'
local C = ffi.C

local MOST = 64      -- threads
local ROOM = 24      -- parameters of a job
local PIECES = 2     -- of a share, unless a job wants smaller ones
local EVEN = 64      -- positions that vectors of any processor divide
local AWAKE = 4096   -- looks, each after a rest of 0.1 us, before a thread goes to sleep
local REST = 16      -- square roots: a chain of these leaves the processor to its other half

ffi.cdef[[
int th_mutex_init(void *, void *) __asm__("pthread_mutex_init");
int th_mutex_trylock(void *) __asm__("pthread_mutex_trylock");
int th_mutex_lock(void *) __asm__("pthread_mutex_lock");
int th_mutex_unlock(void *) __asm__("pthread_mutex_unlock");
int th_cond_init(void *, void *) __asm__("pthread_cond_init");
int th_cond_wait(void *, void *) __asm__("pthread_cond_wait");
int th_cond_broadcast(void *) __asm__("pthread_cond_broadcast");
int th_yield(void) __asm__("sched_yield");
int th_nothing(int) __asm__("abs");
void *th_calloc(size_t, size_t) __asm__("calloc");
]]

-- The numbers are doubles, which hold addresses too. pthread's types are opaque: there is room.
local Board = ffi.typeof([[struct {
  int64_t lock[8], busy[8], sleep[8], wake[8];
  volatile int posted, running, sleepers, failed;
  int job, threads;
  double piece, parameters[$], first[$], last[$];
}]], ROOM, MOST, MOST)
local board_pointer = ffi.typeof('$ *', Board)

local team = { MOST = MOST }
th.team = team

--- Whether this system has what threads need.
function team.can_share()
  return (pcall(function() return C.th_mutex_trylock, C.th_cond_wait, C.th_yield end))
end

-- ---------------------------------------------------------------------- jobs

local doubles, longs = ffi.typeof('double *'), ffi.typeof('int64_t *')
local bytes = ffi.typeof('char *')
local copy, cast, sqrt = ffi.copy, ffi.cast, math.sqrt

local SUMS = 2048 -- that are made together: they stay in the cache

local names, jobs = {}, {} -- index -> name, function(parameters, first, last); name -> index

-- Jobs get the range that they do, as positions from 0, without the last.
local function job(name, run)
  names[#names + 1], names[name] = name, #names + 1
  jobs[#jobs + 1] = run
end

local inner_loop = ffi.typeof('void (*)(char **, intptr_t *, intptr_t *, void *)')
local operands, steps, count = ffi.new('char *[8]'), ffi.new('intptr_t[8]'), ffi.new('intptr_t[1]')

-- An inner loop of numpy's: function, its data, number of operands, addresses, steps in bytes.
job('loop', function(p, first, last)
  local n = p[2]
  for k = 0, n - 1 do
    operands[k] = cast(bytes, p[3 + k]) + first * p[3 + n + k]
    steps[k] = p[3 + n + k]
  end
  count[0] = last - first
  cast(inner_loop, p[0])(operands, count, steps, cast(bytes, p[1]))
end)

-- Copies bytes: to, from.
job('copy', function(p, first, last)
  copy(cast(bytes, p[0]) + first, cast(bytes, p[1]) + first, last - first)
end)

-- Copies rows: to, from, address of the numbers of the rows (int64), bytes of a row.
job('take', function(p, first, last)
  local to, from, at, size = cast(bytes, p[0]), cast(bytes, p[1]), cast(longs, p[2]), p[3]
  for i = first, last - 1 do
    copy(to + i * size, from + tonumber(at[i]) * size, size)
  end
end)

local whole = {} -- bytes -> pointers to whole numbers
for size, name in pairs{ [1] = 'int8_t', [2] = 'int16_t', [4] = 'int32_t', [8] = 'int64_t' } do
  whole[size] = ffi.typeof(name .. ' *')
end

-- Runs of elements at given positions along a dimension: addresses to, from and of the positions,
-- bytes of an element and of a position, the first position's number, elements of a run, runs of
-- a block, elements of a block of the source, and from one position to the next; where that is
-- not 1, a run has one element after the other from there on.
job('gather', function(p, first, last)
  local to, from, at = cast(whole[p[3]], p[0]), cast(whole[p[3]], p[1]), cast(whole[p[4]], p[2])
  local base, run, runs, block, step = p[5], p[6], p[7], p[8], p[9]
  for i = first, last - 1 do
    local source = from + (math.floor(i / runs) * block - base * step)
    local target, places = to + i * run, at + i * run
    if step == 1 then
      for k = 0, run - 1 do target[k] = source[tonumber(places[k])] end
    else
      for k = 0, run - 1 do target[k] = source[tonumber(places[k]) * step + k] end
    end
  end
end)

-- BLAS, as Fortran calls it. The numbers that it gets by address are in the elements' type.
local axpy = ffi.typeof('void (*)(int *, void *, void *, int *, void *, int *)')
local gemv = ffi.typeof(
  'void (*)(const char *, int *, int *, void *, void *, int *, void *, int *, void *, void *, int *)')
local getrs = ffi.typeof(
  'void (*)(const char *, int *, int *, void *, int *, void *, void *, int *, int *)')
local int, one = ffi.typeof('int[1]'), ffi.new('int[1]', 1)
local real = { [4] = ffi.typeof('float[1]'), [8] = ffi.typeof('double[1]') }
local length = int()

-- r = r + factor * x: function, bytes of an element, addresses of r and x, factor.
job('axpy', function(p, first, last)
  local size = p[1]
  length[0] = last - first
  cast(axpy, p[0])(length, real[size](p[4]), cast(bytes, p[3]) + first * size, one,
    cast(bytes, p[2]) + first * size, one)
end)

-- r = m * x for rows of a matrix: function, bytes of an element, addresses of r, m and x, the
-- number of columns and how far apart they are, how far apart the rows are: one of these is 1.
job('gemv', function(p, first, last)
  local size, columns, column_step, row_step = p[1], p[5], p[6], p[7]
  local m = cast(bytes, p[3]) + first * row_step * size
  local r = cast(bytes, p[2]) + first * size
  local nothing, unit = real[size](0), real[size](1)
  local rows = int(last - first)
  local x = cast(bytes, p[4])
  if column_step == 1 then
    local apart = int(row_step)
    cast(gemv, p[0])('T', int(columns), rows, unit, m, apart, x, one, nothing, r, one)
  else
    local apart = int(column_step)
    cast(gemv, p[0])('N', rows, int(columns), unit, m, apart, x, one, nothing, r, one)
  end
end)

-- Columns of the solution of a system of equations, by LAPACK's getrs: function, bytes of an
-- element, rows, addresses of the factors, of the pivots and of the right sides, which it is
-- written over.
job('solve', function(p, first, last)
  local rows, info = int(p[2]), int()
  local columns = cast(bytes, p[5]) + first * p[2] * p[1]
  cast(getrs, p[0])('N', rows, int(last - first), cast(bytes, p[3]), rows, cast(bytes, p[4]),
    columns, rows, info)
end)

-- Rows of a correlation: function, bytes of an element, addresses of the sums, the input and the
-- weights, for each weight how far its input is from a row's start (int64), how many weights,
-- elements of a row of sums, elements from row to row of the sums and of the input.
job('correlate', function(p, first, last)
  local run, size, weights, width = cast(axpy, p[0]), p[1], p[6], p[7]
  local step, jump = p[8], p[9]
  local x, at = cast(bytes, p[3]), cast(longs, p[5])
  local weight = cast(bytes, p[4])
  local rows = math.max(math.floor(SUMS / jump), 1)
  local n = (math.min(rows, last - first) - 1) * jump + width
  local sums = ffi.new('char[?]', n * size)
  for top = first, last - 1, rows do
    local count = math.min(rows, last - top)
    length[0] = (count - 1) * jump + width
    ffi.fill(sums, length[0] * size)
    for k = 0, weights - 1 do
      run(length, weight + k * size, x + (top * jump + tonumber(at[k])) * size, one, sums, one)
    end
    for i = 0, count - 1 do
      copy(cast(bytes, p[2]) + (top + i) * step * size, sums + i * jump * size, width * size)
    end
  end
end)

-- ------------------------------------------------------------------- sharing

-- Waits a moment without taking much of the processor: threads may share one. Every 128th time
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
  local threads = board.threads
  for k = me, me + threads - 1 do
    local share = k % threads
    local at, last = board.first[share], board.last[share]
    if at < last then
      last = math.min(at + board.piece, last)
      board.first[share], board.running = last, board.running + 1
      C.th_mutex_unlock(board.lock)
      return at, last
    end
  end
  C.th_mutex_unlock(board.lock)
end

local function take_part(board, me)
  local at, last = claim(board, me, 0)
  while at do
    if not pcall(jobs[board.job], board.parameters, at, last) then board.failed = 1 end
    at, last = claim(board, me, 1)
  end
end

-- Waits for a job that is not the one seen before; returns its number.
local function await(board, seen)
  for times = 1, AWAKE do
    if board.posted ~= seen then return board.posted end
    rest(times)
  end
  C.th_mutex_lock(board.sleep)
  board.sleepers = board.sleepers + 1
  while board.posted == seen do C.th_cond_wait(board.wake, board.sleep) end
  board.sleepers = board.sleepers - 1
  C.th_mutex_unlock(board.sleep)
  return board.posted
end

--- The address of a new board. It is never freed: threads look at it while the process ends.
function team.new_board()
  local board = cast(board_pointer, C.th_calloc(1, ffi.sizeof(Board)))
  C.th_mutex_init(board.lock, nil)
  C.th_mutex_init(board.busy, nil)
  C.th_mutex_init(board.sleep, nil)
  C.th_cond_init(board.wake, nil)
  return tonumber(cast('intptr_t', board))
end

--- Does its part of every job for ever, as thread `me` (the one that posts is 0).
function team.work(address, me)
  local board = cast(board_pointer, address)
  local seen = 0
  while true do
    seen = await(board, seen)
    if me < board.threads then take_part(board, me) end
  end
end

-- The least number that is not below x: of many positions one that EVEN divides, so that
-- what C functions do with a rest does not depend on the number of threads.
local function round_up(x)
  local unit = x > EVEN * EVEN and EVEN or 1
  return math.ceil(x / unit) * unit
end

local function post(board, index, size, threads, piece)
  local share = round_up(size / threads)
  acquire(board.lock)
  board.job, board.threads, board.failed = index, threads, 0
  board.piece = math.min(piece, round_up(share / PIECES))
  for k = 0, threads - 1 do
    board.first[k], board.last[k] = k * share, math.min((k + 1) * share, size)
  end
  board.posted = board.posted + 1
  C.th_mutex_unlock(board.lock)
  if board.sleepers > 0 then
    C.th_mutex_lock(board.sleep)
    C.th_cond_broadcast(board.wake)
    C.th_mutex_unlock(board.sleep)
  end
end

local alone = ffi.new('double[?]', ROOM)

local function do_alone(index, size, piece, ...)
  for i = 1, select('#', ...) do alone[i - 1] = (select(i, ...)) end
  for at = 0, size - 1, piece do jobs[index](alone, at, math.min(at + piece, size)) end
end

--- Does a job for all of 0 to size - 1, with so many threads, in pieces of at most so many.
-- @param address of the board; 0 for one thread
-- @param ... the parameters: numbers and addresses
function team.run(name, address, threads, size, piece, ...)
  local index = names[name]
  if threads == 1 then return do_alone(index, size, piece, ...) end
  local board = cast(board_pointer, address)
  th.uninterruptible = true -- to leave early would free memory that others write to
  if C.th_mutex_trylock(board.busy) ~= 0 then -- another engine's thread posted
    th.uninterruptible = false
    return do_alone(index, size, piece, ...)
  end
  for i = 1, select('#', ...) do board.parameters[i - 1] = (select(i, ...)) end
  post(board, index, size, threads, piece)
  take_part(board, 0)
  local times = 0
  while board.running > 0 do
    rest(times)
    times = times + 1
  end
  acquire(board.lock) -- what the others wrote is to be seen from here on
  local failed = board.failed ~= 0
  C.th_mutex_unlock(board.lock)
  C.th_mutex_unlock(board.busy)
  th.uninterruptible = false
  if failed then error('a job of several threads failed: ' .. name) end
end
