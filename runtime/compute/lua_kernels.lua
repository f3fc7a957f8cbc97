--- Loops over raw memory for algorithms that numpy does not have.
-- Python calls these functions with the addresses of arrays, which it keeps alive
-- (runtime/compute/lua_kernels.py). It has made the nans in them safe for Lua, except where `load`
-- reads the elements (see tensor/elements.lua).
-- @module lua_kernels

local ffi, c_structs = import('ffi', 'core.c_structs')

local doubles, ints = ffi.typeof('double *'), ffi.typeof('int32_t *')
local rshift = require('bit').rshift
local load = c_structs.dtypes[c_structs.DOUBLE + 1].load

local kernels = {}

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

--- Returns the first slot whose cumulative probability is not below u, by a pointer to these.
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

--- Removes one slot's share from a cumulative distribution, by a pointer to the probabilities.
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

return kernels
