-- Fractional and LP pooling, unpooling, padding, up-sampling, and the grid sampler.
local cases = {}
local FEW = tonumber(arg[3]) <= 3     -- cases: those that are recorded, which are small
local MOST = FEW and 1 or 3          -- planes, or samples of a batch

local function join(list, more)
  for _, x in ipairs(more) do list[#list + 1] = x end
  return list
end

local function wrong(r) return r.int(1, 12) == 1 end

-- Sizes of planes, or of a batch of them; now and then one dimension less.
local function sizes_of(r, plane)
  local sizes = { r.int(1, MOST), unpack(plane) }
  if r.bool() then table.insert(sizes, 1, r.int(1, MOST)) end
  if r.int(1, 25) == 1 then sizes = { unpack(plane) } end
  return sizes
end

-- Sizes with others at the end; now and then one of these is larger.
local function with_plane(r, sizes, plane)
  local found = { unpack(sizes) }
  for i = 1, #plane do found[#sizes - #plane + i] = plane[i] end
  if wrong(r) then found[#found - r.int(0, #plane - 1)] = 20 end
  return found
end

local function plane(r, n, least, most)
  local sizes = {}
  for i = 1, n do sizes[i] = r.int(least, FEW and math.min(least + 1, most) or most) end
  return sizes
end

local function product(list)
  local n = 1
  for _, x in ipairs(list) do n = n * x end
  return n
end

-- ------------------------------------------------------------------ fractional pooling

local function fractional(n)
  return function(r)
    local sizes, pool, out = plane(r, n, FEW and 4 or 5, 8), plane(r, n, 1, 3), plane(r, n, 1, 3)
    if r.int(1, 15) == 1 then pool[r.int(1, n)] = 9 end
    local input = sizes_of(r, sizes)
    local planes = product(input) / product(sizes)
    return join(join({ r.tensor(unpack(input)), r.out() }, join(out, pool)),
      { r.longs(1), r.positive(math.max(planes, 1) * n) })
  end
end

local function fractional_backward(n)
  return function(r)
    local sizes, pool, out = plane(r, n, FEW and 4 or 5, 8), plane(r, n, 1, 3), plane(r, n, 1, 3)
    local reverse = {}
    for i = 1, n do reverse[i] = out[n + 1 - i] end
    local input = { r.int(1, MOST), unpack(sizes) }
    if r.bool() then table.insert(input, 1, r.int(1, MOST)) end
    local found = { unpack(input) }
    for i = 1, n do found[#found - n + i] = reverse[i] end
    if n == 3 then -- height, width, time
      local at = #found
      found[at - 2], found[at - 1], found[at] = out[3], out[2], out[1]
    end
    local g = { unpack(found) }
    if wrong(r) then g[#g - r.int(0, n - 1)] = 9 end
    return join(join({ r.tensor(unpack(input)), r.tensor(unpack(g)), r.out() }, join(out, pool)),
      { r.index(product(sizes), unpack(found)) })
  end
end

cases.SpatialFractionalMaxPooling_updateOutput = fractional(2)
cases.SpatialFractionalMaxPooling_updateGradInput = fractional_backward(2)
cases.VolumetricFractionalMaxPooling_updateOutput = fractional(3)
cases.VolumetricFractionalMaxPooling_updateGradInput = fractional_backward(3)

-- ------------------------------------------------------------------ LP pooling

local function features(r)
  local batch, width, stride = r.bool(), r.int(2, 4), r.int(1, 4)
  local sizes = { r.int(4, 12) }
  if batch then table.insert(sizes, 1, r.int(1, 3)) end
  for _ = 1, r.int(0, 2) do sizes[#sizes + 1] = r.int(1, 3) end
  if wrong(r) then width = r.pick(1, 17) end
  if wrong(r) then stride = r.pick(0, 5) end
  if wrong(r) then batch = not batch end
  return sizes, batch, width, stride
end

function cases.FeatureLPPooling_updateOutput(r)
  local sizes, batch, width, stride = features(r)
  return { r.tensor(unpack(sizes)), r.out(), r.pick(2, 3, 1.5), width, stride, batch }
end

function cases.FeatureLPPooling_updateGradInput(r)
  local sizes, batch, width, stride = features(r)
  local found, at = { unpack(sizes) }, batch and 2 or 1
  found[at] = math.max(math.floor(((found[at] or 1) - width) / math.max(stride, 1)) + 1, 1)
  local g = { unpack(found) }
  if wrong(r) then g[at] = g[at] + 1 end
  return { r.tensor(unpack(g)), r.positive(unpack(sizes)), r.positive(unpack(found)), r.out(),
    r.pick(2, 3, 1.5), width, stride, batch }
end

-- ------------------------------------------------------------------ unpooling

-- Different places for the elements of each plane.
local function places(r, sizes, n, count)
  local indices = r.longs(unpack(sizes))
  local values, all = indices:storage(), product({ unpack(sizes, #sizes - n + 1) })
  for first = 0, values:size() - 1, all do
    local start = r.int(0, count - 1)
    for i = 0, all - 1 do values[first + i + 1] = (start + i) % count + 1 end
  end
  return indices
end

local function unpool(backward)
  return function(r)
    local sizes, out = plane(r, 2, 1, 3), plane(r, 2, 3, 6)
    local input = sizes_of(r, sizes)
    if backward and #input == 2 then table.insert(input, 1, 2) end
    local shape = wrong(r) and { 2, unpack(input) } or input
    local indices = places(r, shape, 2, out[1] * out[2])
    if not backward and wrong(r) then indices:storage()[1] = r.pick(0, 99) end
    local list = { r.tensor(unpack(input)) }
    if backward then list[2] = r.tensor(unpack(with_plane(r, input, out))) end
    return join(list, { r.out(), indices, out[2], out[1] })
  end
end

cases.SpatialMaxUnpooling_updateOutput = unpool(false)
cases.SpatialMaxUnpooling_updateGradInput = unpool(true)

local function unpool_3d(backward)
  return function(r)
    local sizes, stride, k = plane(r, 3, 1, 3), plane(r, 3, 2, 3), 2
    local out, pad = {}, plane(r, 3, 0, 1)
    for i = 1, 3 do
      if backward or r.int(1, 6) > 1 then pad[i] = 0 end
      out[i] = (sizes[i] - 1) * stride[i] + k - pad[i]
    end
    if not backward and wrong(r) then out[r.int(1, 3)] = 1 end
    if r.int(1, 25) == 1 then stride[r.int(1, 3)] = 0 end
    local input = sizes_of(r, sizes)
    local indices = r.index(1, unpack(wrong(r) and { 2, unpack(input) } or input))
    for i = 1, indices:storage():size() do
      indices:storage()[i] = r.int(0, 1) + 256 * r.int(0, 1) + 65536 * r.int(0, 1)
    end
    local list = { r.tensor(unpack(input)) }
    if backward then list[2] = r.tensor(unpack(with_plane(r, input, out))) end
    return join(list, { r.out(), indices, out[1], out[3], out[2], stride[1], stride[3], stride[2],
      pad[1], pad[3], pad[2] })
  end
end

cases.VolumetricMaxUnpooling_updateOutput = unpool_3d(false)
cases.VolumetricMaxUnpooling_updateGradInput = unpool_3d(true)

-- ------------------------------------------------------------------ padding

-- Before and after each dimension of a plane, and the sizes that result.
local function pads(r, sizes, lowest)
  local list, out = {}, {}
  for i = 1, #sizes do
    local before = r.int(lowest, sizes[i] - 1)
    local after = r.int(lowest, FEW and 0 or sizes[i] - 1)
    list[i], out[i] = { before, after }, sizes[i] + before + after
  end
  local arguments = {}
  local order = #sizes == 2 and { 2, 1 } or { 3, 2, 1 }
  for _, i in ipairs(order) do join(arguments, list[i]) end
  return arguments, out
end

local function pad(n, backward)
  return function(r)
    local sizes = plane(r, n, FEW and 2 or 3, 5)
    local arguments, out = pads(r, sizes, FEW and 0 or -1)
    if not backward and r.int(1, 15) == 1 then
      for i = 1, #arguments do arguments[i] = -9 end
    end
    local input
    if backward then
      input = { r.int(1, MOST), unpack(sizes) }
      if r.bool() then table.insert(input, 1, r.int(1, MOST)) end
    else
      input = sizes_of(r, sizes)
    end
    local list = { r.tensor(unpack(input)) }
    if backward then
      -- The original does not look at the gradient of volumes.
      local g = with_plane(n == 2 and r or { int = function() return 2 end }, input, out)
      list[2] = r.tensor(unpack(g))
    end
    return join(join(list, { r.out() }), arguments)
  end
end

cases.SpatialReflectionPadding_updateOutput = pad(2, false)
cases.SpatialReflectionPadding_updateGradInput = pad(2, true)
cases.SpatialReplicationPadding_updateOutput = pad(2, false)
cases.SpatialReplicationPadding_updateGradInput = pad(2, true)
cases.VolumetricReplicationPadding_updateOutput = pad(3, false)
cases.VolumetricReplicationPadding_updateGradInput = pad(3, true)

-- ------------------------------------------------------------------ up-sampling

local function repeated(n, backward)
  return function(r)
    local sizes, scale = plane(r, n, 1, 4), r.int(2, 3)
    if r.int(1, 15) == 1 then scale = 1 end
    local input = sizes_of(r, sizes)
    local list = { r.tensor(unpack(input)) }
    if backward then
      local out = {}
      for i = 1, n do out[i] = sizes[i] * scale end
      list[2] = r.tensor(unpack(with_plane(r, input, out)))
    end
    return join(list, { r.out(), scale })
  end
end

cases.SpatialUpSamplingNearest_updateOutput = repeated(2, false)
cases.SpatialUpSamplingNearest_updateGradInput = repeated(2, true)
cases.VolumetricUpSamplingNearest_updateOutput = repeated(3, false)
cases.VolumetricUpSamplingNearest_updateGradInput = repeated(3, true)

local function interpolated(n, backward)
  return function(r)
    local sizes, out = plane(r, n, 1, 5), plane(r, n, 1, 7)
    if r.int(1, 8) == 1 then out = { unpack(sizes) } end
    if r.int(1, 20) == 1 then out[1] = 0 end
    local leading = { r.int(1, MOST), r.int(1, MOST) }
    local input = join({ unpack(leading) }, sizes)
    if backward then
      local shape = {}
      for i = 1, n do shape[i] = math.max(out[i], 1) end
      local g = with_plane(r, join({ unpack(leading) }, shape), shape)
      return join(join({ r.tensor(unpack(g)), r.out() }, input), out)
    end
    if r.int(1, 20) == 1 then table.remove(input, 1) end
    return join({ r.tensor(unpack(input)), r.out() }, out)
  end
end

cases.SpatialUpSamplingBilinear_updateOutput = interpolated(2, false)
cases.SpatialUpSamplingBilinear_updateGradInput = interpolated(2, true)
cases.VolumetricUpSamplingTrilinear_updateOutput = interpolated(3, false)
cases.VolumetricUpSamplingTrilinear_updateGradInput = interpolated(3, true)

return cases
