--- Loops over raw memory for algorithms that numpy does not have.
-- Python calls these functions with the addresses of arrays, which it keeps alive
-- (runtime/compute/lua_kernels.py). It has made the nans in them safe for Lua, except where `load`
-- reads the elements (see tensor/elements.lua).
-- Equal elements are sorted into the same order as in the reference: by Sedgewick's quicksort with
-- the median of three, and by insertion for short parts.
-- @module lua_kernels

local th = ...
local ffi = require 'ffi'

local doubles, ints = ffi.typeof('double *'), ffi.typeof('int32_t *')
local rshift = require('bit').rshift
local load = th.dtypes[th.DOUBLE + 1].load

local kernels = {}
th.kernels = kernels

-- Parts of at most this many elements are sorted by insertion; whole rows of one more, too.
local SHORT = 10

local function swap(a, index, i, j)
  a[i], a[j] = a[j], a[i]
  index[i], index[j] = index[j], index[i]
end

-- Partitions the keys first..last by the median of three. Returns i, where the keys behind the
-- pivot begin, and j, where the pivot is. The order is ascending; for a descending one, Python
-- negates the keys.
local function partition(a, index, first, last)
  swap(a, index, rshift(first + last, 1), first + 1)
  if a[first + 1] > a[last] then swap(a, index, first + 1, last) end
  if a[first] > a[last] then swap(a, index, first, last) end
  if a[first + 1] > a[first] then swap(a, index, first + 1, first) end
  local i, j, pivot = first + 1, last, a[first]
  while true do
    repeat i = i + 1 until not (a[i] < pivot)
    repeat j = j - 1 until not (a[j] > pivot)
    if j < i then break end
    swap(a, index, i, j)
  end
  swap(a, index, first, j)
  return i, j
end

local function insertion(a, index, n)
  for i = n - 2, 0, -1 do
    local key, id = a[i], index[i]
    local j = i + 1
    if key > a[j] then
      repeat
        a[j - 1], index[j - 1] = a[j], index[j]
        j = j + 1
      until j >= n or not (a[j] < key)
      a[j - 1], index[j - 1] = key, id
    end
  end
end

-- Sorts the part first..last of a row of n keys, except those parts that contain no equal keys and
-- are not next to one: their order is known already. equal: for each position of the sorted row,
-- how many keys up to there equal the key before them. A part has the same positions before and
-- after it is sorted.
local function quicksort(a, index, equal, order, first, last, n)
  while first <= last do
    local before = first > 0 and equal[first - 1] or 0
    if equal[last + 1 < n and last + 1 or last] == before then return end
    if last - first < SHORT or n == SHORT + 1 then
      insertion(a + first, index + first, last - first + 1)
      for k = first, last do order[k] = index[k] end
      return
    end
    local i, j = partition(a, index, first, last)
    for k = j, i - 1 do order[k] = index[k] end
    -- The recursion is for the shorter part, so that its depth is logarithmic.
    if j - first > last - i + 1 then
      quicksort(a, index, equal, order, i, last, n)
      last = j - 1
    else
      quicksort(a, index, equal, order, first, j - 1, n)
      first = i
    end
  end
end

-- Sorts by all the steps of the reference: with nans among the keys, no order is known before.
-- The first and last positions of parts that are not sorted yet, of n keys log2(n) at most.
local stack = ffi.new('int32_t[128]')

local function sort_all(a, index, n)
  local height, first, last = 0, 0, n > SHORT + 1 and n - 1 or 0
  while true do
    if last - first >= SHORT then
      local i, j = partition(a, index, first, last)
      local left = j - first
      -- The longer part is for later.
      if left > last - i + 1 then
        stack[height], stack[height + 1], first = first, j - 1, i
      else
        stack[height], stack[height + 1], last = i, last, j - 1
      end
      height = height + 2
    elseif height == 0 then
      break
    else
      height = height - 2
      first, last = stack[height], stack[height + 1]
    end
  end
  insertion(a, index, n)
end

--- Sorts one row of keys, and the positions of its elements with them, as the reference does.
-- @param a, index pointers to n doubles, all nans safe, and int32
kernels.sort_row = sort_all

-- Moves the key to position k that sorting would put there.
local function quickselect(a, index, n, k)
  local first, last = 0, n - 1
  while last > first do
    if last == first + 1 then
      if a[first] > a[last] then swap(a, index, first, last) end
      return
    end
    local i, j = partition(a, index, first, last)
    if j <= k then first = i end
    if j >= k then last = j - 1 end
  end
end

--- The same for one row's key that sorting would put to position k, from 0.
kernels.select_row = quickselect

