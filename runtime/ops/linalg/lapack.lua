--- Factors, inverses, eigenvalues and solutions of small matrices by LAPACK, for a type of floats.
-- LAPACK's functions are those that Python calls, with working memory of the same size: so the
-- results have the same bits. Where one fails, or a matrix is no such one, Python has to say so.
-- @module lapack

local dtype, tools = ...
local ffi, host = import('ffi', 'host')
local python_calls, raw_memory = import('core.python_calls', 'parallel.memory')

if dtype.name ~= 'Double' and dtype.name ~= 'Float' then return {} end

local SIDE = 32 -- the most rows and columns of a small matrix
local ROOM = 8192 -- elements of LAPACK's working memory
local W = ffi.sizeof(dtype.ctype)
local read, publish, move = tools.reader(dtype), tools.publish, tools.mover(W)
local load, bits, pointer = tools.loader(dtype), tools.bits(W), ffi.typeof(dtype.ctype .. ' *')
local min = math.min

local work, WORK = tools.memory(dtype, ROOM)
local _, COPY = tools.memory(dtype, SIDE * SIDE)
local more, MORE = tools.memory(dtype, 2 * SIDE)
local more_bits = ffi.cast(bits, more)

-- What functions get the addresses of: rows, columns, the smaller one of both or the right-hand
-- sides, the size of the working memory, the result code, 1, letters, and pivots.
local ints = raw_memory.working_memory('int32_t', 11 + SIDE)
local INTS = tools.address(ints)
local M, N, K, LWORK, INFO, ONE = INTS, INTS + 4, INTS + 8, INTS + 12, INTS + 16, INTS + 20
ints[5] = 1
local LETTER, PIVOTS = {}, INTS + 44
for i, letter in ipairs{ 'N', 'V', 'U', 'L', 'S' } do
  ints[5 + i], LETTER[letter] = letter:byte(), INTS + 4 * (5 + i)
end

-- A function of LAPACK, by its name and the number of its arguments, which are addresses.
local function routine(name, count)
  local address = python_calls.ask(host.lapack, name, W, count)
  local words = ('intptr_t, '):rep(count):sub(1, -3)
  return address and ffi.cast('void (*)(' .. words .. ')', address)
end

local getrf, getri, gesv = routine('getrf', 6), routine('getri', 7), routine('gesv', 8)
local syev, geev, gesvd = routine('syev', 9), routine('geev', 14), routine('gesvd', 14)
local geqrf, orgqr = routine('geqrf', 8), routine('orgqr', 9)
if not (getrf and getri and gesv and syev and geev and gesvd and geqrf and orgqr) then return {} end

local lwork = {} -- the working memory that functions want, by what asks for it, and sizes

-- Sets how much working memory a function gets for a matrix: as much as it says to `ask` that it
-- wants, as Python's calls do. False where it wants more than there is.
local function is_roomy(rows, columns, ask)
  local sizes = lwork[ask] or {}
  local size = sizes[SIDE * rows + columns]
  if not size then
    ints[3] = -1
    ask()
    size = work[0]
    sizes[SIDE * rows + columns] = size
    lwork[ask] = sizes
  end
  ints[3] = size
  return size <= ROOM
end

local function ask_getri() getri(N, COPY, N, PIVOTS, WORK, LWORK, INFO) end
local function ask_syev()
  syev(LETTER.V, LETTER.U, N, COPY, N, MORE, WORK, LWORK, INFO)
end

-- ------------------------------------------------------------------- matrices

local a, b = tools.operand(), tools.operand()

-- Sets an operand to a matrix with few rows and columns, of finite numbers; a vector is one column.
local function is_small(o, value)
  if not read(o, value) then return false end
  if o.n == 1 then o.s1, o.s2, o.t1, o.t2 = o.s2, 1, o.t2, 0 end
  if o.n > 2 or o.s1 > SIDE or o.s2 > SIDE then return false end
  local places, from = tools.located(tools.places, o), ffi.cast(pointer, o.at)
  local words, total = ffi.cast(bits, o.at), 0
  for i = 0, o.s1 * o.s2 - 1 do total = total + load(from, words, places[i]) * 0 end
  return total == 0
end

local function is_square(value)
  if not is_small(a, value) or a.n ~= 2 or a.s1 ~= a.s2 then return false end
  ints[0], ints[1] = a.s1, a.s1
  return true
end

-- Copies a matrix, stored by columns, to an address.
local function copy_columns(o, at)
  o.s1, o.s2, o.t1, o.t2 = o.s2, o.s1, o.t2, o.t1
  local places, from, to = tools.located(tools.places, o), ffi.cast(bits, o.at), ffi.cast(bits, at)
  for i = 0, o.s1 * o.s2 - 1 do move(to, i, from, places[i]) end
  o.s1, o.s2, o.t1, o.t2 = o.s2, o.s1, o.t2, o.t1
end

-- A new matrix, stored by columns: its block, and the address of its elements.
local function new_matrix(rows, columns)
  local block, at = tools.new(dtype, 2, 1, rows, columns)
  block.stride[0], block.stride[1] = 1, rows
  return block, at
end

-- A new matrix that is a copy of an operand.
local function copied(o)
  local block, at = new_matrix(o.s1, o.s2)
  copy_columns(o, at)
  return block, at
end

-- ------------------------------------------------------------------ operations

local lapack = {}

