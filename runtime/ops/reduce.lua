--- Variances, distances and norms of few floats, and what asks about all elements.
-- Loaded once for each element type. numpy's inner loops compute, in the steps that the
-- implementations take (runtime/ops/reduce.py), in double precision.
-- @module reduce

local dtype, tools = ...
local ffi, c_structs, tensor_blocks = import('ffi', 'core.c_structs', 'tensor.blocks')
local formulas, layouts = import('tensor.formulas', 'tensor.layouts')
local reductions = import 'tensor.reductions'

local type, tonumber, sqrt = type, tonumber, math.sqrt
local read, struct_of = tools.reader(dtype), tools.struct_reader(dtype)
local load, load_double = dtype.load, c_structs.dtypes[c_structs.DOUBLE + 1].load
local publish = tools.publish
local memory, address = tools.memory, tools.address
local MAX_IN_LUA = formulas.MAX_IN_LUA
local dense, same_sizes, copy_rows = layouts.dense, layouts.same_sizes, formulas.copy_rows
local shape, step = layouts.shape, layouts.step
local sections, fold, copy_sections = reductions.sections, reductions.fold, reductions.copy_sections
local run, spread = reductions.run, reductions.spread
local NAN = math.abs(0 / 0)
local PUSHED_NAN = -NAN             -- what any nan becomes that C passes to Lua
local W = ffi.sizeof(dtype.ctype)
if dtype.name == 'Half' then return {} end

local missing, search = false, tools.loop_finder(dtype)

local function find_loop(name, signature)
  local loop, data = search(name, signature)
  missing = missing or not loop
  return loop, data
end

local small = {}

-- Adds a function.
local function add(name, compute)
  small[name] = function(a, b, c, d, e, ...) -- luacheck: ignore 212
    return (compute(a, b, c, d, e))
  end
end

-- The address of a tensor's first element.
local function start(c)
  return address(c.storage.data) + W * tonumber(c.storageOffset)
end

-- Memory for MAX_IN_LUA elements of a type and a few more, which the formulas use, too: the first
-- one's pointer and address.
local function buffer(of, k)
  local pointer = ffi.cast(of.pointer, formulas.memory[k])
  return pointer, address(pointer)
end

local own, OWN = buffer(dtype, 0)
local other, OTHER = buffer(dtype, 1)
local copy, copy_data = find_loop('positive', 'x->x')

-- ------------------------------------------------------------------- equality

local equal, equal_data = find_loop('equal', 'xx->?')
local least, least_data = find_loop('minimum', 'BB->B')
local _, BYTES = buffer(c_structs.dtypes[1], 2)
local all, ALL = memory(c_structs.dtypes[1], 1)

-- Copies the elements of tensor k, which begin at p, as `layouts.lay_out` has found them.
local function gather(to, p, k)
  local n, rows, blocks = shape[0], shape[1], shape[2]
  copy_rows(copy, copy_data, n, rows, blocks, to, W, W * n, W * n * rows,
    p, W * step[3 * k], W * step[3 * k + 1], W * step[3 * k + 2])
end

if missing then return small end

add('equal', function(a, b)
  local ca, cb = struct_of(a), struct_of(b)
  if not (ca and cb) or ca.nDimension == 0 then return nil end
  if not same_sizes(ca, cb) then return false end
  local n, scattered = dense(ca), false
  if n == 0 or dense(cb) == 0 then
    scattered = layouts.lay_out(MAX_IN_LUA, ca, cb)
    if not scattered then return nil end
    n = shape[0] * shape[1] * shape[2]
  end
  if n > MAX_IN_LUA then return nil end
  local p, q = start(ca), start(cb)
  if scattered then
    gather(OWN, p, 0)
    gather(OTHER, q, 1)
    p, q = OWN, OTHER
  end
  run(equal, equal_data, n, p, W, q, W, BYTES, 1)
  all[0] = 1
  run(least, least_data, n, ALL, 0, BYTES, 1, ALL, 0)
  return all[0] ~= 0
end)

-- -------------------------------------------------------------------- doubles

