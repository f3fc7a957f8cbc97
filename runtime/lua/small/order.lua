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
local geometry, place, contiguous = tools.geometry, tools.place, tools.contiguous
local moves, new, publish, address = tools.moves, tools.new, tools.publish, tools.address
local dimension, at, with = tools.dimension, tools.at, tools.with
local long_struct, places, others, set_places =
  tools.long_struct, tools.places, tools.others, tools.set_places
local sort_row, select_row = th.kernels.sort_row, th.kernels.select_row
local MAX_NEW, WIDTH = tools.MAX_NEW, ffi.sizeof(dtype.ctype)

local doubles, ints = th.dtypes[th.DOUBLE + 1], th.dtypes[th.LONG]
local keys, index = tools.memory(doubles, MAX_NEW), tools.memory(ints, MAX_NEW)
local part, order = tools.memory(doubles, MAX_NEW), tools.memory(ints, MAX_NEW)
local starts = tools.memory(ints, MAX_NEW) -- where in `index` the results of each row begin
local elements, words, move = dtype.pointer, tools.words, tools.mover(WIDTH)
local bits = tools.bits(WIDTH)

local function struct_of(value)
  return type(value) == 'userdata' and (structs[value] or fetch_struct(value)) or nil
end

-- The address of a result of n dimensions with the sizes s, and its block if r is nil, for a new
-- tensor. Nil unless the result is contiguous and has a storage of its own.
-- @param c the struct of r
-- @param ct that of what is read
local function result_at(kind, r, c, ct, n, s0, s1, s2)
  if r == nil then
    local block, to = new(kind, n, s0, s1, s2)
    return to, block
  end
  if not c or address(c.storage) == address(ct.storage) then return nil end
  local m, r0, r1, r2, t0, t1, t2 = geometry(c)
  if m ~= n or r0 ~= s0 or r1 ~= s1 or r2 ~= s2 or not contiguous(s0, s1, s2, t0, t1, t2) then
    return nil
  end
  return place(c, kind == dtype and WIDTH or 8, s0, s1, s2, t0, t1, t2)
end

-- Sets the keys of all rows, one after the other: elements that are `step` apart, from the places
-- where rows begin.
local function set_keys(p, q, step, rows, size, sign)
  for row = 0, rows - 1 do
    local from, start = places[row], row * size
    for k = start, start + size - 1 do keys[k] = sign * load(p, q, from + step * (k - start)) end
  end
end

-- The same where the keys are all elements in their order.
local function set_all_keys(p, q, n, sign)
  for k = 0, n - 1 do keys[k] = sign * load(p, q, k) end
end

-- Sets the positions of all keys in their rows.
local function set_positions(n, size)
  for k = 0, size - 1 do index[k] = k end
  for k = size, n - 1 do index[k] = index[k - size] end
end

-- Copies an element of each row, which begin at places, to both results.
local function put_one(r, i, q, step, rows)
  for row = 0, rows - 1 do
    local position = index[starts[row]]
    move(r, others[row], q, places[row] + step * position)
    i[2 * others[row]], i[2 * others[row] + 1] = position + 1, 0
  end
end

-- The same for several elements, which are `out_step` apart in the results.
local function put_several(r, i, q, step, rows, count, out_step)
  for row = 0, rows - 1 do
    local from, out, start = places[row], others[row], starts[row]
    for m = 0, count - 1 do
      local position, at_result = index[start + m], out + out_step * m
      move(r, at_result, q, from + step * position)
      i[2 * at_result], i[2 * at_result + 1] = position + 1, 0
    end
  end
end

-- The same for all elements in their order.
local function put_all(r, i, q, n, size)
  for k = 0, size - 1 do others[k] = 0 end
  for k = size, n - 1 do others[k] = others[k - size] + size end
  for k = 0, n - 1 do
    local position = index[k]
    move(r, k, q, others[k] + position)
    i[2 * k], i[2 * k + 1] = position + 1, 0
  end
end

-- Both results along a dimension: for each row, whose keys are first..last, `count` elements, whose
-- positions pick(first, last, k, more) puts into `index`, from the place on that it returns.
-- count: nil for all. sign: -1 for keys in descending order. k: a number of 1 to the size of a row;
-- nil if pick needs none.
local function along(values, indices, t, dim, count, sign, pick, k, more,
    ...) -- luacheck: ignore 212
  local before = moves()
  local c = struct_of(t)
  if not c or (values == nil) ~= (indices == nil) then return nil end
  local n, s0, s1, s2, t0, t1, t2 = geometry(c)
  local d = dimension(dim or n, n)
  if not d or s0 * s1 * s2 > MAX_NEW then return nil end
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
  local n_all, rows = s0 * s1 * s2, s0 * s1 * s2 / size
  local in_order = step == 1 and contiguous(s0, s1, s2, t0, t1, t2)
  local out_step = at(d, z1 * z2, z2, 1)
  s0, s1, s2 = with(d, 1, s0, s1, s2)
  set_places(places, s0, s1, s2, t0, t1, t2)
  set_places(others, s0, s1, s2, z1 * z2, z2, 1)
  if in_order then set_all_keys(p, q, n_all, sign) else set_keys(p, q, step, rows, size, sign) end
  set_positions(n_all, size)
  for row = 0, rows - 1 do
    starts[row] = pick(row * size, row * size + size - 1, k, more)
  end
  if in_order and count == size then
    put_all(r, i, q, n_all, size)
  elseif count == 1 then
    put_one(r, i, q, step, rows)
  else
    put_several(r, i, q, step, rows, count, out_step)
  end
  if not block then return values, indices end
  local first, second = publish(dtype, block), publish(longs, index_block)
  return first, second
end

local small = {}

local function sorted(first, last)
  sort_row(keys, index, first, last)
  return first
end

function small.sort(values, indices, t, dim, descending, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, nil, descending and -1 or 1, sorted)
  return first, second
end

local function selected(first, last, k)
  local at_k = first + k - 1
  select_row(keys, index, first, last, at_k)
  return at_k
end

function small.kthvalue(values, indices, t, k, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, 1, 1, selected, k)
  return first, second
end

local function middle(first, last)
  local distance = last - first
  local at_k = first + (distance - distance % 2) / 2
  select_row(keys, index, first, last, at_k)
  return at_k
end

function small.median(values, indices, t, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, t, dim, 1, 1, middle)
  return first, second
end

-- The last one of the longest run of equal keys; of runs as long, of the first.
local function most_frequent(first, last)
  sort_row(keys, index, first, last)
  local length, longest, best = 0, 0, first
  for k = first + 1, last do
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
  sort_row(part, order, 0, count - 1)
  for k = 0, count - 1 do order[k] = index[first + order[k]] end
  for k = 0, count - 1 do index[first + k] = order[k] end
end

-- Torch7: of the smallest, all but the last are sorted, which quickselect has put in its place.
local function largest(first, last, k, in_order)
  local start = last - k + 1
  if start > first then select_row(keys, index, first, last, start - 1) end
  if in_order then sort_part(start, k, -1) end
  return start
end

local function smallest(first, last, k, in_order)
  select_row(keys, index, first, last, first + k - 1)
  if in_order and k > 1 then sort_part(first, k - 1, 1) end
  return first
end

function small.topk(values, indices, t, k, dim, of_largest, in_order, ...) -- luacheck: ignore 212
  local pick = of_largest and largest or smallest
  local first, second = along(values, indices, t, dim, k, 1, pick, k, in_order)
  return first, second
end

return small
