--- New small tensors: zeros, ones, range, linspace, cat, repeatTensor, tril and triu.
-- Loaded once for each element type. Elements are copied as whole numbers of up to 32 bits, so that
-- a nan keeps its bits.
-- @module construct

local dtype, tools = ...
local ffi, blocks, formulas = import('ffi', 'tensor.blocks', 'tensor.formulas')
local reductions = import 'tensor.reductions'

if dtype.name == 'Half' then return {} end

local select, rawget = select, rawget
local cast = ffi.cast
local read = tools.reader(dtype)
local new, publish, result_at = tools.new, tools.publish, tools.dense_results(dtype)
local dimension, with, size, stride = tools.dimension, tools.with, tools.size, tools.stride
local count, is_dense, fit_beside = tools.count, tools.is_dense, tools.fit_beside
local places, others, locate = tools.places, tools.others, tools.locate
local copy, fill, overlap = tools.copy, tools.fill, tools.overlap
local max, min, abs, MIN_TURNS = math.max, math.min, math.abs, formulas.MIN_TURNS
local MAX, WIDTH = blocks.MAX, ffi.sizeof(dtype.ctype)
local elements, bits, move = dtype.pointer, tools.bits(WIDTH), tools.mover(WIDTH)

-- The operand that is read, and the result.
local t, target = tools.operand(), tools.operand()

local build = {}

-- ------------------------------------------------------------------- numbers

function build.zeros(r, ...)
  local n, s0, s1, s2 = tools.sizes(...)
  local block = r == nil and n and new(dtype, n, s0, s1, s2)
  return block and publish(dtype, block) or nil
end

function build.ones(r, ...)
  local n, s0, s1, s2 = tools.sizes(...)
  local block = r == nil and n and new(dtype, n, s0, s1, s2)
  if not block then return nil end
  local p = cast(elements, block.own.data)
  for i = 0, s0 * s1 * s2 - 1 do p[i] = 1 end
  return (publish(dtype, block))
end

local is_float = dtype.name == 'Float' or dtype.name == 'Double'

-- Numbers in equal distances, by numpy's loops: they take a third of the time of one in Lua.
local fill_line, fill_points
if is_float then
  local find_loop = tools.loop_finder(dtype)
  local add, add_data = find_loop('add', 'xx->x')
  local times, times_data = find_loop('multiply', 'xx->x')
  local over, over_data = find_loop('divide', 'xx->x')
  local cell, CELL = tools.memory(dtype, 1)
  local run, FEW = reductions.run, 32 -- elements, for which Lua's loop is as quick
  local MOST_EXACT = dtype.name == 'Double' and math.huge or 2 ^ 24
  local positions, POSITIONS

  -- The address of the numbers 0, 1, 2 …
  local function get_positions()
    if not positions then
      positions, POSITIONS = tools.memory(dtype, MAX)
      for i = 0, MAX - 1 do positions[i] = i end
    end
    return POSITIONS
  end

  local function with_number(loop, data, n, from, number, to)
    cell[0] = number
    run(loop, data, n, from, WIDTH, CELL, 0, to, WIDTH)
  end

  -- Sets n elements to first, first + step and so on. False if these are few, or if floats would be
  -- rounded twice.
  function fill_line(to, n, first, step)
    if not (add and times) or n < FEW or MOST_EXACT < math.huge
      and (first % 1 ~= 0 or step % 1 ~= 0 or abs(first) + n * abs(step) > MOST_EXACT) then
      return false
    end
    local from = get_positions()
    if step ~= 1 then
      with_number(times, times_data, n, from, step, to)
      from = to
    end
    with_number(add, add_data, n, from, first, to)
    return true
  end

  -- Sets n elements to first, first + width / (n - 1) and so on.
  function fill_points(to, n, first, width)
    if not (add and times and over) or n < FEW then return false end
    with_number(times, times_data, n, get_positions(), width, to)
    with_number(over, over_data, n, to, n - 1, to)
    with_number(add, add_data, n, to, first, to)
    return true
  end
end

-- The numbers of a FloatTensor are rounded at each step: where they are stored.
local function set_points(p, to, first, last, n)
  p[0] = last
  p[0] = p[0] - first
  local width = p[0]
  if fill_points(to, n, first, width) then return end
  for i = 0, n - 1 do
    p[i] = i * width
    p[i] = p[i] / (n - 1)
    p[i] = p[i] + first
  end
end

-- A new vector of n numbers that are equally spaced: its block.
local function points(first, last, n)
  -- With such numbers all steps are finite.
  if not (n > 1 and n % 1 == 0 and abs(first) + abs(last) < 1e30) then return nil end
  local block, address = new(dtype, 1, 1, 1, n)
  if not block then return nil end
  local p = cast(elements, address)
  if dtype.name == 'Double' then
    local width = last - first
    if fill_points(address, n, first, width) then return block end
    for i = 0, n - 1 do p[i] = first + i * width / (n - 1) end
  else
    p[0] = first
    set_points(p, address, p[0], last, n)
  end
  return block
end

if is_float then
  function build.range(r, first, last, step, ...) -- luacheck: ignore 212
    if r ~= nil or not (step > 0 and last >= first or step < 0 and last <= first) then
      return nil
    end
    local n = (last - first) / step + 1
    if not (n < MAX + 1) then return nil end
    n = n - n % 1
    local block, address = new(dtype, 1, 1, 1, n)
    if not block then return nil end
    if not fill_line(address, n, first, step) then
      local p = cast(elements, address)
      for i = 0, n - 1 do p[i] = first + i * step end
    end
    return (publish(dtype, block))
  end

  function build.linspace(r, first, last, n, ...) -- luacheck: ignore 212
    local block = r == nil and points(first, last, n)
    return block and publish(dtype, block) or nil
  end
