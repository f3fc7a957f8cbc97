--- gather, scatter, index, indexCopy, indexAdd, indexFill and masks on few elements.
-- Loaded once for each element type. Elements are copied as whole numbers of up to 32 bits, so that
-- a nan keeps its bits. All positions are read and checked before anything is written.
-- @module small_indexing

local th, dtype, tools = ...
local ffi = require 'ffi'

local type = type
local cast = ffi.cast
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local bytes = th.dtypes[1]
local byte_structs, fetch_byte = bytes.structs, bytes.fetch_struct
local geometry, place, distinct, shares = tools.geometry, tools.place, tools.distinct, tools.shares
local moves, new, publish, address = tools.moves, tools.new, tools.publish, tools.address
local words, positions, long_struct = tools.words, tools.positions, tools.long_struct
local read_positions, claim, claimed = tools.read_positions, tools.claim, tools.claimed
local MAX_WORK = tools.MAX_WORK

local WIDTH = ffi.sizeof(dtype.ctype)
local pointer = ffi.typeof(({ 'uint8_t *', 'int16_t *', [4] = 'int32_t *', [8] = 'int32_t *' })[WIDTH])
local elements = dtype.pointer
local masks = ffi.typeof('uint8_t *')

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

-- Copies element j of `from` to element i of `to`.
local function move(to, i, from, j)
  to[i] = from[j]
end
if WIDTH == 8 then
  function move(to, i, from, j)
    i, j = 2 * i, 2 * j
    to[i], to[i + 1] = from[j], from[j + 1]
  end
end

-- A number as an element: the pointer from which `move` copies it.
local element = ffi.new(ffi.typeof('$[1]', ffi.typeof(dtype.ctype)))
local element_bits = cast(pointer, element)
local convert = dtype.convert

local function is_dimension(dim, n)
  return type(dim) == 'number' and dim >= 1 and dim <= n and dim % 1 == 0
end

local function differ_elsewhere(d, s0, s1, s2, r0, r1, r2)
  return d ~= 0 and s0 ~= r0 or d ~= 1 and s1 ~= r1 or d ~= 2 and s2 ~= r2
end

-- Of three numbers the one for dimension d, from 0; and the three with 0 in its place.
local function at(d, x0, x1, x2)
  return d == 0 and x0 or d == 1 and x1 or x2
end

local function without(d, x0, x1, x2)
  return d ~= 0 and x0 or 0, d ~= 1 and x1 or 0, d ~= 2 and x2 or 0
end

-- ------------------------------------------------- by a tensor of indices

local indexing = {}

-- r[i][j][k] = src[i][j][position] for d 2, and so on. p0…: the steps of src without dimension d,
-- whose step is `step`; t0…: those of r.
local function copy_from(r, src, step, s0, s1, s2, p0, p1, p2, t0, t1, t2)
  local m = 0
  for i = 0, s0 - 1 do
    for j = 0, s1 - 1 do
      local from, to = i * p0 + j * p1, i * t0 + j * t1
      for _ = 1, s2 do
        move(r, to, src, from + step * positions[m])
        m, from, to = m + 1, from + p2, to + t2
      end
    end
  end
end

-- r[i][j][position] = src[i][j][k] for d 2, and so on.
local function copy_to(r, src, step, s0, s1, s2, p0, p1, p2, t0, t1, t2)
  local m = 0
  for i = 0, s0 - 1 do
    for j = 0, s1 - 1 do
      local to, from = i * p0 + j * p1, i * t0 + j * t1
      for _ = 1, s2 do
        move(r, to + step * positions[m], src, from)
        m, from, to = m + 1, from + t2, to + p2
      end
    end
  end
end

