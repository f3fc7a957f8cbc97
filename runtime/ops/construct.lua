--- New small tensors: zeros, ones, range, linspace, logspace, cat and repeatTensor.
-- Loaded once for each element type.
-- @module construct

local th, dtype, tools = ...
local ffi = require 'ffi'

if dtype.name == 'Half' then return {} end

local type, select, rawget, tonumber = type, select, rawget, tonumber
local cast = ffi.cast
local structs, fetch_struct, wrap = dtype.structs, dtype.fetch_struct, dtype.wrap
local geometry, place, new, publish = tools.geometry, tools.place, tools.new, tools.publish
local dimension, at, with = tools.dimension, tools.at, tools.with
local places, others, set_places = tools.places, tools.others, tools.set_places
local contiguous, shares, copy, result_at =
  tools.contiguous, tools.shares, tools.copy, tools.result_at
local max, abs, MIN_TURNS = math.max, math.abs, tools.MIN_TURNS
local MAX, WIDTH = tools.MAX, ffi.sizeof(dtype.ctype)
local elements, bits, move = dtype.pointer, tools.bits(WIDTH), tools.mover(WIDTH)

local formulas = th.formulas

local build = {}

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

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

-- A pointer to the elements of a given vector of n, and their distance; nil for other tensors.
local function line(r, n)
  local c = struct_of(r)
  if not c or c.nDimension ~= 1 or c.size[0] ~= n then return nil end
  local step = tonumber(c.stride[0])
  local p = step > 0 and place(c, WIDTH, 1, 1, n, 0, 0, step)
  if not p then return nil end
  p = cast(elements, p)
  return p or nil, step
end

-- Numbers in equal distances, by numpy's loops: they take a third of the time of one in Lua.
local fill_line, fill_points
if is_float then
  local kinds = dtype.name == 'Double' and 'dd->d' or 'ff->f'
  local add, add_data = formulas.inner_loop('add', kinds)
  local times, times_data = formulas.inner_loop('multiply', kinds)
  local over, over_data = formulas.inner_loop('divide', kinds)
  local cell, CELL = tools.memory(dtype, 1)
  local run, FEW = th.reductions.run, 32 -- elements, for which Lua's loop is as quick
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

local MOST_WHOLE = 2 ^ 50 -- up to which quotients of whole numbers are never rounded to one

function build.range(r, first, last, step, ...) -- luacheck: ignore 212
  if not (step > 0 and last >= first or step < 0 and last <= first)
    or not is_float and (first % 1 ~= 0 or last % 1 ~= 0 or step % 1 ~= 0
      or max(abs(first), abs(last)) > MOST_WHOLE) then
    return nil
  end
  local count = (last - first) / step + 1
  if not (count < MAX + 1) then return nil end
  count = count - count % 1
  local p, distance, block
  if r ~= nil then
    p, distance = line(r, count)
  else
    local to
    block, to = new(dtype, 1, 1, 1, count)
    if block and fill_line and fill_line(to, count, first, step) then
      return (publish(dtype, block))
    end
    p, distance = block and cast(elements, block.own.data), 1
  end
  if not p then return nil end
  for i = 0, count - 1 do p[i * distance] = wrap(first + i * step) end
  return r or publish(dtype, block)
end

-- The numbers of a FloatTensor are rounded at each step: where they are stored.
local function set_points(p, to, first, last, count)
  p[0] = last
  p[0] = p[0] - first
  local width = p[0]
  if fill_points(to, count, first, width) then return end
  for i = 0, count - 1 do
    p[i] = i * width
    p[i] = p[i] / (count - 1)
    p[i] = p[i] + first
  end
end

local MOST = 1e30 -- of numbers with which all steps are finite

-- A new vector of `count` numbers that are equally spaced: its block and the address.
local function points(first, last, count)
  if not (count > 1 and count % 1 == 0 and abs(first) < MOST and abs(last) < MOST) then
    return nil
  end
  local block, to = new(dtype, 1, 1, 1, count)
  if not block then return nil end
  local p = cast(elements, to)
  if dtype.name == 'Double' then
    local width = last - first
    if fill_points(to, count, first, width) then return block, to end
    for i = 0, count - 1 do p[i] = first + i * width / (count - 1) end
  else
    p[0] = first
    set_points(p, to, p[0], last, count)
  end
  return block, to
end

if is_float then
  function build.linspace(r, first, last, count, ...) -- luacheck: ignore 212
    local block = r == nil and points(first, last, count)
    return block and publish(dtype, block) or nil
  end

  local ten, TEN = tools.memory(dtype, 1)
  ten[0] = 10
  local operands, steps, numbers = formulas.operands, formulas.steps, formulas.count
  local power, power_data =
    formulas.inner_loop('power', dtype.name == 'Double' and 'dd->d' or 'ff->f')

  function build.logspace(r, first, last, count, ...) -- luacheck: ignore 212
    local block, to
    if r == nil and power then block, to = points(first, last, count) end
    if not block then return nil end
    operands[0], operands[1], operands[2] = TEN, to, to
    steps[0], steps[1], steps[2], numbers[0] = 0, WIDTH, WIDTH, count
    power(operands, numbers, steps, power_data)
    return (publish(dtype, block))
  end
