--- Plans of convolutions of few elements, by their sizes and numbers: what jobs and checks need.
-- @module convolution_plans

local th = ...
local dense, moves, working = th.formulas.dense, th.blocks.moves, th.thnn_working
local product, fits, sizes_of = working.product, working.fits, working.sizes_of
local floor = math.floor

local MAX_PLANS = 16

-- What a family of functions is: its numbers, each for the dimensions' depth, width and height;
-- whether maps are its input, and whether columns of all samples are kept.
local families = {
  { 'SpatialConvolutionMM', 2, 'kernel stride padding', keeps = true },
  { 'VolumetricConvolutionMM', 3, 'kernel stride padding', keeps = true },
  { 'SpatialDilatedConvolution', 2, 'kernel stride padding dilation' },
  { 'VolumetricDilatedConvolution', 3, 'kernel stride padding dilation' },
  { 'SpatialFullDilatedConvolution', 2, 'kernel stride padding dilation extra', full = true },
  { 'SpatialFullConvolution', 2, 'kernel stride padding extra', full = true },
  { 'VolumetricFullDilatedConvolution', 3, 'stride padding dilation extra', full = true },
  { 'VolumetricFullConvolution', 3, 'stride padding extra', full = true },
}

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
  if work > working.MAX_WORK or elements * 8 > working.ROOM then return false end
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
  plan.memory, plan.geometry = working.geometry_of(g)
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

--- The plan for a call, from the last ones or a new one, and what `moves` gave before sizes were
-- read; nil or false for what Lua does not handle. A family has 6, 8, 9, 10 or 12 numbers; a scale
-- may follow.
function th.convolution_plan(family, input, weight, a, b, c, d, e, f, g, h, i, j, k, l)
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

for _, family in ipairs(families) do
  family.plans, family.count = {}, family[2] * select(2, family[3]:gsub('%a+', ''))
end
th.convolution_families = families