end

-- ------------------------------------------------------------------- copies

-- Copies t to a part of the contiguous result along dimension d, `offset` elements behind its first
-- one. False where there are more elements than places can be set, and nothing is copied.
local function copy_part(d, offset)
  if not is_dense(t, t) then
    target.s0, target.s1, target.s2 = t.s0, t.s1, t.s2
    if not (locate(places, t) and locate(others, target)) then return false end
    local r, q = cast(bits, target.at), cast(bits, t.at)
    for m = 0, count(t) - 1 do move(r, offset + others[m], q, places[m]) end
    return true
  end
  -- All from dimension d on is a row of both.
  local row = size(t, d) * stride(target, d)
  local rows, bytes = count(t) / row, WIDTH * row
  local from, out, step = t.at, target.at + WIDTH * offset, WIDTH * stride(target, d - 1)
  copy(out, from, bytes)
  if rows == 1 then return true end
  for m = 1, max(rows, MIN_TURNS) - 1 do
    copy(out + step * m, from + bytes * m, m < rows and bytes or 0)
  end
  return true
end

local first = tools.operand() -- of a list

function build.cat_list(r, list, dim, ...) -- luacheck: ignore 212
  if not read(first, rawget(list, 1)) or r ~= nil and not read(target, r) then return nil end
  local n = first.n
  local d = dimension(dim == -1 and n or dim, n)
  if not d then return nil end
  local total = 0
  for i = 1, #list do
    if not read(t, rawget(list, i)) or not fit_beside(d, t, first) then return nil end
    if r ~= nil and overlap(target, t) then return nil end
    total = total + size(t, d)
  end
  local s0, s1, s2 = with(d, total, first.s0, first.s1, first.s2)
  local address, block = result_at(r, first, n, s0, s1, s2)
  if not address then return nil end
  tools.set_dense(target, address, n, s0, s1, s2)
  local done, step = 0, stride(target, d)
  for i = 1, #list do
    if not read(t, rawget(list, i)) or done + size(t, d) > total then return nil end
    if not copy_part(d, done * step) then return nil end
    done = done + size(t, d)
  end
  return block and publish(dtype, block) or r
end

function build.cat(r, a, b, dim, ...) -- luacheck: ignore 212
  if a == nil then return nil end
  return (build.cat_list(r, { a, b }, dim))
end

function build.repeatTensor(src, ...)
  local n, n0, n1, n2 = tools.sizes(...)
  if not n or select('#', ...) ~= n or not read(t, src) or t.n > n then return nil end
  local block, address = new(dtype, n, n0 * t.s0, n1 * t.s1, n2 * t.s2)
  if not block then return nil end
  tools.set_dense(target, address, n, n0 * t.s0, n1 * t.s1, n2 * t.s2)
  -- The number of places of the result from a copy to the next one, in each dimension.
  local far, step, near = t.s0 * target.t0, t.s1 * target.t1, t.s2
  target.s0, target.s1, target.s2 = t.s0, t.s1, t.s2
  if not (locate(places, t) and locate(others, target)) then return nil end
  local r, from, last = cast(bits, target.at), cast(bits, t.at), count(t) - 1
  local i, j, k = 0, 0, 0
  for _ = 1, n0 * n1 * n2 do
    local offset = i * far + j * step + k * near
    for e = 0, last do move(r, offset + others[e], from, places[e]) end
    k = k + 1
    if k == n2 then j, k = j + 1, 0 end
    if j == n1 then i, j = i + 1, 0 end
  end
  return (publish(dtype, block))
end

-- ------------------------------------------------------------------- triangles

-- Copies the matrix t to contiguous memory; false where it has too many elements.
local function copy_matrix(address)
  if is_dense(t, t) then
    copy(address, t.at, WIDTH * count(t))
    return true
  end
  if not locate(places, t) then return false end
  local r, q = cast(bits, address), cast(bits, t.at)
  for m = 0, count(t) - 1 do move(r, m, q, places[m]) end
  return true
end

-- The functions keep_* set what lies on one side of a diagonal of a contiguous matrix to 0.

local function keep_lower(address, rows, columns, k)
  local none = max(0, min(rows, -k)) -- rows at the top of which nothing remains
  fill(address, 0, WIDTH * columns * none)
  local last = min(rows, columns - k - 1) - 1
  if last < none then return end
  for i = none, max(last, none + MIN_TURNS - 1) do
    local begin = i <= last and i + k + 1 or columns
    fill(address + WIDTH * (columns * i + begin), 0, WIDTH * (columns - begin))
  end
end

local function keep_upper(address, rows, columns, k)
  local all = max(0, min(rows, columns - k)) -- rows above those at the end of which nothing remains
  fill(address + WIDTH * columns * all, 0, WIDTH * columns * (rows - all))
  local top = max(0, 1 - k)
  if all <= top then return end
  for i = top, max(all - 1, top + MIN_TURNS - 1) do
    fill(address + WIDTH * columns * i, 0, i < all and WIDTH * (i + k) or 0)
  end
end

-- Makes tril and triu: of a copy, `keep` clears all but a triangle.
local function triangle(keep)
  return function(r, src, k, ...) -- luacheck: ignore 212
    if k % 1 ~= 0 or abs(k) >= 2 ^ 31 or not read(t, src) or t.n ~= 2 then return nil end
    local address, block = result_at(r, t, 2, 1, t.s1, t.s2)
    if not address or not copy_matrix(address) then return nil end
    keep(address, t.s1, t.s2, k)
    return block and publish(dtype, block) or r
  end
end

build.tril, build.triu = triangle(keep_lower), triangle(keep_upper)

return build
