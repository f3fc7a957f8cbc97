--- image: parts of images, and images that are moved, scaled, turned, mirrored and warped.
-- @module image_geometry

local image, arguments = ...
local errors = import 'core.errors'
local fail = xlua.error

local floor, max, min = math.floor, math.max, math.min

-- A new image; with as many planes as another one, where that has planes.
local function new_image(like, has_planes, height, width)
  if has_planes then return like.new(like:size(1), height, width) end
  return like.new(height, width)
end

-- ------------------------------------------------------------ parts and moves

-- Fractions of the room around a part of an image that are left before it, by the part's place.
local PLACES = {
  c = { 1 / 2, 1 / 2 }, tl = { 0, 0 }, tr = { 1, 0 }, bl = { 0, 1 }, br = { 1, 1 },
}

local function placed(source, format, width, height)
  local place = PLACES[format]
  if not place then errors.fail('crop format must be "c"|"tl"|"tr"|"bl"|"br"') end
  local d = source:nDimension() == 3 and 3 or 2
  local x, y = (source:size(d) - width) * place[1], (source:size(d - 1) - height) * place[2]
  if format == 'c' then x, y = floor(x), floor(y) end
  return x, y, x + width, y + height
end

-- A format stands before width and height.
local read_crop = arguments.reader{
  name = 'image.crop', least = 3, most = 5,
  has_target = function(n, _, second, third)
    if n == 4 then return type(second) ~= 'string' end
    return type(third) == 'string'
  end,
}

--- A part of an image. A destination that is given has another size: the part is scaled to it.
-- Torch7: without the far edges, the destination tells the size, and nothing is returned.
function image.crop(...)
  local target, source, x, y, x_end, y_end = read_crop(...)
  for i, number in pairs{ type(x) ~= 'string' and x or nil, y, x_end, y_end } do
    errors.check_argument((target and 2 or 1) + i, number, 'number')
  end
  if type(x) == 'string' then x, y, x_end, y_end = placed(source, x, y, x_end) end
  if x_end == nil then
    source.image.cropNoScale(source, target, x, y)
    return
  end
  local part = new_image(source, source:nDimension() > 2, y_end - y, x_end - x)
  source.image.cropNoScale(source, part, x, y)
  if not target then return part end
  image.scale(target, part)
  return target
end

local read_translation = arguments.reader{ name = 'image.translate', least = 3 }

--- An image that is moved; what was not in it is 0.
function image.translate(...)
  local target, source, x, y = read_translation(...)
  target = arguments.like(target, source)
  source.image.translate(source, target ~= source and target:zero() or target, x, y)
  return target
end

-- ---------------------------------------------------------------------- sizes

-- The width and height that a size means, for an image of some width and height; nil where it is
-- none. Numbers may be strings of digits, and need not be whole.
local function resolved_size(size, width, height)
  local factor, divisor = tonumber(size), max(width, height)
  if not factor then
    local w, h = size:match('(%d+)x(%d+)')
    if w then return w, h end
    factor, divisor = tonumber(size:match('%^(%d+)')), min(width, height)
  end
  if not factor then factor, divisor = size:match('%*(%d+)%/(%d+)') end
  if not factor then factor, divisor = tonumber(size:match('%*(.+)')), 1 end
  if factor then return width * factor / divisor, height * factor / divisor end
end

-- Destination, source, width, height, size and mode.
local function scale_arguments(n, a, b, c, d)
  if n == 4 then return nil, a, b, c, nil, d end
  if n == 3 and type(c) ~= 'string' then return nil, a, b, c end
  if n == 2 or n == 3 then
    if type(b) == 'string' or type(b) == 'number' then return nil, a, nil, nil, b, c end
    return a, b, nil, nil, nil, c
  end
  fail('incorrect arguments', 'image.scale')
end

local SCALING = { bilinear = 'scaleBilinear', bicubic = 'scaleBicubic', simple = 'scaleSimple' }

--- An image in another size.
function image.scale(...)
  local target, source, width, height, size, mode = scale_arguments(select('#', ...), ...)
  errors.check_argument((target or width == nil and not size) and 2 or 1, source, 'torch.Tensor')
  if size then
    local d = source:nDimension() == 3 and 3 or 2
    width, height = resolved_size(size, source:size(d), source:size(d - 1))
  end
  if not target and (not width or not height) then
    fail('could not find valid dest size', 'image.scale')
  end
  if not target then
    errors.check_argument(2, width, 'number')
    errors.check_argument(3, height, 'number')
    width, height = max(width, 1), max(height, 1) -- which makes numbers of strings, too
    target = new_image(source, source:nDimension() == 3, height, width)
  end
  local name = SCALING[mode or 'bilinear']
  if not name then fail('mode must be one of: simple | bicubic | bilinear', 'image.scale') end
  source.image[name](source, target)
  return target
end

-- -------------------------------------------------------------------- turning

local read_rotation = arguments.reader{
  name = 'image.rotate', least = 2, most = 3,
  has_target = function(_, _, second) return type(second) ~= 'number' end,
}

