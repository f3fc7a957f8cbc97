--- gather, scatter, index, indexCopy, indexAdd, indexFill and masks on few elements.
-- Loaded once for each element type. Where the elements are is written to working memory, from
-- checked indices, before anything is changed. Elements are copied as whole numbers of up to 32
-- bits, so that a nan keeps its bits.
-- @module indexing

local th, dtype, tools = ...
local ffi = require 'ffi'

local type = type
local cast = ffi.cast
local tobit = bit.tobit
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local bytes = th.dtypes[1]
local byte_structs, fetch_byte = bytes.structs, bytes.fetch_struct
local geometry, place, distinct, shares = tools.geometry, tools.place, tools.distinct, tools.shares
local new, publish = tools.new, tools.publish
local words, long_struct, dense = tools.words, tools.long_struct, th.formulas.dense
local places, others = tools.places, tools.others
local set_places, set_indexed_places = tools.set_places, tools.set_indexed_places
local contiguous, copy = tools.contiguous, tools.copy
local MAX = tools.MAX

local WIDTH = ffi.sizeof(dtype.ctype)
local pointer, byte_pointer = tools.bits(WIDTH), tools.bits(1)
local move = tools.mover(WIDTH)

local indexing = {}

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

local convert = dtype.convert
local number = tools.memory(dtype, 1)
local number_bits = cast(pointer, number)

-- Sets the elements at the first n places to a number.
local function fill(r, n, value)
  number[0] = convert(value)
  if WIDTH == 8 then
    local low, high = number_bits[0], number_bits[1]
    for m = 0, n - 1 do
      local i = 2 * places[m]
      r[i], r[i + 1] = low, high
    end
  else
    local bits = number_bits[0]
    for m = 0, n - 1 do r[places[m]] = bits end
  end
end

-- ------------------------------------------------------------------ dimensions

local dimension, at, with = tools.dimension, tools.at, tools.with

-- Whether the sizes r have those of s in the dimensions other than d, and at least as much in d.
local function fits(d, s0, s1, s2, r0, r1, r2)
  return (d == 0 and r0 >= s0 or r0 == s0) and (d == 1 and r1 >= s1 or r1 == s1)
    and (d == 2 and r2 >= s2 or r2 == s2)
end

-- ------------------------------------------------------------- places by indices

-- Sets `places` to those of x[i][j][index] for d 2, and so on, in a tensor with the strides p.
-- s: the sizes; u: the strides of the indices. False if an index is not one of 1 to limit.
local function locate(indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2)
  local step = at(d, p0, p1, p2)
  p0, p1, p2 = with(d, 0, p0, p1, p2)
  local right = set_indexed_places(places, indices, limit, step, s0, s1, s2, u0, u1, u2, p0, p1, p2)
  return right
end

-- The same; returns the places of y[i][j][k], with the strides t, or nil.
local function locate_both(indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2, t0, t1, t2)
  if not locate(indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2) then return nil end
  local found = tools.placed(others, s0, s1, s2, t0, t1, t2)
  return found
end

-- Where a result goes that has the sizes s, or in dimension d more: its address and strides, and a
-- block if r is nil, for a new tensor. Nil if Python has to resize r, or r has the storage of what
-- is read.
local function result_at(r, cs, ci, n, d, s0, s1, s2)
  if r == nil then
    local block, to, t0, t1, t2 = new(dtype, n, s0, s1, s2)
    return to, t0, t1, t2, block
  end
  local c = struct_of(r)
  if not c or shares(c, cs) or shares(c, ci) then return nil end
  local m, r0, r1, r2, t0, t1, t2 = geometry(c)
  if m ~= n or not fits(d, s0, s1, s2, r0, r1, r2) or not distinct(r0, r1, r2, t0, t1, t2) then
    return nil
  end
  return place(c, WIDTH, r0, r1, r2, t0, t1, t2), t0, t1, t2
end

-- The number of indices in a vector of them, their stride, and their address.
local function vector(ci)
  local n, _, _, count, _, _, stride = geometry(ci)
  if n ~= 1 then return nil end
  return count, stride, place(ci, 8, 1, 1, count, 0, 0, stride)
end

-- Whether each slice of dimension d has its elements one after the other, and more than one.
local function has_rows(d, s0, s1, s2, _, t1, t2)
  if d == 2 or d == 1 and s0 ~= 1 or s1 * s2 == 1 then return false end
  return (s2 == 1 or t2 == 1) and (d == 1 or s1 == 1 or t1 == s2)
end

-- Sets the places of rows that are `step` apart, by a vector of indices with a stride.
local function places_of_rows(indices, limit, step, count, stride)
  local right = set_indexed_places(places, indices, limit, step, 1, 1, count, 0, 0, stride, 0, 0, 0)
  return right
end

