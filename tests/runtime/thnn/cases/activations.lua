local function any(r)
  local n = r.int(1, 4)
  if n == 1 then return r.tensor(r.int(1, 9)) end
  if n == 2 then return r.tensor(r.int(1, 4), r.int(1, 4)) end
  if n == 3 then return r.tensor(r.int(1, 3), r.int(1, 4), r.int(1, 2)) end
  return r.tensor(r.int(1, 2), r.int(1, 3), r.int(1, 2), r.int(1, 2))
end
local function like(r, x)
  if r.int(1, 20) == 1 then return r.tensor(3) end
  return r.tensor(x:size())
end

-- The address of the default generator, as nn takes it.
local function gen() return require("ffi").typeof("THGenerator**")(torch._gen)[0] end

-- A result's tensor, which often has the sizes that it is to get.
local function out(r, x)
  if r.int(1, 3) > 1 then return r.zeros(x:size()) end
  return r.out()
end

local cases = {}
local function forward(...)
  local numbers = { ... }
  return function(r)
    local x = any(r)
    local args = { x, out(r, x) }
    for _, f in ipairs(numbers) do args[#args + 1] = f(r, x) end
    return args
  end
end
local function backward(...)
  local numbers = { ... }
  return function(r)
    local x = any(r)
    local args = { x, like(r, x), out(r, x) }
    for _, f in ipairs(numbers) do args[#args + 1] = f(r, x) end
    return args
  end
end
local function number(a, b) return function(r) return r.real(a, b) end end
local function flag(r) return r.bool() end

cases.Abs_updateOutput, cases.Abs_updateGradInput = forward(), backward()
cases.Square_updateOutput, cases.Square_updateGradInput = forward(), backward()
cases.Sqrt_updateGradInput = backward(like)
function cases.Sqrt_updateOutput(r)
  return { r.positive(3, 2), out(r, r.zeros(3, 2)), r.real(0, 1) }
end
local shrink = number(0, 1)
cases.HardShrink_updateOutput, cases.HardShrink_updateGradInput = forward(shrink), backward(shrink)
cases.SoftShrink_updateOutput, cases.SoftShrink_updateGradInput = forward(shrink), backward(shrink)
local slope = number(-0.5, 1)
cases.LeakyReLU_updateOutput = forward(slope, flag)
cases.LeakyReLU_updateGradInput = backward(slope, flag)
cases.ELU_updateOutput = forward(slope, flag)
cases.ELU_updateGradInput = backward(like, slope, flag)
cases.HardTanh_updateOutput = forward(number(-1, 0), number(0, 1), flag)
cases.HardTanh_updateGradInput = backward(number(-1, 0), number(0, 1), flag)
cases.SoftPlus_updateOutput = forward(number(0.5, 2), number(0, 2))
cases.SoftPlus_updateGradInput = backward(like, number(0.5, 2), number(0, 2))
cases.LogSigmoid_updateOutput = forward(out)
cases.LogSigmoid_updateGradInput = backward(function(r, x)
  if r.int(1, 20) == 1 then return r.tensor(3) end
  return r.between(1, 2, x:size())
end)
function cases.RReLU_updateOutput(r)
  return { any(r), r.out(), r.out(), r.real(0.1, 0.2), r.real(0.3, 0.5), r.bool(), r.bool(),
    gen(), n = 8 }
end
function cases.RReLU_updateGradInput(r)
  local x = any(r)
  return { x, like(r, x), r.out(), like(r, x), r.real(0.1, 0.2), r.real(0.3, 0.5), r.bool(), r.bool() }
end

-- PReLU: a slope for each plane, or one for all.
local function planes(r, x)
  if r.bool() then return 0, r.plain(1) end
  local n = x:size(math.min(x:nDimension(), 2))
  if r.int(1, 15) == 1 then return n + 1, r.plain(n + 1) end
  return n, r.plain(n)
end
function cases.PReLU_updateOutput(r)
  local x = any(r)
  local n, weight = planes(r, x)
  return { x, out(r, x), weight, n }
end
function cases.PReLU_updateGradInput(r)
  local x = any(r)
  local n, weight = planes(r, x)
  return { x, like(r, x), out(r, x), weight, n }
end
function cases.PReLU_accGradParameters(r)
  local x = any(r)
  local n, weight = planes(r, x)
  return { x, like(r, x), r.out(), weight, r.plain(weight:size()), r.zeros(1), r.zeros(1), n,
    r.real(0, 2) }
end

-- GatedLinear: halves of a dimension.
local function even(r)
  local sizes = {}
  local dim = r.int(1, 3)
  for d = 1, 3 do sizes[d] = r.int(1, 3) end
  if r.int(1, 8) > 1 then sizes[dim] = 2 * r.int(1, 2) end
  return r.tensor(unpack(sizes)), r.int(1, 15) == 1 and 4 or dim
end
function cases.GatedLinear_updateOutput(r)
  local x, dim = even(r)
  return { x, r.out(), dim }
end
function cases.GatedLinear_updateGradInput(r)
  local x, dim = even(r)
  local sizes = x:size():totable()
  if dim <= 3 then sizes[dim] = math.max(math.floor(sizes[dim] / 2), 1) end
  if r.int(1, 10) == 1 then sizes[1] = sizes[1] + 1 end
  return { x, r.tensor(unpack(sizes)), r.out(), dim }
end
cases.SoftMax_updateOutput = forward()
cases.SoftMax_updateGradInput = function(r)
  local x = any(r)
  local y = r.positive(x:size())
  return { x, like(r, x), out(r, x), y }
end
return cases
