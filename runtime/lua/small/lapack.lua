--- LAPACK on small matrices, for one type of floats: new results, by the functions that Python
-- calls.
-- The results have the bits and the layouts of Python's (runtime/ops/linalg), which computes all
-- other calls: those with destinations, larger matrices, elements that are infinite or no numbers,
-- and what LAPACK fails at. LAPACK overwrites copies, stored by columns; where these are results,
-- they are in the new blocks.
-- Numbers that LAPACK makes of finite ones are safe in Lua.
-- @module small_lapack

local th, dtype, tools = ...
local ffi = require 'ffi'

if dtype.name ~= 'Double' and dtype.name ~= 'Float' then return {} end

local type, min = type, math.min
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local geometry, place = tools.geometry, tools.place
local new, publish, keep = tools.new, tools.publish, tools.keep
local W = ffi.sizeof(dtype.ctype)
local MAX = 32 -- rows and columns

-- ------------------------------------------------------------- LAPACK's functions

local memory, WORK_SIZE = tools.memory, 8192
local work, WORK = memory(dtype, WORK_SIZE)
local _, SCRATCH = memory(dtype, MAX * MAX)
local more, MORE = memory(dtype, 2 * MAX)
local _, PIVOTS = memory(th.dtypes[th.INT + 1], MAX)

-- What LAPACK gets by address: whole numbers and letters.
local ints = ffi.new('int32_t[8]')
local M, N, K, NRHS, LWORK, INFO, ONE = 0, 1, 2, 3, 4, 5, 6
ints[ONE] = 1
local INTS = keep(ints)
local function at(i) return INTS + 4 * i end
local m, n, k, nrhs, lwork, info, one = at(M), at(N), at(K), at(NRHS), at(LWORK), at(INFO), at(ONE)
local LETTERS, letter = keep(ffi.new('char[8]', 'NVULS')), {}
for i, name in ipairs{ 'N', 'V', 'U', 'L', 'S' } do letter[name] = LETTERS + i - 1 end

-- A function of LAPACK's with a number of parameters, all of them addresses.
local function find(name, parameters)
  local found = th.ask(th.host.lapack_address, name, W)
  local ctype = 'void (*)(intptr_t' .. (', intptr_t'):rep(parameters - 1) .. ')'
  return found and ffi.cast(ctype, found) or nil
end

local geqrf, orgqr, getrf = find('geqrf', 8), find('orgqr', 9), find('getrf', 6)
local getri, gesv, potrf = find('getri', 7), find('gesv', 8), find('potrf', 5)
local potrs, potri, trtrs = find('potrs', 8), find('potri', 5), find('trtrs', 10)
local syev, gesvd, geev = find('syev', 9), find('gesvd', 14), find('geev', 14)
local gels = find('gels', 11)

-- Sets lwork for a query of the best one; `answered` then sets it to the answer.
local function ask() ints[LWORK] = -1 end
local function answered() ints[LWORK] = min(work[0], WORK_SIZE) end

-- --------------------------------------------------------------------- operands

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

-- Rows and columns of a matrix; of a vector, which is one column, if that is allowed. nil for other
-- values and for large ones.
local function sizes_of(value, may_be_vector)
  local c = struct_of(value)
  if not c then return nil end
  local dims, _, rows, columns = geometry(c)
  if dims == 1 and may_be_vector then rows, columns = columns, 1 end
  if dims ~= 2 and not (dims == 1 and may_be_vector) or rows > MAX or columns > MAX then
    return nil
  end
  return rows, columns
end

-- The address of a matrix's or vector's elements, if it has so many, and the distances of rows and
-- columns. nil if they are not in the storage.
local function open(value, rows, columns)
  local c = struct_of(value)
  local dims, s0, s1, s2, t0, t1, t2 = geometry(c)
  local from = dims > 0 and place(c, W, s0, s1, s2, t0, t1, t2)
  if not from or s1 * s2 ~= rows * columns or s0 ~= 1 then return nil end
  if dims == 1 then t1, t2 = t2, 0 end
  return from, t1, t2
end

