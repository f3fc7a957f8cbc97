--- Layers with weights, of few elements: BatchNormalization, LookupTable, PReLU.
-- @module thnn_layers

local th = ...
local makers = th.thnn_kernels
local dense, same_sizes = th.formulas.dense, th.formulas.same_sizes
local ffi = require 'ffi'
local tonumber, sqrt, min, max = tonumber, math.sqrt, math.min, math.max

local MAX = 8192 -- elements up to which Lua is quicker than a call of Python

-- A pointer to the elements of a contiguous vector with n elements or more; nil for others.
local function vector(c, n)
  if c.nDimension ~= 1 or dense(c) < n then return nil end
  return c.storage.data + c.storageOffset
end

-- The same for a vector that may be absent: false for one that does not suit.
local function optional(c, n)
  if c == nil then return nil end
  return vector(c, n) or false
end

-- Whether the n elements at p are others than those at r, or the very same.
local function apart(p, r, n)
  return p == r or p >= r + n or r >= p + n
end

-- The elements, frames, planes and positions of a few contiguous elements; nil for others.
local function planes(c)
  local n, dims = dense(c), c.nDimension
  if n == 0 or n > MAX or dims < 2 then return nil end
  local frames, count = tonumber(c.size[0]), tonumber(c.size[1])
  return n, frames, count, n / (frames * count)
end

function makers.BatchNormalization_updateOutput(dtype)
  local load = dtype.load
  return function(input, output, weight, bias, running_mean, running_var, save_mean, save_std,
      train, momentum, eps)
    local n, frames, count, positions = planes(input)
    if not n or not th.thnn_fit(dtype, output, input, n) then return nil end
    local w, b = optional(weight, count), optional(bias, count)
    local means, variances = vector(running_mean, count), vector(running_var, count)
    if w == false or b == false or not (means and variances) then return nil end
    local kept, inverses
    if train then
      kept, inverses = vector(save_mean, count), vector(save_std, count)
      if not (kept and inverses) then return nil end
    end
    local x = input.storage.data + input.storageOffset
    local r = output.storage.data + output.storageOffset
    if not apart(x, r, n) then return nil end
    local size, plane = n / count, count * positions
    for f = 0, count - 1 do
      local first, mean = f * positions, load(means, f)
      local factor
      if train then
        local sum = 0
        for at = first, n - 1, plane do
          for i = at, at + positions - 1 do sum = sum + load(x, i) end
        end
        kept[f] = sum / size
        mean, sum = load(kept, f), 0
        for at = first, n - 1, plane do
          for i = at, at + positions - 1 do
            local distance = load(x, i) - mean
            sum = sum + distance * distance
          end
        end
        factor = sum == 0 and eps == 0 and 0 or 1 / sqrt(sum / size + eps)
        inverses[f] = factor
        factor = load(inverses, f)
        means[f] = momentum * mean + (1 - momentum) * load(means, f)
        variances[f] = momentum * (sum / (size - 1)) + (1 - momentum) * load(variances, f)
      else
        factor = 1 / sqrt(load(variances, f) + eps)
      end
      factor = factor * (w and load(w, f) or 1)
      local shift = b and load(b, f) or 0
      for at = first, n - 1, plane do
        for i = at, at + positions - 1 do r[i] = (load(x, i) - mean) * factor + shift end
      end
    end
    return frames > 0
  end
end

function makers.BatchNormalization_backward(dtype)
  local load = dtype.load
  return function(input, grad_output, gradient, grad_weight, grad_bias, weight, running_mean,
      running_var, save_mean, save_std, train, scale, eps)
    local n, _, count, positions = planes(input)
    if not n or not same_sizes(input, grad_output) or dense(grad_output) ~= n then return nil end
    local w = optional(weight, count)
    local to_weight, to_bias = optional(grad_weight, count), optional(grad_bias, count)
    if w == false or to_weight == false or to_bias == false then return nil end
    local means = vector(train and save_mean or running_mean, count)
    local inverses = vector(train and save_std or running_var, count)
    if not (means and inverses) then return nil end
    local x = input.storage.data + input.storageOffset
    local g = grad_output.storage.data + grad_output.storageOffset
    local r
    if gradient ~= nil then
      if not th.thnn_fit(dtype, gradient, input, n) or dense(grad_output) ~= n then return nil end
      x = input.storage.data + input.storageOffset
      g = grad_output.storage.data + grad_output.storageOffset
      r = gradient.storage.data + gradient.storageOffset
      if not (apart(x, r, n) and apart(g, r, n)) then return nil end
    end
    local size, plane = n / count, count * positions
    for f = 0, count - 1 do
      local first, mean, inverse = f * positions, load(means, f), load(inverses, f)
      if not train then inverse = 1 / sqrt(inverse + eps) end
      local sum, product = 0, 0
      for at = first, n - 1, plane do
        for i = at, at + positions - 1 do
          local upper = load(g, i)
          sum = sum + upper
          product = product + (load(x, i) - mean) * upper
        end
      end
      if r then
        local factor = inverse * (w and load(w, f) or 1)
        local slope = product * inverse * inverse / size
        local average = sum / size
        for at = first, n - 1, plane do
          for i = at, at + positions - 1 do
            local upper = load(g, i)
            if train then upper = upper - average - (load(x, i) - mean) * slope end
            r[i] = upper * factor
          end
        end
      end
      if to_weight then to_weight[f] = load(to_weight, f) + scale * product * inverse end
      if to_bias then to_bias[f] = load(to_bias, f) + scale * sum end
    end
    return true
  end
