--- ClassNLLCriterion, SpatialClassNLLCriterion and MultiMarginCriterion of few targets.
-- @module thnn_classes

local th = ...
local makers, tonumber, min, max = th.thnn_kernels, tonumber, math.min, math.max
local dense, same_sizes = th.formulas.dense, th.formulas.same_sizes

local MAX = 1024         -- frames up to which Lua is quicker than a call of Python
local MAX_SCORES = 8192  -- the same for all scores, where all are looked at

-- Whether a tensor is a vector of one element.
local function single(c)
  return c.nDimension == 1 and dense(c) == 1
end

-- The frames and classes of contiguous scores with a target for each frame; nil for others.
local function shape(input, target)
  local n, dims = dense(input), input.nDimension
  if n == 0 or dims > 2 or target.nDimension ~= 1 then return nil end
  local classes = tonumber(input.size[dims - 1])
  if n / classes > MAX or dense(target) ~= n / classes then return nil end
  return n / classes, classes
end

-- A pointer to the weights of the classes; false for weights that do not suit; nil for none.
local function weights_of(weights, classes)
  if weights == nil then return nil end
  return dense(weights) == classes and weights.storage.data + weights.storageOffset
end

function makers.ClassNLLCriterion_updateOutput(dtype)
  local load = dtype.load
  return function(input, target, output, average, weights, total_weight, ignored)
    local frames, classes = shape(input, target)
    local w = frames and weights_of(weights, classes)
    if not frames or w == false or not (single(output) and single(total_weight)) then return nil end
    local x = input.storage.data + input.storageOffset
    local t = target.storage.data + target.storageOffset
    local sum, total = 0, 0
    for i = 0, frames - 1 do
      local class = tonumber(t[i])
      if class ~= ignored then
        if not (class >= 1 and class <= classes) then return nil end
        local weight = w and load(w, class - 1) or 1
        sum = sum - load(x, i * classes + class - 1) * weight
        total = total + weight
      end
    end
    total_weight.storage.data[total_weight.storageOffset] = total
    if average and total ~= 0 then sum = sum / total end
    output.storage.data[output.storageOffset] = sum
    return true
  end
end

function makers.ClassNLLCriterion_updateGradInput(dtype)
  local load = dtype.load
  return function(input, target, gradient, average, weights, total_weight, ignored)
    local frames, classes = shape(input, target)
    local w = frames and weights_of(weights, classes)
    if not frames or w == false or not single(total_weight) then return nil end
    if not same_sizes(input, gradient) or dense(gradient) ~= frames * classes then return nil end
    local total = load(total_weight.storage.data, total_weight.storageOffset)
    if not (total > 0) then return true end
    local t = target.storage.data + target.storageOffset
    local r = gradient.storage.data + gradient.storageOffset
    for i = 0, frames - 1 do
      local class = tonumber(t[i])
      if class ~= ignored and not (class >= 1 and class <= classes) then return nil end
    end
    -- Torch7: of one frame, the gradient does not count the weight where it is averaged.
    local plain = average and input.nDimension == 1
    local factor = average and not plain and 1 / total or 1
    for i = 0, frames - 1 do
      local class = tonumber(t[i])
      -- A finalizer may have changed the class.
      if class ~= ignored and class >= 1 and class <= classes then
        local weight = w and not plain and load(w, class - 1) or 1
        r[i * classes + class - 1] = -weight * factor
      end
    end
    return true
  end
end

-- The frames, classes and positions of contiguous maps of scores with a target for each position,
-- and a pointer to the weights (see weights_of); nil for others.
local function maps(input, target, weights)
  local n = dense(input)
  if n == 0 or input.nDimension ~= 4 or target.nDimension ~= 3 then return nil end
  local frames, classes = tonumber(input.size[0]), tonumber(input.size[1])
  local count = dense(target)
  local w = weights_of(weights, classes)
  if w == false or count * classes ~= n or count > MAX_SCORES or target.size[0] ~= frames
    or target.size[1] ~= input.size[2] or target.size[2] ~= input.size[3] then
    return nil
  end
  return frames, classes, count / frames, w
end

-- Whether all of n targets are classes.
local function are_classes(t, n, classes)
  local least, most = 1, classes
  for i = 0, n - 1 do
    local class = tonumber(t[i])
    least, most = min(least, class), max(most, class)
  end
  return least >= 1 and most <= classes
end

function makers.SpatialClassNLLCriterion_updateOutput(dtype)
  local load = dtype.load
  return function(input, target, output, average, weights, total_weight)
    local frames, classes, positions, w = maps(input, target, weights)
    if not frames or not (single(output) and single(total_weight)) then return nil end
    local x = input.storage.data + input.storageOffset
    local t = target.storage.data + target.storageOffset
    if not are_classes(t, frames * positions, classes) then return nil end
    local sum, total, at = 0, 0, 0
    for i = 0, frames * positions - 1 do
      local class = min(max(tonumber(t[i]), 1), classes) - 1 -- a finalizer may have changed it
      local weight = w and load(w, class) or 1
      sum = sum - load(x, at + class * positions) * weight
      total = total + weight
      at = at + 1
      if at % positions == 0 then at = at + (classes - 1) * positions end
    end
    total_weight.storage.data[total_weight.storageOffset] = total
    if average and total ~= 0 then sum = sum / total end
    output.storage.data[output.storageOffset] = sum
    return true
  end
end

-- Makes a kernel for MultiMarginCriterion. `compute` gets what the criterion has found out, and
-- gives the sum, which `finish` stores.
local function multi_margin(dtype, gradient)
  local load = dtype.load
  return function(input, target, result, average, p, weights, margin)
    local frames, classes = shape(input, target)
    local w = frames and weights_of(weights, classes)
    if not frames or w == false or frames * classes > MAX_SCORES then return nil end
    local n = frames * classes
    if gradient then
      if not same_sizes(input, result) or dense(result) ~= n then return nil end
    elseif not single(result) then
      return nil
    end
    local x = input.storage.data + input.storageOffset
    local t = target.storage.data + target.storageOffset
    local r = result.storage.data + result.storageOffset
    if gradient and x < r + n and r < x + n then return nil end
    for i = 0, frames - 1 do
      if not (t[i] >= 1 and t[i] <= classes) then return nil end
    end
    local norm, sum = 1 / (average and n or classes), 0
    for i = 0, frames - 1 do
      local class, first = tonumber(t[i]) - 1, i * classes
      if not (class >= 0 and class < classes) then return true end -- a finalizer has changed it
      local weight = (w and load(w, class) or 1) * norm
      local least = margin - load(x, first + class)
      for k = 0, classes - 1 do
        local z = least + load(x, first + k)
        if k == class or not (z > 0) then z = 0 end
        local part = 0 -- also where the weight is infinite or nan
        if z > 0 and gradient then
          part = p == 1 and weight or 2 * z * weight
        elseif z > 0 then
          part = (p == 1 and z or z * z) * weight
        end
        if gradient then r[first + k] = part end
        sum = sum + part
      end
      if gradient then
        r[first + class] = -sum
        sum = 0
      end
    end
    if not gradient then r[0] = sum end
    return true
  end
end

function makers.MultiMarginCriterion_updateOutput(dtype) return multi_margin(dtype, false) end
function makers.MultiMarginCriterion_updateGradInput(dtype) return multi_margin(dtype, true) end
