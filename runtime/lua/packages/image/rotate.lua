--- image: rotated images, and images in polar coordinates.
-- @module image_rotate

local th, image = ...
local fail = xlua.error -- luacheck: ignore 113

local type, floor, max = type, math.floor, math.max

local read_rotation = th.image_reader{
  name = 'image.rotate', does = 'Rotates an image around its middle.', least = 2, most = 3,
  forms = th.image_forms[[
torch.Tensor!  image
number!  angle in radians
string  mode: simple | bilinear (default: simple)]],
  has_target = function(_, _, second) return type(second) ~= 'number' end,
}

--- An image that is rotated counterclockwise around its middle, in radians.
function image.rotate(...)
  local target, source, angle, mode = read_rotation(...)
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

-- A function for one kind of polar coordinates.
local function polar_function(name, functions)
  local read = th.image_reader{
    name = name, does = 'Makes an image with a row for each angle and a column for each radius.',
    forms = th.image_forms[[
torch.Tensor!  image
string!  interpolation: simple | bilinear
string!  mode: valid | full]],
    least = 1, most = 3, has_target = function(_, _, second) return type(second) ~= 'string' end,
    of = 'image.polar',
  }
  return function(...)
    local target, source, interpolation, mode = read(...)
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
