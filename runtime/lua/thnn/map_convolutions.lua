--- SpatialConvolutionMap and SpatialFullConvolutionMap of few elements: kernels for some pairs of
-- planes (runtime/thnn/convolution_map.py). As there, output planes that are connected with the
-- same input planes are computed together, by the same jobs, so both ways give the same bits.
-- @module map_convolutions

local th = ...
local ffi = require 'ffi'
local makers, working = th.thnn_kernels, th.thnn_working
local dense, moves, run = th.formulas.dense, th.blocks.moves, th.thread_pool.run
local fits, product, sizes_of = working.fits, working.product, working.sizes_of
local begin, finish, apart, copy = working.begin, working.finish, working.apart, working.copy
local cast, floor, tonumber = ffi.cast, math.floor, tonumber

local MAX_KERNELS = 256
local MAX_PLANS = 8

local plans = {}

-- ------------------------------------------------------------------ plans

-- The numbers of planes in a table of connections, from 0: those of the images, and those of maps.
-- nil unless all are there.
local function read_table(list, full, planes, maps)
  local from, to = {}, {}
  for k = 1, #list / 2 do
    local a, b = list[2 * k - 1], list[2 * k]
    if full then a, b = b, a end
    if not (a >= 1 and a <= planes and b >= 1 and b <= maps) or a % 1 ~= 0 or b % 1 ~= 0 then
      return nil
    end
    from[k], to[k] = a - 1, b - 1
  end
  return from, to
end

