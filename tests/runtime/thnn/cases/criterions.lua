local function any(r, make)
  make = make or r.tensor
  if r.bool() then return make(r.int(1, 9)) end
  return make(r.int(1, 4), r.int(1, 4))
end
local function like(r, x, make)
  make = make or r.tensor
  if r.int(1, 12) == 1 then return make(3) end
  if r.int(1, 6) == 1 then return make(x:nElement()) end
  return make(x:size())
end
local function one(r) return r.int(1, 15) == 1 and r.zeros(2, 1) or r.zeros(1) end

local cases = {}
local function add(name, make_input, make_target, ...)
  local more = { ... }
  local function args(result)
    return function(r)
      local x = any(r, make_input and r[make_input])
      local a = { x, like(r, x, make_target and r[make_target]), result(r, x), r.bool() }
      for k, f in ipairs(more) do a[4 + k] = f(r, x) end
      a.n = 4 + #more
      return a
    end
  end
  cases[name .. '_updateOutput'] = args(one)
  cases[name .. '_updateGradInput'] = args(function(r, x)
    if r.int(1, 3) > 1 then return r.zeros(x:size()) end
    return r.out()
  end)
end
add('AbsCriterion')
add('SmoothL1Criterion')
add('SoftMarginCriterion')
add('MarginCriterion', nil, nil, function(r) return r.real(0, 2) end)
add('DistKLDivCriterion', nil, 'tensor')
add('BCECriterion', 'positive', 'positive', function(r, x)
  return r.bool() and like(r, x, r.positive) or r.null
end)
local plain_bce = cases.BCECriterion_updateOutput
function cases.BCECriterion_updateOutput(r)
  local a = plain_bce(r)
  if r.int(1, 12) == 1 then a[1] = r.tensor(a[1]:size()) end
  return a
end
function cases.L1Cost_updateOutput(r) return { any(r), one(r) } end
function cases.L1Cost_updateGradInput(r)
  local x = any(r)
  return { x, r.bool() and like(r, x) or r.null, r.out(), n = 3 }
end

-- Scores of one frame or several, and the numbers of classes.
local function scores(r)
  local n, c = r.int(1, 4), r.int(2, 5)
  local x, t = r.tensor(n, c), r.index(c, n)
  if r.int(1, 3) == 1 then x, t = r.tensor(c), r.index(c, 1) end
  return x, t, c
end
function cases.MultiMarginCriterion_updateOutput(r)
  local x, t, c = scores(r)
  if r.int(1, 10) == 1 then t[1] = c + 1 end
  if r.int(1, 10) == 1 then t = r.index(c, 7) end
  return { x, t, one(r), r.bool(), r.int(1, 2), r.bool() and r.positive(c) or r.null, r.real(0, 2), n = 7 }
end
function cases.MultiMarginCriterion_updateGradInput(r)
  local x, t, c = scores(r)
  if r.int(1, 10) == 1 and x:nDimension() == 2 then t = r.index(c, 7) end
  return { x, t, r.out(), r.bool(), r.int(1, 2), r.bool() and r.positive(c) or r.null, r.real(0, 2), n = 7 }
end
local function labels(r)
  local n, c = r.int(1, 4), r.int(1, 5)
  local x = r.bool() and r.tensor(c) or r.tensor(n, c)
  local t = torch.LongTensor():resize(x:size())
  local flat = t:view(-1)
  for i = 1, flat:size(1) do flat[i] = r.int(0, c) end
  if r.int(1, 12) == 1 then flat[1] = c + 1 end
  if r.int(1, 12) == 1 then t = r.index(c, c + 1) end
  return x, t
end
function cases.MultiLabelMarginCriterion_updateOutput(r)
  local x, t = labels(r)
  return { x, t, one(r), r.out(), r.bool() }
end
function cases.MultiLabelMarginCriterion_updateGradInput(r)
  local x, t = labels(r)
  local marks = r.zeros(x:size())
  marks:copy(r.tensor(x:size()):gt(0))
  if r.int(1, 12) == 1 then marks:fill(2) end
  return { x, t, r.out(), marks, r.bool() }
end
local function maps(r)
  local n, c, h, w = r.int(1, 2), r.int(2, 4), r.int(1, 3), r.int(1, 3)
  local x, t = r.tensor(n, c, h, w), r.index(c, n, h, w)
  if r.int(1, 12) == 1 then t = r.index(c, n, h + 1, w) end
  if r.int(1, 12) == 1 then t = r.index(c, n, h) end
  if r.int(1, 12) == 1 then x = r.tensor(n, c, h) end
  return x, t, r.bool() and r.positive(r.int(1, 12) == 1 and c + 1 or c) or r.null
end
function cases.SpatialClassNLLCriterion_updateOutput(r)
  local x, t, weights = maps(r)
  return { x, t, r.zeros(1), r.bool(), weights, r.zeros(1), n = 6 }
end
function cases.SpatialClassNLLCriterion_updateGradInput(r)
  local x, t, weights = maps(r)
  return { x, t, r.zeros(x:size()), r.bool(), weights, r.positive(1), n = 6 }
end
return cases
