--- Convolutions of few elements: those that multiply weights with the columns of images
-- (runtime/thnn/convolution_mm.py, convolution_dilated.py). The jobs are those of Python's way,
-- with the same parameters, so both ways give the same bits. A finalizer may run within a job: so
-- jobs get copies of the operands, and results are copied from there, unless a storage has moved.
-- @module thnn_convolutions

local th = ...
local ffi = require 'ffi'
local host, makers = th.host, th.thnn_kernels
local dense, moves, run = th.formulas.dense, th.blocks.moves, th.thread_pool.run
local tonumber, floor, cast = tonumber, math.floor, ffi.cast

local MAX_WORK = 999999 -- multiplications up to which Python never shares them out
local ROOM = 1048576    -- bytes of all operands and results
local MAX_PLANS = 16

local intptr = ffi.typeof('intptr_t')
local function copy(to, from, bytes) ffi.C.th_copy(to, from, bytes) end

-- ------------------------------------------------------------------ plans

-- What a family of functions is: its numbers, each for the dimensions' depth, width and height;
-- whether maps are its input, and whether columns of all samples are kept.
local FAMILIES = {
  { 'SpatialConvolutionMM', 2, 'kernel stride padding', keeps = true },
  { 'VolumetricConvolutionMM', 3, 'kernel stride padding', keeps = true },
  { 'SpatialDilatedConvolution', 2, 'kernel stride padding dilation' },
  { 'VolumetricDilatedConvolution', 3, 'kernel stride padding dilation' },
  { 'SpatialFullDilatedConvolution', 2, 'kernel stride padding dilation extra', full = true },
  { 'SpatialFullConvolution', 2, 'kernel stride padding extra', full = true },
  { 'VolumetricFullDilatedConvolution', 3, 'stride padding dilation extra', full = true },
  { 'VolumetricFullConvolution', 3, 'stride padding extra', full = true },
}

local function sizes_of(c)
  local sizes = {}
  for d = 1, c.nDimension do sizes[d] = tonumber(c.size[d - 1]) end
  return sizes
end

local function product(list, first)
  local all = 1
  for i = first or 1, #list do all = all * list[i] end
  return all
end

-- Whether a tensor is contiguous, of these sizes.
local function fits(c, sizes)
  local n = #sizes
  if c.nDimension ~= n then return false end
  for d = 1, n do
    if c.size[d - 1] ~= sizes[d] then return false end
  end
  return dense(c) > 0
end

-- A call's numbers by their names, as lists for depth, height and width; nil unless they are whole,
-- and large enough.
local function read_numbers(family, numbers, weight)
  local dims = family[2]
  local g = { kernel = { 1, 1, 1 }, stride = { 1, 1, 1 }, padding = { 0, 0, 0 },
    dilation = { 1, 1, 1 }, extra = { 0, 0, 0 } }
  local at = 0
  for name in family[3]:gmatch('%a+') do
    local list, least = g[name], (name == 'padding' or name == 'extra') and 0 or 1
    if dims == 3 then list[1] = numbers[at + 1] end
    list[3], list[2] = numbers[at + dims - 1], numbers[at + dims]
    at = at + dims
    for d = 1, 3 do
      if not (list[d] >= least and list[d] < 2 ^ 20) or list[d] % 1 ~= 0 then return nil end
    end
  end
  if not family[3]:find('kernel') then g.kernel = { weight[3], weight[4], weight[5] } end
  return g
end

-- Sets the sizes of images and counts of places, of which `given` is the input's; nil unless there
-- are any.
local function set_sizes(family, g, given)
  local other = {}
  for d = 1, 3 do
    local n, k, s, p, e = given[d], g.dilation[d] * (g.kernel[d] - 1) + 1, g.stride[d],
      g.padding[d], g.extra[d]
    if family.full then
      if e >= s and e >= g.dilation[d] then return nil end
      other[d] = (n - 1) * s - 2 * p + k + e
    else
      other[d] = floor((n + 2 * p - k) / s) + 1
    end
    if other[d] < 1 then return nil end
  end
  g.size, g.count = family.full and other or given, family.full and given or other
  return other
end