-- Rows, from 0, as runs of those that follow each other: their first ones and how many they are.
local function runs_of(rows)
  local firsts, counts = {}, {}
  for i, row in ipairs(rows) do
    if i > 1 and row == rows[i - 1] + 1 then
      counts[#counts] = counts[#counts] + 1
    else
      firsts[#firsts + 1], counts[#counts + 1] = row, 1
    end
  end
  return { firsts = firsts, counts = counts }
end

-- Maps that have the same planes: with lists of these, and of the kernels, maps x planes. Groups
-- are in the order of their first maps.
local function groups_of(from, to, maps)
  local groups, known = {}, {}
  for map = 0, maps - 1 do
    local kernels, planes = {}, {}
    for k = 1, #to do
      if to[k] == map then kernels[#kernels + 1] = k end
    end
    table.sort(kernels, function(a, b)
      if from[a] ~= from[b] then return from[a] < from[b] end
      return a < b
    end)
    for i, k in ipairs(kernels) do planes[i] = from[k] end
    local key = table.concat(planes, ' ')
    local group = known[key]
    if not group and #kernels > 0 then
      group = { planes = planes, maps = {}, kernels = {} }
      groups[#groups + 1], known[key] = group, group
    end
    if group then group.maps[#group.maps + 1] = map end
    for _, k in ipairs(kernels) do group.kernels[#group.kernels + 1] = k - 1 end
  end
  return groups
end

-- Adds the geometry and the groups to a plan; whether the call has few elements.
local function complete(plan, size, kernel, stride, count)
  local taps, places = product(kernel), product(count)
  local positions, samples = product(size), plan.samples
  local work, room = 0, 0
  for _, group in ipairs(plan.groups) do
    local planes, maps = #group.planes, #group.maps
    group.height = planes * taps
    work = work + samples * maps * group.height * places
    room = math.max(room, samples * (2 * planes * positions + 2 * maps * places)
      + maps * group.height + group.height * places)
    group.planeCount, group.mapCount = planes, maps
    group.planes, group.maps = runs_of(group.planes), runs_of(group.maps)
    group.kernels = runs_of(group.kernels)
  end
  local all = samples * (plan.planes * positions + plan.maps * places) + #plan.list / 2 * taps
    + plan.maps + plan.planes
  if work > working.MAX_WORK or 8 * (all + room) > working.ROOM then return false end
  plan.taps, plan.places, plan.positions = taps, places, positions
  plan.image, plan.map = { plan.planes, size[1], size[2] }, { plan.maps, count[1], count[2] }
  if plan.batch then
    table.insert(plan.image, 1, plan.batch)
    table.insert(plan.map, 1, plan.batch)
  end
  local function three(list, first) return { first, list[1], list[2] } end
  plan.memory, plan.geometry = working.geometry_of{ size = three(size, 1),
    kernel = three(kernel, 1), stride = three(stride, 1), padding = { 0, 0, 0 },
    dilation = { 1, 1, 1 }, count = three(count, 1) }
  return true
end

-- The plan for the sizes of a call and its connections; `few` tells whether it is handled here, and
-- `exact` whether windows cover the images.
local function new_plan(full, size, input, weight, list, planes, maps, dw, dh)
  local plan = { full = full, size = size, input = sizes_of(input), weight = sizes_of(weight),
    list = list, given = { planes, maps, dw, dh }, planes = full and maps or planes,
    maps = full and planes or maps }
  local sizes, kernel = plan.input, { plan.weight[2], plan.weight[3] }
  local n = #sizes
  if n ~= 3 and (n ~= 4 or full) or #plan.weight ~= 3 or plan.weight[1] ~= #list / 2
    or sizes[n - 2] ~= planes or dw < 1 or dh < 1 or dw % 1 ~= 0 or dh % 1 ~= 0 or maps < 1
    or maps > 1024 or maps % 1 ~= 0 then
    return plan
  end
  local from, to = read_table(list, full, plan.planes, plan.maps)
  if not from then return plan end
  plan.batch, plan.samples = n == 4 and sizes[1], n == 4 and sizes[1] or 1
  plan.groups = groups_of(from, to, plan.maps)
  local given, other, stride = { sizes[n - 1], sizes[n] }, {}, { dh, dw }
  plan.exact = true
  for d = 1, 2 do
    local rest = (given[d] - kernel[d]) % stride[d]
    if full then
      other[d] = (given[d] - 1) * stride[d] + kernel[d]
    else
      other[d] = floor((given[d] - kernel[d]) / stride[d]) + 1
      if given[d] < kernel[d] then return plan end
      plan.exact = plan.exact and rest == 0
    end
  end
  plan.few = complete(plan, full and other or given, kernel, stride, full and given or other)
  return plan
end

-- Copies of tables of connections, since a finalizer may resize the program's.
local copies, reads = {}, 0
for size, name in pairs{ [4] = 'float', [8] = 'double' } do
  local memory = th.working_memory(name, 2 * MAX_KERNELS)
  copies[size] = { memory = memory, at = tonumber(cast('intptr_t', memory)),
    load = size == 4 and th.load_float or th.load_double }
end

local function same_table(list, n, kept)
  local memory, load = kept.memory, kept.load
  if #list ~= n then return false end
  for i = 0, n - 1 do
    if load(memory, i) ~= list[i + 1] then return false end
  end
  return true
end

-- The plan for a call, from the last ones or a new one, and what `moves` gave before sizes were
-- read.
local function find(full, size, input, weight, connections, planes, maps, dw, dh)
  local before, n, kept = moves(), dense(connections), copies[size]
  if n == 0 or n > 2 * MAX_KERNELS or connections.nDimension ~= 2 or connections.size[1] ~= 2
    or dense(input) == 0 or dense(weight) == 0 then
    return nil
  end
  local from = working.address(connections, size)
  if moves() ~= before then return nil end
  reads = reads + 1
  local mine, found = reads, nil
  copy(kept.at, from, n * size)
  for at = 1, #plans do
    local p = plans[at]
    local given = p.given
    if p.full == full and p.size == size and given[1] == planes and given[2] == maps
      and given[3] == dw and given[4] == dh and same_table(p.list, n, kept)
      and fits(input, p.input) and fits(weight, p.weight) then
      found = p
      break
    end
  end
  if not found then
    local list = {}
    for i = 0, n - 1 do list[i + 1] = kept.load(kept.memory, i) end
    found = new_plan(full, size, input, weight, list, planes, maps, dw, dh)
    if #plans >= MAX_PLANS then plans = {} end
    plans[#plans + 1] = found
  end
  return reads == mine and found.few and found, before
end

-- ------------------------------------------------------------------ groups

local numbers = { [4] = ffi.typeof('float *'), [8] = ffi.typeof('double *') }
local loads = { [4] = th.load_float, [8] = th.load_double }
local adders = {}
for _, dtype in ipairs(th.dtypes) do
  if dtype.name == 'Float' or dtype.name == 'Double' then
    adders[ffi.sizeof(dtype.ctype)] = th.thnn_adder(dtype)
  end
end

-- Copies rows of `bytes` bytes each, of samples that are `step` bytes apart, to one place; or back
-- from there.
local function gather(to, from, runs, bytes, samples, step, back)
  local firsts, counts = runs.firsts, runs.counts
  for _ = 1, samples do
    for i = 1, #firsts do
      local at, length = from + firsts[i] * bytes, counts[i] * bytes
      if back then copy(at, to, length) else copy(to, at, length) end
      to = to + length
    end
    from = from + step
  end
end

-- Adds rows of n elements, which are at one place, to those of samples that are `step` elements
-- apart.
local function scatter(size, to, from, runs, n, samples, step)
  local add, firsts, counts = adders[size], runs.firsts, runs.counts
  for _ = 1, samples do
    for i = 1, #firsts do
      local length = counts[i] * n
      add(to + firsts[i] * n * size, from, length)
      from = from + length * size
    end
    to = to + step * size
  end
end

-- Sets samples to the biases of their planes of n elements; to 0 where there are none.
local function set_biases(size, to, biases, planes, n, samples)
  local load, b, r = loads[size], cast(numbers[size], biases), cast(numbers[size], to)
  for plane = 0, planes * samples - 1 do
    local value = biases ~= 0 and load(b, plane % planes) or 0
    for i = plane * n, plane * n + n - 1 do r[i] = value end
  end
end

-- r = r + the correlations of the images at x with the kernels at w, for all groups. `free` is
-- where memory for intermediate results begins.
local function add_reduced(p, size, x, w, r, free)
  local taps, places, samples, step = p.taps, p.places, p.samples, p.planes * p.positions
  for _, group in ipairs(p.groups) do
    local planes, maps = group.planeCount, group.mapCount
    local kernels = free + 8 * samples * planes * p.positions
    local sums = kernels + 8 * maps * group.height
    gather(free, x, group.planes, p.positions * size, samples, step * size)
    gather(kernels, w, group.kernels, taps * size, 1, 0)
    run('nn_correlate', 0, 1, 1, samples, 1, working.addresses[size].gemm, size, p.geometry, free,
      sums + 8 * samples * maps * places, kernels, 0, sums, maps, planes, taps, places,
      p.map[#p.map - 1], 1, planes * p.positions, 0, maps * places, samples - 1)
    scatter(size, r, sums, group.maps, places, samples, p.maps * places)
  end
end

-- r = r + what is the gradient of that, from maps at g.
local function add_expanded(p, size, g, w, r, free)
  local taps, places, samples, step = p.taps, p.places, p.samples, p.planes * p.positions
  local functions = working.addresses[size]
  for _, group in ipairs(p.groups) do
    local planes, maps = group.planeCount, group.mapCount
    local kernels = free + 8 * samples * maps * places
    local sums = kernels + 8 * maps * group.height
    gather(free, g, group.maps, places * size, samples, p.maps * places * size)
    gather(kernels, w, group.kernels, taps * size, 1, 0)
    run('nn_spread', 0, 1, 1, samples, 1, functions.gemm, functions.axpy, size, p.geometry, sums,
      sums + 8 * samples * planes * p.positions, kernels, 0, free, maps, planes, taps, places,
      planes, 1, planes * p.positions, 0, maps * places, samples - 1)
    scatter(size, r, sums, group.planes, p.positions, samples, step)
  end
end

-- w = w + scale * the products of the images at x and maps at g.
local function weigh(p, size, x, g, w, scale, free)
  local taps, places, samples, step = p.taps, p.places, p.samples, p.planes * p.positions
  for _, group in ipairs(p.groups) do
    local planes, maps = group.planeCount, group.mapCount
    local sources = free + 8 * samples * planes * p.positions
    local kernels = sources + 8 * samples * maps * places
    gather(free, x, group.planes, p.positions * size, samples, step * size)
    gather(sources, g, group.maps, places * size, samples, p.maps * places * size)
    gather(kernels, w, group.kernels, taps * size, 1, 0)
    run('nn_weigh', 0, 1, 1, 1, 1, working.addresses[size].gemm, size, p.geometry, free,
      kernels + 8 * maps * group.height, kernels, sources, maps, planes, taps, places, planes, 1,
      samples, samples, scale, 1, planes * p.positions, 0, maps * places, samples - 1)
    gather(kernels, w, group.kernels, taps * size, 1, 0, true)
  end
end

-- ------------------------------------------------------------------ functions

-- result = bias + what `add` computes of a source.
local function compute(p, size, before, add, source, from, result, to, weight, bias)
  if not (fits(source, from) and fits(result, to)) then return nil end
  local planes, n = to[#to - 2], to[#to - 1] * to[#to]
  local count = bias ~= nil and planes or 0
  local nr = p.samples * planes * n
  local mine, x, w, b, r, free, pr = begin(size, before, source, product(from), weight,
    product(p.weight), bias, count, result, nr, nil, 0)
  if not mine then return nil end
  set_biases(size, r, bias ~= nil and b or 0, planes, n, p.samples)
  add(p, size, x, w, r, free)
  return finish(mine, before, r, pr, nr * size, free, 0, 0)
end

local function add_functions(name, full)
  local function sizes(p)
    if full then return p.map, p.image end
    return p.image, p.map
  end
  local forward, backward = add_reduced, add_expanded
  if full then forward, backward = backward, forward end
  makers[name .. '_updateOutput'] = function(dtype)
    local size = ffi.sizeof(dtype.ctype)
    return function(input, output, weight, bias, ...)
      local p, before = find(full, size, input, weight, ...)
      if not p then return nil end
      local from, to = sizes(p)
      if not fits(bias, { to[#to - 2] }) then return nil end
      return compute(p, size, before, forward, input, from, output, to, weight, bias)
    end
  end
  makers[name .. '_updateGradInput'] = function(dtype)
    local size = ffi.sizeof(dtype.ctype)
    return function(input, grad_output, gradient, weight, _, ...)
      local p, before = find(full, size, input, weight, ...)
      if not p then return nil end
      local to, from = sizes(p)
      return compute(p, size, before, backward, grad_output, from, gradient, to, weight, nil)
    end
  end
  makers[name .. '_accGradParameters'] = function(dtype)
    local size, add_sums = ffi.sizeof(dtype.ctype), th.thnn_add_sums(dtype)
    return function(input, grad_output, grad_weight, grad_bias, connections, planes, maps, dw, dh,
        scale)
      local p, before = find(full, size, input, grad_weight, connections, planes, maps, dw, dh)
      if not p or not p.exact then return nil end
      local given, wanted = sizes(p)
      local count = wanted[#wanted - 2]
      if not (fits(grad_output, wanted) and fits(grad_bias, { count })) then return nil end
      local nw, n = product(p.weight), product(wanted)
      local mine, x, g, b, w, free, pw, _, pb = begin(size, before, input, product(given),
        grad_output, n, grad_bias, count, grad_weight, nw, nil, 0, true)
      if not mine or not apart(pb, count * size, pw, nw * size) then return nil end
      weigh(p, size, full and g or x, full and x or g, w, scale, free)
      add_sums(b, g, p.samples, count, n / (p.samples * count), scale)
      if not finish(mine, before, w, pw, nw * size, free, 0, 0) then return nil end
      copy(pb, b, count * size)
      return true
    end
  end
end

if adders[4] and adders[8] then
  add_functions('SpatialConvolutionMap', false)
  add_functions('SpatialFullConvolutionMap', true)
end
