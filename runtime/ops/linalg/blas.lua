--- Products of small matrices and vectors, and sums of them, for one type of floats.
-- numpy's own inner loops compute: that of its function matmul, which calls BLAS as the layouts of
-- the operands allow, and those of multiply, add and positive (a copy). So the results have the
-- same bits as Python's.
-- @module blas

local th, dtype, tools = ...
local ffi = require 'ffi'
local host = th.host

local type = type
local structs, fetch_struct, load = dtype.structs, dtype.fetch_struct, tools.loader(dtype)
local geometry, place, distinct, shares = tools.geometry, tools.place, tools.distinct, tools.shares
local new, publish = tools.new, tools.publish
local dense, contiguous = th.formulas.dense, tools.contiguous
local PUSHED_NAN = -math.abs(0 / 0) -- what any nan becomes that C passes to Lua
local MAX_VECTOR, MAX_PRODUCT = host.LARGE, 8000000 -- multiplications from which on Python computes

if dtype.name ~= 'Double' and dtype.name ~= 'Float' then return {} end

-- An inner loop and its data, by the signature for doubles.
local function find_loop(name, signature)
  if dtype.name == 'Float' then signature = signature:gsub('d', 'f') end
  local loop, data = th.formulas.inner_loop(name, signature)
  return loop, data
end

local matmul, matmul_data = find_loop('matmul', 'dd->d')
local multiply, multiply_data = find_loop('multiply', 'dd->d')
local add, add_data = find_loop('add', 'dd->d')
local copy, copy_data = find_loop('positive', 'd->d')
if not (matmul and multiply and add and copy) then return {} end

local W = ffi.sizeof(dtype.ctype)
local operands, sizes = ffi.new('intptr_t[3]'), ffi.new('intptr_t[4]')
local steps = ffi.new('intptr_t[9]')
local ROOM = 131072 -- elements of working memory: what a product of few elements has
local work, WORK = tools.memory(dtype, ROOM)
local _, MORE_WORK = tools.memory(dtype, ROOM)

-- The address of working memory for so many elements; nil where there is none.
local function work_for(count)
  return count <= ROOM and WORK or nil
end

local number, NUMBER = tools.memory(dtype, 1)
local number_bits = ffi.cast(tools.bits(W), number)

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

-- ------------------------------------------------------------------- the loops

-- r = a * b for matrices n x m and m x p, and for as many pairs of them as `count`. The strides of
-- the operands follow their addresses.
local function matrix_product(count, n, m, p, a, a0, a1, a2, b, b0, b1, b2, r, r0, r1, r2)
  operands[0], operands[1], operands[2] = a, b, r
  sizes[0], sizes[1], sizes[2], sizes[3] = count, n, m, p
  steps[0], steps[1], steps[2] = W * a0, W * b0, W * r0
  steps[3], steps[4], steps[5], steps[6] = W * a1, W * a2, W * b1, W * b2
  steps[7], steps[8] = W * r1, W * r2
  matmul(operands, sizes, steps, matmul_data)
end

-- Runs a loop over all elements of the operands a and b and the result r, or of an operand and, as
-- b and as r, the result. The strides follow the addresses; those of a number are 0.
local function each(loop, data, s0, s1, s2, a, a0, a1, a2, b, b0, b1, b2, r, r0, r1, r2)
  if contiguous(s0, s1, s2, a0, a1, a2) and contiguous(s0, s1, s2, r0, r1, r2)
    and (b2 == 0 and b1 == 0 and b0 == 0 or contiguous(s0, s1, s2, b0, b1, b2)) then
    s0, s1, s2, a2, r2 = 1, 1, s0 * s1 * s2, 1, 1
    if b2 ~= 0 then b2 = 1 end
  end
  local i, j = 0, 0
  for _ = 1, s0 * s1 do
    operands[0], operands[1] = a + W * (i * a0 + j * a1), b + W * (i * b0 + j * b1)
    operands[2] = r + W * (i * r0 + j * r1)
    steps[0], steps[1], steps[2] = W * a2, W * b2, W * r2
    sizes[0] = s2
    loop(operands, sizes, steps, data)
    j = j + 1
    if j == s1 then i, j = i + 1, 0 end
  end
end

-- A factor as an element of the type, which `number` then has.
local function set_number(factor)
  number[0] = factor
  return number[0]
end