-- Copies `count` rows of `size` elements, whose places are set, to or from rows that are `step`
-- apart.
local function take_rows(to, from, count, size, step)
  for m = 0, count - 1 do
    copy(to + WIDTH * step * m, from + WIDTH * places[m], WIDTH * size)
  end
end

local function put_rows(to, from, count, size, step)
  for m = 0, count - 1 do
    copy(to + WIDTH * places[m], from + WIDTH * step * m, WIDTH * size)
  end
end

-- Copies elements that are `step` apart, at n contiguous indices, to a new vector; false if an
-- index is not one of 1 to limit.
local function take_vector(result, values, indices, n, limit, step)
  for m = 0, n - 1 do
    local index = indices[2 * m]
    -- Cut to 32 bits, which makes no limit larger, so that LuaJIT compares whole numbers.
    if indices[2 * m + 1] ~= 0 or index < 1 or index > tobit(limit) then return false end
    move(result, m, values, step == 1 and index - 1 or step * (index - 1))
  end
  return true
end

-- r = the elements of src at indices, with the strides u, along dimension d; s are the sizes of the
-- result, p the strides of src. rows: whether slices of src are rows. Returns nil if that cannot be
-- done.
local function take(r, cs, ci, n, d, limit, more, rows, source, from, s0, s1, s2,
    u0, u1, u2, p0, p1, p2, ...) -- luacheck: ignore 212
  local to, t0, t1, t2, block = result_at(r, cs, ci, n, more, s0, s1, s2)
  if not to then return nil end
  local result, values, indices = cast(pointer, to), cast(pointer, source), cast(words, from)
  if block and n == 1 and u2 == 1 then
    if not take_vector(result, values, indices, s2, limit, p2) then return nil end
  elseif rows and has_rows(d, s0, s1, s2, t0, t1, t2) then
    local count, stride, step = at(d, s0, s1, s2), at(d, u0, u1, u2), at(d, p0, p1, p2)
    if not places_of_rows(indices, limit, step, count, stride) then return nil end
    take_rows(to, source, count, s0 * s1 * s2 / count, at(d, t0, t1, t2))
  else
    local to_places =
      locate_both(indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2, t0, t1, t2)
    if not to_places then return nil end
    for m = 0, s0 * s1 * s2 - 1 do move(result, to_places[m], values, places[m]) end
  end
  return block and publish(dtype, block) or r
end

function indexing.gather(r, src, dim, index, ...) -- luacheck: ignore 212
  local cs, ci = struct_of(src), long_struct(index)
  if not (cs and ci) then return nil end
  local n, s0, s1, s2, u0, u1, u2 = geometry(ci)
  local m, l0, l1, l2, p0, p1, p2 = geometry(cs)
  local d = dimension(dim, n)
  if not d or m ~= n or s0 * s1 * s2 > MAX then return nil end
  local limit = at(d, l0, l1, l2)
  -- Along the dimension, src may be shorter or longer.
  local z0, z1, z2 = with(d, limit, s0, s1, s2)
  if z0 ~= l0 or z1 ~= l1 or z2 ~= l2 then return nil end
  local from = place(ci, 8, s0, s1, s2, u0, u1, u2)
  local source = place(cs, WIDTH, l0, l1, l2, p0, p1, p2)
  if not (from and source) then return nil end
  local result = take(r, cs, ci, n, d, limit, d, false, source, from, s0, s1, s2,
    u0, u1, u2, p0, p1, p2)
  return result
end

local function select_slices(r, src, dim, index, ...) -- luacheck: ignore 212
  local cs, ci = struct_of(src), long_struct(index)
  if not (cs and ci) then return nil end
  local n, s0, s1, s2, p0, p1, p2 = geometry(cs)
  local d = dimension(dim, n)
  local count, stride, from = vector(ci)
  local source = place(cs, WIDTH, s0, s1, s2, p0, p1, p2)
  if not (d and from and source) then return nil end
  local limit, rows = at(d, s0, s1, s2), has_rows(d, s0, s1, s2, p0, p1, p2)
  s0, s1, s2 = with(d, count, s0, s1, s2)
  if s0 * s1 * s2 > MAX then return nil end
  local u0, u1, u2 = with(d, stride, 0, 0, 0)
  local result = take(r, cs, ci, n, d, limit, nil, rows, source, from, s0, s1, s2,
    u0, u1, u2, p0, p1, p2)
  return result
end

function indexing.index(a, b, c, d, ...) -- luacheck: ignore 212
  local result
  if d == nil then
    result = select_slices(nil, a, b, c)
  else
    -- Torch7: with a destination, the call returns its last argument.
    result = select_slices(a, b, c, d) and d
  end
  return result
end

-- ------------------------------------------------------------ what sets slices

