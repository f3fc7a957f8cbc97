--- sort, topk, kthvalue, median and mode of few elements. Loaded once for each element type. The
-- elements of a row along the dimension become keys, with their positions, which are put in the
-- reference's order (lua/parallel/sorting.lua). That takes a while, and the order matters only
-- where elements are equal. So of more than very few elements numpy's sort is tried first, on keys
-- that have the elements' positions as their last bits.
-- @module order

local dtype, tools = ...
local ffi, host, c_structs = import('ffi', 'host', 'core.c_structs')
local python_calls, jobs = import('core.python_calls', 'parallel.jobs')
local blocks, formulas = import('tensor.blocks', 'tensor.formulas')

-- The numbers of a LongTensor do not all fit into Lua's.
if dtype.name == 'Long' or dtype.name == 'Half' then return {} end

local bor, bxor, bnot, band = bit.bor, bit.bxor, bit.bnot, bit.band
local lshift, rshift, arshift = bit.lshift, bit.rshift, bit.arshift
local floor, log, max, min = math.floor, math.log, math.max, math.min
local cast = ffi.cast
local read, load = tools.reader(dtype), tools.loader(dtype)
local longs = c_structs.dtypes[c_structs.LONG + 1]
local moves, publish = blocks.moves, tools.publish
local result_at, long_result_at = tools.dense_results(dtype), tools.dense_results(longs)
local dimension, with, count = tools.dimension, tools.with, tools.count
local size_of, stride_of = tools.size, tools.stride
local places, others, locate, located = tools.places, tools.others, tools.locate, tools.located
local sorting = jobs.part 'parallel.sorting'
local sort_row, select_row = sorting.sort_row, sorting.select_row
local MAX_SORTED, WIDTH = 2048, ffi.sizeof(dtype.ctype) -- beyond, numpy sorts more quickly

local doubles, ints = c_structs.dtypes[c_structs.DOUBLE + 1], c_structs.dtypes[c_structs.LONG]
local keys, KEYS = tools.memory(doubles, MAX_SORTED + 1)
local index = tools.memory(ints, MAX_SORTED)
local part, order = tools.memory(doubles, MAX_SORTED), tools.memory(ints, MAX_SORTED)
local elements, words, move = dtype.pointer, tools.words, tools.mover(WIDTH)
local bits = tools.bits(WIDTH)

-- The operand that is sorted, and the results, which have the same sizes and are contiguous.
local t, target = tools.operand(), tools.operand()

-- Sets the keys of a row whose elements are `step` apart, from `from` on; false where they are too
-- many.
local function set_keys(p, q, from, step, n, sign)
  if n > MAX_SORTED then return false end
  for k = 0, n - 1 do
    keys[k], index[k] = sign * load(p, q, from + step * k), k
  end
  return true
end

-- --------------------------------------------------------------- distinct elements

local MIN_DISTINCT, MIN_TURNS = 48, formulas.MIN_TURNS
local address_of_sort, LAST = python_calls.ask(host.sorter)
local sort_keys = address_of_sort ~= 0
  and cast('int (*)(intptr_t, intptr_t, intptr_t)', address_of_sort)

-- The keys for numpy's sort are doubles above 0, which have the order of their bits as whole
-- numbers. These are: the number of the row, the first bits of the element, and its position.
local key_words = cast(words, keys)
local POSITION = MAX_SORTED - 1
local NUMBER, SIGN = bnot(POSITION), bit.tobit(0x80000000)

-- The functions key_* give the bits of an element as two numbers of 32 bits without sign, the upper
-- ones first, that have the order of the elements; nil for infinities and nans. 0 and -0 are equal.

local function key_double(_, q, j)
  local high, low = q[2 * j + 1], q[2 * j]
  if band(high, 0x7ff00000) == 0x7ff00000 then return nil end
  if high == SIGN and low == 0 then high = 0 end
  local sign = arshift(high, 31)
  return bxor(high, bor(sign, SIGN)), bxor(low, sign)
end

local function key_float(_, q, j)
  local all = q[j]
  if band(all, 0x7f800000) == 0x7f800000 then return nil end
  if all == SIGN then all = 0 end
  return bxor(all, bor(arshift(all, 31), SIGN)), 0
end

local function key_whole(p, _, j)
  return bxor(p[j], SIGN), 0
end

local key = ({ Double = key_double, Float = key_float })[dtype.name] or key_whole

-- For each element the number of its row, where keys have it, and the place where the row begins.
-- They are kept for calls with as many rows of as many elements.
local numbers, begins = tools.memory(ints, MAX_SORTED), tools.memory(ints, MAX_SORTED)
local numbered_rows, numbered = 0, 0

local function number_rows(rows, total, left)
  if numbered_rows == rows and numbered == total then return end
  for m = 0, total - 1 do
    local row = floor((m + 0.5) * rows / total)
    numbers[m], begins[m] = lshift(row, left), row * total / rows
  end
  numbered_rows, numbered = rows, total
end