function lapack.gesv(_, _, right, left)
  if not is_square(left) or not is_small(b, right) or b.s1 ~= a.s1 then return nil end
  local factors, FACTORS = copied(a)
  local solution, SOLUTION = copied(b)
  ints[2] = b.s2
  gesv(N, K, FACTORS, N, PIVOTS, SOLUTION, N, INFO)
  if ints[4] ~= 0 then return nil end
  return publish(dtype, solution), publish(dtype, factors)
end

function lapack.inverse(_, matrix)
  if not is_square(matrix) or not is_roomy(a.s1, a.s2, ask_getri) then return nil end
  local block, at = copied(a)
  getrf(N, N, at, N, PIVOTS, INFO)
  if ints[4] == 0 then getri(N, at, N, PIVOTS, WORK, LWORK, INFO) end
  return ints[4] == 0 and publish(dtype, block) or nil
end

function lapack.symeig(_, _, matrix, job, part)
  if not (job == 'N' or job == 'V') or not (part == 'U' or part == 'L') then return nil end
  if not is_square(matrix) or not is_roomy(a.s1, a.s2, ask_syev) then return nil end
  local vectors, VECTORS = copied(a)
  local values, VALUES = tools.new(dtype, 1, 1, 1, a.s1)
  syev(LETTER[job], LETTER[part], N, VECTORS, N, VALUES, WORK, LWORK, INFO)
  if ints[4] ~= 0 then return nil end
  return publish(dtype, values), publish(dtype, vectors)
end

local function ask_geev()
  geev(LETTER.N, LETTER.N, N, COPY, N, MORE, MORE, MORE, ONE, MORE, ONE, WORK, LWORK, INFO)
end

local function ask_geev_with_vectors()
  geev(LETTER.N, LETTER.V, N, COPY, N, MORE, MORE, MORE, ONE, MORE, N, WORK, LWORK, INFO)
end

function lapack.eig(_, _, matrix, job)
  local with_vectors = job == 'V'
  if not with_vectors and job ~= 'N' or not is_square(matrix) then return nil end
  local n = a.s1
  if with_vectors then
    if not is_roomy(n, n, ask_geev_with_vectors) then return nil end
  elseif not is_roomy(n, n, ask_geev) then
    return nil
  end
  copy_columns(a, COPY)
  local vectors, VECTORS, order = nil, MORE, ONE
  if with_vectors then
    vectors, VECTORS = new_matrix(n, n)
    order = N
  end
  geev(LETTER.N, LETTER[job], N, COPY, N, MORE, MORE + W * n, MORE, ONE, VECTORS, order, WORK,
    LWORK, INFO)
  if ints[4] ~= 0 then return nil end
  local values, VALUES = tools.new(dtype, 2, 1, n, 2)
  local to = ffi.cast(bits, VALUES)
  for i = 0, n - 1 do
    move(to, 2 * i, more_bits, i)
    move(to, 2 * i + 1, more_bits, n + i)
  end
  return publish(dtype, values), vectors and publish(dtype, vectors) or dtype.construct(0)
end

local function ask_gesvd()
  gesvd(LETTER.S, LETTER.S, M, N, COPY, M, MORE, COPY, M, COPY, K, WORK, LWORK, INFO)
end

function lapack.svd(_, _, _, matrix, job)
  if job ~= 'S' or not is_small(a, matrix) or a.n ~= 2 then return nil end
  local rows, columns = a.s1, a.s2
  local k = min(rows, columns)
  ints[0], ints[1], ints[2] = rows, columns, k
  if not is_roomy(rows, columns, ask_gesvd) then return nil end
  copy_columns(a, COPY)
  local u, U = new_matrix(rows, k)
  local values, VALUES = tools.new(dtype, 1, 1, 1, k)
  local v, V = tools.new(dtype, 2, 1, columns, k) -- by rows: for LAPACK, its transpose by columns
  gesvd(LETTER.S, LETTER.S, M, N, COPY, M, VALUES, U, M, V, K, WORK, LWORK, INFO)
  if ints[4] ~= 0 then return nil end
  return publish(dtype, u), publish(dtype, values), publish(dtype, v)
end

local function ask_geqrf() geqrf(M, N, COPY, M, MORE, WORK, LWORK, INFO) end
local function ask_orgqr() orgqr(M, N, N, COPY, M, MORE, WORK, LWORK, INFO) end

function lapack.qr(_, _, matrix)
  if not is_small(a, matrix) or a.n ~= 2 or a.s1 < a.s2 then return nil end
  local rows, columns = a.s1, a.s2
  ints[0], ints[1] = rows, columns
  if not is_roomy(rows, columns, ask_geqrf) then return nil end
  local q, Q = copied(a)
  geqrf(M, N, Q, M, MORE, WORK, LWORK, INFO)
  if ints[4] ~= 0 or not is_roomy(rows, columns, ask_orgqr) then return nil end
  local r, R = tools.new(dtype, 2, 1, columns, columns)
  local to, from = ffi.cast(bits, R), ffi.cast(bits, Q)
  local i, j = 0, 0
  for m = 0, columns * columns - 1 do
    if j >= i then move(to, m, from, j * rows + i) end
    j = j + 1
    if j == columns then i, j = i + 1, 0 end
  end
  orgqr(M, N, N, Q, M, MORE, WORK, LWORK, INFO)
  return ints[4] == 0 and publish(dtype, q) or nil, publish(dtype, r)
end

return lapack
