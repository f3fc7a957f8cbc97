--- image: mirrored images.
-- @module image_flip

local th, image = ...
local fail = xlua.error -- luacheck: ignore 113

local error, unpack = error, unpack

-- Makes the function that mirrors images to the left or upside down.
local function mirror_function(short)
  local name = 'image.' .. short
  local read = th.image_reader{
    name = name, does = 'Mirrors an image.', forms = th.image_forms'torch.Tensor!  image',
  }
  return function(...)
    local target, source = read(...)
    if source:dim() == 2 and not source:isContiguous() then
      fail('2D input tensor is not contiguous', name)
    end
    local sizes = source:size()
    if source:nDimension() == 2 then
      source = source.new(source):resize(1, source:size(1), source:size(2))
    end
    target = target or source.new()
    target:resizeAs(source)
    if not target:isContiguous() then fail('destination tensor is not contiguous', name) end
    target.image[short](target, source)
    target:resize(sizes)
    return target
  end
end

image.hflip = mirror_function('hflip')
image.vflip = mirror_function('vflip')

local DIMENSIONS = 5 -- that Python's half of `flip` takes

local read_flip = th.image_reader{
  name = 'image.flip', does = 'Mirrors a tensor along one dimension.', least = 2,
  forms = th.image_forms'torch.Tensor!  image\nnumber!  dimension',
}

--- A tensor of up to five dimensions that is mirrored along one of them.
function image.flip(...)
  local target, source, dimension = read_flip(...)
  local dims = source:nDimension()
  if dims > DIMENSIONS then error('too many input dims (up to 5D supported)', 0) end
  if dimension > dims or dimension < 1 then error('Bad flip dimension', 0) end
  if not source:isContiguous() then fail('input tensor is not contiguous', 'image.flip') end
  local sizes, padded = source:size(), {}
  for d = 1, DIMENSIONS do
    local own = d - (DIMENSIONS - dims)
    padded[d] = own < 1 and 1 or sizes[own]
  end
  source = source.new(source):resize(unpack(padded))
  target = target or source.new()
  target:resizeAs(source)
  if not target:isContiguous() then fail('destination tensor is not contiguous', 'image.flip') end
  target.image.flip(target, source, dimension + DIMENSIONS - dims)
  target:resize(sizes)
  return target
end
