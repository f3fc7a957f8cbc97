--- Layers with a number for each channel: BatchNormalization and PReLU. Sums are doubles.
-- A tensor has `frames` times `channels` times `inner` elements. Addresses are numbers, 0 for
-- what is absent.
-- @module channels

local jobs = ...
local ffi = require 'ffi'
local job = jobs.add
local floor, sqrt, min, max = math.floor, math.sqrt, math.min, math.max
local loops = jobs.part 'thnn.loops'
local vector, loads, are_finite = loops.vector, loops.loads, loops.are_finite

-- ------------------------------------------------------------------ BatchNormalization

local function load_finite(data, i) return data[i] end

-- How numbers of the channels `first` to `last` - 1 are read: as they are, where all are finite.
local function reader(p, x, first, last)
  local count = (last - first) * p.inner
  for at = first * p.inner, p.frames * p.channels * p.inner - 1, p.channels * p.inner do
    if not are_finite(p.asum, p.size, x + at, count, 1 / 0) then return loads[p.size] end
  end
  return load_finite
end

-- How the numbers of a channel lie from its first one on: rows of `count` numbers, `step` apart;
-- rows begin `row` apart, and end before `size`.
local function layout(p)
  local plane = p.channels * p.inner
  if p.inner == 1 then return p.frames, plane, 1, 1 end
  return p.inner, 1, plane, p.frames * plane
end

-- The sums of four channels, which begin at a, b, c and d. A number is added to a sum when the one
-- before is: so four sums at a time take as long as one.
local function add_up(p, load, x, a, b, c, d)
  local count, step, row, size = layout(p)
  local s, t, u, v = 0, 0, 0, 0
  for at = 0, size - 1, row do
    for i = at, at + (count - 1) * step, step do
      s, t, u, v = s + load(x, a + i), t + load(x, b + i), u + load(x, c + i), v + load(x, d + i)
    end
  end
  return s, t, u, v
end

-- The sums of the squares of their distances from the means j, k, l and m.
local function add_up_squares(p, load, x, a, b, c, d, j, k, l, m)
  local count, step, row, size = layout(p)
  local s, t, u, v = 0, 0, 0, 0
  for at = 0, size - 1, row do
    for i = at, at + (count - 1) * step, step do
      local e, f, g, h = load(x, a + i) - j, load(x, b + i) - k, load(x, c + i) - l,
        load(x, d + i) - m
      s, t, u, v = s + e * e, t + f * f, u + g * g, v + h * h
    end
  end
  return s, t, u, v
end

-- Of two channels with the means j and k the sums of y, and of y times the distances of x.
local function add_up_products(p, load, load_y, x, y, a, b, j, k)
  local count, step, row, size = layout(p)
  local s, t, u, v = 0, 0, 0, 0
  for at = 0, size - 1, row do
    for i = at, at + (count - 1) * step, step do
      local g, h = load_y(y, a + i), load_y(y, b + i)
      s, t = s + g, t + h
      u, v = u + (load(x, a + i) - j) * g, v + (load(x, b + i) - k) * h
    end
  end
  return s, t, u, v
end

local squares = ffi.new('double[4]')

-- Keeps the means of four channels, of which `last` - 1 is the last one, and sets `squares`.
local function find_means(p, load, x, first, last)
  local kept, get, inner, count = vector(p, 'keptMeans'), loads[p.size], p.inner,
    p.frames * p.inner
  local f, g, h = min(first + 1, last - 1), min(first + 2, last - 1), min(first + 3, last - 1)
  local a, b, c, d = first * inner, f * inner, g * inner, h * inner
  local s, t, u, v = add_up(p, load, x, a, b, c, d)
  kept[first], kept[f], kept[g], kept[h] = s / count, t / count, u / count, v / count
  squares[0], squares[1], squares[2], squares[3] = add_up_squares(p, load, x, a, b, c, d,
    get(kept, first), get(kept, f), get(kept, g), get(kept, h))
end

-- Keeps the factor that brings a channel's variance to 1; the running mean and variance move
-- towards the channel's.
local function keep_statistics(p, f, sum)
  local momentum, count, get = p.momentum, p.frames * p.inner, loads[p.size]
  local means, variances = vector(p, 'means'), vector(p, 'variances')
  vector(p, 'keptScales')[f] = sum == 0 and p.eps == 0 and 0 or 1 / sqrt(sum / count + p.eps)
  means[f] = momentum * get(vector(p, 'keptMeans'), f) + (1 - momentum) * get(means, f)
  variances[f] = momentum * (sum / (count - 1)) + (1 - momentum) * get(variances, f)
end

