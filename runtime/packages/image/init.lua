--- image: loading, saving, changing and drawing images, with the interface of Torch7's package.
--
-- The functions on pixels are in Python (runtime/packages/image). They are reached, as in the
-- original, by the fields image, libpng, libjpeg and libppm of the tensor classes that have them;
-- here are the functions that programs call.
-- @module image

local bridge, c_structs, errors = import('core.bridge', 'core.c_structs', 'core.errors')

local NATIVE = {
  image = 'scaleSimple scaleBilinear scaleBicubic rotate rotateBilinear polar polarBilinear '
    .. 'logPolar logPolarBilinear translate cropNoScale warp saturate rgb2y rgb2hsv rgb2hsl '
    .. 'hsv2rgb hsl2rgb rgb2lab lab2rgb gaussian vflip hflip flip colorize text drawRect',
  libpng = 'load size save', libjpeg = 'load size save', libppm = 'load size save',
}

local image = {}
local tables = { image = image, libpng = {}, libjpeg = {}, libppm = {} }

local function native_functions(library, dtype)
  local functions = {}
  for name in NATIVE[library]:gmatch('%S+') do
    local key = library == 'image' and name or library .. '.' .. name
    functions[name] = bridge.package_function('image', key, dtype.index)
  end
  return functions
end

for _, dtype in ipairs(c_structs.dtypes) do
  if dtype.name == 'Byte' or dtype.name == 'Float' or dtype.name == 'Double' then
    local mt = torch.getmetatable(dtype.tensor_name)
    for library in pairs(NATIVE) do
      mt[library] = native_functions(library, dtype)
      tables[library][dtype.name:lower()] = mt[library]
    end
  end
end
for library, functions in pairs(tables) do _G[library] = functions end
require 'dok'

for part in ('files geometry colours filters display'):gmatch('%S+') do
  import.instance('packages.image.' .. part, image)
end
errors.make_public(image)

return image
