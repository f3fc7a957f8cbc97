-- BatchNormalization, Linear, and the recurrent layers that are for GPUs.
local cases = {}

local function batch(r)
  local n, c = r.int(2, 4), r.int(1, 3)
  if r.bool() then return r.tensor(n, c), c end
  return r.tensor(n, c, r.int(1, 3), r.int(1, 2)), c
end
local function maybe(r, ...) return r.bool() and r.tensor(...) or r.null end
function cases.BatchNormalization_updateOutput(r)
  local x, c = batch(r)
  if r.int(1, 12) == 1 then x = r.tensor(c) end
  return { x, r.out(), maybe(r, c), maybe(r, c), r.tensor(c), r.positive(c), r.zeros(c), r.zeros(c),
    r.bool(), r.real(0, 1), r.pick(1e-5, 0.1), n = 11 }
end
function cases.BatchNormalization_backward(r)
  local x, c = batch(r)
  local g = r.tensor(x:size())
  if r.int(1, 12) == 1 then g = r.tensor(c) end
  return { x, g, r.bool() and r.out() or r.null, maybe(r, c), maybe(r, c), maybe(r, c), r.tensor(c),
    r.positive(c), r.tensor(c), r.positive(c), r.bool(), r.real(0, 2), 1e-5, n = 13 }
end

local function matrices(r)
  local n, i, o = r.int(1, 4), r.int(1, 4), r.int(1, 4)
  local x, g = r.tensor(n, i), r.tensor(n, o)
  if r.int(1, 3) == 1 then x, g = r.tensor(i), r.tensor(o) end
  return x, g, r.tensor(o, r.int(1, 12) == 1 and i + 1 or i), o
end
function cases.Linear_updateOutput(r)
  local x, _, weight, o = matrices(r)
  return { x, r.out(), weight, maybe(r, o), r.zeros(1), n = 5 }
end
function cases.Linear_updateGradInput(r)
  local x, g, weight = matrices(r)
  return { x, g, r.out(), weight }
end
function cases.Linear_accGradParameters(r)
  local x, g, weight, o = matrices(r)
  return { x, g, r.out(), weight, maybe(r, o), r.tensor(weight:size()), r.tensor(o), r.zeros(1),
    r.real(0, 2), n = 9 }
end

local fused = { GRUFused_updateOutput = 7, GRUFused_updateGradInput = 5, LSTMFused_updateOutput = 7,
  LSTMFused_updateGradInput = 7 }
for name, count in pairs(fused) do
  cases[name] = function(r)
    local args = {}
    for k = 1, count do args[k] = r.zeros(1) end
    return args
  end
end
return cases