local copy_rows, are_finite = th.formulas.copy_rows, th.reductions.finite_check(dtype)
local kind = dtype.name == 'Double' and 'd' or 'f'
local copy, copy_data = th.formulas.inner_loop('positive', kind .. '->' .. kind)
if not copy or not are_finite then return {} end

-- Copies a matrix to memory, by columns; false if an element is infinite or no number, or their sum
-- is too large.
local function take(from, rows, columns, t1, t2, to)
  copy_rows(copy, copy_data, rows, columns, 1, to, W, W * rows, 0, from, W * t1, W * t2, 0)
  return (are_finite(to, rows * columns))
end

-- A new matrix that is stored by columns: its block, the address of its elements, and these.
local function new_columns(rows, columns)
  local block, to = new(dtype, 2, 1, rows, columns)
  block.stride[0], block.stride[1] = 1, rows
  return block, to, block.own.data
end

local function new_vector(size)
  local block, to = new(dtype, 1, 1, 1, size)
  return block, to, block.own.data
end

-- Sets the elements below the diagonal, or above it, to 0.
local function clear(to, size, below)
  local i, j = 0, 0
  for place_of = 0, size * size - 1 do
    if below and i > j or not below and i < j then to[place_of] = 0 end
    i = i + 1
    if i == size then i, j = 0, j + 1 end
  end
end

-- --------------------------------------------------------------- factorizations

local lapack = {}

-- geqrf on a copy of a, at an address; factors by tau, which are in `more`. Returns whether LAPACK
-- has succeeded.
local function factor(a, rows, columns, to_address)
  local from, t1, t2 = open(a, rows, columns)
  if not from or not take(from, rows, columns, t1, t2, to_address) then
    return false
  end
  ints[M], ints[N], ints[K] = rows, columns, columns
  ask()
  geqrf(m, n, to_address, m, MORE, WORK, lwork, info)
  answered()
  geqrf(m, n, to_address, m, MORE, WORK, lwork, info)
  return ints[INFO] == 0
end

function lapack.qr(q, r, a, ...) -- luacheck: ignore 212
  local rows, columns = sizes_of(a)
  if q ~= nil or r ~= nil or not rows or rows < columns then return nil end
  local q_block, to_address, to = new_columns(rows, columns)
  local r_block = new(dtype, 2, 1, columns, columns)
  local upper = r_block.own.data
  if not factor(a, rows, columns, to_address) then return nil end
  for i = 0, columns - 1 do
    for j = i, columns - 1 do upper[i * columns + j] = to[j * rows + i] end
  end
  ask()
  orgqr(m, n, k, to_address, m, MORE, WORK, lwork, info)
  answered()
  orgqr(m, n, k, to_address, m, MORE, WORK, lwork, info)
  if ints[INFO] ~= 0 then return nil end
  return publish(dtype, q_block), publish(dtype, r_block)
end

function lapack.geqrf(r, tau, a, ...) -- luacheck: ignore 212
  local rows, columns = sizes_of(a)
  if r ~= nil or tau ~= nil or not rows or rows < columns then return nil end
  local block, to_address = new_columns(rows, columns)
  local tau_block, _, scales = new_vector(columns)
  if not factor(a, rows, columns, to_address) then return nil end
  for i = 0, columns - 1 do scales[i] = more[i] end
  return publish(dtype, block), publish(dtype, tau_block)
end

-- Runs `compute` on a copy of a square matrix a, by columns; returns the copy as a new tensor.
-- part: the triangle, for compute.
local function on_square(r, a, compute, part, ...) -- luacheck: ignore 212
  local size, columns = sizes_of(a)
  if r ~= nil or not size or size ~= columns then return nil end
  local block, to_address, to = new_columns(size, size)
  local from, t1, t2 = open(a, size, size)
  if not from or not take(from, size, size, t1, t2, to_address) then
    return nil
  end
  ints[N] = size
  if not compute(to, to_address, size, part) then return nil end
  return (publish(dtype, block))
end

