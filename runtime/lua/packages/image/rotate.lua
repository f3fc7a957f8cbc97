--- image: rotated images, and images in polar coordinates.
-- @module image_rotate

local th, image = ...
local fail = xlua.error -- luacheck: ignore 113

local select, type, floor, max = select, type, math.floor, math.max

local function rotate_arguments(n, a, b, c, d)
  if n == 4 then return a, b, c, d end
  if n == 3 and type(b) ~= 'number' then return a, b, c end
  if n == 2 or n == 3 then return nil, a, b, c end
  th.image_usage('image.rotate', 'Rotates an image around its middle.', [[
torch.Tensor!  image
number!  angle in radians
string  mode: simple | bilinear (default: simple)

torch.Tensor!  destination
torch.Tensor!  image
number!  angle in radians
string  mode: simple | bilinear (default: simple)]])
  fail('incorrect arguments', 'image.rotate')
end

--- An image that is rotated counterclockwise around its middle, in radians.
function image.rotate(...)
  local target, source, angle, mode = rotate_arguments(select('#', ...), ...)
  target = target or source.new()
  target:resizeAs(source)
  if mode == nil or mode == 'simple' then
    source.image.rotate(source, target, angle)
  elseif mode == 'bilinear' then
    source.image.rotateBilinear(source, target, angle)
  else
    fail('mode must be one of: simple | bilinear', 'image.rotate')
  end
  return target
end

local function polar_arguments(name, n, a, b, c, d)
  if n == 1 then return nil, a end
  if n == 4 or (n == 2 or n == 3) and type(b) ~= 'string' then return a, b, c, d end
  if n == 2 or n == 3 then return nil, a, b, c end
  th.image_usage(name, 'Makes an image with a row for each angle and a column for each radius.', [[
torch.Tensor!  image
string!  interpolation: simple | bilinear
string!  mode: valid | full

torch.Tensor!  destination
torch.Tensor!  image
string!  interpolation: simple | bilinear
string!  mode: valid | full]])
  fail('incorrect arguments', 'image.polar')
end

-- A function for one kind of polar coordinates.
local function polar_function(name, functions)
  return function(...)
    local target, source, interpolation, mode = polar_arguments(name, select('#', ...), ...)
    -- Torch7: has each of the two defaults for the other argument, so that both must be given.
    interpolation, mode = interpolation or 'valid', mode or 'simple'
    if target == nil then
      local side = floor(max(source:size(2), source:size(3)))
      target = source.new()
      target:resize(source:size(1), side, side)
    end
    local convert = functions[interpolation]
    if not convert then fail('interpolation must be one of: simple | bilinear', name) end
    if mode ~= 'full' and mode ~= 'valid' then fail('mode must be one of: valid | full', name) end
    source.image[convert](source, target, mode == 'full' and 1 or 0)
    return target
  end
end

image.polar = polar_function('image.polar', { simple = 'polar', bilinear = 'polarBilinear' })
image.logpolar = polar_function('image.logpolar',
  { simple = 'logPolar', bilinear = 'logPolarBilinear' })

th.make_public(image, 'rotate polar logpolar')
