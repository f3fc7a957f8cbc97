--- Criterions of classes: losses of scores against the numbers of targets, and their gradients.
-- Scores are `frames` times `classes` times `inner` numbers. Targets (int64) count classes from 1;
-- others are an error. Addresses are numbers, 0 for weights that are
-- absent. Sums are doubles; a loss is divided by what counts if `average` is 1.
-- @module classes

local jobs = ...
local ffi = require 'ffi'
local job, cast, fill, tonumber = jobs.add, ffi.cast, ffi.fill, tonumber
local loops = jobs.part 'thnn.loops'
local vector, loads = loops.vector, loops.loads
local longs = ffi.typeof('int64_t *')

-- The class, from 0, of a target. A program's finalizer may have changed it since it was checked.
local function class_of(p, target)
  local class = tonumber(target)
  if not (class >= 1 and class <= p.classes) then error(jobs.OUT_OF_RANGE, 0) end
  return class - 1
end

-- Returns the place of the score of the class 0 at a position.
local function first_score(p, i)
  local place = i % p.inner
  return (i - place) * p.classes + place
end

-- Minus the sum of the scores, times weights, of targets; `total` gets the sum of the weights.
job('nn_class_loss', 'size input target output total weights average ignored frames classes inner',
  function(p)
    local load, targets = loads[p.size], cast(longs, p.target)
    local x, w, sum, total = vector(p, 'input'), vector(p, 'weights'), 0, 0
    for i = 0, p.frames * p.inner - 1 do
      if tonumber(targets[i]) ~= p.ignored then
        local class = class_of(p, targets[i])
        local weight = w and load(w, class) or 1
        sum = sum - load(x, first_score(p, i) + class * p.inner) * weight
        total = total + weight
      end
    end
    vector(p, 'total')[0] = total
    if p.average == 1 and total ~= 0 then sum = sum / total end
    vector(p, 'output')[0] = sum
  end)

-- The gradient at the targets; other numbers stay as they are.
job('nn_class_back', 'size target gradient total weights average ignored frames classes inner',
  function(p)
    local load, targets, n = loads[p.size], cast(longs, p.target), p.frames * p.inner
    local r, w, total = vector(p, 'gradient'), vector(p, 'weights'), load(vector(p, 'total'), 0)
    if not (total > 0) then return end
    for i = 0, n - 1 do -- nothing is written before
      if tonumber(targets[i]) ~= p.ignored then class_of(p, targets[i]) end
    end
    for i = 0, n - 1 do
      if tonumber(targets[i]) ~= p.ignored then
        local class = class_of(p, targets[i])
        local weight = w and load(w, class) or 1
        if p.average == 1 then weight = weight / total end
        r[first_score(p, i) + class * p.inner] = -weight
      end
    end
  end)

-- By how much each score of a frame exceeds the target's less the margin, to the power 1 or 2, and
-- times `weight`; returns the sum. `r`, if it is there, gets the derivatives, and minus their sum
-- at the target.
local function add_margins(p, load, x, first, class, weight, r)
  local least, sum, linear = p.margin - load(x, first + class), 0, p.power == 1
  for k = first, first + p.classes - 1 do
    local z = least + load(x, k)
    if k == first + class or not (z > 0) then z = 0 end
    local part = 0 -- also where the weight is infinite or nan
    if z > 0 and r then
      part = linear and weight or 2 * z * weight
    elseif z > 0 then
      part = (linear and z or z * z) * weight
    end
    if r then r[k] = part end
    sum = sum + part
  end
  if r then r[first + class] = -sum end
  return sum
end

-- MultiMarginCriterion; `back` is 1 for the gradient, of which `output` has the address then.
job('nn_margins', 'size input target output weights average power margin back frames classes',
  function(p)
    local load, targets, w, sum = loads[p.size], cast(longs, p.target), vector(p, 'weights'), 0
    local x, r, classes = vector(p, 'input'), vector(p, 'output'), p.classes
    local norm = 1 / (p.average == 1 and p.frames * classes or classes)
    for frame = 0, p.frames - 1 do
      local class = class_of(p, targets[frame])
      local weight = (w and load(w, class) or 1) * norm
      sum = sum
        + add_margins(p, load, x, frame * classes, class, weight, p.back == 1 and r or nil)
    end
    if p.back == 0 then r[0] = sum end
  end)

-- The targets of a frame's positions from `first` on, which end with the first 0: where they end.
local function end_of_targets(p, targets, first)
  local at = first
  while at < first + p.classes and targets[at] ~= 0 do at = at + 1 end
  return at
end

-- MultiLabelMarginCriterion: the sum of 1 - target's score + other score where that is positive,
-- for each target of a frame and each class that is none, divided by the classes and by `count`.
-- `marks` become 1 at targets, 0 elsewhere.
job('nn_labels', 'size input target output marks count frames classes', function(p)
  local load, targets, classes = loads[p.size], cast(longs, p.target), p.classes
  local x, marks, sum = vector(p, 'input'), vector(p, 'marks'), 0
  fill(marks, p.frames * classes * p.size)
  for first = 0, (p.frames - 1) * classes, classes do
    local stop = end_of_targets(p, targets, first)
    for k = first, stop - 1 do marks[first + class_of(p, targets[k])] = 1 end
    for k = first, stop - 1 do
      local least = 1 - load(x, first + class_of(p, targets[k]))
      for i = first, first + classes - 1 do
        local z = least + load(x, i)
        if marks[i] == 0 and z > 0 then sum = sum + z end
      end
    end
  end
  vector(p, 'output')[0] = sum / classes / p.count
end)

-- Its gradient, of what has been marked, times `norm`.
job('nn_labels_back', 'size input target output marks norm frames classes', function(p)
  local load, targets, classes = loads[p.size], cast(longs, p.target), p.classes
  local x, marks, r = vector(p, 'input'), vector(p, 'marks'), vector(p, 'output')
  for i = 0, p.frames * classes - 1 do
      local mark = load(marks, i)
      if not (mark >= 0 and mark <= 1) then error(jobs.OUT_OF_RANGE, 0) end
    end
  fill(r, p.frames * classes * p.size)
  for first = 0, (p.frames - 1) * classes, classes do
    for k = first, end_of_targets(p, targets, first) - 1 do
      local at, count = first + class_of(p, targets[k]), 0
      local least = 1 - load(x, at)
      for i = first, first + classes - 1 do
        if marks[i] == 0 and least + load(x, i) > 0 then
          r[i], count = r[i] + 1, count + 1
        end
      end
      r[at] = r[at] - count
    end
  end
  for i = 0, p.frames * classes - 1 do r[i] = r[i] * p.norm end
end)