-- Sets the keys of all elements, which are at places; false if one is infinite or no number, or
-- there are too many.
local function set_all_keys(p, q, at_places, rows, total, sign)
  if not at_places or total > MAX_SORTED then return false end
  local flip = sign < 0 and -1 or 0
  local row_bits = floor(log(rows) / log(2) + 0.001) + 1 -- the number of a row is never all ones
  local left, right = 31 - row_bits, row_bits + 1
  number_rows(rows, total, left)
  for m = 0, total - 1 do
    local high, low = key(p, q, at_places[m])
    if not high then return false end
    high, low = bxor(high, flip), bxor(low, flip)
    key_words[2 * m + 1] = bor(numbers[m], rshift(high, right))
    key_words[2 * m] = bor(band(bor(lshift(high, left), rshift(low, right)), NUMBER), m)
  end
  return true
end

-- The sign is set where two neighbouring keys, from position m on, are equal aside from their last
-- bits: the elements may be equal then. Those of two rows are never.
local function compare(m)
  local x = bor(bxor(key_words[2 * m + 1], key_words[2 * m + 3]),
    band(bxor(key_words[2 * m], key_words[2 * m + 2]), NUMBER))
  return bnot(bor(x, -x))
end

local function are_all_distinct(total)
  local equal = 0
  for m = 0, total - 2 do equal = bor(equal, compare(m)) end
  return equal >= 0
end

-- Tells whether in each row the elements from position `first` to `last` are distinct. The loops
-- here go over all rows; the number of a row is that of the turn times `share`.
local function are_distinct(rows, size, first, last)
  local pairs_of_row = last - first
  local total, equal, share = rows * pairs_of_row, 0, 1 / pairs_of_row
  for turn = 0, max(total, MIN_TURNS) - 1 do
    local e = turn < total and turn or 0
    equal = bor(equal, compare(first + e + (size - pairs_of_row) * floor((e + 0.5) * share)))
  end
  return equal >= 0
end

-- Writes both results, of all elements; returns whether they are distinct. to_places: where they
-- go; at_places: where they are.
local function put_all(r, i, q, to_places, at_places, total)
  key_words[2 * total + 1] = -1 -- which no key has
  local equal = 0
  for m = 0, total - 1 do
    local position, o = band(key_words[2 * m], POSITION), to_places[m]
    equal = bor(equal, compare(m))
    move(r, o, q, at_places[position])
    i[2 * o], i[2 * o + 1] = position - begins[m] + 1, 0
  end
  return equal >= 0
end

-- Writes both results, of `taken` elements of each row, from position `first` of the sorted ones
-- on, upwards or downwards.
local function put_some(r, i, q, to_places, at_places, rows, size, taken, first, way)
  local total, share = rows * taken, 1 / taken
  for turn = 0, max(total, MIN_TURNS) - 1 do
    local e = turn < total and turn or 0
    local row = floor((e + 0.5) * share)
    local position = band(key_words[2 * (row * size + first + way * (e - row * taken))], POSITION)
    local o = to_places[e]
    move(r, o, q, at_places[position])
    i[2 * o], i[2 * o + 1] = position - row * size + 1, 0
  end
end

local turned = tools.operand()

-- Three numbers, of which that for dimension d comes last.
local function put_last(d, x0, x1, x2)
  if d == 2 then return x0, x1, x2 end
  if d == 1 then return x0, x2, x1 end
  return x1, x2, x0
end

-- The places of the elements of an operand, of which those along dimension d follow each other.
-- memory: for the places.
local function places_along(memory, d, o)
  turned.s0, turned.s1, turned.s2 = put_last(d, o.s0, o.s1, o.s2)
  turned.t0, turned.t1, turned.t2 = put_last(d, o.t0, o.t1, o.t2)
  return (located(memory, turned))
end

-- Does the work of `along` where numpy's sort decides the order; false where equal elements, nans
-- or infinities have to be looked at. first, way: see put_some; least, most: between which elements
-- must be distinct.
local function along_distinct(r, i, d, sign, first, way, least, most)
  local size, taken, total = size_of(t, d), size_of(target, d), count(t)
  local rows, p, q = total / size, cast(elements, t.at), cast(bits, t.at)
  local at_places = places_along(places, d, t)
  if not set_all_keys(p, q, at_places, rows, total, sign) then return false end
  sort_keys(KEYS, total, LAST)
  least, most = max(least, 0), min(most, size - 1)
  local all = most - least == size - 1
  if all and taken == size and way == 1 then
    local to_places = places_along(others, d, target)
    return to_places and put_all(r, i, q, to_places, at_places, total)
  end
  if all and not are_all_distinct(total)
    or not all and most > least and not are_distinct(rows, size, least, most) then
    return false
  end
  local to_places = places_along(others, d, target)
  if not to_places then return false end
  put_some(r, i, q, to_places, at_places, rows, size, taken, first, way)
  return true
end

-- -------------------------------------------------------------------------- rows

local begins_of_rows, begins_of_results = tools.operand(), tools.operand()

-- Sets an operand to the first elements of the rows along dimension d of another one.
local function set_begins(o, of, d)
  o.s0, o.s1, o.s2 = with(d, 1, of.s0, of.s1, of.s2)
  o.t0, o.t1, o.t2 = of.t0, of.t1, of.t2
