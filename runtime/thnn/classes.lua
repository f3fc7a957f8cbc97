--- Criterions of classes: losses of scores against the numbers of targets, and their gradients.
-- Scores are `frames` times `classes` times `inner` numbers. Targets (int64) count classes from 1;
-- others are an error. Addresses are numbers, 0 for weights that are
-- absent. Sums are doubles; a loss is divided by what counts if `average` is 1.
-- @module classes

local jobs = ...
local ffi = require 'ffi'
local job, cast, tonumber = jobs.add, ffi.cast, tonumber
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
