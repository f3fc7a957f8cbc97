--- image: colour spaces, and maps from numbers to colours.
-- @module image_colours

local image, arguments = ...
local errors = import 'core.errors'

local min, max, fmod, abs, floor = math.min, math.max, math.fmod, math.abs, math.floor

-- ---------------------------------------------------------------- colour spaces

-- Reads the arguments of a function that takes an optional destination and one source.
local function reader(name)
  return arguments.reader{ name = 'image.' .. name, complaint = 'missing input' }
end

-- Adds the function that converts images, as Python computes them.
local function add_conversion(short)
  local read = reader(short)
  image[short] = function(...)
    local target, source = read(...)
    target = arguments.like(target, source)
    source.image[short](source, target)
    return target
  end
end

for name in ('rgb2hsl hsl2rgb rgb2hsv hsv2rgb rgb2lab lab2rgb'):gmatch('%S+') do
  add_conversion(name)
end

-- Adds a conversion whose planes are sums of the source's planes with weights.
-- @param weights for each plane of the result the weights of the source's planes; a first weight of
--   1 stands for the plane itself
local function add_sums(short, weights)
  local read = reader(short)
  image[short] = function(...)
    local target, source = read(...)
    target = arguments.like(target, source)
    local planes = { source[1], source[2], source[3] }
    local results = { target[1], target[2], target[3] }
    for i, row in ipairs(weights) do
      local result = results[i]
      if row[1] == 1 then result:copy(planes[1]) else result:zero():add(row[1], planes[1]) end
      for j = 2, 3 do
        if row[j] ~= 0 then result:add(row[j], planes[j]) end
      end
    end
    return target
  end
end

add_sums('rgb2yuv', {
  { 0.299, 0.587, 0.114 }, { -0.14713, -0.28886, 0.436 }, { 0.615, -0.51499, -0.10001 },
})
add_sums('yuv2rgb', {
  { 1, 0, 1.13983 }, { 1, -0.39465, -0.58060 }, { 1, 2.03211, 0 },
})

local read_grey = reader 'rgb2y'

--- The brightness of an image, as one plane.
function image.rgb2y(...)
  local target, source = read_grey(...)
  target = target or source.new()
  target:resize(1, source:size(2), source:size(3))
  local _ = source[3] -- an image that has no such plane is an error here
  source.image.rgb2y(source, target[1])
  return target
end

local DARKEST = 1e-6 -- added to sums, by which nothing is then divided that is 0

local read_normalized = reader 'rgb2nrgb'

--- An image whose colours are divided by the sum of red, green and blue.
function image.rgb2nrgb(...)
  local target, source = read_normalized(...)
  target = arguments.like(target, source)
  local sum = source.new():resize(source:size(2), source:size(3))
  sum:copy(source[1]):add(source[2]):add(source[3]):add(DARKEST)
  target:copy(source)
  for i = 1, 3 do target[i]:cdiv(sum) end
  return target
end

-- --------------------------------------------------------------------- colour maps

local HUE_STEP, SATURATION_STEP = 39, 1 / 9
local LIGHTNESS, LEAST_SATURATION = 0.5, 0.3

-- For each sixth of the circle of hues, which of red, green and blue is the largest (1), the second
-- (2) and the least (3).
local ORDERS = {
  [0] = { 1, 2, 3 }, { 2, 1, 3 }, { 3, 1, 2 }, { 3, 2, 1 }, { 2, 3, 1 }, { 1, 3, 2 },
}

-- Red, green and blue of a hue between 0 and 360 at half lightness.
local function of_hue(hue, saturation)
  local chroma = (1 - abs(2 * LIGHTNESS - 1)) * saturation
  local sector = hue / 60
  local second = chroma * (1 - abs(fmod(sector, 2) - 1))
  local least, order = LIGHTNESS - chroma / 2, ORDERS[floor(sector)]
  local levels = { chroma + least, second + least, least }
  return levels[order[1]], levels[order[2]], levels[order[3]]
end

--- So many colours that are easy to tell from each other, a row for each.
function image.colormap(count)
  local map = torch.Tensor(count, 3)
  local hue, saturation = 0, 0
  for i = 1, count do
    local row = map[i]
    row[1], row[2], row[3] = of_hue(fmod(hue, 360),
      fmod(saturation, 1 - LEAST_SATURATION) + LEAST_SATURATION)
    hue, saturation = hue + HUE_STEP, saturation + SATURATION_STEP
  end
  return map
end

local function ramp(value, up, down)
  return max(min(value + up, down - value, 1), 0)
end

--- So many colours from blue by green to red, a row for each.
function image.jetColormap(count)
  local map = torch.Tensor(count, 3)
  for i = 1, count do
    local row, value = map[i], 4 * i / count
    row[1], row[2], row[3] = ramp(value, -1.5, 4.5), ramp(value, -.5, 3.5), ramp(value, .5, 2.5)
  end
  return map
end

--- An image of the colours that jetColormap gives for levels from 1 on.
function image.y2jet(...)
  local n = select('#', ...)
  if n ~= 1 and n ~= 2 then errors.fail('Invalid input for image.y2jet()') end
  local source, target = select(n, ...), nil
  if n == 2 then target = (...) end
  errors.check_argument(n, source, 'torch.Tensor')
  if source:dim() == 3 and source:size(1) == 1 then
    source = source.new(source):resize(source:size(2), source:size(3))
  elseif source:dim() == 1 then
    source = source.new(source):resize(1, source:size(1))
  end
  target = target or source.new()
  local map = image.jetColormap(source:max())
  if torch.type(source) == 'torch.ByteTensor' then
    map = map:mul(255):round():clamp(0, 255):byte()
  else
    map = map:typeAs(source)
  end
  source.image.colorize(target, source - 1, map)
  return target
end