--- An image that is rotated counterclockwise around its middle, in radians.
function image.rotate(...)
  local target, source, angle, mode = read_rotation(...)
  target = arguments.like(target, source)
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
  local read = arguments.reader{
    name = name, least = 1, most = 3, of = 'image.polar',
    has_target = function(_, _, second) return type(second) ~= 'string' end,
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

-- -------------------------------------------------------------------- mirrors

-- Makes the function that mirrors images to the left or upside down.
local function mirror_function(short)
  local name = 'image.' .. short
  local read = arguments.reader{ name = name }
  return function(...)
    local target, source = read(...)
    if source:dim() == 2 and not source:isContiguous() then
      fail('2D input tensor is not contiguous', name)
    end
    local sizes = source:size()
    if source:nDimension() == 2 then
      source = source.new(source):resize(1, source:size(1), source:size(2))
    end
    target = arguments.like(target, source)
    if not target:isContiguous() then fail('destination tensor is not contiguous', name) end
    target.image[short](target, source)
    target:resize(sizes)
    return target
  end
end

image.hflip = mirror_function('hflip')
image.vflip = mirror_function('vflip')

local DIMENSIONS = 5 -- as many as the Python half of `flip` takes

local read_flip = arguments.reader{
  name = 'image.flip', least = 2, kinds = { 'torch.Tensor', 'number' },
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
    local source_dimension = d - (DIMENSIONS - dims)
    padded[d] = source_dimension < 1 and 1 or sizes[source_dimension]
  end
  source = source.new(source):resize(unpack(padded))
  target = arguments.like(target, source)
  if not target:isContiguous() then fail('destination tensor is not contiguous', 'image.flip') end
  target.image.flip(target, source, dimension + DIMENSIONS - dims)
  target:resize(sizes)
  return target
end

-- ---------------------------------------------------------------------------------------- warping

local MODES = { simple = 0, bilinear = 1, bicubic = 2, lanczos = 3 }
local CLAMP_MODES = { clamp = 0, pad = 1 }

-- Reads the arguments of both functions: (destination, image, field or matrix, mode, extra, clamp,
-- pad value), of which the destination, and all from the mode on, may be left out.
local function read_warp(n, ...)
  local first = n >= 3 and type((select(3, ...))) ~= 'string' and 2 or 1
  local target
  if first == 2 then target = (...) end
  if target ~= nil then errors.check_argument(1, target, 'torch.Tensor') end
  local source, field, mode, extra, clamp, pad = select(first, ...)
  for i = first, first + 1 do errors.check_argument(i, (select(i, ...)), 'torch.Tensor') end
  local given = n - first + 1
  if given < 3 then mode = 'bilinear' end
  if given < 5 then clamp = 'clamp' end
  if given >= 6 and clamp ~= 'pad' then
    error('pad_value can only be specified if clamp_mode = "pad"', 0)
  end
  if given >= 7 then
    fail('incorrect arguments', 'image.warp')
  end
  if not MODES[mode] then
    fail('Incorrect arguments (mode is not lanczos | bicubic | bilinear | simple)!', 'image.warp')
  elseif not CLAMP_MODES[clamp] then
    fail('Incorrect arguments (clamp_mode is not clamp | pad)!', 'image.warp')
  end
  return target, source, field, MODES[mode], CLAMP_MODES[clamp], pad or 0, extra, given >= 4
end

-- An image whose pixels come from the places in a field.
local function warped(target, source, field, mode, is_offset, clamp, pad)
  local is_flat = source:nDimension() == 2
  if is_flat then source = source:reshape(1, source:size(1), source:size(2)) end
  target = target or source.new()
  target:resize(source:size(1), field:size(2), field:size(3))
  source.image.warp(target, source, field, mode, is_offset, clamp, pad)
  return is_flat and target[1] or target
end

--- An image whose pixels come from the places in a field of (y, x).
function image.warp(...)
  local target, source, field, mode, clamp, pad, offset, has_offset
    = read_warp(select('#', ...), ...)
  local is_offset = not has_offset or offset and true or false
  return warped(target, source, field, mode, is_offset, clamp, pad)
end

-- For each pixel of an image its distance from the middle, (y, x), to the left and upwards.
local function from_middle(height, width)
  local grid = torch.Tensor():resize(2, height, width)
  grid[1] = torch.ger(torch.linspace(-1, 1, height), torch.ones(width)) * ((height - 1) / 2) * -1
  grid[2] = torch.ger(torch.ones(height), torch.linspace(-1, 1, width)) * ((width - 1) / 2) * -1
  return grid
end

--- An image whose pixels come from the places that a matrix of 2 x 2 makes of (y, x), which are
-- counted from the middle; a translation is taken away from these.
function image.affinetransform(...)
  local target, source, matrix, mode, clamp, pad, translation, has_translation
    = read_warp(select('#', ...), ...)
  if not has_translation then translation = torch.Tensor{ 0, 0 } end
  local first = source:nDimension() == 2 and 1 or 2
  local height, width = source:size(first), source:size(first + 1)
  local grid = from_middle(height, width)
  matrix = matrix:typeAs(torch.Tensor())
  local field = grid - torch.mm(matrix, grid:view(2, height * width)):view(2, height, width)
  translation = torch.Tensor(translation)
  field[1] = field[1] - translation[1]
  field[2] = field[2] - translation[2]
  return warped(target, source, field, mode, true, clamp, pad)
end