--- Writes the cumulative sums of rows of n doubles.
-- @param from, to addresses of rows * n doubles
function kernels.cumsum(from, to, rows, n)
  local a, r = ffi.cast(doubles, from), ffi.cast(doubles, to)
  for row = 0, rows - 1 do
    local sum = 0
    for i = row * n, row * n + n - 1 do
      sum = sum + load(a, i)
      r[i] = sum
    end
  end
end

--- Corrects the order of equal keys in sorted rows of n keys to the one that sorting here gives.
-- @param keys, index addresses of rows * n doubles and int32, which are changed
-- @param equal address of rows * n int32, see quicksort
-- @param order address of rows * n int32: the positions of the keys in some sorted order
function kernels.order_equals(keys, index, equal, order, rows, n)
  local a, ix = ffi.cast(doubles, keys), ffi.cast(ints, index)
  local eq, out = ffi.cast(ints, equal), ffi.cast(ints, order)
  for row = 0, rows - 1 do
    local at = row * n
    quicksort(a + at, ix + at, eq + at, out + at, 0, n - 1, n)
  end
end

--- Sorts rows of n keys, of which some are nan, as the reference does.
function kernels.sort(keys, index, rows, n)
  local a, ix = ffi.cast(doubles, keys), ffi.cast(ints, index)
  for row = 0, rows - 1 do sort_all(a + row * n, ix + row * n, n) end
end

--- Moves, in each row of n keys, the key to position k, from 0, that sorting would put there.
function kernels.select(keys, index, rows, n, k)
  local a, ix = ffi.cast(doubles, keys), ffi.cast(ints, index)
  for row = 0, rows - 1 do quickselect(a + row * n, ix + row * n, n, k) end
end

-- --------------------------------------------------------------------- random

--- Swaps each of count elements, from `first` on, with itself or a later one.
-- @param values address of int32: the elements
-- @param distances address of count int32: how many elements further that one is
function kernels.shuffle(values, distances, first, count)
  local a, distance = ffi.cast(ints, values) + first, ffi.cast(ints, distances)
  for i = 0, count - 1 do
    local j = i + distance[i]
    a[i], a[j] = a[j], a[i]
  end
end

-- The first slot, of those from `left` to `right`, whose cumulative probability is not below u.
local function slot(cumulative, left, right, u)
  while left < right do
    local middle = left + rshift(right - left, 1)
    if cumulative[middle] < u then left = middle + 1 else right = middle end
  end
  return left
end

--- The same for a pointer to the probabilities.
kernels.slot = slot

-- Removes one slot's share from the cumulative distribution of the slots from `first` to `last`,
-- and divides the rest so that it ends with 1 again.
local function take_out(cumulative, first, last, at)
  local before = at > first and cumulative[at - 1] or 0
  local share = cumulative[at] - before
  local rest = 1 - share
  for k = first, at - 1 do cumulative[k] = cumulative[k] / rest end
  for k = at, last do cumulative[k] = (cumulative[k] - share) / rest end
end

--- The same for a pointer to the probabilities.
kernels.take_out = take_out

--- Draws slots, counted from 0, from rows of cumulative distributions, which are changed.
-- @param cumulative, uniform addresses of rows * n and rows * count doubles
-- @param drawn address of rows * count int32
function kernels.draw(cumulative, uniform, drawn, rows, n, count, replace)
  local c, u = ffi.cast(doubles, cumulative), ffi.cast(doubles, uniform)
  local result = ffi.cast(ints, drawn)
  for row = 0, rows - 1 do
    for k = row * count, (row + 1) * count - 1 do
      c[n - 1] = 1
      local at = slot(c, 0, n, u[k])
      result[k] = at
      if not replace then take_out(c, 0, n - 1, at) end
    end
    c = c + n
  end
end

local reals = { [4] = ffi.typeof('float *'), [8] = doubles }

--- Makes the tables of the alias method: each slot with a share below 1 gets an alias, a slot with
-- a share above 1, from whose share the missing part is taken.
-- @param shares address of n floats or doubles (width bytes each): probabilities times n
-- @param aliases address of n int32, all 0: for each slot its alias, from 0
-- @param stacks address of 2 * n int32, working memory
function kernels.pair(shares, aliases, stacks, n, width)
  local q, alias = ffi.cast(reals[width], shares), ffi.cast(ints, aliases)
  local small, large = ffi.cast(ints, stacks), ffi.cast(ints, stacks) + n
  local few, many = 0, 0 -- heights of the two stacks
  for i = 0, n - 1 do
    if q[i] < 1 then
      small[few], few = i, few + 1
    else
      large[many], many = i, many + 1
    end
  end
  while few > 0 and many > 0 do
    local giver, taker = large[many - 1], small[few - 1]
    alias[taker] = giver
    q[giver] = q[giver] - (1 - q[taker])
    if q[giver] < 1 then
      small[few - 1], many = giver, many - 1
    else
      few = few - 1
    end
  end
end