local function invert(_, to)
  getrf(n, n, to, n, PIVOTS, info)
  if ints[INFO] ~= 0 then return false end
  ask()
  getri(n, to, n, PIVOTS, WORK, lwork, info)
  answered()
  getri(n, to, n, PIVOTS, WORK, lwork, info)
  return ints[INFO] == 0
end

function lapack.inverse(r, a, ...)
  return on_square(r, a, invert, nil, ...)
end

local function cholesky(elements, to, size, part)
  potrf(letter[part], n, to, n, info)
  clear(elements, size, part == 'U')
  return ints[INFO] == 0
end

function lapack.potrf(r, a, part, ...)
  return on_square(r, a, cholesky, part, ...)
end

local function invert_cholesky(elements, to, size, part)
  potri(letter[part], n, to, n, info)
  for i = 0, size - 1 do
    for j = i + 1, size - 1 do
      if part == 'U' then
        elements[i * size + j] = elements[j * size + i]
      else
        elements[j * size + i] = elements[i * size + j]
      end
    end
  end
  return ints[INFO] == 0
end

function lapack.potri(r, a, part, ...)
  return on_square(r, a, invert_cholesky, part, ...)
end

-- ---------------------------------------------------------- systems of equations

-- Runs `compute` on copies of b, and of a square matrix a; returns both as new tensors. The copy of
-- a is in the working memory if it is no result.
local function on_system(b, a, keeps_a, compute, part, ...) -- luacheck: ignore 212
  local rows, columns = sizes_of(b, true)
  local size, other = sizes_of(a)
  if not rows or size ~= rows or other ~= rows then return nil end
  local x_block, x_address = new_columns(rows, columns)
  local block, to_address = nil, SCRATCH
  if keeps_a then block, to_address = new_columns(size, size) end
  local from_b, b1, b2 = open(b, rows, columns)
  local from_a, a1, a2 = open(a, size, size)
  if not (from_a and from_b)
    or not take(from_b, rows, columns, b1, b2, x_address)
    or not take(from_a, size, size, a1, a2, to_address) then
    return nil
  end
  ints[N], ints[NRHS] = size, columns
  compute(to_address, x_address, part)
  if ints[INFO] ~= 0 then return nil end
  if not block then return (publish(dtype, x_block)) end
  return publish(dtype, x_block), publish(dtype, block)
end

local function solve(a, x) gesv(n, nrhs, a, n, PIVOTS, x, n, info) end

function lapack.gesv(x, lu, b, a, ...)
  if x ~= nil or lu ~= nil then return nil end
  return on_system(b, a, true, solve, nil, ...)
end

local function solve_cholesky(a, x, part) potrs(letter[part], n, nrhs, a, n, x, n, info) end

function lapack.potrs(x, b, a, part, ...)
  if x ~= nil then return nil end
  return on_system(b, a, false, solve_cholesky, part, ...)
end

local function solve_triangular(a, x, part)
  trtrs(letter[part], letter.N, letter.N, n, nrhs, a, n, x, n, info)
end

function lapack.trtrs(x, ra, b, a, part, trans, diag, ...)
  if x ~= nil or ra ~= nil or trans ~= 'N' or diag ~= 'N' then return nil end
  return on_system(b, a, true, solve_triangular, part, ...)
end

function lapack.gels(x, qr, b, a, ...) -- luacheck: ignore 212
  local b_rows, right = sizes_of(b, true)
  local rows, columns = sizes_of(a)
  if x ~= nil or qr ~= nil or not b_rows or b_rows ~= rows or rows < columns then return nil end
  local x_block, x_address = new_columns(rows, right)
  x_block.size[0] = columns -- the residuals are in the rows below
  local block, to_address = new_columns(rows, columns)
  local from_b, b1, b2 = open(b, rows, right)
  local from_a, a1, a2 = open(a, rows, columns)
  if not (from_a and from_b)
    or not take(from_b, rows, right, b1, b2, x_address)
    or not take(from_a, rows, columns, a1, a2, to_address) then
    return nil
  end
  ints[M], ints[N], ints[NRHS] = rows, columns, right
  ask()
  gels(letter.N, m, n, nrhs, to_address, m, x_address, m, WORK, lwork, info)
  answered()
  gels(letter.N, m, n, nrhs, to_address, m, x_address, m, WORK, lwork, info)
  if ints[INFO] ~= 0 then return nil end
  return publish(dtype, x_block), publish(dtype, block)