local function put(to, source, from, n, ...)
  local result, values, indices = cast(pointer, to), cast(pointer, source), cast(words, from)
  local from_places = locate_both(indices, ...)
  if not from_places then return false end
  for m = 0, n - 1 do move(result, places[m], values, from_places[m]) end
  return true
end

-- The same for whole slices.
local function put_slices(to, source, from, n, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2,
    t0, t1, t2)
  if not (has_rows(d, s0, s1, s2, p0, p1, p2) and has_rows(d, s0, s1, s2, t0, t1, t2)) then
    local done = put(to, source, from, n, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2,
      t0, t1, t2)
    return done
  end
  local indices, count = cast(words, from), at(d, s0, s1, s2)
  local stride, step = at(d, u0, u1, u2), at(d, p0, p1, p2)
  if not places_of_rows(indices, limit, step, count, stride) then
    return false
  end
  put_rows(to, source, count, n / count, at(d, t0, t1, t2))
  return true
end

local function put_number(to, value, from, n, d, limit, s0, s1, s2, u0, u1, u2,
    p0, p1, p2)
  local result, indices = cast(pointer, to), cast(words, from)
  if not locate(indices, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2) then
    return false
  end
  fill(result, n, value)
  return true
end

local elements, load, wrap = dtype.pointer, tools.loader(dtype), dtype.wrap

local function add(to, source, from, n, ...)
  local result, values, indices = cast(elements, to), cast(elements, source), cast(words, from)
  local result_bits, value_bits = cast(pointer, to), cast(pointer, source)
  local from_places = locate_both(indices, ...)
  if not from_places then return false end
  for m = 0, n - 1 do
    local i = places[m]
    result[i] = wrap(load(result, result_bits, i) + load(values, value_bits, from_places[m]))
  end
  return true
end

function indexing.scatter(r, dim, index, src)
  local c, ci = struct_of(r), long_struct(index)
  if not (c and ci) or shares(c, ci) then return nil end
  local n, s0, s1, s2, u0, u1, u2 = geometry(ci)
  local m, r0, r1, r2, p0, p1, p2 = geometry(c)
  local d, count = dimension(dim, n), s0 * s1 * s2
  if not d or m ~= n or count > MAX or not distinct(r0, r1, r2, p0, p1, p2) then return nil end
  local limit = at(d, r0, r1, r2)
  local z0, z1, z2 = with(d, limit, s0, s1, s2)
  if z0 ~= r0 or z1 ~= r1 or z2 ~= r2 then return nil end
  local from, to = place(ci, 8, s0, s1, s2, u0, u1, u2), place(c, WIDTH, r0, r1, r2, p0, p1, p2)
  if not (from and to) then return nil end
  if type(src) == 'number' then
    return put_number(to, src, from, count, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2)
      and r or nil
  end
  local cs = struct_of(src)
  if not cs or shares(cs, c) then return nil end
  local l, l0, l1, l2, t0, t1, t2 = geometry(cs)
  local source = place(cs, WIDTH, l0, l1, l2, t0, t1, t2)
  if l ~= n or not fits(d, s0, s1, s2, l0, l1, l2) or not source then return nil end
  return put(to, source, from, count, d, limit, s0, s1, s2, u0, u1, u2, p0, p1, p2, t0, t1,
    t2) and r or nil
end

-- Makes indexCopy (of put_slices) and indexAdd (of add).
local function set_slices(set)
  return function(r, dim, index, src)
    local c, ci, cs = struct_of(r), long_struct(index), struct_of(src)
    if not (c and ci and cs) or shares(c, cs) or shares(c, ci) then return nil end
    local n, r0, r1, r2, p0, p1, p2 = geometry(c)
    local m, s0, s1, s2, t0, t1, t2 = geometry(cs)
    local d, count, stride, from = dimension(dim, n), vector(ci)
    if not (d and from) or m ~= n or at(d, s0, s1, s2) ~= count then return nil end
    local limit = at(d, r0, r1, r2)
    local z0, z1, z2 = with(d, limit, s0, s1, s2)
    if z0 ~= r0 or z1 ~= r1 or z2 ~= r2 or s0 * s1 * s2 > MAX
      or not distinct(r0, r1, r2, p0, p1, p2) then
      return nil
    end
    local to = place(c, WIDTH, r0, r1, r2, p0, p1, p2)
    local source = place(cs, WIDTH, s0, s1, s2, t0, t1, t2)
    if not (to and source) then return nil end
    local u0, u1, u2 = with(d, stride, 0, 0, 0)
    return set(to, source, from, s0 * s1 * s2, d, limit, s0, s1, s2, u0, u1, u2,
      p0, p1, p2, t0, t1, t2) and src or nil
  end
end