-- r = beta * t + alpha * the product in `work`, which has the sizes s. A term with the factor 0 is
-- left out, even if it is nan.
local function combine(beta, alpha, s0, s1, s2, t, t0, t1, t2, r, r0, r1, r2)
  local p0, p1 = s1 * s2, s2
  alpha = set_number(alpha)
  if alpha == 0 then
    ffi.fill(work, W * s0 * s1 * s2)
  elseif alpha ~= 1 then
    each(multiply, multiply_data, s0, s1, s2, WORK, p0, p1, 1, NUMBER, 0, 0, 0, WORK, p0, p1, 1)
  end
  beta = set_number(beta)
  if beta == 0 then
    return each(copy, copy_data, s0, s1, s2, WORK, p0, p1, 1, r, r0, r1, r2, r, r0, r1, r2)
  elseif beta ~= 1 then
    each(multiply, multiply_data, s0, s1, s2, t, t0, t1, t2, NUMBER, 0, 0, 0, MORE_WORK, p0, p1, 1)
    t, t0, t1, t2 = MORE_WORK, p0, p1, 1
  end
  each(add, add_data, s0, s1, s2, t, t0, t1, t2, WORK, p0, p1, 1, r, r0, r1, r2)
end

-- ---------------------------------------------------------- sums of products

local blas = {}

-- Where the result of a sum goes: the address and strides, and a block if r is nil, for a new
-- tensor; nil if Python has to resize r, or r shares elements with t.
local function sum_result(r, t, ct, n, s0, s1, s2, at, t0, t1, t2)
  if r == nil then
    local block, to, r0, r1, r2 = new(dtype, n, s0, s1, s2)
    return to, r0, r1, r2, block
  end
  if rawequal(r, t) then
    if distinct(s0, s1, s2, t0, t1, t2) then return at, t0, t1, t2 end
    return nil
  end
  local c = struct_of(r)
  if not c or shares(c, ct) then return nil end
  local m, q0, q1, q2, r0, r1, r2 = geometry(c)
  if m ~= n or q0 ~= s0 or q1 ~= s1 or q2 ~= s2 or not distinct(s0, s1, s2, r0, r1, r2) then
    return nil
  end
  return place(c, W, s0, s1, s2, r0, r1, r2), r0, r1, r2
end

-- Adds an operation r = beta * t + alpha * product, and the same without beta, which is 1.
-- @param dims how many dimensions t has
-- @param multiply_factors writes the product of two factors, given by their structs and the sizes
--   of t, to `work`; returns false if they do not fit, or a storage has moved
local function add_sum(name, dims, multiply_factors)
  local function run(r, beta, t, alpha, a, b, ...) -- luacheck: ignore 212
    local ct, ca, cb = struct_of(t), struct_of(a), struct_of(b)
    if not (ct and ca and cb) then return nil end
    local n, s0, s1, s2, t0, t1, t2 = geometry(ct)
    if n ~= dims or not work_for(s0 * s1 * s2) then return nil end
    local at = place(ct, W, s0, s1, s2, t0, t1, t2)
    local to, r0, r1, r2, block
    if at then to, r0, r1, r2, block = sum_result(r, t, ct, n, s0, s1, s2, at, t0, t1, t2) end
    if not to or not multiply_factors(ca, cb, s0, s1, s2) then return nil end
    combine(beta, alpha, s0, s1, s2, at, t0, t1, t2, to, r0, r1, r2)
    return block and publish(dtype, block) or r
  end
  blas[name] = run

  blas[name .. '_without_beta'] = function(r, t, alpha, a, b, ...) -- luacheck: ignore 212
    local result = run(r, 1, t, alpha, a, b)
    return result
  end
end

add_sum('addmv', 1, function(ca, cb, _, _, size)
  local n, _, a1, a2, _, p1, p2 = geometry(ca)
  local m, _, _, b2, _, _, q2 = geometry(cb)
  if n ~= 2 or m ~= 1 or a1 ~= size or a2 ~= b2 or a1 * a2 >= MAX_VECTOR then return false end
  local a, b = place(ca, W, 1, a1, a2, 0, p1, p2), place(cb, W, 1, 1, b2, 0, 0, q2)
  if not (a and b) then return false end
  matrix_product(1, a1, a2, 1, a, 0, p1, p2, b, 0, q2, 0, WORK, 0, 1, 0)
  return true
end)

add_sum('addmm', 2, function(ca, cb, _, s1, s2)
  local n, _, a1, a2, _, p1, p2 = geometry(ca)
  local m, _, b1, b2, _, q1, q2 = geometry(cb)
  if n ~= 2 or m ~= 2 or a1 ~= s1 or b2 ~= s2 or a2 ~= b1 or a1 * a2 * b2 >= MAX_PRODUCT then
    return false
  end
  local a, b = place(ca, W, 1, a1, a2, 0, p1, p2), place(cb, W, 1, b1, b2, 0, q1, q2)
  if not (a and b) then return false end
  matrix_product(1, a1, a2, b2, a, 0, p1, p2, b, 0, q1, q2, WORK, 0, s2, 1)
  return true
end)

