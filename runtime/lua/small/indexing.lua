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
local words, long_struct = tools.words, tools.long_struct
local places, others = tools.places, tools.others
local set_places, add_indices = tools.set_places, tools.add_indices
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

-- ----------------------------------------------------------- by indices

local indexing = {}

-- r[i][j][k] = src[i][j][index] for d 2, and so on, with the sizes of the indices, which are read
-- with the strides u; those of r are t, those of src p. False if an index is not one of 1 to limit.
local function take(r, src, indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2, t0, t1, t2)
  local step = at(d, p0, p1, p2)
  p0, p1, p2 = without(d, p0, p1, p2)
  set_places(places, s0, s1, s2, p0, p1, p2)
  if not add_indices(places, indices, limit, step, s0, s1, s2, u0, u1, u2) then return false end
  set_places(others, s0, s1, s2, t0, t1, t2)
  for m = 0, s0 * s1 * s2 - 1 do move(r, others[m], src, places[m]) end
  return true
end

-- A destination that is to be r, with sizes of at least s in the dimension d, and of s in others:
-- its address and strides; nil if it is another one, or has the storage of src or of the indices.
local function destination(r, cs, ci, n, d, s0, s1, s2)
  local c = struct_of(r)
  if not c or shares(c, cs) or address(c.storage) == address(ci.storage) then return nil end
  local m, r0, r1, r2, t0, t1, t2 = geometry(c)
  if m ~= n or differ_elsewhere(d, s0, s1, s2, r0, r1, r2)
    or at(d, r0, r1, r2) < at(d, s0, s1, s2) or not distinct(r0, r1, r2, t0, t1, t2) then
    return nil
  end
  return place(c, WIDTH, r0, r1, r2, t0, t1, t2), t0, t1, t2
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
    block, to, t0, t1, t2 = new(dtype, n, i0, i1, i2)
  else
    to, t0, t1, t2 = destination(r, cs, ci, n, d, i0, i1, i2)
  end
  if not to then return nil end
  local result, values, indices = cast(pointer, to), cast(pointer, source), cast(words, from)
  if moves() ~= before or not take(result, values, indices, d, at(d, s0, s1, s2), i0, i1, i2,
    u0, u1, u2, p0, p1, p2, t0, t1, t2) then
    return nil
  end
  return block and publish(dtype, block) or r
end

-- r[i][j][index] = src[i][j][k] for d 2, and so on; as `take`, with r's strides p and src's t.
local function put(r, src, indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2, t0, t1, t2)
  local step = at(d, p0, p1, p2)
  p0, p1, p2 = without(d, p0, p1, p2)
  set_places(places, s0, s1, s2, p0, p1, p2)
  if not add_indices(places, indices, limit, step, s0, s1, s2, u0, u1, u2) then return false end
  set_places(others, s0, s1, s2, t0, t1, t2)
  for m = 0, s0 * s1 * s2 - 1 do move(r, places[m], src, others[m]) end
  return true
end

local function put_number(r, number, indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2)
  local step = at(d, p0, p1, p2)
  p0, p1, p2 = without(d, p0, p1, p2)
  set_places(places, s0, s1, s2, p0, p1, p2)
  if not add_indices(places, indices, limit, step, s0, s1, s2, u0, u1, u2) then return false end
  element[0] = convert(number)
  for m = 0, s0 * s1 * s2 - 1 do move(r, places[m], element_bits, 0) end
  return true
end

function indexing.scatter(r, dim, index, src)
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
  local limit = at(d, r0, r1, r2)
  if type(src) == 'number' then
    local result, indices = cast(pointer, to), cast(words, from)
    return moves() == before
      and put_number(result, src, indices, d, limit, i0, i1, i2, u0, u1, u2, p0, p1, p2) and r or nil
  end
  local given = struct_of(src)
  if not given or shares(given, c) then return nil end
  local l, s0, s1, s2, t0, t1, t2 = geometry(given)
  if l ~= n or differ_elsewhere(d, i0, i1, i2, s0, s1, s2)
    or at(d, s0, s1, s2) < at(d, i0, i1, i2) then
    return nil
  end
  local source = place(given, WIDTH, s0, s1, s2, t0, t1, t2)
  if not source then return nil end
  local result, values, indices = cast(pointer, to), cast(pointer, source), cast(words, from)
  return moves() == before and put(result, values, indices, d, limit, i0, i1, i2, u0, u1, u2,
    p0, p1, p2, t0, t1, t2) and r or nil
end

return indexing
