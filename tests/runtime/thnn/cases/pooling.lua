-- Pooling of images, volumes and sequences. About one call in ten is wrong.
local cases = {}
local FEW = tonumber(arg[3]) <= 3     -- cases: those that are recorded, which are small
local MOST = FEW and 1 or 3          -- planes, or samples of a batch
local floor, ceil = math.floor, math.ceil

local function wrong(r) return r.int(1, 12) == 1 end

-- The number of windows along a dimension, as nn counts them.
local function windows(size, k, d, pad, dilation, up, any_pad)
  local n = (up and ceil or floor)((size - (dilation * (k - 1) + 1) + 2 * pad) / d) + 1
  if any_pad and (n - 1) * d >= size + pad then n = n - 1 end
  return n
end

local function plane_of(r, most)
  if FEW then most = 4 end
  return { r.int(3, most), r.int(3, most) }
end

-- Sizes of a batch of planes, or of planes alone; now and then one dimension less.
local function sizes_of(r, plane, right)
  local sizes = { r.int(1, MOST), unpack(plane) }
  if r.bool() then table.insert(sizes, 1, r.int(1, MOST)) end
  if r.int(1, 25) == 1 and not right then sizes = { r.int(1, MOST), unpack(plane, 2) } end
  return sizes
end

-- Sizes of a plane, numbers of its windows, and the arguments that tell them: kernels, strides and
-- paddings of `n` dimensions, in the order of the header's parameters, and dilations. `order` has
-- the positions of the dimensions there. `down`: no window begins behind the last element.
local function window(r, n, order, most, dilated, down)
  local up, plane, counts = r.bool() and not down, {}, {}
  local k, d, pad, dilation = {}, {}, {}, {}
  for i = 1, n do
    plane[i] = r.int(3, FEW and 3 or most)
    k[i], d[i], dilation[i] = r.int(1, 3), r.int(1, 3), dilated and r.int(1, 2) or 1
    pad[i] = r.int(0, floor(k[i] / 2))
    if r.int(1, 40) == 1 then r.pick(k, d, dilated and dilation or d)[i] = 0 end
    if r.int(1, 40) == 1 then pad[i] = k[i] end
    if r.int(1, 40) == 1 then k[i] = 20 end
  end
  local any_pad = false
  for i = 1, n do any_pad = any_pad or pad[i] ~= 0 end
  for i = 1, n do
    counts[i] = d[i] > 0 and windows(plane[i], k[i], d[i], pad[i], dilation[i], up, any_pad) or 1
    if not (counts[i] >= 1) then counts[i] = 1 end
  end
  local arguments = {}
  for _, list in ipairs{ k, d, pad, dilated and dilation or nil } do
    for _, i in ipairs(order) do arguments[#arguments + 1] = list[i] end
  end
  arguments[#arguments + 1] = up
  return plane, counts, arguments
end

-- The sizes of an input with others for its planes; now and then with a wrong one.
local function like(r, sizes, counts, n)
  local found = { unpack(sizes) }
  for i = 1, n do found[#sizes - n + i] = counts[i] end
  if wrong(r) and #sizes > n then
    local at = #sizes - r.int(0, n)
    found[at] = found[at] + 1
  end
  return found
end

local function join(list, more)
  for _, x in ipairs(more) do list[#list + 1] = x end
  return list
end

-- Repeated values, so that several elements of a window are the largest; sometimes infinities and
-- nans.
local function values(r, sizes)
  local x = r.tensor(unpack(sizes))
  if r.bool() then x:mul(2):floor() end
  if r.int(1, 6) == 1 then x:select(x:nDimension(), 1):fill(r.pick(0 / 0, -1 / 0, 1 / 0)) end
  return x
end

local IMAGE = { 2, 1 }
local function longs(r, sizes) return r.longs(unpack(sizes)) end

local function max_forward(dilated)
  return function(r)
    local plane, _, arguments = window(r, 2, IMAGE, 9, dilated)
    return join({ values(r, sizes_of(r, plane)), r.out(), r.longs(1) }, arguments)
  end
end

local function max_backward(dilated)
  return function(r)
    local plane, counts, arguments = window(r, 2, IMAGE, 9, dilated)
    local sizes = sizes_of(r, plane)
    local input = r.tensor(unpack(sizes))
    local g, places = like(r, sizes, counts, 2), like(r, sizes, counts, 2)
    local indices = r.index(plane[1] * plane[2], unpack(places))
    if r.bool() then indices:storage()[1] = 0 end
    return join({ input, r.tensor(unpack(g)), r.out(), indices }, arguments)
  end
end

cases.SpatialMaxPooling_updateOutput = max_forward(false)
cases.SpatialDilatedMaxPooling_updateOutput = max_forward(true)
cases.SpatialMaxPooling_updateGradInput = max_backward(false)
cases.SpatialDilatedMaxPooling_updateGradInput = max_backward(true)

local VOLUME = { 1, 3, 2 } -- the positions of time, width and height

local function average_forward(n, order, most)
  return function(r)
    local plane, _, arguments = window(r, n, order, most)
    arguments[#arguments + 1] = r.bool()
    return join({ r.tensor(unpack(sizes_of(r, plane))), r.out() }, arguments)
  end
end

local function average_backward(n, order, most)
  return function(r)
    local plane, counts, arguments = window(r, n, order, most)
    arguments[#arguments + 1] = r.bool()
    local sizes = sizes_of(r, plane)
    local g = r.tensor(unpack(like(r, sizes, counts, n)))
    return join({ r.tensor(unpack(sizes)), g, r.out() }, arguments)
  end
end

cases.SpatialAveragePooling_updateOutput = average_forward(2, IMAGE, 9)
cases.SpatialAveragePooling_updateGradInput = average_backward(2, IMAGE, 9)
cases.VolumetricAveragePooling_updateOutput = average_forward(3, VOLUME, 5)
cases.VolumetricAveragePooling_updateGradInput = average_backward(3, VOLUME, 5)

function cases.SpatialAdaptiveAveragePooling_updateOutput(r)
  return { r.tensor(unpack(sizes_of(r, plane_of(r, 9)))), r.out(), r.int(1, 5),
    r.int(1, 5) }
end

function cases.SpatialAdaptiveAveragePooling_updateGradInput(r)
  local sizes = sizes_of(r, plane_of(r, 9), true)
  local g = { unpack(sizes) }
  g[#g - 1], g[#g] = r.int(1, 5), r.int(1, 5)
  return { r.tensor(unpack(sizes)), r.tensor(unpack(g)), r.out() }
end

local function volume_forward(dilated)
  return function(r)
    local plane, _, arguments = window(r, 3, VOLUME, 5, dilated)
    -- The bytes of an index that the original does not write are 0 before.
    local sizes = sizes_of(r, plane)
    return join({ values(r, sizes), r.out(), r.longs(FEW and 64 or 3000) }, arguments)
  end
end

-- Indices of elements that are in the volume.
local function volume_indices(r, sizes, plane, counts, arguments, dilated)
  local indices = r.longs(unpack(sizes))
  local order = VOLUME
  local values_of = indices:storage()
  local n = counts[1] * counts[2] * counts[3]
  for i = 0, values_of:size() - 1 do
    local at = i % n
    local where = { floor(at / (counts[2] * counts[3])), floor(at / counts[3]) % counts[2],
      at % counts[3] }
    local index, unit = 0, 1
    for dim = 1, 3 do
      local position
      for k = 1, 3 do if order[k] == dim then position = k end end
      local step, pad = arguments[3 + position], arguments[6 + position]
      local apart = dilated and arguments[9 + position] or 1
      local first = where[dim] * step - pad
      local lowest = math.max(0, ceil(-first / math.max(apart, 1)))
      local highest = math.max(lowest, floor((plane[dim] - 1 - first) / math.max(apart, 1)))
      index, unit = index + r.int(lowest, highest) * unit, unit * 256
    end
    values_of[i + 1] = index
  end
  return indices
end

local function volume_backward(dilated)
  return function(r)
    local plane, counts, arguments = window(r, 3, VOLUME, 5, dilated, true)
    local sizes = sizes_of(r, plane)
    local g = r.tensor(unpack(like(r, sizes, counts, 3)))
    local indices = volume_indices(r, like(r, sizes, counts, 3), plane, counts, arguments, dilated)
    return join({ r.tensor(unpack(sizes)), g, r.out(), indices }, arguments)
  end
end

cases.VolumetricMaxPooling_updateOutput = volume_forward(false)
cases.VolumetricDilatedMaxPooling_updateOutput = volume_forward(true)
cases.VolumetricMaxPooling_updateGradInput = volume_backward(false)
cases.VolumetricDilatedMaxPooling_updateGradInput = volume_backward(true)

local function sequence(r)
  local sizes, k, d = { r.int(1, 8), r.int(1, 5) }, r.int(1, 4), r.int(1, 3)
  if r.bool() then table.insert(sizes, 1, r.int(1, MOST)) end
  if r.int(1, 25) == 1 then sizes = { 2, 2, unpack(sizes) } end
  return sizes, r.int(1, 25) == 1 and 0 or k, d
end

function cases.TemporalMaxPooling_updateOutput(r)
  local sizes, k, d = sequence(r)
  return { values(r, sizes), r.out(), r.longs(1), k, d }
end

function cases.TemporalMaxPooling_updateGradInput(r)
  local sizes, k, d = sequence(r)
  local frames = math.max(floor((sizes[#sizes - 1] - k) / d) + 1, 1)
  local counts = { frames, sizes[#sizes] }
  local g, places = like(r, sizes, counts, 2), like(r, sizes, counts, 2)
  local indices = r.index(math.max(k, 1), unpack(places)):add(-1)
  if r.bool() then indices:storage()[1] = -1 end
  return { r.tensor(unpack(sizes)), r.tensor(unpack(g)), r.out(), indices, k, d }
end

function cases.SpatialAdaptiveMaxPooling_updateOutput(r)
  local sizes = sizes_of(r, plane_of(r, 9))
  return { values(r, sizes), r.out(), r.longs(1), r.int(1, 5), r.int(1, 5) }
end

function cases.SpatialAdaptiveMaxPooling_updateGradInput(r)
  local sizes = sizes_of(r, plane_of(r, 9), true)
  local g = { unpack(sizes) }
  g[#g - 1], g[#g] = r.int(1, 5), r.int(1, 5)
  return { r.tensor(unpack(sizes)), r.tensor(unpack(g)), r.out(), r.index(1, 2, unpack(g)) }
end

return cases