-- r = the outer product of two vectors at a and b: each element of the first times the second.
local function outer(s1, s2, a, p, b, q, r, r1, r2)
  each(multiply, multiply_data, 1, s1, s2, a, 0, p, 0, b, 0, 0, q, r, 0, r1, r2)
end

add_sum('addr', 2, function(ca, cb, _, s1, s2)
  local n, _, _, a2, _, _, p = geometry(ca)
  local m, _, _, b2, _, _, q = geometry(cb)
  if n ~= 1 or m ~= 1 or a2 ~= s1 or b2 ~= s2 then return false end
  local a, b = place(ca, W, 1, 1, a2, 0, 0, p), place(cb, W, 1, 1, b2, 0, 0, q)
  if not (a and b) then return false end
  outer(s1, s2, a, p, b, q, WORK, s2, 1)
  return true
end)

-- The products of two batches of matrices to r; false if there are others than `count` products of
-- s1 x s2 elements.
local function batch_product(ca, cb, count, s1, s2, r, r0, r1, r2)
  local n, a0, a1, a2, p0, p1, p2 = geometry(ca)
  local m, b0, b1, b2, q0, q1, q2 = geometry(cb)
  if n ~= 3 or m ~= 3 or a0 ~= count or b0 ~= count or a1 ~= s1 or b2 ~= s2 or a2 ~= b1
    or a0 * a1 * a2 * b2 >= MAX_PRODUCT then
    return false
  end
  local a, b = place(ca, W, a0, a1, a2, p0, p1, p2), place(cb, W, b0, b1, b2, q0, q1, q2)
  if not (a and b) then return false end
  matrix_product(count, a1, a2, b2, a, p0, p1, p2, b, q0, q1, q2, r, r0, r1, r2)
  return true
end

add_sum('baddbmm', 3, function(ca, cb, s0, s1, s2)
  return batch_product(ca, cb, s0, s1, s2, WORK, s1 * s2, s2, 1)
end)

add_sum('addbmm', 2, function(ca, cb, _, s1, s2)
  local n, count = geometry(ca)
  local size = s1 * s2
  -- numpy adds up single elements in another order.
  if n ~= 3 or size == 1 or not work_for(count * size)
    or not batch_product(ca, cb, count, s1, s2, WORK, size, s2, 1) then
    return false
  end
  for k = 1, count - 1 do
    each(add, add_data, 1, 1, size, WORK, 0, 0, 1, WORK + W * k * size, 0, 0, 1, WORK, 0, 0, 1)
  end
  return true
end)

-- -------------------------------------------------------------------- products

-- Where the result of a product goes, as in `sum_result`; `work` if r has the storage of a factor:
-- then r's own address and strides are behind the block.
local function product_result(r, ca, cb, n, s0, s1, s2)
  if r == nil then
    local block, to, r0, r1, r2 = new(dtype, n, s0, s1, s2)
    return to, r0, r1, r2, block
  end
  local c = struct_of(r)
  if not c then return nil end
  local m, q0, q1, q2, r0, r1, r2 = geometry(c)
  if m ~= n or q0 ~= s0 or q1 ~= s1 or q2 ~= s2 or not distinct(s0, s1, s2, r0, r1, r2) then
    return nil
  end
  local to = place(c, W, s0, s1, s2, r0, r1, r2)
  if not (shares(c, ca) or shares(c, cb)) then return to, r0, r1, r2 end
  local work_at = to and work_for(s0 * s1 * s2)
  if not work_at then return nil end
  return work_at, s1 * s2, s2, 1, nil, to, r0, r1, r2
end

-- Ends a product: copies it to its place if it is in `work`.
local function finish(r, block, s0, s1, s2, to, r0, r1, r2, ...) -- luacheck: ignore 212
  if to then
    each(copy, copy_data, s0, s1, s2, WORK, s1 * s2, s2, 1, to, r0, r1, r2, to, r0, r1, r2)
  end
  return block and publish(dtype, block) or r
end

function blas.mv(r, mat, vec, ...) -- luacheck: ignore 212
  local ca, cb = struct_of(mat), struct_of(vec)
  if not (ca and cb) then return nil end
  local n, _, a1, a2, _, p1, p2 = geometry(ca)
  local m, _, _, b2, _, _, q2 = geometry(cb)
  if n ~= 2 or m ~= 1 or a2 ~= b2 or a1 * a2 >= MAX_VECTOR then return nil end
  local a, b = place(ca, W, 1, a1, a2, 0, p1, p2), place(cb, W, 1, 1, b2, 0, 0, q2)
  if not (a and b) then return nil end
  local out, _, _, o2, block, to, r0, r1, r2 = product_result(r, ca, cb, 1, 1, 1, a1)
  if not out then return nil end
  matrix_product(1, a1, a2, 1, a, 0, p1, p2, b, 0, q2, 0, out, 0, o2, 0)
  local result = finish(r, block, 1, 1, a1, to, r0, r1, r2)
  return result
