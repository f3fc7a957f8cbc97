--- Products of small matrices and vectors, and sums of them, for one type of floats.
-- numpy's own inner loops compute products: that of its function matmul, which calls BLAS as the
-- layouts of the operands allow, and those of multiply and positive (a copy). What is added to
-- another tensor BLAS's gemm adds up in place. So the results have the same bits as Python's.
-- @module blas

local dtype, tools = ...
local ffi, host, python_calls = import('ffi', 'host', 'core.python_calls')
local formulas = import 'tensor.formulas'

local read, read_row, load = tools.reader(dtype), tools.row_reader(dtype), tools.loader(dtype)
local struct_of = tools.struct_reader(dtype)
local set_result, set_dense, publish =
  tools.result_setter(dtype, read), tools.set_dense, tools.publish
local max = math.max
local operand, is_distinct, overlap = tools.operand, tools.is_distinct, tools.overlap
local is_dense = tools.is_dense
local PUSHED_NAN = -math.abs(0 / 0) -- what any nan becomes that C passes to Lua

if dtype.name ~= 'Double' and dtype.name ~= 'Float' then return {} end

local find_loop = tools.loop_finder(dtype)
local matmul, matmul_data = find_loop('matmul', 'xx->x')
local multiply, multiply_data = find_loop('multiply', 'xx->x')
local copy, copy_data = find_loop('positive', 'x->x')
if not (matmul and multiply and copy) then return {} end

local W = ffi.sizeof(dtype.ctype)
local operands, sizes = ffi.new('intptr_t[3]'), ffi.new('intptr_t[4]')
local steps = ffi.new('intptr_t[9]')
local ROOM = 131072 -- elements of working memory: what a product of few elements has
local _, WORK = tools.memory(dtype, ROOM)
local number, NUMBER = tools.memory(dtype, 2)
local number_bits = ffi.cast(tools.bits(W), number)

local factor = operand() -- a number, as an operand of any sizes: all strides are 0
factor.at = NUMBER

-- ------------------------------------------------------------------- the loops

-- Sets an operand to a vector as a matrix of one column. (As a matrix of one row it can be taken as
-- it is.)
local function column(o, v)
  o.at, o.s0, o.s1, o.s2, o.t0, o.t1, o.t2 = v.at, 1, v.s2, 1, 0, v.t2, 0
  return o
end

-- r = x * y for matrices, or for as many pairs of them as x has.
local function matrix_product(x, y, r)
  operands[0], operands[1], operands[2] = x.at, y.at, r.at
  sizes[0], sizes[1], sizes[2], sizes[3] = x.s0, x.s1, x.s2, y.s2
  steps[0], steps[1], steps[2] = W * x.t0, W * y.t0, W * r.t0
  steps[3], steps[4], steps[5], steps[6] = W * x.t1, W * x.t2, W * y.t1, W * y.t2
  steps[7], steps[8] = W * r.t1, W * r.t2
  matmul(operands, sizes, steps, matmul_data)
end

-- Runs a loop over n elements of two operands and a result, at addresses and in steps of bytes.
local function run(loop, data, n, x, x_step, y, y_step, r, r_step)
  operands[0], operands[1], operands[2] = x, y, r
  steps[0], steps[1], steps[2] = x_step, y_step, r_step
  sizes[0] = n
  loop(operands, sizes, steps, data)
end

-- Runs a loop over all elements of the operands x and y and the result r, or of an operand and, as
-- y and as r, the result.
local function each(loop, data, x, y, r)
  if is_dense(r, x) and is_dense(r, r) and is_dense(r, y) then
    return run(loop, data, tools.count(r), x.at, W, y.at, W, r.at, W)
  end
  local s0, s1, s2 = r.s0, r.s1, r.s2
  local i, j = 0, 0
  for _ = 1, s0 * s1 do
    run(loop, data, s2, x.at + W * (i * x.t0 + j * x.t1), W * x.t2,
      y.at + W * (i * y.t0 + j * y.t1), W * y.t2, r.at + W * (i * r.t0 + j * r.t1), W * r.t2)
    j = j + 1
    if j == s1 then i, j = i + 1, 0 end
  end
end