end

-- ------------------------------------------------- eigenvalues and singular values

function lapack.symeig(values, vectors, a, job, part, ...) -- luacheck: ignore 212
  local size, columns = sizes_of(a)
  if values ~= nil or vectors ~= nil or not size or size ~= columns then return nil end
  local block, to_address = new_columns(size, size)
  local value_block, found = new_vector(size)
  local from, t1, t2 = open(a, size, size)
  if not from or not take(from, size, size, t1, t2, to_address) then
    return nil
  end
  ints[N] = size
  ask()
  syev(letter[job], letter[part], n, to_address, n, found, WORK, lwork, info)
  answered()
  syev(letter[job], letter[part], n, to_address, n, found, WORK, lwork, info)
  if ints[INFO] ~= 0 then return nil end
  return publish(dtype, value_block), publish(dtype, block)
end

function lapack.eig(values, vectors, a, job, ...) -- luacheck: ignore 212
  local size, columns = sizes_of(a)
  if values ~= nil or vectors ~= nil or not size or size ~= columns then return nil end
  local value_block = new(dtype, 2, 1, size, 2)
  local found = value_block.own.data
  local block, to_address = nil, SCRATCH
  if job == 'V' then block, to_address = new_columns(size, size) end
  local from, t1, t2 = open(a, size, size)
  if not from or not take(from, size, size, t1, t2, SCRATCH) then
    return nil
  end
  ints[N] = size
  local imaginary = MORE + W * MAX
  ask()
  geev(letter.N, letter[job], n, SCRATCH, n, MORE, imaginary, WORK, one, to_address, n, WORK,
    lwork, info)
  answered()
  geev(letter.N, letter[job], n, SCRATCH, n, MORE, imaginary, WORK, one, to_address, n, WORK,
    lwork, info)
  if ints[INFO] ~= 0 then return nil end
  for i = 0, size - 1 do found[2 * i], found[2 * i + 1] = more[i], more[MAX + i] end
  return publish(dtype, value_block), block and publish(dtype, block) or dtype.construct(0)
end

local right, RIGHT = memory(dtype, MAX * MAX) -- the right singular vectors as rows, by columns

function lapack.svd(u, s, v, a, job, ...) -- luacheck: ignore 212
  local rows, columns = sizes_of(a)
  if u ~= nil or s ~= nil or v ~= nil or not rows or job ~= 'S' then return nil end
  local size = min(rows, columns)
  local u_block, u_address = new_columns(rows, size)
  local s_block, s_address = new_vector(size)
  local v_block = new(dtype, 2, 1, columns, size)
  local to = v_block.own.data
  local from, t1, t2 = open(a, rows, columns)
  if not from
    or not take(from, rows, columns, t1, t2, SCRATCH) then
    return nil
  end
  ints[M], ints[N], ints[K] = rows, columns, size
  ask()
  gesvd(letter.S, letter.S, m, n, SCRATCH, m, s_address, u_address, m, RIGHT, k, WORK, lwork, info)
  answered()
  gesvd(letter.S, letter.S, m, n, SCRATCH, m, s_address, u_address, m, RIGHT, k, WORK, lwork, info)
  if ints[INFO] ~= 0 then return nil end
  ffi.copy(to, right, W * columns * size)
  return publish(dtype, u_block), publish(dtype, s_block), publish(dtype, v_block)
end

-- What each needs of LAPACK; it is not there where LAPACK's function was not found.
local NEEDS = {
  qr = geqrf and orgqr, geqrf = geqrf, inverse = getrf and getri, potrf = potrf, potri = potri,
  gesv = gesv, potrs = potrs, trtrs = trtrs, gels = gels, symeig = syev, eig = geev, svd = gesvd,
}
for name in pairs(lapack) do
  if not NEEDS[name] then lapack[name] = nil end
end

return lapack
