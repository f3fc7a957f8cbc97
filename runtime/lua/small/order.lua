--- sort, topk, kthvalue, median and mode of few elements.
-- Loaded once for each element type. The elements of a row along the dimension become keys, with
-- their positions, which are put in the reference's order (tensor/kernels.lua).
-- @module small_order

local th, dtype, tools = ...
local ffi = require 'ffi'

-- The numbers of a LongTensor do not all fit into Lua's.
if dtype.name == 'Long' or dtype.name == 'Half' then return {} end

local type = type
local cast = ffi.cast
local structs, fetch_struct, load = dtype.structs, dtype.fetch_struct, tools.loader(dtype)
local longs = th.dtypes[th.LONG + 1]
local geometry, place, result_at = tools.geometry, tools.place, tools.result_at
local moves, publish = tools.moves, tools.publish
local dimension, at, with = tools.dimension, tools.at, tools.with
local long_struct, places, others, set_places =
  tools.long_struct, tools.places, tools.others, tools.set_places
local sort_row, select_row = th.kernels.sort_row, th.kernels.select_row
local MAX_SORTED, WIDTH = 2048, ffi.sizeof(dtype.ctype) -- beyond, numpy sorts more quickly

local doubles, ints = th.dtypes[th.DOUBLE + 1], th.dtypes[th.LONG]
local keys, index = tools.memory(doubles, MAX_SORTED), tools.memory(ints, MAX_SORTED)
local part, order = tools.memory(doubles, MAX_SORTED), tools.memory(ints, MAX_SORTED)
local elements, words, move = dtype.pointer, tools.words, tools.mover(WIDTH)
local bits = tools.bits(WIDTH)

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

-- Sets the keys of a row whose elements are `step` apart, from `from` on.
local function set_keys(p, q, from, step, n, sign)
  for k = 0, n - 1 do
    keys[k], index[k] = sign * load(p, q, from + step * k), k
  end
end

-- Both results along a dimension: for each row `count` elements, whose positions pick(n, …) puts
-- into `index`, from the position on that it returns; nil: all. sign: -1 for keys in descending
-- order. k: a number of 1 to the size of a row, for pick; nil if it needs none.
local function along(values, indices, t, dim, count, sign, pick, k, more,
    ...) -- luacheck: ignore 212
  local before = moves()
  local c = struct_of(t)
  if not c or (values == nil) ~= (indices == nil) then return nil end
  local n, s0, s1, s2, t0, t1, t2 = geometry(c)
  local d = dimension(dim or n, n)
  if not d or s0 * s1 * s2 > MAX_SORTED then return nil end
  local size, step = at(d, s0, s1, s2), at(d, t0, t1, t2)
  count = count or size
  if k and not (k >= 1 and k <= size and k % 1 == 0) then return nil end
  local source = place(c, WIDTH, s0, s1, s2, t0, t1, t2)
  if not source then return nil end
  local z0, z1, z2 = with(d, count, s0, s1, s2)
  local to, block = result_at(dtype, values, values and struct_of(values), c, n, z0, z1, z2)
  if not to then return nil end
  local to_index, index_block =
    result_at(longs, indices, indices and long_struct(indices), c, n, z0, z1, z2)
  if not to_index then return nil end
  local p, q = cast(elements, source), cast(bits, source)
  local r, i = cast(bits, to), cast(words, to_index)
  if moves() ~= before then return nil end
  -- Where rows begin: those of the source in `places`, those of both results in `others`.
  local o0, o1, o2 = z1 * z2, z2, 1
  local to_step = at(d, o0, o1, o2)
  s0, s1, s2 = with(d, 1, s0, s1, s2)
  set_places(places, s0, s1, s2, t0, t1, t2)
  set_places(others, s0, s1, s2, o0, o1, o2)
  for row = 0, s0 * s1 * s2 - 1 do
    local from, out = places[row], others[row]
    set_keys(p, q, from, step, size, sign)
    local first = pick(size, k, more)
    for m = 0, count - 1 do
      local position = index[first + m]
      local o = out + to_step * m
      move(r, o, q, from + step * position)
      i[2 * o], i[2 * o + 1] = position + 1, 0
    end
  end
  if not block then return values, indices end
  local first, second = publish(dtype, block), publish(longs, index_block)
  return first, second
end

local small = {}

local function sorted(n)
  sort_row(keys, index, n)
  return 0
end

function small.sort(values, indices, t, dim, descending, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, nil, descending and -1 or 1, sorted)
  return first, second
end

local function selected(n, k)
  select_row(keys, index, n, k - 1)
  return k - 1
end

function small.kthvalue(values, indices, t, k, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, 1, 1, selected, k)
  return first, second
end

local function middle(n)
  local k = (n - 1 - (n - 1) % 2) / 2
  select_row(keys, index, n, k)
  return k
end

function small.median(values, indices, t, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, 1, 1, middle)
  return first, second
end

-- The last one of the longest run of equal keys; of runs as long, of the first.
local function most_frequent(n)
  sort_row(keys, index, n)
  local length, longest, best = 0, 0, 0
  for k = 1, n - 1 do
    length = keys[k] == keys[k - 1] and length + 1 or 0
    if length > longest then longest, best = length, k end
  end
  return best
end

function small.mode(values, indices, t, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, 1, 1, most_frequent)
  return first, second
end

-- Sorts `count` of the selected keys from `first` on anew.
local function sort_part(first, count, sign)
  for k = 0, count - 1 do part[k], order[k] = sign * keys[first + k], k end
  sort_row(part, order, count)
  for k = 0, count - 1 do order[k] = index[first + order[k]] end
  for k = 0, count - 1 do index[first + k] = order[k] end
end

-- Torch7: of the smallest, all but the last are sorted, which quickselect has put in its place.
local function largest(n, k, in_order)
  local first = n - k
  if first > 0 then select_row(keys, index, n, first - 1) end
  if in_order then sort_part(first, k, -1) end
  return first
end

local function smallest(n, k, in_order)
  select_row(keys, index, n, k - 1)
  if in_order and k > 1 then sort_part(0, k - 1, 1) end
  return 0
end

function small.topk(values, indices, t, k, dim, of_largest, in_order, ...) -- luacheck: ignore 212
  local pick = of_largest and largest or smallest
  local first, second = along(values, indices, t, dim, k, 1, pick, k, in_order)
  return first, second
end

return small
