--- Convolutions of few elements: those that multiply weights with the columns of images
-- (runtime/thnn/convolution_mm.py, convolution_dilated.py). The jobs are those of Python's way,
-- with the same parameters, so both ways give the same bits.
-- @module thnn_convolutions

local th = ...
local ffi = require 'ffi'
local makers, find, working = th.thnn_kernels, th.convolution_plan, th.thnn_working
local run, addresses, copy = th.thread_pool.run, working.addresses, working.copy
local fits, product, sizes_of = working.fits, working.product, working.sizes_of
local begin, finish, apart = working.begin, working.finish, working.apart

-- result = bias + weight * the columns of source.
local function reduce(p, size, before, source, result, weight, bias, columns)
  if not (fits(source, p.image) and fits(result, p.map) and fits(columns, p.columns)) then
    return nil
  end
  local planes, maps, places, samples = p.planes, p.maps, p.places, p.samples
  local count = bias ~= nil and maps or 0
  local nr, ns = samples * maps * places, p.columnCount
  local mine, x, w, b, r, c, pr, pc = begin(size, before, source, samples * planes * p.positions,
    weight, maps * p.height, bias, count, result, nr, columns, ns)
  if not mine then return nil end
  local rows = places / p.width
  run('nn_correlate', 0, 1, 1, samples, 1, addresses[size].gemm, size, p.geometry, x, c, w,
    count > 0 and b or 0, r, maps, planes, p.taps, places, rows, 1, planes * p.positions,
    p.columnStep, maps * places, samples - 1)
  return finish(mine, before, r, pr, nr * size, c, pc, ns * size)
end

-- result = bias + transposed(weight) * source, added up as columns of the result.
local function expand(p, size, before, source, result, weight, bias, columns)
  if not (fits(source, p.map) and fits(result, p.image) and fits(columns, p.columns)) then
    return nil
  end
  local planes, maps, places, samples = p.planes, p.maps, p.places, p.samples
  local count = bias ~= nil and planes or 0
  local nr, ns = samples * planes * p.positions, p.columnCount
  local mine, g, w, b, r, c, pr, pc = begin(size, before, source, samples * maps * places,
    weight, maps * p.height, bias, count, result, nr, columns, ns)
  if not mine then return nil end
  local functions = addresses[size]
  run('nn_spread', 0, 1, 1, samples, 1, functions.gemm, functions.axpy, size, p.geometry, r, c, w,
    count > 0 and b or 0, g, maps, planes, p.taps, places, planes, 1, planes * p.positions,
    p.columnStep, maps * places, samples - 1)
  return finish(mine, before, r, pr, nr * size, c, pc, ns * size)
end

-- Adds scale * maps * columns to weights, and scale * the sums of gradOutput to biases. Columns are
-- kept, or those of the images.
local function accumulate(p, size, before, images, maps, grad_output, grad_weight, grad_bias,
    columns, scale)
  if not (fits(maps, p.map) and fits(columns, p.columns)) then return nil end
  if images and not fits(images, p.image) then return nil end
  local samples, each, step = p.samples, p.planes * p.positions, p.maps * p.places
  local nb, nr, ns = images and samples * each or p.columnCount, p.maps * p.height,
    images and p.columnCount or 0
  local count = grad_bias ~= nil and p.biases[1] or 0
  local mine, g, x, b, r, c, pr, pc, pb = begin(size, before, maps, samples * step,
    images or columns, nb, grad_bias, count, grad_weight, nr, columns, ns, true)
  if not mine or count > 0 and not (apart(pb, count * size, pr, nr * size)
    and apart(pb, count * size, pc, ns * size)) then
    return nil
  end
  run('nn_weigh', 0, 1, 1, 1, 1, addresses[size].gemm, size, p.geometry, images and x or 0,
    images and c or x, r, g, p.maps, p.planes, p.taps, p.places, p.planes, 1, samples, samples,
    scale, 1, images and each or 0, p.columnStep, step, samples - 1)
  if count > 0 then
    local places, from = p.places, g
    if grad_output ~= maps then places, from = p.positions, x end
    run('nn_add_sums', 0, 1, 1, count, count, size, b, from, samples, places, count * places, scale)
  end
  if not finish(mine, before, r, pr, nr * size, c, pc, ns * size) then return nil end
  if count > 0 then copy(pb, b, count * size) end
  return true
end

-- ------------------------------------------------------------------ functions

-- Whether a buffer is as a call leaves it, so that nothing is to be filled with ones.
local function filled(ones, plan, dims)
  return ones.nDimension == dims and product(sizes_of(ones)) >= plan.ones
end

local function add_forward(name, family)
  local compute = family.full and expand or reduce
  local function forward(size, input, output, weight, bias, columns, ones, ...)
    local plan, before = find(family, input, weight, ...)
    if not plan or bias ~= nil and not fits(bias, plan.biases) then return nil end
    if ones and not filled(ones, plan, family[2]) then return nil end
    return compute(plan, size, before, input, output, weight, bias, columns)
  end
  makers[name .. '_updateOutput'] = function(dtype)
    local size = ffi.sizeof(dtype.ctype)
    if name == 'VolumetricConvolutionMM' then
      return function(input, output, weight, bias, columns, ...)
        return forward(size, input, output, weight, bias, columns, nil, ...)
      end
    end
    return function(input, output, weight, bias, columns, ones, ...)
      return forward(size, input, output, weight, bias, columns, not family.keeps and ones, ...)
    end
  end
end

local function add_backward(name, family)
  local compute = family.full and reduce or expand
  makers[name .. '_updateGradInput'] = function(dtype)
    local size = ffi.sizeof(dtype.ctype)
    if family.keeps then
      return function(input, grad_output, gradient, weight, kept, columns, ...)
        local plan, before = find(family, input, weight, ...)
        if not plan or not fits(kept, plan.columns) then return nil end
        return compute(plan, size, before, grad_output, gradient, weight, nil, columns)
      end
    elseif family.full and family[2] == 3 then
      return function(input, grad_output, gradient, weight, columns, _, ...)
        local plan, before = find(family, input, weight, ...)
        return plan and compute(plan, size, before, grad_output, gradient, weight, nil, columns)
      end
    end
    return function(input, grad_output, gradient, weight, columns, ...)
      local plan, before = find(family, input, weight, ...)
      return plan and compute(plan, size, before, grad_output, gradient, weight, nil, columns)
    end
  end
end

local function add_accumulate(name, family)
  local function gather(size, input, grad_output, weight, bias, columns, ones, ...)
    local plan, before = find(family, input, weight, ...)
    if not plan or bias ~= nil and not fits(bias, plan.biases) then return nil end
    if ones and not filled(ones, plan, family[2]) then return nil end
    local images, maps = input, grad_output
    if family.full then images, maps = grad_output, input end
    local scale = select(family.count + 1, ...)
    return accumulate(plan, size, before, not family.keeps and images or nil, maps, grad_output,
      weight, bias, columns, scale)
  end
  makers[name .. '_accGradParameters'] = function(dtype)
    local size = ffi.sizeof(dtype.ctype)
    if name == 'VolumetricConvolutionMM' then
      return function(input, grad_output, weight, bias, columns, ...)
        return gather(size, input, grad_output, weight, bias, columns, nil, ...)
      end
    end
    return function(input, grad_output, weight, bias, columns, ones, ...)
      if family.keeps then ones = nil end
      return gather(size, input, grad_output, weight, bias, columns, ones, ...)
    end
  end
end

for _, family in ipairs(th.convolution_families) do
  local name = family[1]
  add_forward(name, family)
  add_backward(name, family)
  add_accumulate(name, family)
end