end

-- Does the work of `along` row by row; false where there are too many elements.
local function along_rows(r, i, d, sign, pick, k, more)
  local size, step, taken, to_step =
    size_of(t, d), stride_of(t, d), size_of(target, d), stride_of(target, d)
  local p, q = cast(elements, t.at), cast(bits, t.at)
  set_begins(begins_of_rows, t, d)
  set_begins(begins_of_results, target, d)
  if not (locate(places, begins_of_rows) and locate(others, begins_of_results)) then
    return false
  end
  for row = 0, count(begins_of_rows) - 1 do
    local from, out = places[row], others[row]
    if not set_keys(p, q, from, step, size, sign) then return false end
    local first = pick(size, k, more)
    for m = 0, taken - 1 do
      local position = index[first + m]
      local o = out + to_step * m
      move(r, o, q, from + step * position)
      i[2 * o], i[2 * o + 1] = position + 1, 0
    end
  end
  return true
end

-- Both results along a dimension: for each row `taken` elements, whose positions pick(n, …) puts
-- into `index`, from the position on that it returns; nil: all. sign: -1 for keys in descending
-- order. k: a number of 1 to the size of a row, for pick; nil if it needs none.
-- chosen(n, k): where the elements are distinct, the position of the first one among the sorted
-- ones, 1 or -1 for the way on, and the positions between which elements must be distinct; nil:
-- all.
local function along(values, indices, src, dim, taken, sign, pick, chosen, k, more,
    ...) -- luacheck: ignore 212
  local before = moves()
  if not read(t, src) or (values == nil) ~= (indices == nil) then return nil end
  local n, d = t.n, dimension(dim or t.n, t.n)
  if not d or count(t) > MAX_SORTED then return nil end
  local size = size_of(t, d)
  if k and not (k >= 1 and k <= size and k % 1 == 0) then return nil end
  local s0, s1, s2 = with(d, taken or size, t.s0, t.s1, t.s2)
  local to, block = result_at(values, t, n, s0, s1, s2)
  if not to then return nil end
  local to_index, index_block = long_result_at(indices, t, n, s0, s1, s2)
  -- The results may have one storage, which has grown.
  if not to_index or moves() ~= before then return nil end
  tools.set_dense(target, to, n, s0, s1, s2)
  local r, i = cast(bits, to), cast(words, to_index)
  local done = false
  if sort_keys and count(t) >= MIN_DISTINCT then
    local first, way, least, most = chosen(size, k, more)
    done = first and along_distinct(r, i, d, sign, first, way, least, most)
  end
  if not done and not along_rows(r, i, d, sign, pick, k, more) then return nil end
  if not block then return values, indices end
  local first, second = publish(dtype, block), publish(longs, index_block)
  return first, second
end

local small = {}

local function sorted(n)
  sort_row(keys, index, n)
  return 0
end

local function all(n)
  return 0, 1, 0, n - 1
end

function small.sort(values, indices, src, dim, descending, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, src, dim, nil, descending and -1 or 1, sorted, all)
  return first, second
end

local function selected(n, k)
  select_row(keys, index, n, k - 1)
  return k - 1
end

local function only(_, k)
  return k - 1, 1, k - 2, k
end

function small.kthvalue(values, indices, src, k, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, src, dim, 1, 1, selected, only, k)
  return first, second
end

local function half(n)
  return (n - 1 - (n - 1) % 2) / 2
end

local function middle(n)
  local k = half(n)
  select_row(keys, index, n, k)
  return k
end

local function only_middle(n)
  local k = half(n)
  return k, 1, k - 1, k + 1
end

function small.median(values, indices, src, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, src, dim, 1, 1, middle, only_middle)
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

function small.mode(values, indices, src, dim, ...) -- luacheck: ignore 212
  local first, second = along(values, indices, src, dim, 1, 1, most_frequent, all)
  return first, second
end

-- Sorts `count` of the selected keys from `first` on anew.
local function sort_part(first, taken, sign)
  for k = 0, taken - 1 do part[k], order[k] = sign * keys[first + k], k end
  sort_row(part, order, taken)
  for k = 0, taken - 1 do order[k] = index[first + order[k]] end
  for k = 0, taken - 1 do index[first + k] = order[k] end
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

-- Returns the arguments of `along_distinct` from `first` on, for the largest elements; nil where
-- these are not to be sorted, but stay as quickselect leaves them.
local function largest_ones(n, k, in_order)
  if not in_order then return nil end
  return n - 1, -1, n - k - 1, n - 1
end

local function smallest_ones(_, k, in_order)
  if not in_order then return nil end
  return 0, 1, 0, k
end

function small.topk(values, indices, src, k, dim, of_largest, in_order, ...) -- luacheck: ignore 212
  local pick = of_largest and largest or smallest
  local chosen = of_largest and largest_ones or smallest_ones
  local first, second = along(values, indices, src, dim, k, 1, pick, chosen, k, in_order)
  return first, second
end

return small