-- Returns how BLAS reads a matrix: 'N', or 'T' for the transposed one, and how far its rows are
-- apart; nil where it lies in neither way in memory (runtime/compute/bulk.py copies it then).
local function stored(o)
  local rows, columns, down, right = o.s1, o.s2, o.t1, o.t2
  if (right == 1 or columns == 1) and (down >= columns or rows == 1) then
    return 'N', max(down, columns)
  end
  if (down == 1 or rows == 1) and (right >= rows or columns == 1) then
    return 'T', max(right, rows)
  end
end

local gemm_type = ffi.typeof('void (*)(const char *, const char *, int64_t *, int64_t *, int64_t *,'
  .. ' intptr_t, intptr_t, int64_t *, intptr_t, int64_t *, intptr_t, intptr_t, int64_t *)')
local gemm = python_calls.ask(host.blas, 'gemm', W)
gemm = gemm and ffi.cast(gemm_type, gemm)
local long = ffi.typeof('int64_t[1]')
local rows, columns, depth = long(), long(), long()
local apart_a, apart_b, apart_r = long(), long(), long()

-- r = beta * r + alpha * x * y for matrices that BLAS can read, of which r is contiguous. A term
-- with the factor 0 is left out, even if it is nan.
local function add_matrices(r, beta, alpha, x, y)
  local kind_x, down_x = stored(x)
  local kind_y, down_y = stored(y)
  number[0], number[1] = alpha, beta
  rows[0], columns[0], depth[0] = x.s1, y.s2, number[0] ~= 0 and x.s2 or 0
  apart_a[0], apart_b[0], apart_r[0] = down_x, down_y, y.s2
  -- BLAS stores by columns: for it, these are the transposed matrices.
  gemm(kind_y, kind_x, columns, rows, depth, NUMBER, y.at, apart_b, x.at, apart_a, NUMBER + W,
    r.at, apart_r)
end

-- -------------------------------------------------------------------- products

local blas = {}

-- Sets an operand to working memory for what has the sizes of another one; false where it is large.
local function set_work(product, o)
  if o.s0 * o.s1 * o.s2 > ROOM then return false end
  set_dense(product, WORK, o.n, o.s0, o.s1, o.s2)
  return true
end

-- The operands of a call: new ones, for which compiled code needs no memory; or, where there is a
-- loop over rows, always these.
local function new_operands()
  return operand(), operand(), operand(), operand(), operand()
end

local kept_a, kept_b, kept_to, kept_product, kept_t = new_operands()
local first_column = operand()

local function kept_operands()
  return kept_a, kept_b, kept_to, kept_product, kept_t
end

-- Adds a product r = a * b, the operation r = beta * t + alpha * a * b, and the same without beta,
-- which is 1.
-- @param n how many dimensions the product has
-- @param give gives five operands
-- @param shape returns the last two of the three sizes of the product; nil if the factors do not
--   fit, or Python is quicker
-- @param matrices returns the factors as matrices; false where Python is quicker
-- @param compute writes the product of two operands to a third
local function add_product(name, sum_name, n, give, shape, matrices, compute)
  blas[name] = function(r, first, second, ...) -- luacheck: ignore 212
    local a, b, to, product = give()
    if not (read(a, first) and read(b, second)) then return nil end
    local s1, s2 = shape(a, b)
    if not s1 then return nil end
    local ready, block = set_result(to, r, n, 1, s1, s2)
    if not ready then return nil end
    if block or not (overlap(to, a) or overlap(to, b)) then
      compute(a, b, to)
      return block and publish(dtype, block) or r
    end
    if not set_work(product, to) then return nil end
    compute(a, b, product)
    each(copy, copy_data, product, to, to)
    return r
  end

  local function sum(r, beta, term, alpha, first, second, ...) -- luacheck: ignore 212
    local a, b, to, product, t = give()
    if not (gemm and read(t, term) and read(a, first) and read(b, second)) then return nil end
    local s1, s2 = shape(a, b)
    if not s1 or not tools.is_sized(t, n, 1, s1, s2) then return nil end
    a, b = matrices(a, b)
    if not (a and stored(a) and stored(b)) then return nil end
    local given, ready, block = rawequal(r, term), true, nil
    if given then to = t else ready, block = set_result(to, r, n, 1, s1, s2) end
    if not ready or not (given or block) and overlap(to, t) then return nil end
    local direct = block or is_dense(to, to) and not (overlap(to, a) or overlap(to, b))
    if not direct and not (is_distinct(to) and set_work(product, to)) then return nil end
    local out = direct and to or product
    if not (given and direct) then each(copy, copy_data, t, out, out) end
    add_matrices(out, beta, alpha, a, b)
    if not direct then each(copy, copy_data, product, to, to) end
    return block and publish(dtype, block) or r
  end
  blas[sum_name] = sum

  blas[sum_name .. '_without_beta'] = function(r, term, alpha, a, b, ...) -- luacheck: ignore 212
    return (sum(r, 1, term, alpha, a, b))
  end
