--- New small tensors: zeros, ones, range, linspace, cat and repeatTensor.
-- Loaded once for each element type.
-- @module small_build

local _, dtype, tools = ...
local ffi = require 'ffi'

if dtype.name == 'Half' then return {} end

local type, select, rawget, tonumber = type, select, rawget, tonumber
local cast = ffi.cast
local structs, fetch_struct, wrap = dtype.structs, dtype.fetch_struct, dtype.wrap
local geometry, place, new, publish = tools.geometry, tools.place, tools.new, tools.publish
local moves, dimension, at, with = tools.moves, tools.dimension, tools.at, tools.with
local places, others, set_places = tools.places, tools.others, tools.set_places
local MAX_NEW, WIDTH = tools.MAX_NEW, ffi.sizeof(dtype.ctype)
local elements, bits, move = dtype.pointer, tools.bits(WIDTH), tools.mover(WIDTH)

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
  local p = cast(elements, block.data)
  for i = 0, s0 * s1 * s2 - 1 do p[i] = 1 end
  return publish(dtype, block)
end

local is_float = dtype.name == 'Float' or dtype.name == 'Double'

-- A pointer to the elements of a given vector of n, and their distance; nil for other tensors.
local function line(r, n)
  local before, c = moves(), struct_of(r)
  if not c or c.nDimension ~= 1 or c.size[0] ~= n then return nil end
  local step = tonumber(c.stride[0])
  local p = step > 0 and place(c, WIDTH, 1, 1, n, 0, 0, step)
  if not p then return nil end
  p = cast(elements, p)
  return moves() == before and p or nil, step
end

function build.range(r, first, last, step, ...) -- luacheck: ignore 212
  if not (step > 0 and last >= first or step < 0 and last <= first)
    or not is_float and (first % 1 ~= 0 or last % 1 ~= 0 or step % 1 ~= 0) then
    return nil
  end
  local count = (last - first) / step
  if not (count < MAX_NEW) then return nil end
  count = count - count % 1 + 1
  local p, distance, block
  if r ~= nil then
    p, distance = line(r, count)
  else
    block = new(dtype, 1, 1, 1, count)
    p, distance = block and cast(elements, block.data), 1
  end
  if not p then return nil end
  for i = 0, count - 1 do p[i * distance] = wrap(first + i * step) end
  return r or publish(dtype, block)
end

-- Those of a FloatTensor are rounded at each step, which Python does.
if dtype.name == 'Double' then
  function build.linspace(r, first, last, count, ...) -- luacheck: ignore 212
    if r ~= nil or not (count > 1 and count % 1 == 0) then return nil end
    local block = new(dtype, 1, 1, 1, count)
    if not block then return nil end
    local p, width = cast(elements, block.data), last - first
    for i = 0, count - 1 do p[i] = first + i * width / (count - 1) end
    return publish(dtype, block)
  end
end

-- ------------------------------------------------------------------- copies

-- Copies a tensor with the sizes s and strides t to a part of another one, which has the strides r
-- and begins `offset` elements behind its first one. from, to: pointers to both.
local function copy_part(to, offset, r0, r1, r2, from, s0, s1, s2, t0, t1, t2)
  set_places(places, s0, s1, s2, t0, t1, t2)
  set_places(others, s0, s1, s2, r0, r1, r2)
  for m = 0, s0 * s1 * s2 - 1 do move(to, offset + others[m], from, places[m]) end
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
  local before, first = moves(), struct_of(rawget(list, 1))
  if r ~= nil or not first then return nil end
  local n, s0, s1, s2 = geometry(first)
  local d = n > 0 and dimension(dim == -1 and n or dim, n)
  if not d then return nil end
  local total = 0
  for i = 1, #list do
    local address, z0, z1, z2 = part_of(list, i, n, d, s0, s1, s2)
    if not address then return nil end
    total = total + at(d, z0, z1, z2)
  end
  local r0, r1, r2 = with(d, total, s0, s1, s2)
  local block, address, o0, o1, o2 = new(dtype, n, r0, r1, r2)
  if not block then return nil end
  local to, offset = cast(bits, address), 0
  for i = 1, #list do
    local source, z0, z1, z2, t0, t1, t2 = part_of(list, i, n, d, s0, s1, s2)
    local size = source and at(d, z0, z1, z2)
    if not source or offset + size > total then return nil end
    local from = cast(bits, source)
    if moves() ~= before then return nil end
    copy_part(to, offset * at(d, o0, o1, o2), o0, o1, o2, from, z0, z1, z2, t0, t1, t2)
    offset = offset + size
  end
  return publish(dtype, block)
end

function build.cat(r, a, b, dim, ...) -- luacheck: ignore 212
  local result
  if a ~= nil then result = build.cat_list(r, { a, b }, dim) end
  return result
end

function build.repeatTensor(t, ...)
  local before, c, n, n0, n1, n2 = moves(), struct_of(t), tools.sizes(...)
  if not (c and n) or select('#', ...) ~= n then return nil end
  local m, s0, s1, s2, t0, t1, t2 = geometry(c)
  if m == 0 or m > n then return nil end
  local source = place(c, WIDTH, s0, s1, s2, t0, t1, t2)
  local block, address, o0, o1, o2 = new(dtype, n, n0 * s0, n1 * s1, n2 * s2)
  if not (source and block) then return nil end
  local to, from = cast(bits, address), cast(bits, source)
  if moves() ~= before then return nil end
  set_places(places, s0, s1, s2, t0, t1, t2)
  set_places(others, s0, s1, s2, o0, o1, o2)
  local i, j, k = 0, 0, 0
  for _ = 1, n0 * n1 * n2 do
    local offset = i * s0 * o0 + j * s1 * o1 + k * s2 * o2
    for e = 0, s0 * s1 * s2 - 1 do move(to, offset + others[e], from, places[e]) end
    k = k + 1
    if k == n2 then j, k = j + 1, 0 end
    if j == n1 then i, j = i + 1, 0 end
  end
  return publish(dtype, block)
end

return build
