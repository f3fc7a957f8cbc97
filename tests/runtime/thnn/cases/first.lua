local function any(r) local n = r.int(1, 4); if n == 1 then return r.tensor(r.int(1,20)) elseif n == 2 then return r.tensor(r.int(1,6), r.int(1,6)) elseif n == 3 then return r.tensor(r.int(1,4), r.int(1,5), r.int(1,3)) end return r.tensor(r.int(1,4), r.int(1,5), r.int(1,3), r.int(1,3)) end
local function like(r, x) if r.int(1, 20) == 1 then return r.tensor(3) end return r.tensor(x:size()) end
local cases = {}
function cases.Tanh_updateOutput(r) return { any(r), r.out() } end
function cases.Tanh_updateGradInput(r) local x = any(r) return { x, like(r, x), r.out(), like(r, x) } end
cases.Sigmoid_updateOutput, cases.Sigmoid_updateGradInput = cases.Tanh_updateOutput, cases.Tanh_updateGradInput
cases.LogSoftMax_updateOutput, cases.LogSoftMax_updateGradInput = cases.Tanh_updateOutput, cases.Tanh_updateGradInput
function cases.Threshold_updateOutput(r) return { any(r), r.out(), r.real(-1,1), r.real(-1,1), r.bool() } end
function cases.Threshold_updateGradInput(r) local x = any(r) return { x, like(r, x), r.out(), r.real(-1,1), r.real(-1,1), r.bool() } end
function cases.MSECriterion_updateOutput(r) local x = any(r) return { x, like(r, x), r.zeros(1), r.bool() } end
function cases.MSECriterion_updateGradInput(r) local x = any(r) return { x, like(r, x), r.out(), r.bool() } end
local function nll(r, out)
  local n, c = r.int(1, 5), r.int(2, 6)
  local x, t = r.tensor(n, c), r.index(c, n)
  if r.int(1, 3) == 1 then x, t = r.tensor(c), r.index(c, 1) end
  if r.int(1, 10) == 1 then t[1] = c + 1 end
  return { x, t, out and r.zeros(1) or r.zeros(x:size()), r.bool(), r.bool() and r.positive(c) or r.null, out and r.zeros(1) or r.positive(1), r.pick(-100, 1, 2), n = 7 }
end
function cases.ClassNLLCriterion_updateOutput(r) return nll(r, true) end
function cases.ClassNLLCriterion_updateGradInput(r) return nll(r, false) end
function cases.LookupTable_accGradParameters(r)
  local n, m, d = r.int(1, 9), r.int(2, 6), r.int(1, 5)
  return { r.index(m, n), r.tensor(n, d), r.plain(m, d), r.ints(m), r.null, r.null, r.bool(), r.int(0, 3), r.real(0, 2), n = 9 }
end
function cases.LookupTable_renorm(r)
  local n, m, d = r.int(1, 9), r.int(2, 6), r.int(1, 5)
  return { r.index(m, n), r.plain(m, d), r.real(0.1, 2), r.pick(1, 2, 1.5) }
end
return cases
