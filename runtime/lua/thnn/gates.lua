--- LogSigmoid and GatedLinear of few elements.
-- @module thnn_gates

local th = ...
local makers, torch = th.thnn_kernels, th.torch
local dense = th.formulas.dense
local tonumber, exp, log, max = tonumber, math.exp, math.log, math.max

local MAX = 1024 -- elements up to which Lua is quicker than a call of Python

-- Whether n elements at p and r are in different places.
local function apart(p, r, n)
  return p >= r + n or r >= p + n
end

function makers.LogSigmoid_updateOutput(dtype)
  local load = dtype.load
  return function(input, output, buffer)
    local n = dense(input)
    if n == 0 or n > MAX or not th.thnn_fit(dtype, output, input, n) then return nil end
    if not th.thnn_fit(dtype, buffer, input, n) or dense(output) ~= n then return nil end
    local x = input.storage.data + input.storageOffset
    local r = output.storage.data + output.storageOffset
    local b = buffer.storage.data + buffer.storageOffset
    if not (apart(x, r, n) and apart(x, b, n) and apart(r, b, n)) then return nil end
    for i = 0, n - 1 do
      local value = load(x, i)
      local largest = max(0, -value)
      local sum = exp(-largest) + exp(-value - largest)
      b[i] = sum
      r[i] = -(largest + log(sum))
    end
    return true
  end
end

function makers.LogSigmoid_updateGradInput(dtype)
  local load = dtype.load
  return function(input, grad_output, gradient, buffer)
    local n = dense(input)
    if n == 0 or n > MAX or dense(grad_output) ~= n or dense(buffer) ~= n then return nil end
    if not th.thnn_fit(dtype, gradient, grad_output, n) then return nil end
    if dense(input) ~= n or dense(buffer) ~= n then return nil end
    local x = input.storage.data + input.storageOffset
    local g = grad_output.storage.data + grad_output.storageOffset
    local r = gradient.storage.data + gradient.storageOffset
    local b = buffer.storage.data + buffer.storageOffset
    if not (apart(x, r, n) and apart(g, r, n) and apart(b, r, n)) then return nil end
    for i = 0, n - 1 do
      local sum = load(b, i)
      local part = (sum - 1) / sum
      r[i] = load(g, i) * (load(x, i) < 0 and 1 - part or part)
    end
    return true
  end
end

-- The elements of a half of a contiguous tensor along a dimension, and how many lie side by side;
-- nil for others than few.
local function half(input, dim)
  local n, dims = dense(input), input.nDimension
  if n == 0 or n > 2 * MAX or not (dim >= 1 and dim <= dims) then return nil end
  if tonumber(input.size[dim - 1]) % 2 ~= 0 then return nil end
  local run = 1
  for d = dim - 1, dims - 1 do run = run * tonumber(input.size[d]) end
  return n / 2, run / 2
end

-- Whether a tensor has the sizes of another one, but half of one of them.
local function has_half(c, input, dim)
  if c.nDimension ~= input.nDimension then return false end
  for d = 0, input.nDimension - 1 do
    local size = tonumber(input.size[d])
    if tonumber(c.size[d]) ~= (d == dim - 1 and size / 2 or size) then return false end
  end
  return true
end

local function resize_half(dtype, c, input, dim)
  local sizes = {}
  for d = 0, input.nDimension - 1 do sizes[d + 1] = tonumber(input.size[d]) end
  sizes[dim] = sizes[dim] / 2
  local owner = th.owner_of(c)
  if owner ~= nil then torch.getmetatable(dtype.tensor_name).resize(owner, unpack(sizes)) end
end

function makers.GatedLinear_updateOutput(dtype)
  local load = dtype.load
  return function(input, output, dim)
    local n, run = half(input, dim)
    if not n then return nil end
    if not has_half(output, input, dim) then resize_half(dtype, output, input, dim) end
    if dense(output) ~= n or dense(input) ~= 2 * n then return nil end
    local x = input.storage.data + input.storageOffset
    local r = output.storage.data + output.storageOffset
    if not apart(x, r, 2 * n) then return nil end
    for first = 0, n - 1, run do
      for i = first, first + run - 1 do
        local at = first + i
        r[i] = load(x, at) * (1 / (1 + exp(-load(x, at + run))))
      end
    end
    return true
  end
end

function makers.GatedLinear_updateGradInput(dtype)
  local load = dtype.load
  return function(input, grad_output, gradient, dim)
    local n, run = half(input, dim)
    if not n or dense(grad_output) ~= n then return nil end
    if not th.thnn_fit(dtype, gradient, input, 2 * n) or dense(grad_output) ~= n then return nil end
    local x = input.storage.data + input.storageOffset
    local g = grad_output.storage.data + grad_output.storageOffset
    local r = gradient.storage.data + gradient.storageOffset
    if not (apart(x, r, 2 * n) and apart(g, r, 2 * n)) then return nil end
    for first = 0, n - 1, run do
      for i = first, first + run - 1 do
        local at = first + i
        local gate, upper = 1 / (1 + exp(-load(x, at + run))), load(g, i)
        r[at] = gate * upper
        r[at + run] = (1 - gate) * gate * upper * load(x, at)
      end
    end
    return true
  end
end