end

-- ------------------------------------------------------------------- copies

-- Copies a tensor to a part of another one along dimension d, where that has the size `total`.
-- from, q: the address of the elements and a pointer to them; s, t: sizes and strides. to, r: those
-- of the other one, `offset` elements behind its first one; o: its strides. False where there are
-- more elements than places can be set, and nothing is copied.
local function copy_part(to, r, offset, d, total, from, q, s0, s1, s2, t0, t1, t2, o0, o1, o2)
  if not contiguous(s0, s1, s2, t0, t1, t2) then
    if not (set_places(places, s0, s1, s2, t0, t1, t2)
      and set_places(others, s0, s1, s2, o0, o1, o2)) then
      return false
    end
    for m = 0, s0 * s1 * s2 - 1 do move(r, offset + others[m], q, places[m]) end
    return true
  end
  -- All from dimension d on is a row of both.
  local row = d == 2 and s2 or d == 1 and s1 * s2 or s0 * s1 * s2
  local count, bytes = s0 * s1 * s2 / row, WIDTH * row
  to = to + WIDTH * offset
  copy(to, from, bytes)
  if count == 1 then return true end
  local step = bytes / at(d, s0, s1, s2) * total
  for m = 1, max(count, MIN_TURNS) - 1 do
    copy(to + step * m, from + bytes * m, m < count and bytes or 0)
  end
  return true
end

-- The address, sizes and strides of the i-th tensor of a list; nil if it has other sizes than s in
-- another dimension than d.
local function part_of(list, i, n, d, s0, s1, s2)
  local c = struct_of(rawget(list, i))
  if not c then return nil end
  local m, z0, z1, z2, t0, t1, t2 = geometry(c)
  local e0, e1, e2 = with(d, at(d, z0, z1, z2), s0, s1, s2)
  if m ~= n or z0 ~= e0 or z1 ~= e1 or z2 ~= e2 then return nil end
  return place(c, WIDTH, z0, z1, z2, t0, t1, t2), z0, z1, z2, t0, t1, t2
end

function build.cat_list(r, list, dim, ...) -- luacheck: ignore 212
  local first, cr = struct_of(rawget(list, 1)), r ~= nil and struct_of(r)
  if not first or cr == nil then return nil end
  local n, s0, s1, s2 = geometry(first)
  local d = n > 0 and dimension(dim == -1 and n or dim, n)
  if not d then return nil end
  local total = 0
  for i = 1, #list do
    local address, z0, z1, z2 = part_of(list, i, n, d, s0, s1, s2)
    if not address or cr and shares(cr, struct_of(list[i])) then return nil end
    total = total + at(d, z0, z1, z2)
  end
  local r0, r1, r2 = with(d, total, s0, s1, s2)
  local to, block = result_at(dtype, r, cr, first, n, r0, r1, r2)
  if not to then return nil end
  local p, offset = cast(bits, to), 0
  local o0, o1, o2 = r1 * r2, r2, 1
  for i = 1, #list do
    local from, z0, z1, z2, t0, t1, t2 = part_of(list, i, n, d, s0, s1, s2)
    local size = from and at(d, z0, z1, z2)
    if not from or offset + size > total then return nil end
    local q = cast(bits, from)
    if not copy_part(to, p, offset * at(d, o0, o1, o2), d, total, from, q, z0, z1, z2, t0, t1, t2,
      o0, o1, o2) then
      return nil
    end
    offset = offset + size
  end
  return block and publish(dtype, block) or r
end

function build.cat(r, a, b, dim, ...) -- luacheck: ignore 212
  local result
  if a ~= nil then result = build.cat_list(r, { a, b }, dim) end
  return result
end

function build.repeatTensor(t, ...)
  local c, n, n0, n1, n2 = struct_of(t), tools.sizes(...)
  if not (c and n) or select('#', ...) ~= n then return nil end
  local m, s0, s1, s2, t0, t1, t2 = geometry(c)
  if m == 0 or m > n then return nil end
  local source = place(c, WIDTH, s0, s1, s2, t0, t1, t2)
  local block, address, o0, o1, o2 = new(dtype, n, n0 * s0, n1 * s1, n2 * s2)
  if not (source and block) then return nil end
  local to, from = cast(bits, address), cast(bits, source)
  if not (set_places(places, s0, s1, s2, t0, t1, t2)
    and set_places(others, s0, s1, s2, o0, o1, o2)) then
    return nil
  end
  local i, j, k = 0, 0, 0
  for _ = 1, n0 * n1 * n2 do
    local offset = i * s0 * o0 + j * s1 * o1 + k * s2 * o2
    for e = 0, s0 * s1 * s2 - 1 do move(to, offset + others[e], from, places[e]) end
    k = k + 1
    if k == n2 then j, k = j + 1, 0 end
    if j == n1 then i, j = i + 1, 0 end
  end
  return (publish(dtype, block))
end

return build
