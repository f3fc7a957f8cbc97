--- image: the range of an image's values, many images as one, showing them (at the prompt or as
-- files), and text and rectangles in them.
-- @module image_display

local image, arguments = ...
local errors, front_end = import('core.errors', 'core.front_end')
local new_file = import 'packages.picture_file'
local fail = xlua.error

local print = print
local abs, max, min = math.abs, math.max, math.min
local floor, ceil = math.floor, math.ceil

--- An image whose values are moved to the range from 0 to 1.
-- @param args a table: tensor, min, max, symm, inplace, saturate, tensorOut
function image.minmax(args)
  errors.check_argument(1, args, 'table')
  if not torch.isTensor(args.tensor) then fail('missing tensor', 'image.minmax') end
  local tensor, least, largest = args.tensor, args.min, args.max
  local saturate = args.saturate and not (least == nil and largest == nil)
  local result = args.tensorOut or args.inplace and tensor
    or torch.Tensor(tensor:size()):copy(tensor)
  if args.tensorOut then result:resize(tensor:size()):copy(tensor) end
  local symmetric = 0
  if least == nil and args.symm then
    symmetric = max(abs(result:min()), abs(result:max()))
    least = -symmetric
  elseif least == nil then
    least = result:min()
  end
  if least ~= 0 then result:add(-least) end
  if largest ~= nil then
    largest = largest - least
  else
    largest = args.symm and symmetric * 2 or result:max()
  end
  if largest ~= 0 then result:div(largest) end
  if saturate then result.image.saturate(result) end
  return result
end

