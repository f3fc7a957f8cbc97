--- image: images of other sizes.
-- @module image_scale

local th, image = ...
local fail = xlua.error -- luacheck: ignore 113

local select, type, tonumber, max, min = select, type, tonumber, math.max, math.min

local function is_size(value)
  return type(value) == 'string' or type(value) == 'number'
end

-- The width and height that a size means, for an image of some width and height; nil where it is
-- none. Numbers may be strings of digits, and need not be whole.
local function resolve(size, width, height)
  local factor
  local longest = tonumber(size)
  if longest then
    local across = max(width, height)
    return width * longest / across, height * longest / across
  end
  local w, h = size:match('(%d+)x(%d+)')
  if w then return w, h end
  local shortest = tonumber(size:match('%^(%d+)'))
  if shortest then
    local across = min(width, height)
    return width * shortest / across, height * shortest / across
  end
  local up, down = size:match('%*(%d+)%/(%d+)')
  if up then return width * up / down, height * up / down end
  factor = tonumber(size:match('%*(.+)'))
  if factor then return width * factor, height * factor end
end

-- Destination, source, width, height, size and mode.
local function scale_arguments(n, a, b, c, d)
  if n == 4 then return nil, a, b, c, nil, d end
  if n == 3 and type(c) ~= 'string' then return nil, a, b, c end
  if n == 2 or n == 3 then
    if is_size(b) then return nil, a, nil, nil, b, c end
    return a, b, nil, nil, nil, c
  end
  th.image_usage('image.scale', 'Scales an image to another size.', [[
torch.Tensor!  image
number!  width
number!  height
string  mode: bilinear | bicubic | simple (default: bilinear)

torch.Tensor!  image
string | number!  size: "WxH", "MAX", "^MIN", "*SC", "*SCn/SCd" or a number, the longer side
string  mode: bilinear | bicubic | simple (default: bilinear)

torch.Tensor!  destination, which has the new size
torch.Tensor!  image
string  mode: bilinear | bicubic | simple (default: bilinear)]])
  fail('incorrect arguments', 'image.scale')
end

local MODES = { bilinear = 'scaleBilinear', bicubic = 'scaleBicubic', simple = 'scaleSimple' }

--- An image in another size.
function image.scale(...)
  local target, source, width, height, size, mode = scale_arguments(select('#', ...), ...)
  if size then
    local d = source:nDimension() == 3 and 3 or 2
    width, height = resolve(size, source:size(d), source:size(d - 1))
  end
  if not target and (not width or not height) then
    fail('could not find valid dest size', 'image.scale')
  end
  if not target then
    width, height = max(width, 1), max(height, 1)
    if source:nDimension() == 3 then
      target = source.new(source:size(1), height, width)
    else
      target = source.new(height, width)
    end
  end
  local name = MODES[mode or 'bilinear']
  if not name then fail('mode must be one of: simple | bicubic | bilinear', 'image.scale') end
  source.image[name](source, target)
  return target
end