-- The geometry as jobs take it: the memory, which must stay, and its address.
local function geometry_of(g)
  local list = {}
  for name in ('size kernel stride padding dilation count'):gmatch('%a+') do
    for d = 1, 3 do list[#list + 1] = g[name][d] end
  end
  local address, count = th.ask(host.thnn_windows, unpack(list))
  local memory = ffi.new('int32_t[?]', count)
  local to = tonumber(cast(intptr, memory))
  copy(to, address, 4 * count)
  return memory, to
end

-- Whether a call with these sizes has few elements; adds what jobs and checks need to its plan.
local function complete(plan, family, g)
  local dims = family[2]
  local taps, positions = product(g.kernel), product(g.size)
  plan.taps, plan.positions, plan.places = taps, positions, product(g.count)
  plan.height, plan.width = plan.planes * taps, g.count[3]
  if product(plan.weight, 2) ~= plan.height then return false end
  local work = plan.samples * plan.maps * plan.height * plan.places
  local elements = plan.samples * (plan.planes * positions + plan.maps * plan.places)
    + plan.maps * (plan.height + 1) + plan.planes
    + (family.keeps and plan.samples or 1) * plan.height * plan.places
  if work > MAX_WORK or elements * 8 > ROOM then return false end
  local function spatial(planes, list)
    local sizes = { list[1], list[2], list[3] }
    if dims == 2 then table.remove(sizes, 1) end
    table.insert(sizes, 1, planes)
    if plan.batch then table.insert(sizes, 1, plan.batch) end
    return sizes
  end
  plan.image, plan.map = spatial(plan.planes, g.size), spatial(plan.maps, g.count)
  plan.columns = { plan.height, plan.places }
  if family.keeps and plan.batch then table.insert(plan.columns, 1, plan.batch) end
  plan.ones = family.full and positions or plan.places
  plan.biases = { family.full and plan.planes or plan.maps }
  plan.columnStep = family.keeps and plan.height * plan.places or 0
  plan.columnCount = product(plan.columns)
  plan.memory, plan.geometry = geometry_of(g)
  return true
end

-- The plan for the sizes of a call; `few` tells whether it is handled here.
local function new_plan(family, input, weight, numbers)
  local dims = family[2]
  local plan = { input = sizes_of(input), weight = sizes_of(weight), numbers = numbers }
  local list, n = plan.input, #plan.input
  if n ~= dims + 1 and n ~= dims + 2 then return plan end
  if #plan.weight ~= dims + 2 and not (family.keeps and #plan.weight == 2) then return plan end
  local g = read_numbers(family, numbers, plan.weight)
  if not g then return plan end
  plan.batch, plan.samples = n == dims + 2 and list[1], n == dims + 2 and list[1] or 1
  local planes = list[n - dims]
  plan.maps = plan.weight[1]
  plan.planes = family.full and plan.weight[2] or planes
  if family.full and planes ~= plan.maps then return plan end
  if not family.keeps and plan.planes ~= plan.weight[2] then return plan end
  if product(list) == 0 or product(plan.weight) == 0 then return plan end
  if set_sizes(family, g, { dims == 3 and list[n - 2] or 1, list[n - 1], list[n] }) then
    plan.few = complete(plan, family, g)
  end
  return plan
end

-- The same from the last ones, and what `moves` gave before sizes were read. A family has 6, 8, 9,
-- 10 or 12 numbers; a scale may follow.
local function find(family, input, weight, a, b, c, d, e, f, g, h, i, j, k, l)
  local before, count, plans = moves(), family.count, family.plans
  for at = 1, #plans do
    local p = plans[at]
    local n = p.numbers
    if n[1] == a and n[2] == b and n[3] == c and n[4] == d and n[5] == e and n[6] == f
      and (count < 8 or n[7] == g and n[8] == h) and (count < 9 or n[9] == i)
      and (count < 10 or n[10] == j) and (count < 12 or n[11] == k and n[12] == l)
      and fits(input, p.input) and fits(weight, p.weight) then
      return p.few and p, before
    end
  end
  if dense(input) == 0 or dense(weight) == 0 then return nil end
  local plan = new_plan(family, input, weight, { a, b, c, d, e, f, g, h, i, j, k, l })
  if #plans >= MAX_PLANS then plans = {} end
  plans[#plans + 1] = plan
  family.plans = plans
  return plan.few and plan, before
end

-- ------------------------------------------------------------------ calls

local working = ffi.new('char[?]', ROOM)
local place = tonumber(cast(intptr, working))
local uses = 0 -- a call within another one, of a finalizer, uses the same memory

local function address(c, size)
  return tonumber(cast(intptr, c.storage.data)) + size * tonumber(c.storageOffset)
end

local function apart(p, n, q, m)
  return p + n <= q or q + m <= p
end

local addresses = { working = working } -- which anchors the memory
for size in pairs{ [4] = true, [8] = true } do
  addresses[size] = { gemm = th.ask(host.blas, 'gemm', size) or 0,
    axpy = th.ask(host.blas, 'axpy', size) or 0 }
end

-- Copies three sources to working memory, and what the result r has if it is added to.
-- Tensors with 0 elements are absent. Returns a number for `finish`; where all five are in
-- working memory; and where r, s and c are. nil if a storage has moved meanwhile.
local function begin(size, before, a, na, b, nb, c, nc, r, nr, s, ns, add)
  local pa = na > 0 and address(a, size) or 0
  local pb = nb > 0 and address(b, size) or 0
  local pc = nc > 0 and address(c, size) or 0
  local pr = address(r, size)
  local ps = ns > 0 and address(s, size) or 0
  if moves() ~= before or ns > 0 and not apart(pr, nr * size, ps, ns * size) then return nil end
  uses = uses + 1
  local ta = place
  local tb = ta + 8 * na
  local tc = tb + 8 * nb
  local tr = tc + 8 * nc
  local ts = tr + 8 * nr
  if na > 0 then copy(ta, pa, na * size) end
  if nb > 0 then copy(tb, pb, nb * size) end
  if nc > 0 then copy(tc, pc, nc * size) end
  if add then copy(tr, pr, nr * size) end
  return uses, ta, tb, tc, tr, ts, pr, ps, pc
end

local function finish(mine, before, tr, pr, nr, ts, ps, ns)
  if moves() ~= before or uses ~= mine then return nil end
  copy(pr, tr, nr)
  if ns > 0 then copy(ps, ts, ns) end
  return true
end

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

for _, family in ipairs(FAMILIES) do
  local name = family[1]
  family.plans, family.count = {}, family[2] * select(2, family[3]:gsub('%a+', ''))
  add_forward(name, family)
  add_backward(name, family)
  add_accumulate(name, family)
end
