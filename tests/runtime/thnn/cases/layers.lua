-- BatchNormalization.
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

return cases
