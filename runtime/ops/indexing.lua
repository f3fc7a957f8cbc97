--- gather, scatter, index, indexCopy, indexAdd, indexFill, nonzero and masks on few elements.
-- Loaded once for each element type. Where the elements are is written to working memory, from
-- checked indices, before anything is changed. Elements are copied as whole numbers of up to 32
-- bits, so that a nan keeps its bits.
-- @module indexing

local dtype, tools = ...
local ffi, c_structs, blocks = import('ffi', 'core.c_structs', 'tensor.blocks')

local type = type
local cast = ffi.cast
local bor, band, rshift, tobit = bit.bor, bit.band, bit.rshift, bit.tobit
local longs = c_structs.dtypes[c_structs.LONG + 1]
local read, read_indices = tools.reader(dtype), tools.reader(longs)
local set_result, long_result_at = tools.result_setter(dtype, read), tools.dense_results(longs)
local publish = tools.publish
local overlap, is_distinct = tools.overlap, tools.is_distinct
local count, size, stride, fit_beside = tools.count, tools.size, tools.stride, tools.fit_beside
local located, locate_indexed = tools.located, tools.locate_indexed
local dimension, with, copy, words = tools.dimension, tools.with, tools.copy, tools.words
local places, others, MAX = tools.places, tools.others, blocks.MAX

local WIDTH = ffi.sizeof(dtype.ctype)
local WORDS = WIDTH == 8 and 2 or 1 -- that `move` copies
local pointer, move, fill = tools.bits(WIDTH), tools.mover(WIDTH), tools.filler(dtype)

-- The tensor whose elements indices mean; the indices, as they are given and with the sizes of all
-- that is copied; and the tensor where elements go, or come from.
local t, given, index, other = tools.operand(), tools.operand(), tools.operand(), tools.operand()

local indexing = {}

-- Sets `index` to a vector of indices for slices along dimension d: each element of a slice has the
-- same index. False if there is no such dimension, no vector, or there are too many elements.
local function spread_indices(value, d)
  if not d or not read_indices(given, value) or given.n ~= 1 then return false end
  index.n, index.at, index.storage, index.is_view = t.n, given.at, given.storage, given.is_view
  index.s0, index.s1, index.s2 = with(d, given.s2, t.s0, t.s1, t.s2)
  index.t0, index.t1, index.t2 = with(d, given.t2, 0, 0, 0)
  return count(index) <= MAX
end

-- ------------------------------------------------------------------------ rows

-- Tells whether each slice of dimension d has its elements one after the other, and more than one.
local function has_rows(d, o)
  if d == 2 or d == 1 and o.s0 ~= 1 or o.s1 * o.s2 == 1 then return false end
  return (o.s2 == 1 or o.t2 == 1) and (d == 1 or o.s1 == 1 or o.t1 == o.s2)
end

local line = tools.operand() -- the first elements of the slices of t

-- Sets the places of the slices that indices mean; false if an index is none.
local function locate_rows(d)
  line.s2, line.t2 = size(t, d), stride(t, d)
  return (locate_indexed(places, given, line, 2))
end

-- Copies rows from `other` to the places in t, or to `other` from them.
local function put_rows(d)
  local rows, step = given.s2, WIDTH * stride(other, d)
  local bytes, to, from = WIDTH * count(index) / rows, t.at, other.at
  for m = 0, rows - 1 do copy(to + WIDTH * places[m], from + step * m, bytes) end
end

local function take_rows(d)
  local rows, step = given.s2, WIDTH * stride(other, d)
  local bytes, to, from = WIDTH * count(index) / rows, other.at, t.at
  for m = 0, rows - 1 do copy(to + step * m, from + WIDTH * places[m], bytes) end
end

-- -------------------------------------------------------------- what takes elements

-- Copies contiguous elements, at n contiguous indices, to a new vector; false if an index is not
-- one of 1 to limit.
local function take_vector(result, values, indices, n, limit)
  local before = values - WORDS -- indices count from 1
  for m = 0, n - 1 do
    local at = indices[2 * m]
    -- Cut to 32 bits, which makes no limit larger, so that LuaJIT compares whole numbers.
    if indices[2 * m + 1] ~= 0 or at < 1 or at > tobit(limit) then return false end
    move(result, m, before, at)
  end
  return true
end

-- The elements of t that `index` means along dimension d. rows: whether indices are for slices.
local function take(r, d, rows, ...) -- luacheck: ignore 212
  local ready, block = set_result(other, r, index.n, index.s0, index.s1, index.s2)
  if not ready or not block and (overlap(other, t) or overlap(other, index)) then return nil end
  local result, values = cast(pointer, other.at), cast(pointer, t.at)
  if block and index.n == 1 and index.t2 == 1 and t.t2 == 1 then
    local indices = cast(words, index.at)
    if not take_vector(result, values, indices, index.s2, t.s2) then return nil end
  elseif rows and has_rows(d, t) and has_rows(d, other) then
    if not locate_rows(d) then return nil end
    take_rows(d)
  else
    local to_places = locate_indexed(places, index, t, d) and located(others, other)
    if not to_places then return nil end
    for m = 0, count(index) - 1 do move(result, to_places[m], values, places[m]) end
  end
  return block and publish(dtype, block) or r
