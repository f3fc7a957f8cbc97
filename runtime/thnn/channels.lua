--- Layers with a number for each channel: BatchNormalization and PReLU. Sums are doubles.
-- A tensor has `frames` times `channels` times `inner` elements. Addresses are numbers, 0 for
-- what is absent.
-- @module channels

local jobs = ...
local ffi = require 'ffi'
local job = jobs.add
local floor, sqrt, min, max = math.floor, math.sqrt, math.min, math.max
local loops = jobs.part 'thnn.loops'
local vector, loads = loops.vector, loops.loads

-- Brings each channel to the mean 0 and the variance 1. When it trains (`train` is 1), the mean and
-- the variance are the channel's; they are kept, and the running ones move towards them.
job('nn_normalize', 'size input output weight bias means variances keptMeans keptScales train'
  .. ' momentum eps frames channels inner', function(p, first, last)
  local load, positions, plane = loads[p.size], p.inner, p.channels * p.inner
  local n, count, momentum = p.frames * plane, p.frames * positions, p.momentum
  local x, r, w, b = vector(p, 'input'), vector(p, 'output'), vector(p, 'weight'), vector(p, 'bias')
  local means, variances = vector(p, 'means'), vector(p, 'variances')
  local kept, scales = vector(p, 'keptMeans'), vector(p, 'keptScales')
  for f = first, last - 1 do
    local from, mean = f * positions, load(means, f)
    local factor
    if p.train == 1 then
      local sum = 0
      for at = from, n - 1, plane do
        for i = at, at + positions - 1 do sum = sum + load(x, i) end
      end
      kept[f] = sum / count
      mean, sum = load(kept, f), 0
      for at = from, n - 1, plane do
        for i = at, at + positions - 1 do
          local distance = load(x, i) - mean
          sum = sum + distance * distance
        end
      end
      scales[f] = sum == 0 and p.eps == 0 and 0 or 1 / sqrt(sum / count + p.eps)
      factor = load(scales, f)
      means[f] = momentum * mean + (1 - momentum) * load(means, f)
      variances[f] = momentum * (sum / (count - 1)) + (1 - momentum) * load(variances, f)
    else
      factor = 1 / sqrt(load(variances, f) + p.eps)
    end
    factor = factor * (w and load(w, f) or 1)
    local shift = b and load(b, f) or 0
    for at = from, n - 1, plane do
      for i = at, at + positions - 1 do r[i] = (load(x, i) - mean) * factor + shift end
    end
  end
end)

-- The gradients; `means` and `scales` are those that were kept, or the running means and variances.
job('nn_normalize_back', 'size input grads gradient weight means scales toWeight toBias train scale'
  .. ' eps frames channels inner', function(p, first, last)
  local load, positions, plane = loads[p.size], p.inner, p.channels * p.inner
  local n, count, trains = p.frames * plane, p.frames * positions, p.train == 1
  local x, g, r, w = vector(p, 'input'), vector(p, 'grads'), vector(p, 'gradient'),
    vector(p, 'weight')
  local means, scales = vector(p, 'means'), vector(p, 'scales')
  local to_weight, to_bias = vector(p, 'toWeight'), vector(p, 'toBias')
  for f = first, last - 1 do
    local from, mean, inverse = f * positions, load(means, f), load(scales, f)
    if not trains then inverse = 1 / sqrt(inverse + p.eps) end
    local sum, product = 0, 0
    for at = from, n - 1, plane do
      for i = at, at + positions - 1 do
        local upper = load(g, i)
        sum = sum + upper
        product = product + (load(x, i) - mean) * upper
      end
    end
    if r then
      local factor = inverse * (w and load(w, f) or 1)
      local slope, average = product * inverse * inverse / count, sum / count
      for at = from, n - 1, plane do
        for i = at, at + positions - 1 do
          local upper = load(g, i)
          if trains then upper = upper - average - (load(x, i) - mean) * slope end
          r[i] = upper * factor
        end
      end
    end
    if to_weight then to_weight[f] = load(to_weight, f) + p.scale * product * inverse end
    if to_bias then to_bias[f] = load(to_bias, f) + p.scale * sum end
  end
end)

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
