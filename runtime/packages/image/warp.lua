--- image: images whose pixels are fetched from where a field or matrix says.
-- @module image_warp

local image = ...
local errors, arguments = import('core.errors', 'packages.image.arguments')
local fail = xlua.error

local MODES = { simple = 0, bilinear = 1, bicubic = 2, lanczos = 3 }
local CLAMP_MODES = { clamp = 0, pad = 1 }

local USAGE = [[
torch.Tensor!  image (KxHxW)
%s
string  mode: lanczos | bicubic | bilinear | simple (default: bilinear)
%s
string  what is outside of the image: clamp | pad (default: clamp)
number  value outside of the image, for "pad" (default: 0)]]

-- Reads the arguments of both functions: (destination, image, field or matrix, mode, extra, clamp,
-- pad value), of which the destination, and all from the mode on, may be left out.
local function read(name, usage, n, ...)
  local first = n >= 3 and type((select(3, ...))) ~= 'string' and 2 or 1
  local target
  if first == 2 then target = (...) end
  local source, field, mode, extra, clamp, pad = select(first, ...)
  for i = first, first + 1 do errors.check_argument(i, (select(i, ...)), 'torch.Tensor') end
  local given = n - first + 1
  if given < 3 then mode = 'bilinear' end
  if given < 5 then clamp = 'clamp' end
  if given >= 6 and clamp ~= 'pad' then
    error('pad_value can only be specified if clamp_mode = "pad"', 0)
  end
  if given >= 7 then
    arguments.usage(name, 'Fetches the pixels of an image from other places of it.',
      usage .. '\n\ntorch.Tensor!  destination\n' .. usage)
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
  local usage = USAGE:format('torch.Tensor!  field of (y, x) (2xHxW)',
    "boolean  whether places are offsets to the pixel's own (default: true)")
  local target, source, field, mode, clamp, pad, offset, has_offset
    = read('image.warp', usage, select('#', ...), ...)
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
  local usage = USAGE:format('torch.Tensor!  matrix for (y, x)',
    'torch.Tensor  translation (y, x) (default: 0, 0)')
  local target, source, matrix, mode, clamp, pad, translation, has_translation
    = read('image.affinetransform', usage, select('#', ...), ...)
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