end

function indexing.gather(r, src, dim, indices, ...) -- luacheck: ignore 212
  if not (read(t, src) and read_indices(index, indices)) then return nil end
  local d = dimension(dim, index.n)
  if not d or not fit_beside(d, t, index) or count(index) > MAX then return nil end
  return (take(r, d, false))
end

local function select_slices(r, src, dim, indices, ...) -- luacheck: ignore 212
  if not read(t, src) then return nil end
  local d = dimension(dim, t.n)
  if not spread_indices(indices, d) then return nil end
  return (take(r, d, true))
end

function indexing.index(a, b, c, d, ...) -- luacheck: ignore 212
  if d == nil then return (select_slices(nil, a, b, c)) end
  -- Torch7: with a destination, the call returns its last argument.
  return select_slices(a, b, c, d) and d
end

-- ------------------------------------------------------------ what sets elements

-- The functions put* set the elements of t that `index` means along dimension d to those of
-- `other`, or to a number. They return false if an index is none.

local function put(d)
  local from_places = locate_indexed(places, index, t, d) and located(others, other)
  if not from_places then return false end
  local result, values = cast(pointer, t.at), cast(pointer, other.at)
  for m = 0, count(index) - 1 do move(result, places[m], values, from_places[m]) end
  return true
end

local function put_slices(d)
  if not (has_rows(d, t) and has_rows(d, other)) then return (put(d)) end
  if not locate_rows(d) then return false end
  put_rows(d)
  return true
end

local function put_number(d, value)
  if not locate_indexed(places, index, t, d) then return false end
  fill(cast(pointer, t.at), places, count(index), value)
  return true
end

local elements, load, wrap = dtype.pointer, tools.loader(dtype), dtype.wrap

local function put_sums(d)
  local from_places = locate_indexed(places, index, t, d) and located(others, other)
  if not from_places then return false end
  local result, result_bits = cast(elements, t.at), cast(pointer, t.at)
  local values, value_bits = cast(elements, other.at), cast(pointer, other.at)
  for m = 0, count(index) - 1 do
    local i = places[m]
    result[i] = wrap(load(result, result_bits, i) + load(values, value_bits, from_places[m]))
  end
  return true
end

function indexing.scatter(r, dim, indices, src)
  if not (read(t, r) and read_indices(index, indices)) or overlap(t, index) then return nil end
  local d = dimension(dim, index.n)
  if not d or not fit_beside(d, t, index) or count(index) > MAX or not is_distinct(t) then
    return nil
  end
  if type(src) == 'number' then return put_number(d, src) and r or nil end
  if not read(other, src) or overlap(other, t)
    or not tools.is_sized(other, index.n, index.s0, index.s1, index.s2) then
    return nil
  end
  return put(d) and r or nil
end

-- Makes indexCopy and indexAdd.
local function set_slices(set)
  return function(r, dim, indices, src)
    if not (read(t, r) and read(other, src)) or overlap(t, other) then return nil end
    local d = dimension(dim, t.n)
    if not spread_indices(indices, d) or overlap(t, index) or not is_distinct(t)
      or not tools.is_sized(other, index.n, index.s0, index.s1, index.s2) then
      return nil
    end
    return set(d) and src or nil
  end
end

indexing.indexCopy = set_slices(put_slices)
-- The numbers of a LongTensor do not all fit into those of Lua; Half has no arithmetic here.
if dtype.name ~= 'Long' and dtype.name ~= 'Half' then indexing.indexAdd = set_slices(put_sums) end

function indexing.indexFill(r, dim, indices, value)
  if type(value) ~= 'number' or not read(t, r) then return nil end
  local d = dimension(dim, t.n)
  if not spread_indices(indices, d) or overlap(t, index) then return nil end
  return put_number(d, value) and value or nil
end

-- --------------------------------------------------------------------- nonzero

-- A mask that leaves out the sign of a float, for the word that has it; all bits for other types.
local MASK = (dtype.name == 'Double' or dtype.name == 'Float') and 0x7fffffff or -1

-- 1 for an element that is not 0, otherwise 0, without a branch: no processor foresees which it is.
local flag
if WIDTH == 8 then
  function flag(p, i)
    local x = bor(p[2 * i], band(p[2 * i + 1], MASK))
    return rshift(bor(x, -x), 31)
  end
else
  function flag(p, i)
    local x = band(p[i], MASK)
    return rshift(bor(x, -x), 31)
  end
