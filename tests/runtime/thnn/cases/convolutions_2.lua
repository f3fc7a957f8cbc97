-- More convolutions: local, depthwise, by maps, of sequences; sub-sampling.
local cases = {}

-- The sizes of a layer of images.
local function layer(r, pad)
  local c = { planes = r.int(1, 2), maps = r.int(1, 2), wrong = r.int(1, 12) }
  c.kw, c.kh, c.dw, c.dh = r.int(1, 3), r.int(1, 2), r.int(1, 2), r.int(1, 2)
  c.pw, c.ph = pad and r.int(0, 1) or 0, pad and r.int(0, 1) or 0
  c.ow, c.oh = r.int(1, 3), r.int(1, 2)
  c.w = math.max((c.ow - 1) * c.dw + c.kw - 2 * c.pw, 1)
  c.h = math.max((c.oh - 1) * c.dh + c.kh - 2 * c.ph, 1)
  c.ow = math.floor((c.w + 2 * c.pw - c.kw) / c.dw) + 1
  c.oh = math.floor((c.h + 2 * c.ph - c.kh) / c.dh) + 1
  c.n = r.bool() and r.int(1, 2) or nil
  return c
end

local function batch(c, ...)
  if c.n then return torch.LongStorage{ c.n, ... } end
  return torch.LongStorage{ ... }
end

local function wrong(r, size)
  size[size:size()] = size[size:size()] + 1
  return size
end

local function numbers(c)
  return c.wrong == 4 and 0 or c.kw, c.kh, c.dw, c.dh, c.pw, c.ph
end

local function columns(c) return c.planes * c.kw * c.kh, c.oh * c.ow end

-- ------------------------------------------------------------------ local

local function local_weight(r, c, make)
  if c.wrong == 3 then return make(4, 4) end
  if r.bool() then return make(c.oh * c.ow, c.maps, c.planes * c.kh * c.kw) end
  return make(torch.LongStorage{ c.oh, c.ow, c.maps, c.planes, c.kh, c.kw })
