-- Convolutions: the numbers of a call are made first, then its tensors, of which some have a wrong
-- size. Images are {height, width}, volumes {depth, height, width}; numbers go width first.
local cases = {}

local function each(n, f)
  local list = {}
  for i = 1, n do list[i] = f(i) end
  return list
end

local function append(...)
  local all = {}
  for _, list in ipairs{ ... } do
    for _, value in ipairs(list) do all[#all + 1] = value end
  end
  return all
end

-- (depth,) height, width -> (depth,) width, height
local function by_width(list)
  local n, swapped = #list, append(list)
  swapped[n - 1], swapped[n] = list[n], list[n - 1]
  return swapped
end

local function product(list)
  local all = 1
  for _, value in ipairs(list) do all = all * value end
  return all
end

local function places(c)
  return each(c.dims, function(i)
    return math.floor((c.size[i] + 2 * c.pad[i] - (c.dilation[i] * (c.kernel[i] - 1) + 1))
      / c.stride[i]) + 1
  end)
end

-- The sizes of a layer: `c.size` is that of the image, `c.count` of the map.
local function layer(r, dims, options)
  local c = { dims = dims, planes = r.int(1, 2), maps = r.int(1, 2) }
  c.kernel = each(dims, function(i) return r.int(1, dims == 3 and 4 - i > 2 and 1 or 2) end)
  c.stride = each(dims, function() return r.int(1, 2) end)
  c.pad = each(dims, function() return options.pad and r.int(0, dims == 3 and 1 or 2) or 0 end)
  c.dilation = each(dims, function() return options.dilated and r.int(1, 2) or 1 end)
  c.size = each(dims, function(i)
    return c.dilation[i] * (c.kernel[i] - 1) + 1 + r.int(0, dims == 3 and i < 3 and 0 or 1)
  end)
  c.count = places(c)
  c.batch = r.bool() and { r.int(1, 2) } or {}
  c.wrong = r.int(1, 12) -- 1 to 4: what is wrong about the call
  return c
end

local function shape(...) return torch.LongStorage(append(...)) end

-- A list of sizes of which one is sometimes wrong.
local function maybe(r, wrong, ...)
  local sizes = append(...)
  if wrong then
    local i = r.int(1, #sizes)
    sizes[i] = sizes[i] + 1
  end
  return torch.LongStorage(sizes)
end

local function columns(c) return { c.planes * product(c.kernel), product(c.count) } end

-- ------------------------------------------------------------------ MM

local function mm(name, dims, flat_rank)
  local function numbers(c)
    local all = append(by_width(c.kernel), by_width(c.stride), by_width(c.pad))
    if c.wrong == 4 then all[1] = 0 end
    return all
  end
  local function weight(r, c, make)
    local sizes = r.int(1, 2) == 1 and { c.maps, c.planes * product(c.kernel) }
      or append({ c.maps, c.planes }, c.kernel)
    if c.wrong == 3 then sizes = { 3 } end
    return make(torch.LongStorage(sizes))
  end
  local volumetric = dims == 3
  cases[name .. '_updateOutput'] = function(r)
    local c = layer(r, dims, { pad = true })
    local x = r.tensor(maybe(r, not volumetric and c.wrong == 1, c.batch, { c.planes }, c.size))
    local list = { x, r.out(), weight(r, c, r.tensor),
      r.bool() and r.null or r.tensor(maybe(r, c.wrong == 2, { c.maps })), r.out() }
    if not volumetric then list[#list + 1] = r.out() end
    return append(list, numbers(c))
  end
  cases[name .. '_updateGradInput'] = function(r)
    local c = layer(r, dims, { pad = true })
    return append({ r.tensor(shape(c.batch, { c.planes }, c.size)),
      r.tensor(maybe(r, c.wrong == 1 and #c.batch == 0, c.batch, { c.maps }, c.count)), r.out(),
      weight(r, c, r.tensor), r.zeros(shape(c.batch, columns(c))), r.out() }, numbers(c))
  end
  cases[name .. '_accGradParameters'] = function(r)
    local c = layer(r, dims, { pad = true })
    local list = { r.tensor(shape(c.batch, { c.planes }, c.size)),
      r.tensor(maybe(r, c.wrong == 1 and #c.batch == 0, c.batch, { c.maps }, c.count)),
      weight(r, c, r.plain), r.bool() and r.null or r.plain(maybe(r, c.wrong == 2, { c.maps })),
      r.plain(shape(c.batch, columns(c))) }
    if not volumetric then list[#list + 1] = r.out() end
    return append(list, numbers(c), { r.pick(1, 0.5, -2) })
  end
end

mm('SpatialConvolutionMM', 2)
mm('VolumetricConvolutionMM', 3)

-- ------------------------------------------------------------------ dilated

-- The buffer of ones: the original uses one that is large enough as it is.
local function ones(r) return r.bool() and r.zeros() or r.zeros(2, 3):fill(1) end

local function dilated(name, dims)
  local function numbers(c)
    local all = append(by_width(c.kernel), by_width(c.stride), by_width(c.pad),
      by_width(c.dilation))
    if c.wrong == 4 then all[dims * 3 + 1] = 0 end
    return all
  end
  local options = { pad = true, dilated = true }
  local function weight(c) return shape({ c.maps, c.planes }, c.wrong == 3 and {} or c.kernel) end
  cases[name .. '_updateOutput'] = function(r)
    local c = layer(r, dims, options)
    return append({ r.tensor(maybe(r, c.wrong == 1, c.batch, { c.planes }, c.size)), r.out(),
      r.tensor(weight(c)), r.bool() and r.null or r.tensor(maybe(r, c.wrong == 2, { c.maps })),
      r.out(), ones(r) }, numbers(c))
  end
  cases[name .. '_updateGradInput'] = function(r)
    local c = layer(r, dims, options)
    return append({ r.tensor(shape(c.batch, { c.planes }, c.size)),
      r.tensor(maybe(r, c.wrong == 1 and #c.batch == 0, c.batch, { c.maps }, c.count)), r.out(),
      r.tensor(weight(c)), r.out() }, numbers(c))
  end
  cases[name .. '_accGradParameters'] = function(r)
    local c = layer(r, dims, options)
    return append({ r.tensor(shape(c.batch, { c.planes }, c.size)),
      r.tensor(maybe(r, c.wrong == 1 and #c.batch == 0, c.batch, { c.maps }, c.count)),
      r.plain(weight(c)), r.bool() and r.null or r.plain(maybe(r, c.wrong == 2, { c.maps })),
      r.out(), ones(r) }, numbers(c), { r.pick(1, 0.5, -2) })
  end
end

dilated('SpatialDilatedConvolution', 2)
dilated('VolumetricDilatedConvolution', 3)

-- ------------------------------------------------------------------ full

local function full(name, dims, with_dilation)
  local function numbers(c)
    local all = append(dims == 2 and by_width(c.kernel) or {}, by_width(c.stride), by_width(c.pad),
      with_dilation and by_width(c.dilation) or {}, by_width(c.extra))
    if c.wrong == 4 then all[dims == 2 and 3 or 1] = 0 end
    return all
  end
  -- Maps are the input here, images the output.
  local function full_layer(r)
    local c = layer(r, dims, { dilated = with_dilation })
    c.pad = each(dims, function() return r.int(0, 1) end)
    c.count = each(dims, function(i) return r.int(1, dims == 3 and i < 3 and 1 or 2) end)
    c.extra = each(dims, function(i) return c.stride[i] > 1 and r.int(0, 1) or 0 end)
    if c.wrong == 5 then c.extra[1] = 2 end
    c.size = each(dims, function(i)
      return (c.count[i] - 1) * c.stride[i] - 2 * c.pad[i] + c.dilation[i] * (c.kernel[i] - 1) + 1
        + c.extra[i]
    end)
    c.fits = true
    for _, n in ipairs(c.size) do c.fits = c.fits and n > 0 end
    return c
  end
  local function size(c) return c.fits and c.size or each(dims, function() return 1 end) end
  local function weight(c)
    return shape({ c.maps, c.planes }, c.wrong == 3 and { 2 } or c.kernel)
  end
  local volumetric = dims == 3
  cases[name .. '_updateOutput'] = function(r)
    local c = full_layer(r)
    return append({ r.tensor(maybe(r, c.wrong == 1, c.batch, { c.maps }, c.count)), r.out(),
      r.tensor(weight(c)), r.bool() and r.null or r.tensor(maybe(r, c.wrong == 2, { c.planes })),
      r.out(), ones(r) }, numbers(c))
  end
  cases[name .. '_updateGradInput'] = function(r)
    local c = full_layer(r)
    local list = { r.tensor(shape(c.batch, { c.maps }, c.count)),
      r.tensor(maybe(r, c.wrong == 1 and #c.batch == 0, c.batch, { c.planes }, size(c))), r.out(),
      r.tensor(weight(c)), r.out() }
    if volumetric then list[#list + 1] = r.out() end
    return append(list, numbers(c))
  end
  cases[name .. '_accGradParameters'] = function(r)
    local c = full_layer(r)
    return append({ r.tensor(shape(c.batch, { c.maps }, c.count)),
      r.tensor(maybe(r, c.wrong == 1 and #c.batch == 0, c.batch, { c.planes }, size(c))),
      r.plain(weight(c)), r.bool() and r.null or r.plain(maybe(r, c.wrong == 2, { c.planes })),
      r.out(), ones(r) }, numbers(c), { r.pick(1, 0.5, -2) })
  end
end

full('SpatialFullConvolution', 2, false)
full('VolumetricFullConvolution', 3, false)

return cases