end

function makers.LookupTable_accGradParameters(dtype)
  local load = dtype.load
  return function(input, grad_output, grad_weight, _, _, _, by_frequency, padding, scale)
    local n, all, size = dense(input), dense(grad_weight), dense(grad_output)
    if n == 0 or input.nDimension > 2 or by_frequency or all == 0 then return nil end
    local rows = tonumber(grad_weight.size[0])
    local length = all / rows
    if size ~= n * length or size > MAX then return nil end
    local at = input.storage.data + input.storageOffset
    local g = grad_output.storage.data + grad_output.storageOffset
    local w = grad_weight.storage.data + grad_weight.storageOffset
    if g < w + all and w < g + size then return nil end
    for i = 0, n - 1 do
      if not (at[i] >= 1 and at[i] <= rows) then return nil end
    end
    for i = 0, n - 1 do
      local row = tonumber(at[i])
      if row ~= padding and row >= 1 and row <= rows then -- a finalizer may have changed it
        local to, from = (row - 1) * length, i * length
        for k = 0, length - 1 do w[to + k] = load(w, to + k) + scale * load(g, from + k) end
      end
    end
    return true
  end
end

-- PReLU's planes: the elements, the planes, and the elements of a plane; nil for others than few
-- contiguous elements with a weight for each plane.
local function slopes(input, weight, count)
  local n, dims = dense(input), input.nDimension
  if n == 0 or n > MAX then return nil end
  local found, positions = 1, n
  if count ~= 0 then
    found = tonumber(input.size[dims > 1 and 1 or 0])
    if found ~= count then return nil end
    positions = dims > 1 and n / (tonumber(input.size[0]) * found) or 1
  end
  if dense(weight) < found then return nil end
  return n, found, positions
end

local HUGE, factors = 2 ^ 1000, ffi.new('double[2]', 0, 1)

-- r = g where x is positive, g times the plane's slope elsewhere. Which factor counts, the
-- processor could not foresee; so it is taken from memory, by a number that is 1 or 0.
local function scale(load, r, g, x, w, n, count, positions)
  for first = 0, n - 1, positions do
    local slope = load(w, first / positions % count)
    for i = first, first + positions - 1 do
      local value, upper = load(x, i), load(g, i)
      if value ~= value then value = 0 end
      factors[0] = slope -- here, where no finalizer can use the same memory before it is read
      r[i] = upper * factors[min(max(value * HUGE * HUGE, 0), 1)]
    end
  end
  return true
end

function makers.PReLU_updateOutput(dtype)
  local load = dtype.load
  return function(input, output, weight, count)
    local n, found, positions = slopes(input, weight, count)
    if not n or not th.thnn_fit(dtype, output, input, n) then return nil end
    local x = input.storage.data + input.storageOffset
    local r = output.storage.data + output.storageOffset
    local w = weight.storage.data + weight.storageOffset
    if not apart(x, r, n) or w < r + n and r < w + found then return nil end
    return scale(load, r, x, x, w, n, found, positions)
  end
end

function makers.PReLU_updateGradInput(dtype)
  local load = dtype.load
  return function(input, grad_output, gradient, weight, count)
    local n, found, positions = slopes(input, weight, count)
    if not n or dense(grad_output) ~= n then return nil end
    if not th.thnn_fit(dtype, gradient, input, n) or dense(grad_output) ~= n then return nil end
    local x = input.storage.data + input.storageOffset
    local g = grad_output.storage.data + grad_output.storageOffset
    local r = gradient.storage.data + gradient.storageOffset
    local w = weight.storage.data + weight.storageOffset
    if not (apart(x, r, n) and apart(g, r, n)) or w < r + n and r < w + found then return nil end
    return scale(load, r, g, x, w, n, found, positions)
  end
end

function makers.PReLU_accGradParameters(dtype)
  local load = dtype.load
  return function(input, grad_output, _, _, grad_weight, _, _, count, factor)
    local n, found, positions = slopes(input, grad_weight, count)
    if not n or dense(grad_output) ~= n then return nil end
    local x = input.storage.data + input.storageOffset
    local g = grad_output.storage.data + grad_output.storageOffset
    local w = grad_weight.storage.data + grad_weight.storageOffset
    for first = 0, n - 1, positions do
      local plane, sum = first / positions % found, 0
      for i = first, first + positions - 1 do
        local value = load(x, i)
        if value <= 0 then sum = sum + value * load(g, i) end
      end
      w[plane] = load(w, plane) + factor * sum
    end
    return true
  end
end