end
local function local_numbers(c)
  local list = { numbers(c) }
  for _, value in ipairs{ c.w, c.h, c.ow, c.oh } do list[#list + 1] = value end
  return unpack(list)
end
function cases.SpatialConvolutionLocal_updateOutput(r)
  local c = layer(r, true)
  local bias = torch.LongStorage{ c.maps, c.oh, c.ow }
  return { r.tensor(batch(c, c.planes, c.h, c.w)), r.out(), local_weight(r, c, r.tensor),
    r.tensor(c.wrong == 2 and wrong(r, bias) or bias), r.out(), r.out(), local_numbers(c) }
end
function cases.SpatialConvolutionLocal_updateGradInput(r)
  local c = layer(r, true)
  local size = batch(c, c.maps, c.oh, c.ow)
  return { r.tensor(batch(c, c.planes, c.h, c.w)),
    r.tensor(c.wrong == 1 and wrong(r, size) or size), r.out(), local_weight(r, c, r.tensor),
    r.zeros(batch(c, columns(c))), r.out(), local_numbers(c) }
end
function cases.SpatialConvolutionLocal_accGradParameters(r)
  local c = layer(r, true)
  local size = batch(c, c.maps, c.oh, c.ow)
  local list = { r.tensor(batch(c, c.planes, c.h, c.w)),
    r.tensor(c.wrong == 1 and wrong(r, size) or size), local_weight(r, c, r.plain),
    r.plain(c.maps, c.oh, c.ow), r.plain(batch(c, columns(c))), r.out(), local_numbers(c) }
  list[#list + 1] = r.pick(1, 0.5)
  return list
end

-- ------------------------------------------------------------------ depthwise

local function square(r)
  local c = layer(r, true)
  c.kh, c.dh, c.ph, c.h, c.oh = c.kw, c.dw, c.pw, c.w, c.ow
  return c
end
local function deep_weight(r, c, make)
  if c.wrong == 3 then return make(3, 3, 3) end
  return make(torch.LongStorage{ c.maps, c.planes, c.kh, c.kw })
end
local function deep_gradient(r, c)
  local size = batch(c, c.planes * c.maps, c.oh, c.ow)
  return r.plain(size)
end
function cases.SpatialDepthWiseConvolution_updateOutput(r)
  local c = square(r)
  local bias = torch.LongStorage{ c.maps, c.planes }
  return { r.tensor(batch(c, c.wrong == 1 and c.planes + 1 or c.planes, c.h, c.w)), r.out(),
    deep_weight(r, c, r.tensor), r.bool() and r.null
      or r.tensor(c.wrong == 2 and wrong(r, bias) or bias), r.out(), r.out(), numbers(c) }
end
function cases.SpatialDepthWiseConvolution_updateGradInput(r)
  local c = square(r)
  return { r.tensor(batch(c, c.planes, c.h, c.w)), deep_gradient(r, c), r.out(),
    deep_weight(r, c, r.tensor), r.out(), r.zeros(), numbers(c) }
end
function cases.SpatialDepthWiseConvolution_accGradParameters(r)
  local c = square(r)
  local list = { r.tensor(batch(c, c.planes, c.h, c.w)), deep_gradient(r, c),
    deep_weight(r, c, r.plain), r.bool() and r.null or r.plain(c.maps, c.planes),
    r.plain(batch(c, c.planes, c.kh * c.kw, c.oh * c.ow)), r.out(), numbers(c) }
  list[#list + 1] = r.pick(1, 0.5)
  return list
end

-- ------------------------------------------------------------------ maps

local function connections(r, c)
  local n = r.int(1, 6)
  local t = torch.DoubleTensor(n, 2)
  for i = 1, n do t[i][1], t[i][2] = r.int(1, c.planes), r.int(1, c.maps) end
  c.kernels = n
  return t:type(r.type)
end
local function map_weight(r, c, make) return make(c.wrong == 3 and c.kernels + 1 or c.kernels, c.kh, c.kw) end
local function map_numbers(c) return c.planes, c.maps, c.dw, c.dh end
function cases.SpatialConvolutionMap_updateOutput(r)
  local c = layer(r)
  local t = connections(r, c)
  return { r.tensor(batch(c, c.wrong == 1 and c.planes > 1 and c.planes - 1 or c.planes, c.h,
    c.wrong == 2 and c.kw > 1 and c.kw - 1 or c.w)), r.out(), map_weight(r, c, r.tensor),
    r.tensor(c.maps), t, map_numbers(c) }
end
function cases.SpatialConvolutionMap_updateGradInput(r)
  local c = layer(r)
  local t = connections(r, c)
  return { r.tensor(batch(c, c.planes, c.h, c.w)), r.tensor(batch(c, c.maps, c.oh, c.ow)),
    r.zeros(), map_weight(r, c, r.tensor), r.tensor(c.maps), t, map_numbers(c) }
end
function cases.SpatialConvolutionMap_accGradParameters(r)
  local c = layer(r)
  local t = connections(r, c)
  local list = { r.tensor(batch(c, c.planes, c.h, c.w)), r.tensor(batch(c, c.maps, c.oh, c.ow)),
    map_weight(r, c, r.plain), r.plain(c.maps), t, map_numbers(c) }
  list[#list + 1] = r.pick(1, 0.5)
  return list
end
function cases.SpatialFullConvolutionMap_updateOutput(r)
  local c = layer(r)
  local t = connections(r, c)
  return { r.tensor(c.planes, c.oh, c.ow), r.out(), map_weight(r, c, r.plain), r.plain(c.maps), t,
    map_numbers(c) }
end
function cases.SpatialFullConvolutionMap_updateGradInput(r)
  local c = layer(r)
  local t = connections(r, c)
  return { r.tensor(c.planes, c.oh, c.ow), r.tensor(c.maps, c.h, c.w), r.zeros(),
    map_weight(r, c, r.plain), r.plain(c.maps), t, map_numbers(c) }
end
function cases.SpatialFullConvolutionMap_accGradParameters(r)
  local c = layer(r)
  local t = connections(r, c)
  local list = { r.tensor(c.planes, c.oh, c.ow), r.tensor(c.maps, c.h, c.w),
    map_weight(r, c, r.plain), r.plain(c.maps), t, map_numbers(c) }
  list[#list + 1] = r.pick(1, 0.5)
  return list
end

-- ------------------------------------------------------------------ sequences

local function sequence(r)
  local c = { frame = r.int(1, 4), out = r.int(1, 4), kw = r.int(1, 3), dw = r.int(1, 3) }
  c.count, c.wrong = r.int(1, 4), r.int(1, 12)
  c.length = (c.count - 1) * c.dw + c.kw + r.int(0, c.dw - 1)
  c.n = r.bool() and r.int(1, 2) or nil
  return c
end
local function steps(c) return c.wrong == 4 and 0 or c.kw, c.dw end
function cases.TemporalConvolution_updateOutput(r)
  local c = sequence(r)
  local kw, dw = steps(c)
  return { r.tensor(batch(c, c.wrong == 1 and math.max(c.kw - 1, 1) or c.length, c.frame)), r.out(),
    r.plain(c.out, c.kw * (c.wrong == 2 and c.frame + 1 or c.frame)), r.plain(c.out), kw, dw,
    c.wrong == 3 and c.frame + 1 or c.frame, c.out }
end
function cases.TemporalConvolution_updateGradInput(r)
  local c = sequence(r)
  return { r.tensor(batch(c, c.length, c.frame)), r.tensor(batch(c, c.count, c.out)), r.out(),
    r.plain(c.out, c.kw * c.frame), steps(c) }
end
function cases.TemporalConvolution_accGradParameters(r)
  local c = sequence(r)
  local kw, dw = steps(c)
  return { r.tensor(batch(c, c.length, c.frame)), r.tensor(batch(c, c.count, c.out)),
    r.plain(c.out, c.kw * c.frame), r.plain(c.out), kw, dw, r.pick(1, 0.5) }
end
function cases.TemporalSubSampling_updateOutput(r)
  local c = sequence(r)
  if c.wrong > 2 then c.n = nil end
  local kw, dw = steps(c)
  return { r.tensor(batch(c, c.wrong == 1 and math.max(c.kw - 1, 1) or c.length, c.frame)), r.out(),
    r.plain(c.frame), r.plain(c.frame), kw, dw, c.wrong == 3 and c.frame + 1 or c.frame }
end
function cases.TemporalSubSampling_updateGradInput(r)
  local c = sequence(r)
  return { r.tensor(c.length, c.frame), r.tensor(c.wrong == 1 and c.count + 1 or c.count, c.frame),
    r.out(), r.plain(c.frame), steps(c) }
end
function cases.TemporalSubSampling_accGradParameters(r)
  local c = sequence(r)
  local kw, dw = steps(c)
  return { r.tensor(c.length, c.frame), r.tensor(c.wrong == 1 and c.count + 1 or c.count, c.frame),
    r.plain(c.frame), r.plain(c.frame), kw, dw, r.pick(1, 0.5) }
end

local function rows(r, c, size, by_features)
  local t = r.tensor(size)
  return by_features and t or t:transpose(size:size() - 1, size:size())
end
local function row_weight(r, c)
  return c.wrong == 3 and r.plain(c.frame, c.kw) or r.plain(c.frame, 1, c.kw)
end
function cases.TemporalRowConvolution_updateOutput(r)
  local c, first = sequence(r), r.bool()
  local kw, dw = steps(c)
  return { rows(r, c, batch(c, c.wrong == 1 and c.frame + 1 or c.frame, c.length), first), r.zeros(),
    row_weight(r, c), r.bool() and r.null or r.plain(c.wrong == 2 and c.frame + 1 or c.frame),
    r.out(), r.out(), kw, dw, 0, first }
end
function cases.TemporalRowConvolution_updateGradInput(r)
  local c, first = sequence(r), r.bool()
  local kw, dw = steps(c)
  return { rows(r, c, batch(c, c.frame, c.length), first),
    rows(r, c, batch(c, c.frame, c.wrong == 1 and c.count + 1 or c.count), first), r.zeros(),
    row_weight(r, c), r.zeros(batch(c, c.frame, c.kw, c.count)), r.out(), kw, dw, 0, first }
end
function cases.TemporalRowConvolution_accGradParameters(r)
  local c, first = sequence(r), r.bool()
  local kw, dw = steps(c)
  return { rows(r, c, batch(c, c.frame, c.length), first),
    rows(r, c, batch(c, c.frame, c.wrong == 1 and c.count + 1 or c.count), first),
    row_weight(r, c), r.bool() and r.null or r.plain(c.frame),
    r.plain(batch(c, c.frame, c.kw, c.count)), r.out(), kw, dw, 0, first, r.pick(1, 0.5) }
end

-- ------------------------------------------------------------------ sub-sampling

function cases.SpatialSubSampling_updateOutput(r)
  local c = layer(r)
  return { r.tensor(batch(c, c.wrong == 1 and c.planes + 1 or c.planes, c.h,
    c.wrong == 2 and c.kw > 1 and c.kw - 1 or c.w)), r.out(), r.plain(c.planes), r.plain(c.planes),
    c.kw, c.kh, c.dw, c.dh }
end
function cases.SpatialSubSampling_updateGradInput(r)
  local c = layer(r)
  return { r.plain(batch(c, c.wrong == 1 and c.planes + 1 or c.planes, c.h, c.w)),
    r.tensor(batch(c, c.planes, c.oh, c.ow)), r.out(), r.plain(c.planes), c.kw, c.kh, c.dw, c.dh }
end
function cases.SpatialSubSampling_accGradParameters(r)
  local c = layer(r)
  return { r.tensor(batch(c, c.wrong == 1 and c.planes + 1 or c.planes, c.h, c.w)),
    r.tensor(batch(c, c.planes, c.oh, c.ow)), r.plain(c.planes), r.plain(c.planes), c.kw, c.kh,
    c.dw, c.dh, r.pick(1, 0.5) }
end


return cases