function indexing.gather(r, src, dim, index, ...) -- luacheck: ignore 212
  local before = moves()
  local cs, ci = struct_of(src), long_struct(index)
  if not (cs and ci) then return nil end
  local n, i0, i1, i2, u0, u1, u2 = geometry(ci)
  local m, s0, s1, s2, p0, p1, p2 = geometry(cs)
  if n == 0 or m ~= n or not is_dimension(dim, n) or i0 * i1 * i2 > MAX_WORK then return nil end
  local d = dim + 2 - n
  if differ_elsewhere(d, i0, i1, i2, s0, s1, s2) then return nil end
  local from, source = place(ci, 8, i0, i1, i2, u0, u1, u2), place(cs, WIDTH, s0, s1, s2, p0, p1, p2)
  if not (from and source) then return nil end
  local block, to, t0, t1, t2
  if r == nil then
    block = new(dtype, n, i0, i1, i2)
    if not block then return nil end
    to, t0, t1, t2 = address(block.data), i1 * i2, i2, 1
  else
    local c, r0, r1, r2 = struct_of(r)
    if not c or shares(c, cs) or c.storage == cast('void *', ci.storage) then return nil end
    m, r0, r1, r2, t0, t1, t2 = geometry(c)
    to = m == n and place(c, WIDTH, r0, r1, r2, t0, t1, t2)
    if not to or differ_elsewhere(d, i0, i1, i2, r0, r1, r2)
      or at(d, r0, r1, r2) < at(d, i0, i1, i2) or not distinct(r0, r1, r2, t0, t1, t2) then
      return nil
    end
  end
  local result, values, indices = cast(pointer, to), cast(pointer, source), cast(words, from)
  if moves() ~= before then return nil end
  if not read_positions(indices, at(d, s0, s1, s2), i0, i1, i2, u0, u1, u2) then return nil end
  local step = at(d, p0, p1, p2)
  p0, p1, p2 = without(d, p0, p1, p2)
  copy_from(result, values, step, i0, i1, i2, p0, p1, p2, t0, t1, t2)
  if block then return publish(dtype, block) end
  return r
end

-- What a number has for the source of scatter: one element for all.
local function number_source(value)
  element[0] = convert(value)
end

function indexing.scatter(r, dim, index, src, ...) -- luacheck: ignore 212
  local before = moves()
  local c, ci = struct_of(r), long_struct(index)
  if not (c and ci) then return nil end
  local n, i0, i1, i2, u0, u1, u2 = geometry(ci)
  local m, r0, r1, r2, p0, p1, p2 = geometry(c)
  if n == 0 or m ~= n or not is_dimension(dim, n) or i0 * i1 * i2 > MAX_WORK then return nil end
  local d = dim + 2 - n
  if differ_elsewhere(d, i0, i1, i2, r0, r1, r2) or not distinct(r0, r1, r2, p0, p1, p2) then
    return nil
  end
  local from, to = place(ci, 8, i0, i1, i2, u0, u1, u2), place(c, WIDTH, r0, r1, r2, p0, p1, p2)
  if not (from and to) then return nil end
  local source, s0, s1, s2, t0, t1, t2 = nil, i0, i1, i2, 0, 0, 0
  local given = struct_of(src)
  if given then
    if shares(given, c) then return nil end
    m, s0, s1, s2, t0, t1, t2 = geometry(given)
    source = m == n and place(given, WIDTH, s0, s1, s2, t0, t1, t2)
    if not source or differ_elsewhere(d, i0, i1, i2, s0, s1, s2)
      or at(d, s0, s1, s2) < at(d, i0, i1, i2) then
      return nil
    end
  elseif type(src) ~= 'number' then
    return nil
  end
  local result, indices = cast(pointer, to), cast(words, from)
  local values = source and cast(pointer, source) or element_bits
  if moves() ~= before then return nil end
  if not read_positions(indices, at(d, r0, r1, r2), i0, i1, i2, u0, u1, u2) then return nil end
  if not source then number_source(src) end
  local step = at(d, p0, p1, p2)
  p0, p1, p2 = without(d, p0, p1, p2)
  copy_to(result, values, step, i0, i1, i2, p0, p1, p2, t0, t1, t2)
  return r
end

return indexing