if dtype.name ~= 'Double' and dtype.name ~= 'Float' then return small end
local plus, plus_data = find_loop('add', 'dd->d')
local minus, minus_data = find_loop('subtract', 'dd->d')
local times, times_data = find_loop('multiply', 'dd->d')
local over, over_data = find_loop('divide', 'dd->d')
local root, root_data = find_loop('sqrt', 'd->d')
local absolute, absolute_data = find_loop('absolute', 'd->d')
local copy_double, copy_double_data = find_loop('positive', 'd->d')
local matmul, matmul_data = find_loop('matmul', 'dd->d')
local own_plus, own_plus_data = find_loop('add', 'xx->x')
local own_minus, own_minus_data = find_loop('subtract', 'xx->x')
local own_times, own_times_data = find_loop('multiply', 'xx->x')
local own_absolute, own_absolute_data = find_loop('absolute', 'x->x')
local power, power_data = find_loop('power', 'xx->x')
if missing then return small end

local is_float, doubles = dtype.name == 'Float', c_structs.dtypes[c_structs.DOUBLE + 1]
local wide, WIDE = buffer(doubles, 2)
local _, TERMS = buffer(doubles, 3)
local totals, TOTALS = buffer(doubles, 4)
local cells, CELLS = memory(doubles, 3)
local own_cells, OWN_CELLS = memory(dtype, 2)
local ZERO, NUMBER, RESULT = CELLS, CELLS + 8, CELLS + 16 -- ZERO stays 0
local widen, narrow = formulas.converters()

local function pushed(value)
  if value ~= value then return PUSHED_NAN end
  return value
end

-- Copies what `sections` has found at p to WIDE, one after the other.
local function gather_sections(p, outer, o, count, d, inner, i, ...) -- luacheck: ignore 212
  copy_sections(copy, copy_data, W, is_float and OWN or WIDE, p, outer, o, count, d, inner, i)
  if is_float then widen(outer * count * inner, OWN, WIDE, own, wide) end
end

-- The sum of n elements that lie `far` apart from p on; WIDE has them then, one after the other.
local function sum_of(p, n, far, ...) -- luacheck: ignore 212
  gather_sections(p, 1, 0, n, far, 1, 0)
  totals[0] = 0
  run(plus, plus_data, n, TOTALS, 0, WIDE, 8, TOTALS, 0)
  return (load_double(totals, 0))
end

-- Adds up what lies at p as WIDE does.
local function add_up(p, outer, count, inner, ...) -- luacheck: ignore 212
  fold(copy_double, copy_double_data, plus, plus_data, 8, ZERO, true, TOTALS, p,
    outer, count * inner, count, inner, inner, 1)
end

-- The address of n totals in the element type.
local function own_totals(n, ...) -- luacheck: ignore 212
  if not is_float then return TOTALS end
  narrow(n, TOTALS, OTHER, totals, other)
  return OTHER
end

-- Runs a loop over n totals and a number.
local function with_number(loop, data, n, number)
  cells[1] = number
  run(loop, data, n, TOTALS, 8, NUMBER, 0, TOTALS, 8)
end

-- Finds a result's place, like t or with size 1 along a dimension of it: returns the address, and a
-- block if r is nil, for a new tensor. Returns nil for a result that Python has to resize.
local function result_at(r, c, dim)
  if r == nil then
    local block
    if dim then
      block = reductions.block_along(dtype, c, dim, false)
    else
      block = tensor_blocks.like(dtype, c, layouts.count(c))
    end
    return address(block.own.data), block
  end
  local cr = struct_of(r)
  if not cr or not reductions.fits(cr, c, dim or 1, not dim) then return nil end
  return start(cr)
end

local function result_of(r, block)
  return block and publish(dtype, block) or r
end

-- ------------------------------------------------------------------ variances

-- The sum of the squares of how far elements are from their mean, and their number.
local function squares(t)
  local c = struct_of(t)
  if not c or not layouts.lay_out_in_memory(MAX_IN_LUA, c) or shape[1] ~= 1 then return nil end
  local n, near = shape[0], step[0]
  local p = start(c)
  cells[1] = sum_of(p, n, near) / n
  run(minus, minus_data, n, WIDE, 8, NUMBER, 0, TERMS, 8)
  reductions.product(matmul, matmul_data, n, TERMS, TERMS, RESULT)
  return load_double(cells, 2), n
end

local function variance(t, biased)
  local total, n = squares(t)
  return total and total / (biased and n or n - 1)
end

add('var_all', function(t, biased)
  local value = variance(t, biased)
  return value and pushed(value)
end)

add('std_all', function(t, biased)
  local value = variance(t, biased)
  return value and pushed(sqrt(value))
end)

