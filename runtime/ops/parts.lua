--- nonzero, tril, triu, diag and eye.
-- Loaded once for each element type. Elements are copied as whole numbers of up to 32 bits, so that
-- a nan keeps its bits.
-- @module parts

local th, dtype, tools = ...
local ffi = require 'ffi'

if dtype.name == 'Half' then return {} end

local bor, band, rshift = bit.bor, bit.band, bit.rshift
local type, abs, min, max = type, math.abs, math.min, math.max
local cast = ffi.cast
local structs, fetch_struct = dtype.structs, dtype.fetch_struct
local geometry, place, contiguous = tools.geometry, tools.place, tools.contiguous
local publish, result_at, long_struct =
  tools.publish, tools.result_at, tools.long_struct
local places, others, set_places = tools.places, tools.others, tools.set_places
local copy, fill = tools.copy, tools.fill
local MIN_TURNS, WIDTH = tools.MIN_TURNS, ffi.sizeof(dtype.ctype)
local bits, words, move = tools.bits(WIDTH), tools.words, tools.mover(WIDTH)

local longs = th.dtypes[th.LONG + 1]

local parts = {}

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

-- Whether a value is a number of 32 bits, as a diagonal is given.
local function is_diagonal(k)
  return k % 1 == 0 and abs(k) < 2 ^ 31
end

-- --------------------------------------------------------------------- nonzero

-- Which bits of a float are not its sign. All others are whole numbers.
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
-- nil where there are too many places.
local function find(p, n, at_places)
  if not at_places then return nil end
  local found = 0
  for m = 0, n - 1 do
    others[found] = m
    found = found + flag(p, at_places[m])
  end
  return found
end

-- Writes the indices of `found` elements of a tensor with the sizes s.
local function set_indices(i, found, n, s1, s2)
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

function parts.nonzero(r, t, ...) -- luacheck: ignore 212
  local c = struct_of(t)
  if not c then return nil end
  local n, s0, s1, s2, t0, t1, t2 = geometry(c)
  local source, count = place(c, WIDTH, s0, s1, s2, t0, t1, t2), s0 * s1 * s2
  if n == 0 or not source then return nil end
  local p = cast(bits, source)
  local found = find(p, count, tools.placed(places, s0, s1, s2, t0, t1, t2))
  if not found then return nil end
  if found == 0 then return r == nil and longs.construct(0) or nil end
  local to, block = result_at(longs, r, r and long_struct(r), c, 2, 1, found, n)
  if not to then return nil end
  local i = cast(words, to)
  set_indices(i, found, n, s1, s2)
  return block and publish(longs, block) or r
end

-- ------------------------------------------------------------------- triangles

-- Copies a matrix to contiguous memory; false where it has too many elements.
local function copy_matrix(to, r, from, q, rows, columns, t1, t2)
  if contiguous(1, rows, columns, 0, t1, t2) then
    copy(to, from, WIDTH * rows * columns)
    return true
  end
  if not set_places(places, 1, rows, columns, 0, t1, t2) then return false end
  for m = 0, rows * columns - 1 do move(r, m, q, places[m]) end
  return true
end

-- Sets rows i from `first` to `last` of a matrix to 0, from its column lower(i) to upper(i).
local function clear_below(to, columns, first, last, k)
  for i = first, max(last, first + MIN_TURNS - 1) do
    local begin = i <= last and i + k + 1 or columns
    fill(to + WIDTH * (columns * i + begin), 0, WIDTH * (columns - begin))
  end
end

local function clear_above(to, columns, first, last, k)
  for i = first, max(last, first + MIN_TURNS - 1) do
    fill(to + WIDTH * columns * i, 0, i <= last and WIDTH * (i + k) or 0)
  end
end

local function keep_lower(to, rows, columns, k)
  local none = max(0, min(rows, -k)) -- rows at the top of which nothing remains
  fill(to, 0, WIDTH * columns * none)
  local last = min(rows, columns - k - 1) - 1
  if last >= none then clear_below(to, columns, none, last, k) end
end

local function keep_upper(to, rows, columns, k)
  local all = max(0, min(rows, columns - k)) -- rows above those at the end of which nothing remains
  fill(to + WIDTH * columns * all, 0, WIDTH * columns * (rows - all))
  local first = max(0, 1 - k)
  if all > first then clear_above(to, columns, first, all - 1, k) end
end

-- Makes tril and triu: of a copy, `keep` clears all but a triangle.
local function triangle(keep)
  return function(r, t, k, ...) -- luacheck: ignore 212
    local c = struct_of(t)
    if not c or not is_diagonal(k) then return nil end
    local n, _, rows, columns, _, t1, t2 = geometry(c)
    local from = n == 2 and place(c, WIDTH, 1, rows, columns, 0, t1, t2)
    if not from then return nil end
    local to, block = result_at(dtype, r, r and struct_of(r), c, 2, 1, rows, columns)
    if not to then return nil end
    local p, q = cast(bits, to), cast(bits, from)
    if not copy_matrix(to, p, from, q, rows, columns, t1, t2) then return nil end
    keep(to, rows, columns, k)
    return block and publish(dtype, block) or r
  end
end

parts.tril, parts.triu = triangle(keep_lower), triangle(keep_upper)

-- ------------------------------------------------------------------- diagonals

function parts.diag(r, t, k, ...) -- luacheck: ignore 212
  local c = struct_of(t)
  if not c or not is_diagonal(k) then return nil end
  local n, s0, rows, columns, t0, t1, t2 = geometry(c)
  local from = place(c, WIDTH, s0, rows, columns, t0, t1, t2)
  if not from or n > 2 then return nil end
  local count, side = columns, columns + abs(k)
  if n == 2 then
    count = min(rows + min(k, 0), columns - max(k, 0))
    if count < 1 then return nil end
  end
  local to, block
  if n == 1 then
    to, block = result_at(dtype, r, r and struct_of(r), c, 2, 1, side, side)
  else
    to, block = result_at(dtype, r, r and struct_of(r), c, 1, 1, 1, count)
  end
  if not to then return nil end
  local p, q = cast(bits, to), cast(bits, from)
  if n == 1 then
    if not block then fill(to, 0, WIDTH * side * side) end
    local first = k > 0 and k or -k * side
    for m = 0, count - 1 do move(p, first + m * (side + 1), q, m * t2) end
  else
    local first = k > 0 and k * t2 or -k * t1
    for m = 0, count - 1 do move(p, m, q, first + m * (t1 + t2)) end
  end
  return block and publish(dtype, block) or r
end

local elements = dtype.pointer

function parts.eye(r, rows, columns, ...) -- luacheck: ignore 212
  if columns == 0 then columns = rows end
  if r ~= nil or not (rows >= 1 and columns >= 1 and rows % 1 == 0 and columns % 1 == 0) then
    return nil
  end
  local block, to = tools.new(dtype, 2, 1, rows, columns)
  if not block then return nil end
  local p = cast(elements, to)
  for i = 0, min(rows, columns) - 1 do p[i * (columns + 1)] = 1 end
  return (publish(dtype, block))
end

return parts
