--- image: mirrored images.
-- @module image_flip

local th, image = ...
local fail = xlua.error -- luacheck: ignore 113

local select, error, unpack = select, error, unpack

-- Makes the function that mirrors images to the left or upside down.
local function mirror_function(short)
  local name = 'image.' .. short
  return function(...)
    local n = select('#', ...)
    local target, source
    if n == 2 then
      target, source = ...
    elseif n == 1 then
      source = (...)
    else
      th.image_usage(name, 'Mirrors an image.', [[
torch.Tensor!  image

torch.Tensor!  destination
torch.Tensor!  image]])
      fail('incorrect arguments', name)
    end
    if source:dim() == 2 and not source:isContiguous() then
      fail('2D input tensor is not contiguous', name)
    end
    target = target or source.new()
    local sizes = source:size()
    if source:nDimension() == 2 then
      source = source.new(source):resize(1, source:size(1), source:size(2))
    end
    target:resizeAs(source)
    if not target:isContiguous() then fail('destination tensor is not contiguous', name) end
    target.image[short](target, source)
    target:resize(sizes)
    return target
  end
end

image.hflip = mirror_function('hflip')
image.vflip = mirror_function('vflip')

local MAX_DIMENSIONS = 5

--- A tensor of up to five dimensions that is mirrored along one of them.
function image.flip(...)
  local n = select('#', ...)
  local target, source, dimension
  if n == 3 then
    target, source, dimension = ...
  elseif n == 2 then
    source, dimension = ...
  else
    th.image_usage('image.flip', 'Mirrors a tensor along one dimension.', [[
torch.Tensor!  image
number!  dimension

torch.Tensor!  destination
torch.Tensor!  image
number!  dimension]])
    fail('incorrect arguments', 'image.flip')
  end
  local dims = source:nDimension()
  if dims > MAX_DIMENSIONS then error('too many input dims (up to 5D supported)', 0) end
  if dimension > dims or dimension < 1 then error('Bad flip dimension', 0) end
  if not source:isContiguous() then fail('input tensor is not contiguous', 'image.flip') end
  local sizes, padded = source:size(), {}
  for d = 1, MAX_DIMENSIONS do
    local own = d - (MAX_DIMENSIONS - dims)
    padded[d] = own < 1 and 1 or sizes[own]
  end
  source = source.new(source):resize(unpack(padded))
  target = target or source.new()
  target:resizeAs(source)
  if not target:isContiguous() then fail('destination tensor is not contiguous', 'image.flip') end
  target.image.flip(target, source, dimension + MAX_DIMENSIONS - dims)
  target:resize(sizes)
  return target
end

th.make_public(image, 'hflip vflip flip')
