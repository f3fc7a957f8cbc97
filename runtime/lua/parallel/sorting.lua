--- Sorting and selecting as the reference does: by Sedgewick's quicksort with the median of three,
-- and by insertion for short parts. It decides in which order equal elements come.
-- Keys are doubles, with the positions of their elements (int32) beside them. All nans among them
-- are safe for Lua (see memory.lua). The order is ascending: for the other one, keys are negated.
-- @module sorting

local jobs = ...

local sorting = {}
local ffi = require 'ffi'

local doubles, ints = ffi.typeof('double *'), ffi.typeof('int32_t *')
local rshift, cast = require('bit').rshift, ffi.cast
local min, max, huge = math.min, math.max, math.huge

-- Parts of at most this many elements are sorted by insertion; whole rows of one more, too.
local SHORT = 10
local BLOCK = 32     -- keys that are compared without a jump
local MIN_BLOCKS = 4 -- in a part that is worth it
-- The square of this makes any number but 0 more than 1 or less than -1.
local VAST = 2 ^ 1000

local function swap(a, index, i, j)
  a[i], a[j] = a[j], a[i]
  index[i], index[j] = index[j], index[i]
end

local left, right = ffi.new('int32_t[33]'), ffi.new('int32_t[33]')

-- Does what the loop of `partition` does, as long as there are two blocks of keys between i and j;
-- returns both. Nobody can guess how keys compare, and a processor that guessed wrong begins anew.
-- So the positions of those on the wrong side are written down first: each is written, and the
-- next one over it where the key is on the right side.
local function exchange_blocks(a, index, i, j, pivot)
  local below, above = i + 1, j - 1
  local lefts, rights, l, r = 0, 0, 0, 0 -- how many there are, and how many were exchanged
  while above - below >= 2 * BLOCK do
    if l == lefts then
      l, lefts = 0, 0
      for k = below, below + BLOCK - 1 do
        left[lefts] = k
        lefts = lefts + (1 - min(max((pivot - a[k]) * VAST * VAST, 0), 1))
      end
      below = below + BLOCK
    end
    if r == rights then
      r, rights = 0, 0
      for k = above, above - BLOCK + 1, -1 do
        right[rights] = k
        rights = rights + (1 - min(max((a[k] - pivot) * VAST * VAST, 0), 1))
      end
      above = above - BLOCK
    end
    local count = min(lefts - l, rights - r)
    for k = 0, count - 1 do swap(a, index, left[l + k], right[r + k]) end
    l, r = l + count, r + count
    if count > 0 then i, j = left[l - 1], right[r - 1] end
  end
  return i, j
end

-- Partitions the keys first..last by the median of three. Returns i, where the keys behind the
-- pivot begin, and j, where the pivot is. least: how far apart first and last are for blocks.
local function partition(a, index, first, last, least)
  swap(a, index, rshift(first + last, 1), first + 1)
  if a[first + 1] > a[last] then swap(a, index, first + 1, last) end
  if a[first] > a[last] then swap(a, index, first, last) end
  if a[first + 1] > a[first] then swap(a, index, first + 1, first) end
  local i, j, pivot = first + 1, last, a[first]
  if last - first >= least and pivot - pivot == 0 then
    i, j = exchange_blocks(a, index, i, j, pivot)
  end
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

-- From which distance of the first and the last key on they are compared in blocks. With nans among
-- them, jumps alone tell what is on which side.
local function least_of(a, n)
  for k = 0, n - 1 do
    if a[k] ~= a[k] then return huge end
  end
  return MIN_BLOCKS * BLOCK
end

-- The first and last positions of parts that are not sorted yet, of n keys log2(n) at most.
local stack = ffi.new('int32_t[128]')

-- Sorts a part of a row, or a row.
local function sort_part(a, index, n)
  local height, first, last, least = 0, 0, n - 1, least_of(a, n)
  while true do
    if last - first >= SHORT then
      local i, j = partition(a, index, first, last, least)
      local below = j - first
      -- The longer part is for later.
      if below > last - i + 1 then
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

--- Sorts one row of keys, and the positions of its elements with them.
-- @param a, index pointers to n doubles, all nans safe, and int32
function sorting.sort_row(a, index, n)
  if n > SHORT + 1 then sort_part(a, index, n) else insertion(a, index, n) end
end

--- Moves one row's key to position k, from 0, that sorting would put there.
function sorting.select_row(a, index, n, k)
  local first, last, least = 0, n - 1, least_of(a, n)
  while last > first do
    if last == first + 1 then
      if a[first] > a[last] then swap(a, index, first, last) end
      return
    end
    local i, j = partition(a, index, first, last, least)
    if j <= k then first = i end
    if j >= k then last = j - 1 end
  end
end

local select_row = sorting.select_row

-- Sorts parts of rows of n keys: two doubles for each, the first position and that behind the last.
-- They are whole rows, or what 'divide' makes of them.
jobs.add('sort', 'keys index parts n', function(p, first, last)
  local a, index, parts = cast(doubles, p.keys), cast(ints, p.index), cast(doubles, p.parts)
  local sort = p.n > SHORT + 1 and sort_part or insertion
  for part = first, last - 1 do
    local from = parts[2 * part]
    sort(a + from, index + from, parts[2 * part + 1] - from)
  end
end)

-- Makes two parts of each, between which the pivot has its place; of a short one, and of one with
-- nans, itself and one without keys. (No pivot divides nans: insertion has to pass over the whole.)
jobs.add('divide', 'keys index parts halves', function(p, first, last)
  local a, index = cast(doubles, p.keys), cast(ints, p.index)
  local parts, halves = cast(doubles, p.parts), cast(doubles, p.halves)
  for part = first, last - 1 do
    local from, to = parts[2 * part], parts[2 * part + 1]
    local i, j, least = to, to, least_of(a + from, to - from)
    if to - from > SHORT and least < huge then
      i, j = partition(a, index, from, to - 1, least)
    end
    local half = halves + 4 * part
    half[0], half[1], half[2], half[3] = from, j, i, to
  end
end)

jobs.add('select', 'keys index n k', function(p, first, last)
  local a, index, n = cast(doubles, p.keys), cast(ints, p.index), p.n
  for row = first, last - 1 do select_row(a + row * n, index + row * n, n, p.k) end
end)

return sorting