end

-- Sets `others` to the numbers, from 0, of the elements that are not 0; returns how many there are.
local function find_nonzero(p, n, at_places)
  local found = 0
  for m = 0, n - 1 do
    others[found] = m
    found = found + flag(p, at_places[m])
  end
  return found
end

-- Writes the indices of `found` elements of t.
local function set_indices(i, found)
  local n, s1, s2 = t.n, t.s1, t.s2
  if n == 1 then
    for m = 0, found - 1 do i[2 * m], i[2 * m + 1] = others[m] + 1, 0 end
  elseif n == 2 then
    for m = 0, found - 1 do
      local at = others[m]
      local column = at % s2
      i[4 * m], i[4 * m + 1] = (at - column) / s2 + 1, 0
      i[4 * m + 2], i[4 * m + 3] = column + 1, 0
    end
  else
    for m = 0, found - 1 do
      local at = others[m]
      local column = at % s2
      local before = (at - column) / s2
      local row = before % s1
      i[6 * m], i[6 * m + 1] = (before - row) / s1 + 1, 0
      i[6 * m + 2], i[6 * m + 3] = row + 1, 0
      i[6 * m + 4], i[6 * m + 5] = column + 1, 0
    end
  end
end

function indexing.nonzero(r, src, ...) -- luacheck: ignore 212
  if dtype.name == 'Half' or not read(t, src) then return nil end
  local at_places = located(places, t)
  if not at_places then return nil end
  local found = find_nonzero(cast(pointer, t.at), count(t), at_places)
  if found == 0 then return r == nil and longs.construct(0) or nil end
  local to, block = long_result_at(r, t, 2, 1, found, t.n)
  if not to then return nil end
  set_indices(cast(words, to), found)
  return block and publish(longs, block) or r
end

-- ----------------------------------------------------------------------- masks

local byte_type = c_structs.dtypes[1]
local read_row, read_mask = tools.row_reader(dtype), tools.reader(byte_type)
local read_mask_row, byte_pointer = tools.row_reader(byte_type), tools.bits(1)
local locate = tools.locate

-- The mask that chooses elements of t.
local mask = tools.operand()

-- Sets `places` to those of the elements of t where the mask is 1, in order. Returns how many there
-- are; nil if a flag is neither 0 nor 1.
local function choose(flags)
  local found = 0
  if tools.is_dense(t, t) and tools.is_dense(mask, mask) then
    for m = 0, count(t) - 1 do
      local is_one = flags[m]
      if is_one > 1 then return nil end
      places[found] = m
      found = found + is_one
    end
    return found
  end
  locate(places, t)
  locate(others, mask)
  for m = 0, count(t) - 1 do
    local is_one = flags[others[m]]
    if is_one > 1 then return nil end
    places[found] = places[m]
    found = found + is_one
  end
  return found
end

-- Does so for a tensor and a mask that are given, if they fit together. Returns how many elements
-- are chosen, and a pointer to those of the tensor.
local function chosen(value, flags)
  if not (read(t, value) and read_mask(mask, flags))
    or not tools.is_sized(mask, t.n, t.s0, t.s1, t.s2) then
    -- Of contiguous tensors the elements follow each other, whatever the sizes are.
    if not (read_row(t, value) and read_mask_row(mask, flags)) then return nil end
    if mask.s2 ~= t.s2 then return nil end
  end
  if count(t) > MAX or overlap(t, mask) then return nil end
  local found = choose(cast(byte_pointer, mask.at))
  return found, cast(pointer, t.at)
end

function indexing.maskedFill(r, flags, value)
  if type(value) ~= 'number' then return nil end
  local found, to = chosen(r, flags)
  if not found then return nil end
  fill(to, places, found, value)
  return value
end

function indexing.maskedCopy(r, flags, src)
  if not read_row(other, src) then return nil end
  local values = cast(pointer, other.at)
  local found, to = chosen(r, flags)
  if not found or found > other.s2 or overlap(t, other) then return nil end
  for m = 0, found - 1 do move(to, places[m], values, m) end
  return r
end

-- Selects to a new tensor, or to a vector that has the right size already.
local function select_marked(r, src, flags, ...) -- luacheck: ignore 212
  local found, values = chosen(src, flags)
  if not found or found == 0 then return nil end
  local ready, block = set_result(other, r, 1, 1, 1, found)
  if not ready or not block and overlap(other, t) then return nil end
  local result, step = cast(pointer, other.at), other.t2
  for m = 0, found - 1 do move(result, step * m, values, places[m]) end
  return block and publish(dtype, block) or flags
end

function indexing.maskedSelect(a, b, c, ...) -- luacheck: ignore 212
  if c == nil then return (select_marked(nil, a, b)) end
  return (select_marked(a, b, c))
end

return indexing