-- Brings each channel to the mean 0 and the variance 1. When it trains (`train` is 1), the mean and
-- the variance are the channel's; they are kept, and the running ones move towards them.
job('nn_normalize', 'size asum input output weight bias means variances keptMeans keptScales train'
  .. ' momentum eps frames channels inner', function(p, first, last)
  local get, trains = loads[p.size], p.train == 1
  local x, r, w, b = vector(p, 'input'), vector(p, 'output'), vector(p, 'weight'), vector(p, 'bias')
  local means, scales = vector(p, trains and 'keptMeans' or 'means'),
    vector(p, trains and 'keptScales' or 'variances')
  local load = reader(p, x, first, last)
  local count, step, row, size = layout(p)
  for f = first, last - 1 do
    local from = f * p.inner
    if trains then
      if (f - first) % 4 == 0 then find_means(p, load, x, f, last) end
      keep_statistics(p, f, squares[(f - first) % 4])
    end
    local mean, factor = get(means, f), get(scales, f)
    if not trains then factor = 1 / sqrt(factor + p.eps) end
    factor = factor * (w and get(w, f) or 1)
    local shift = b and get(b, f) or 0
    for at = from, from + size - 1, row do
      for i = at, at + (count - 1) * step, step do
        r[i] = (load(x, i) - mean) * factor + shift
      end
    end
  end
end)

-- The gradients; `means` and `scales` are those that were kept, or the running means and variances.
job('nn_normalize_back', 'size asum input grads gradient weight means scales toWeight toBias train'
  .. ' scale eps frames channels inner', function(p, first, last)
  local get, trains, total = loads[p.size], p.train == 1, p.frames * p.inner
  local x, g, r, w = vector(p, 'input'), vector(p, 'grads'), vector(p, 'gradient'),
    vector(p, 'weight')
  local means, scales = vector(p, 'means'), vector(p, 'scales')
  local to_weight, to_bias = vector(p, 'toWeight'), vector(p, 'toBias')
  local load, load_g = reader(p, x, first, last), reader(p, g, first, last)
  local count, step, row, size = layout(p)
  local sum, product, next_sum, next_product
  for f = first, last - 1 do
    local from, mean, inverse = f * p.inner, get(means, f), get(scales, f)
    if not trains then inverse = 1 / sqrt(inverse + p.eps) end
    if (f - first) % 2 == 0 then
      local next = min(f + 1, last - 1)
      sum, next_sum, product, next_product = add_up_products(p, load, load_g, x, g, from,
        next * p.inner, mean, get(means, next))
    else
      sum, product = next_sum, next_product
    end
    if r then
      local factor = inverse * (w and get(w, f) or 1)
      local slope, average = product * inverse * inverse / total, sum / total
      for at = from, from + size - 1, row do
        for i = at, at + (count - 1) * step, step do
          local upper = load_g(g, i)
          if trains then upper = upper - average - (load(x, i) - mean) * slope end
          r[i] = upper * factor
        end
      end
    end
    if to_weight then to_weight[f] = get(to_weight, f) + p.scale * product * inverse end
    if to_bias then to_bias[f] = get(to_bias, f) + p.scale * sum end
  end
end)

-- ------------------------------------------------------------------ PReLU

local HUGE, factors = 2 ^ 1000, ffi.new('double[2]', 0, 1)

-- output = source where input is positive, source times the channel's slope elsewhere. Which factor
-- counts, the processor could not foresee; so it is taken from memory, by a number that is 1 or 0.
job('nn_slopes', 'size input source output slopes channels inner', function(p, first, last)
  local load, positions, channels = loads[p.size], p.inner, p.channels
  local x, g, r, slopes = vector(p, 'input'), vector(p, 'source'), vector(p, 'output'),
    vector(p, 'slopes')
  local i = first
  while i < last do
    local row = floor(i / positions)
    factors[0] = load(slopes, row % channels)
    for k = i, min((row + 1) * positions, last) - 1 do
      local value = load(x, k)
      if value ~= value then value = 0 end
      r[k] = load(g, k) * factors[min(max(value * HUGE * HUGE, 0), 1)]
    end
    i = (row + 1) * positions
  end
end)

-- Adds to each channel's sum the products of input and grads where input is not positive.
job('nn_slope_sums', 'size input grads sums scale frames channels inner',
  function(p, first, last)
    local load, positions, plane = loads[p.size], p.inner, p.channels * p.inner
    local x, g, sums = vector(p, 'input'), vector(p, 'grads'), vector(p, 'sums')
    for f = first, last - 1 do
      local sum = 0
      for at = f * positions, p.frames * plane - 1, plane do
        for i = at, at + positions - 1 do
          local value = load(x, i)
          if value <= 0 then sum = sum + value * load(g, i) end
        end
      end
      sums[f] = load(sums, f) + p.scale * sum
    end
  end)