end

function blas.mm(r, m1, m2, ...) -- luacheck: ignore 212
  local ca, cb = struct_of(m1), struct_of(m2)
  if not (ca and cb) then return nil end
  local n, _, a1, a2, _, p1, p2 = geometry(ca)
  local m, _, b1, b2, _, q1, q2 = geometry(cb)
  if n ~= 2 or m ~= 2 or a2 ~= b1 or a1 * a2 * b2 >= MAX_PRODUCT then return nil end
  local a, b = place(ca, W, 1, a1, a2, 0, p1, p2), place(cb, W, 1, b1, b2, 0, q1, q2)
  if not (a and b) then return nil end
  local out, _, o1, o2, block, to, r0, r1, r2 = product_result(r, ca, cb, 2, 1, a1, b2)
  if not out then return nil end
  matrix_product(1, a1, a2, b2, a, 0, p1, p2, b, 0, q1, q2, out, 0, o1, o2)
  local result = finish(r, block, 1, a1, b2, to, r0, r1, r2)
  return result
end

function blas.ger(r, vec1, vec2, ...) -- luacheck: ignore 212
  local ca, cb = struct_of(vec1), struct_of(vec2)
  if not (ca and cb) then return nil end
  local n, _, _, a2, _, _, p = geometry(ca)
  local m, _, _, b2, _, _, q = geometry(cb)
  if n ~= 1 or m ~= 1 or a2 * b2 > ROOM then return nil end
  local a, b = place(ca, W, 1, 1, a2, 0, 0, p), place(cb, W, 1, 1, b2, 0, 0, q)
  if not (a and b) then return nil end
  local out, _, o1, o2, block, to, r0, r1, r2 = product_result(r, ca, cb, 2, 1, a2, b2)
  if not out then return nil end
  outer(a2, b2, a, p, b, q, out, o1, o2)
  local result = finish(r, block, 1, a2, b2, to, r0, r1, r2)
  return result
end

function blas.bmm(r, b1, b2, ...) -- luacheck: ignore 212
  local ca, cb = struct_of(b1), struct_of(b2)
  if not (ca and cb) then return nil end
  local n, s0, s1 = geometry(ca)
  local m, _, _, s2 = geometry(cb)
  if n ~= 3 or m ~= 3 then return nil end
  local out, o0, o1, o2, block, to, r0, r1, r2 = product_result(r, ca, cb, 3, s0, s1, s2)
  if not out or not batch_product(ca, cb, s0, s1, s2, out, o0, o1, o2) then return nil end
  local result = finish(r, block, s0, s1, s2, to, r0, r1, r2)
  return result
end

function blas.dot(a, b)
  local ca, cb = struct_of(a), struct_of(b)
  if not (ca and cb) then return nil end
  local n, _, _, count, _, _, p = geometry(ca)
  local m, _, _, other, _, _, q = geometry(cb)
  if n ~= 1 or m ~= 1 or other ~= count then
    -- Of contiguous tensors of any sizes the elements follow each other.
    count = dense(ca)
    if dense(cb) ~= count then return nil end
    p, q = 1, 1
  end
  -- Python copies a tensor of which all elements are one, and adds in the order that suits a copy.
  if count < 1 or count >= MAX_VECTOR or p == 0 or q == 0 then return nil end
  local x, y = place(ca, W, 1, 1, count, 0, 0, p), place(cb, W, 1, 1, count, 0, 0, q)
  if not (x and y) then return nil end
  matrix_product(1, 1, count, 1, x, 0, 0, p, y, 0, q, 0, NUMBER, 0, 0, 0)
  local value = load(number, number_bits, 0)
  if value ~= value then value = PUSHED_NAN end
  return value
end

local BY_DIMENSIONS = { [11] = 'dot', [21] = 'mv', [22] = 'mm' }

--- The operator: a * b of two vectors, a matrix and a vector, or two matrices.
function blas.multiply(a, b, ...) -- luacheck: ignore 212
  local ca, cb = struct_of(a), struct_of(b)
  local name = ca and cb and BY_DIMENSIONS[10 * ca.nDimension + cb.nDimension]
  if not name then return nil end
  local value
  if name == 'dot' then value = blas.dot(a, b) else value = blas[name](nil, a, b) end
  return value
end

return blas