indexing.indexCopy = set_slices(put_slices)
-- The numbers of a LongTensor do not all fit into those of Lua; Half has no arithmetic here.
if dtype.name ~= 'Long' and dtype.name ~= 'Half' then indexing.indexAdd = set_slices(add) end

function indexing.indexFill(r, dim, index, value)
  local c, ci = struct_of(r), long_struct(index)
  if not (c and ci) or type(value) ~= 'number' or shares(c, ci) then return nil end
  local n, s0, s1, s2, p0, p1, p2 = geometry(c)
  local d, count, stride, from = dimension(dim, n), vector(ci)
  local to = place(c, WIDTH, s0, s1, s2, p0, p1, p2)
  if not (d and from and to) then return nil end
  local limit = at(d, s0, s1, s2)
  s0, s1, s2 = with(d, count, s0, s1, s2)
  local u0, u1, u2 = with(d, stride, 0, 0, 0)
  return s0 * s1 * s2 <= MAX and put_number(to, value, from, s0 * s1 * s2, d, limit,
    s0, s1, s2, u0, u1, u2, p0, p1, p2) and value or nil
end

-- ----------------------------------------------------------------------- masks

-- Sets `places` to those of the elements of a tensor with the strides p where the flags of a mask
-- with the strides u are 1, in order. Returns how many there are; nil if a flag is neither 0 nor 1.
local function choose(flags, s0, s1, s2, p0, p1, p2, u0, u1, u2)
  local found = 0
  if contiguous(s0, s1, s2, p0, p1, p2) and contiguous(s0, s1, s2, u0, u1, u2) then
    for m = 0, s0 * s1 * s2 - 1 do
      local flag = flags[m]
      if flag > 1 then return nil end
      places[found] = m
      found = found + flag
    end
    return found
  end
  set_places(places, s0, s1, s2, p0, p1, p2)
  set_places(others, s0, s1, s2, u0, u1, u2)
  for m = 0, s0 * s1 * s2 - 1 do
    local flag = flags[others[m]]
    if flag > 1 then return nil end
    places[found] = places[m]
    found = found + flag
  end
  return found
end

-- The same for the elements of a tensor and a mask that fit together. Returns how many there are,
-- and a pointer to the elements.
local function chosen(c, mask)
  local cm = type(mask) == 'userdata' and (byte_structs[mask] or fetch_byte(mask))
  if not cm or shares(c, cm) then return nil end
  local n, s0, s1, s2, p0, p1, p2 = geometry(c)
  local m, z0, z1, z2, u0, u1, u2 = geometry(cm)
  if n == 0 or m ~= n or z0 ~= s0 or z1 ~= s1 or z2 ~= s2 then
    -- Of contiguous tensors the elements follow each other, whatever the sizes are.
    s0, s1, s2, p0, p1, p2, u0, u1, u2 = 1, 1, dense(c), 0, 0, 1, 0, 0, 1
    if dense(cm) ~= s2 then return nil end
  end
  local count = s0 * s1 * s2
  local to, from = place(c, WIDTH, s0, s1, s2, p0, p1, p2), place(cm, 1, s0, s1, s2, u0, u1, u2)
  if not (to and from) or count > MAX then return nil end
  local elements_at, flags = cast(pointer, to), cast(byte_pointer, from)
  local found = choose(flags, s0, s1, s2, p0, p1, p2, u0, u1, u2)
  return found, elements_at
end

function indexing.maskedFill(r, mask, value)
  local c = struct_of(r)
  if not c or type(value) ~= 'number' then return nil end
  local count, to = chosen(c, mask)
  if not count then return nil end
  fill(to, count, value)
  return value
end

function indexing.maskedCopy(r, mask, src)
  local c, cs = struct_of(r), struct_of(src)
  if not (c and cs) or shares(c, cs) then return nil end
  local size = dense(cs)
  local source = place(cs, WIDTH, 1, 1, size, 0, 0, 1)
  if not source then return nil end
  local values = cast(pointer, source)
  local count, to = chosen(c, mask)
  if not count or count > size then return nil end
  for m = 0, count - 1 do move(to, places[m], values, m) end
  return r
end

-- Selects to a new tensor, or to a vector that has the right size already.
local function masked_select(r, src, mask, ...) -- luacheck: ignore 212
  local cs = struct_of(src)
  if not cs then return nil end
  local count, values = chosen(cs, mask)
  if not count or count == 0 then return nil end
  local to, _, _, step, block = result_at(r, cs, cs, 1, nil, 1, 1, count)
  if not to then return nil end
  local result = cast(pointer, to)
  for m = 0, count - 1 do move(result, step * m, values, places[m]) end
  return block and publish(dtype, block) or mask
end

function indexing.maskedSelect(a, b, c, ...) -- luacheck: ignore 212
  local result
  if c == nil then result = masked_select(nil, a, b) else result = masked_select(a, b, c) end
  return result
end

return indexing
