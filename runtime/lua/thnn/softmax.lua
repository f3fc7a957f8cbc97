--- SoftMax and LogSoftMax of few elements.
-- @module thnn_softmax

local th = ...
local formulas, makers = th.formulas, th.thnn_kernels
local dense, same_sizes = formulas.dense, formulas.same_sizes
local tonumber, exp, log = tonumber, math.exp, math.log

local MAX = 1024 -- elements up to which Lua is quicker than a call of Python

-- How many elements a tensor has, and its classes and positions; nil for others than few, which
-- are contiguous in one to four dimensions.
local function shape(c)
  local n, dims = dense(c), c.nDimension
  if n == 0 or n > MAX or dims > 4 then return nil end
  if dims <= 2 then return n, tonumber(c.size[dims - 1]), 1 end
  local classes = tonumber(c.size[dims - 3])
  return n, classes, tonumber(c.size[dims - 2]) * tonumber(c.size[dims - 1])
end

-- Makes a kernel for a function of a result's pointer, the sources', where a position's classes
-- begin, their number and how far they are apart.
local function forward(compute)
  return function(dtype)
    local load = dtype.load
    return function(input, output)
      local n, classes, step = shape(input)
      if not n or not th.thnn_fit(dtype, output, input, n) then return nil end
      local x = input.storage.data + input.storageOffset
      local r = output.storage.data + output.storageOffset
      if x ~= r and x < r + n and r < x + n then return nil end
      for first = 0, n - 1, classes * step do
        for k = first, first + step - 1 do compute(load, r, x, k, classes, step) end
      end
      return true
    end
  end
end

local function greatest(load, x, at, classes, step)
  local found = load(x, at)
  for i = at + step, at + (classes - 1) * step, step do
    local value = load(x, i)
    if value > found then found = value end
  end
  return found
end

makers.SoftMax_updateOutput = forward(function(load, r, x, at, classes, step)
  local largest, last, sum = greatest(load, x, at, classes, step), at + (classes - 1) * step, 0
  for i = at, last, step do
    local term = exp(load(x, i) - largest)
    r[i] = term
    sum = sum + term
  end
  local factor = 1 / sum
  for i = at, last, step do r[i] = load(r, i) * factor end
end)

makers.LogSoftMax_updateOutput = forward(function(load, r, x, at, classes, step)
  local largest, last, sum = greatest(load, x, at, classes, step), at + (classes - 1) * step, 0
  for i = at, last, step do sum = sum + exp(load(x, i) - largest) end
  local whole = largest + log(sum)
  for i = at, last, step do r[i] = load(x, i) - whole end
end)

local function backward(compute)
  return function(dtype)
    local load = dtype.load
    return function(input, grad_output, gradient, output)
      local n, classes, step = shape(output)
      if not n or not same_sizes(input, grad_output) or dense(grad_output) ~= n then return nil end
      if not th.thnn_fit(dtype, gradient, output, n) or dense(grad_output) ~= n then return nil end
      local y = output.storage.data + output.storageOffset
      local g = grad_output.storage.data + grad_output.storageOffset
      local r = gradient.storage.data + gradient.storageOffset
      if y < r + n and r < y + n or g ~= r and g < r + n and r < g + n then return nil end
      for first = 0, n - 1, classes * step do
        for k = first, first + step - 1 do compute(load, r, g, y, k, classes, step) end
      end
      return true
    end
  end
end

makers.SoftMax_updateGradInput = backward(function(load, r, g, y, at, classes, step)
  local last, sum = at + (classes - 1) * step, 0
  for i = at, last, step do sum = sum + load(g, i) * load(y, i) end
  for i = at, last, step do r[i] = load(y, i) * (load(g, i) - sum) end
end)

makers.LogSoftMax_updateGradInput = backward(function(load, r, g, y, at, classes, step)
  local last, sum = at + (classes - 1) * step, 0
  for i = at, last, step do sum = sum + load(g, i) end
  for i = at, last, step do r[i] = load(g, i) - exp(load(y, i)) * sum end
end)