end

local function is_large(a) return a.s1 * a.s2 >= host.LARGE end

local gemv -- the address of BLAS's function; false where it is not available

-- r = a * b, shared out as by `multiply_vector` of runtime/compute/bulk.py; false where that is not
-- possible.
local function share_vector(a, b, r)
  if not is_large(a) or r.t2 ~= 1 then return false end
  if gemv == nil then gemv = python_calls.ask(host.blas, 'gemv', W) or false end
  local by_rows, count = a.t2 == 1, a.s1
  return gemv and formulas.share('gemv', count, { run = gemv, size = W, r = r.at, m = a.at,
    x = b.at, columns = a.s2, columnStep = by_rows and 1 or count, rowStep = by_rows and a.s2 or 1,
  }, count)
end

add_product('mv', 'addmv', 1, new_operands, function(a, b)
  if a.n ~= 2 or b.n ~= 1 or a.s2 ~= b.s2 then return nil end
  local by_rows = a.t2 == 1 and (a.t1 == a.s2 or a.s1 == 1)
  local by_columns = a.t1 == 1 and a.t2 == a.s1
  if is_large(a) and not (b.t2 == 1 and (by_rows or by_columns)) then return nil end
  return 1, a.s1
end, function(a, b)
  return not is_large(a) and a, column(operand(), b)
end, function(a, b, r)
  if share_vector(a, b, r) then return end
  matrix_product(a, column(operand(), b), column(operand(), r))
end)

add_product('mm', 'addmm', 2, new_operands, function(a, b)
  if a.n ~= 2 or b.n ~= 2 or a.s2 ~= b.s1 or a.s1 * a.s2 * b.s2 >= 100 * host.LARGE then
    return nil
  end
  return a.s1, b.s2
end, function(a, b)
  return a, b
end, matrix_product)

add_product('ger', 'addr', 2, kept_operands, function(a, b)
  if a.n ~= 1 or b.n ~= 1 or a.s2 * b.s2 > ROOM then return nil end
  return a.s2, b.s2
end, function(a, b)
  return column(first_column, a), b
end, function(a, b, r)
  each(multiply, multiply_data, column(first_column, a), b, r)
end)

function blas.dot(first, second)
  local a, b = operand(), operand()
  if not (read(a, first) and read(b, second)) or a.n ~= 1 or b.n ~= 1 or a.s2 ~= b.s2 then
    if not (read_row(a, first) and read_row(b, second)) or a.s2 ~= b.s2 then return nil end
  end
  -- Python copies a tensor of which all elements are one, and adds in the order that suits a copy.
  if a.s2 >= host.LARGE or a.t2 == 0 or b.t2 == 0 then return nil end
  matrix_product(a, column(operand(), b), factor)
  local value = load(number, number_bits, 0)
  if value ~= value then value = PUSHED_NAN end
  return value
end

local BY_DIMENSIONS = { [11] = 'dot', [21] = 'mv', [22] = 'mm' }

--- The operator: a product of two vectors, a matrix and a vector, or two matrices.
function blas.multiply(first, second, ...) -- luacheck: ignore 212
  local a, b = struct_of(first), struct_of(second)
  local name = a and b and BY_DIMENSIONS[10 * a.nDimension + b.nDimension]
  if not name then return nil end
  if name == 'dot' then return (blas.dot(first, second)) end
  return (blas[name](nil, first, second))
end

return blas