-- One tensor of a list of images, or a copy of a tensor.
local function pack(input)
  local packed = torch.Tensor()
  if type(input) == 'table' and torch.isTensor(input[1]) then
    local dims = input[1]:dim()
    local planes = dims == 2 and 1 or input[1]:size(1)
    packed:resize(#input, planes, input[1]:size(dims - 1), input[1]:size(dims))
    for i, img in ipairs(input) do packed[i]:copy(img) end
  elseif torch.isTensor(input) then
    packed:resize(input:size()):copy(input)
  else
    errors.fail('Unknown or incompatbile type of input: ' .. torch.type(input))
  end
  return packed
end

-- Lays out images, the first dimension of a tensor, in rows; what is between them has the largest
-- value.
local function lay_out(packed, per_row, padding)
  local count, dims = packed:size(1), packed:dim()
  local columns = min(per_row, count)
  local rows = ceil(count / columns)
  local height, width = packed:size(dims - 1) + padding, packed:size(dims) + padding
  local grid = torch.Tensor()
  if dims == 4 then
    grid:resize(packed:size(2), height * rows, width * columns)
  else
    grid:resize(height * rows, width * columns)
  end
  grid:fill(packed:max())
  for i = 0, count - 1 do
    local y, x = floor(i / columns) * height, i % columns * width
    grid:narrow(dims - 2, floor(y + 1 + padding / 2), floor(height - padding))
      :narrow(dims - 1, floor(x + 1 + padding / 2), floor(width - padding)):copy(packed[i + 1])
  end
  return grid
end

-- The parameters of the functions below that have the same ones, by their names.
local PARAMETERS = {
  image = { type = 'torch.Tensor | table', req = true,
    help = 'image (HxW or KxHxW), several (Kx3xHxW) or a list' },
  padding = { type = 'number', help = 'pixels between images', default = 0 },
  nrow = { type = 'number', help = 'images in a row', default = 6 },
  scaleeach = { type = 'boolean', help = 'a range of values for each', default = false },
  min = { type = 'number', help = 'value that is black' },
  max = { type = 'number', help = 'value that is white' },
  symmetric = { type = 'boolean', help = 'a range with 0 in its middle', default = false },
  saturate = { type = 'boolean', help = 'cuts values off outside of min and max', default = true },
}
for name, parameter in pairs(PARAMETERS) do parameter.arg = name end
local INPUT = { arg = 'input', type = PARAMETERS.image.type, req = true,
  help = PARAMETERS.image.help }

local function is_coloured(planes)
  return planes == 1 or planes == 3
end

--- One image, with values from 0 to 1, of an image or of many, which are laid out in rows.
function image.toDisplayTensor(...)
  local given = arguments.unpack('image.toDisplayTensor', 'Makes one image of several.',
    { INPUT, PARAMETERS.padding, PARAMETERS.nrow, PARAMETERS.scaleeach, PARAMETERS.min,
      PARAMETERS.max, PARAMETERS.symmetric, PARAMETERS.saturate }, ...)
  local packed = pack(given.input)
  local function scale(tensor)
    image.minmax{ tensor = tensor, inplace = true, min = given.min, max = given.max,
      symm = given.symmetric, saturate = given.saturate }
    return tensor
  end
  local dims = packed:dim()
  local is_many = dims == 4 and is_coloured(packed:size(2))
    or dims == 3 and not is_coloured(packed:size(1))
  if given.scaleeach and is_many then
    for i = 1, packed:size(1) do scale(packed[i]) end
  end
  if dims == 2 or dims == 3 and not is_many then return scale(packed) end
  if not is_many then
    fail('packed must be a HxW or KxHxW or Kx3xHxW tensor, or a list of tensors',
      'image.toDisplayTensor')
  end
  local grid = lay_out(packed, given.nrow, given.padding)
  return given.scaleeach and grid or scale(grid)
end

-- -------------------------------------------------------------------- showing

local DISPLAYED = {
  PARAMETERS.image,
  { arg = 'zoom', type = 'number', help = 'how many times as large', default = 1 },
  PARAMETERS.min, PARAMETERS.max,
  { arg = 'legend', type = 'string', help = 'title', default = 'image.display' },
  { arg = 'win', type = 'table', help = 'what an earlier call has returned' },
  { arg = 'x', type = 'number', help = 'not used', default = 0 },
  { arg = 'y', type = 'number', help = 'not used', default = 0 },
  PARAMETERS.scaleeach,
  { arg = 'gui', type = 'boolean', help = 'not used', default = true },
  { arg = 'offscreen', type = 'boolean', help = 'shows nothing', default = false },
  PARAMETERS.padding, PARAMETERS.symmetric, PARAMETERS.nrow, PARAMETERS.saturate,
}

local function zoomed(picture, zoom)
  if zoom == 1 then return picture end
  local dims = picture:dim()
  return image.scale(picture, picture:size(dims) * zoom, picture:size(dims - 1) * zoom, 'simple')
end

-- Writes a picture to a file of its own, whose name a caller has for further pictures.
local function write(picture, file)
  file = file or new_file()
  image.savePNG(file, picture)
  return file
end

local SHOWN = {} -- the metatable of what was shown; `last`: by the latest call

--- Shows an image or many: at a prompt as pictures are shown there, else in a PNG file, whose name
-- is printed.
-- @return a table: image, what is shown, and file; given as `win`, its file is written again
function image.display(...)
  local given = arguments.unpack('image.display', 'Shows an image.', DISPLAYED, ...)
  local picture = image.toDisplayTensor{ input = given.image, padding = given.padding,
    nrow = given.nrow, saturate = given.saturate, scaleeach = given.scaleeach, min = given.min,
    max = given.max, symmetric = given.symmetric }
  local window = type(given.win) == 'table' and given.win or {}
  window.image = picture
  if given.offscreen then return window end
  if front_end.show_picture then
    front_end.show_picture(picture)
    SHOWN.last = setmetatable(window, SHOWN)
  else
    window.file = write(zoomed(picture, given.zoom), window.file)
    print(given.legend .. ': ' .. window.file)
  end
  return window
end

--- Torch7: opens a window of Qt. There are no windows here.
function image.window()
  fail('there are no windows here: image.display shows a picture at the prompt, or writes a file',
    'image.window')
end

-- ---------------------------------------------------------------------------------------- drawing

local RED, NO_COLOUR = { 255, 0, 0 }, { -1, -1, -1 }

-- The image to draw in: a copy, unless the options say otherwise.
local function canvas(source, options)
  assert(torch.isTensor(source) and source:dim() == 3 and source:size(1) == 3,
    'input image has to be a 3D tensor of shape 3 x H x W ')
  return options.inplace and source or source:clone()
end

--- An image with a text, in letters of 6 x 8 pixels.
-- @param x the column to the left of the text; y the row above it
-- @param options a table: color and bg of red, green and blue up to 255, size, wrap, inplace
function image.drawText(source, text, x, y, options)
  options = options or {}
  local result = canvas(source, options)
  if not text or not text:find('%S') then return result end
  local colour, ground = options.color or RED, options.bg or NO_COLOUR
  if options.wrap == nil then options.wrap = true end -- Torch7: in the caller's table
  source.image.text(result, text, x or 1, y or 1, options.size or 1, colour[1], colour[2],
    colour[3], ground[1], ground[2], ground[3], options.wrap and 1 or 0)
  return result
end

--- An image with the outline of a rectangle between two corners.
-- @param options a table: color, lineWidth, inplace
function image.drawRect(source, x1, y1, x2, y2, options)
  options = options or {}
  local result = canvas(source, options)
  if not (x1 and x2 and y1 and y2) then return result end
  local colour = options.color or RED
  source.image.drawRect(result, x1, y1, x2, y2, options.lineWidth or 1, colour[1], colour[2],
    colour[3])
  return result
end
