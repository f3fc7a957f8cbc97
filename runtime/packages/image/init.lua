--- image: loading, saving, changing and drawing images, with the interface of Torch7's package.
--
-- The functions on pixels are in Python (runtime/packages/image). They are reached, as in the
-- original, by the fields image, libpng, libjpeg and libppm of the tensor classes that have them;
-- here are the functions that programs call.
-- @module image

local bridge, c_structs, errors = import('core.bridge', 'core.c_structs', 'core.errors')
local type_names = import 'core.type_names'

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

-- -------------------------------------------------------------------------------------- arguments

-- Functions that read arguments.
local arguments = {}

--- Raises an error where a function was not called in a right way.
-- @param call the `name` of the function; the `complaint`, and whom it is `of` if not of itself
function arguments.need(is_right, call)
  if is_right then return end
  xlua.error(call.complaint or 'incorrect arguments', call.of or call.name)
end

local IS_RIGHT = { number = tonumber, ['torch.Tensor'] = torch.isTensor }

--- Reads arguments by names or in order, as xlua.unpack does, and checks numbers and tensors.
function arguments.unpack(name, does, params, ...)
  local given = _G.dok.unpack({ ... }, name, does, unpack(params))
  for _, param in ipairs(params) do
    local value, is_right = given[param.arg], IS_RIGHT[param.type]
    if value ~= nil and is_right and not is_right(value) and param.default ~= false then
      errors.fail(("bad argument '%s' to '%s' (%s expected, got %s)")
        :format(param.arg, name, param.type, type_names.typename(value) or type(value)))
    end
  end
  return given
end

--- A function that reads arguments which may begin with a destination; it returns the destination
-- or nil, and the others.
-- @param call as for `arguments.need`; of the arguments without a destination the `least` and the
--   `most`, 1 if not given; has_target(n, …), whether there is a destination among n arguments
--   whose number does not tell; the types that the `target` and the first arguments have to have,
--   `kinds`, if that is not one tensor
function arguments.reader(call)
  local least, most = call.least or 1, call.most or call.least or 1
  return function(...)
    local n = select('#', ...)
    arguments.need(n <= most + 1 and n >= least, call)
    local is_target = n > most or n > least and call.has_target(n, ...)
    for i, kind in ipairs(call.kinds or { 'torch.Tensor' }) do
      local at = is_target and i + 1 or i
      errors.check_argument(at, (select(at, ...)), kind)
    end
    if not is_target then return nil, ... end
    if (...) ~= nil then errors.check_argument(1, (...), call.target or 'torch.Tensor') end
    return ...
  end
end

--- The destination that a call has, or else a new one, with the sizes of an image.
function arguments.like(target, source)
  return (target or source.new()):resizeAs(source)
end

for part in ('files geometry colours filters display'):gmatch('%S+') do
  import.instance('packages.image.' .. part, image, arguments)
end
errors.make_public(image)

return image