local function along(r, t, dim, biased, rooted, ...) -- luacheck: ignore 212
  local c = struct_of(t)
  if not c or type(dim) ~= 'number' then return nil end
  local outer, o, count, d, inner, i = sections(MAX_IN_LUA, c, dim, false)
  if not outer or (outer > 1 and inner > 1) then return nil end
  local to, block = result_at(r, c, dim)
  local p = to and start(c)
  if not to then return nil end
  local n = outer * inner
  gather_sections(p, outer, o, count, d, inner, i)
  add_up(WIDE, outer, count, inner)
  with_number(over, over_data, n, count)
  spread(minus, minus_data, 8, WIDE, TOTALS, TERMS, outer, count, inner)
  run(times, times_data, n * count, TERMS, 8, TERMS, 8, TERMS, 8)
  add_up(TERMS, outer, count, inner)
  with_number(over, over_data, n, count)
  if not biased then
    with_number(times, times_data, n, count > 1 and count / (count - 1) or NAN)
  end
  if rooted then run(root, root_data, n, TOTALS, 8, TOTALS, 8, TOTALS, 8) end
  tools.copy(to, own_totals(n), W * n)
  return (result_of(r, block))
end

add('var', function(r, t, dim, biased) return (along(r, t, dim, biased, false)) end)
add('std', function(r, t, dim, biased) return (along(r, t, dim, biased, true)) end)

-- ---------------------------------------------------------------------- norms

add('dist', function(a, b, p)
  local ca, cb = struct_of(a), struct_of(b)
  local n = ca and cb and dense(ca) or 0
  if n == 0 or n > MAX_IN_LUA or dense(cb) ~= n or not (p == 1 or p == 2) then return nil end
  local x, y = start(ca), start(cb)
  run(own_minus, own_minus_data, n, x, W, y, W, OWN, W)
  if p == 2 then
    run(own_times, own_times_data, n, OWN, W, OWN, W, OWN, W)
  else
    run(own_absolute, own_absolute_data, n, OWN, W, OWN, W, OWN, W)
  end
  -- Each sum so far takes the place of a term.
  run(own_plus, own_plus_data, n - 1, OWN, W, OWN + W, W, OWN + W, W)
  own_cells[0] = 1 / p
  run(power, power_data, 1, OWN + W * (n - 1), 0, OWN_CELLS, 0, OWN_CELLS + W, 0)
  return pushed(load(own_cells, 1))
end)

-- The factors for norms of slices, given the sums of their terms.
local function set_factors(n, p, limit)
  for k = 0, n - 1 do
    local norm = load_double(totals, k)
    if p == 2 then norm = sqrt(norm) end
    totals[k] = norm > limit and limit / (norm + 1e-7) or 1
  end
end

add('renorm', function(r, t, p, dim, limit)
  local c = struct_of(t)
  local size = c and dense(c) or 0
  if size == 0 or size > MAX_IN_LUA or c.nDimension < 2 or not (p == 1 or p == 2)
    or not (dim == 1 or (dim == 2 and c.nDimension == 2)) then
    return nil
  end
  local n = tonumber(c.size[dim - 1])
  local outer, count, inner = n, size / n, 1 -- of a slice, elements follow each other
  if dim == 2 then outer, inner = 1, n end
  local to, block = result_at(r, c)
  local x = to and start(c)
  if not to or (x ~= to and x < to + W * size and to < x + W * size) then
    return nil
  end
  gather_sections(x, outer, count * inner, count, inner, inner, 1)
  if p == 2 then
    run(times, times_data, size, WIDE, 8, WIDE, 8, TERMS, 8)
  else
    run(absolute, absolute_data, size, WIDE, 8, TERMS, 8, TERMS, 8)
  end
  local from = TERMS
  if inner > 1 then
    reductions.gather_results(copy_double, copy_double_data, 8, WIDE, TERMS,
      outer, count * inner, count, inner, inner, 1)
    from = WIDE
  end
  add_up(from, n, count, 1)
  own_cells[0] = limit
  set_factors(n, p, load(own_cells, 0))
  spread(own_times, own_times_data, W, x, own_totals(n), to, outer, count, inner)
  return (result_of(r, block))
end)

add('trace', function(t)
  local matrix = tools.operand()
  if not read(matrix, t) or matrix.n ~= 2 then return nil end
  local p, n, far = matrix.at, math.min(matrix.s1, matrix.s2), matrix.t1 + matrix.t2
  if n > MAX_IN_LUA then return nil end
  return pushed(sum_of(p, n, far))
end)

return small
