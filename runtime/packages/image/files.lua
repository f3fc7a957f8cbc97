--- image: image files, and the bytes of such files in tensors.
-- @module image_files

local image, arguments = ...
local host, errors, python_calls = import('host', 'core.errors', 'core.python_calls')
local fail = xlua.error

local open = io.open
local MAX_BYTE, MAX_WORD = 255, 65535

-- ------------------------------------------------------------------- pixels

local TYPES = { float = torch.FloatTensor, double = torch.DoubleTensor, byte = torch.ByteTensor }

-- The functions of a library for the type that is to be loaded, which is a word or the default.
local function functions_of(library, kind)
  local tensor
  if not kind then tensor = torch.Tensor() elseif TYPES[kind] then tensor = TYPES[kind]() end
  if not tensor then fail('type must be one of: byte | float | double', 'image.load') end
  return tensor[library]
end

-- An image as one of 1 or 3 planes; any other depth leaves it as it is.
local function to_depth(img, depth)
  local flat, planes = img:nDimension() == 2, img:size(1)
  if depth == 1 and not flat then
    if planes == 3 or planes == 4 then return image.rgb2y(img:narrow(1, 1, 3))[1] end
    if planes == 2 then return img:narrow(1, 1, 1) end
    if planes ~= 1 then fail('image loaded has wrong #channels', 'image.todepth') end
  elseif depth == 3 and (flat or planes ~= 3) then
    if not flat and planes == 4 then return img:narrow(1, 1, 3) end
    if not flat and planes ~= 1 then fail('image loaded has wrong #channels', 'image.todepth') end
    local grey = flat and img or img[1]
    local coloured = img.new(3, grey:size(1), grey:size(2))
    for i = 1, 3 do coloured[i]:copy(grey) end
    return coloured
  end
  return img
end

-- Scales a file's numbers, which go to 255 or 65535, to those from 0 to 1, except for bytes.
local function finish(img, depth, kind, bits)
  if kind ~= 'byte' then img:mul(1 / (bits == 16 and MAX_WORD or MAX_BYTE)) end
  return to_depth(img, depth)
end

-- An image with values between 0 and 255 for a file.
local function to_bytes(at, img)
  errors.check_argument(at, img, 'torch.Tensor')
  if img:type() == 'torch.ByteTensor' then return img end
  local values = torch.Tensor():resize(img:size()):copy(img)
  values.image.saturate(values)
  return values:mul(MAX_BYTE)
end

-- --------------------------------------------------------- functions for each format

local FROM_FILE, FROM_MEMORY = 1, 0

-- Adds loadX, decompressX, saveX, compressX and getXsize for a format.
-- @param quality that of files, which compressX takes, too; nil for a format that loses nothing
local function add_format(name, library, quality)
  image['load' .. name] = function(file, depth, kind)
    local img, bits = functions_of(library, kind).load(FROM_FILE, file)
    return finish(img, depth, kind, bits)
  end
  image['decompress' .. name] = function(tensor, depth, kind)
    if torch.typename(tensor) ~= 'torch.ByteTensor' then
      fail(('Input tensor (with compressed %s) must be a byte tensor')
        :format(name == 'JPG' and 'jpeg' or 'png'), 'image.decompress' .. name)
    end
    local img, bits = functions_of(library, kind).load(FROM_MEMORY, tensor)
    return finish(img, depth, kind, bits)
  end
  image['save' .. name] = function(file, img)
    img = to_bytes(2, img)
    img[library].save(file, img, FROM_FILE, quality)
  end
  image['compress' .. name] = function(img, given)
    img = to_bytes(1, img)
    local bytes = torch.ByteTensor()
    if quality then
      img[library].save('', img, FROM_MEMORY, given or quality, bytes)
    else
      img[library].save('', img, FROM_MEMORY, bytes)
    end
    return bytes
  end
  image['get' .. name .. 'size'] = function(file)
    return torch.Tensor()[library].size(file)
  end
end

add_format('PNG', 'libpng')
add_format('JPG', 'libjpeg', 75)

function image.loadPPM(file, depth, kind)
  return finish(functions_of('libppm', kind).load(file), depth, kind)
end

local function save_ppm(file, img)
  img = to_bytes(2, img)
  img.libppm.save(file, img, FROM_FILE)
end

function image.savePPM(file, img)
  errors.check_argument(2, img, 'torch.Tensor')
  if img:nDimension() ~= 3 or img:size(1) ~= 3 then
    fail('can only save 3xHxW images as PPM', 'image.savePPM')
  end
  save_ppm(file, img)
end

function image.savePGM(file, img)
  errors.check_argument(2, img, 'torch.Tensor')
  if img:nDimension() == 3 and img:size(1) ~= 1 then
    fail('can only save 1xHxW or HxW images as PGM', 'image.savePGM')
  end
  save_ppm(file, img)
end

function image.getPPMsize(file)
  return torch.Tensor().libppm.size(file)
end

-- ------------------------------------------------------------------ any format

local formats = {}
for name, suffixes in pairs{ JPG = 'jpg jpeg JPEG JPG', PNG = 'png PNG', PPM = 'ppm PPM',
  PGM = 'pgm PGM' } do
  local reading = name == 'PGM' and 'PPM' or name
  local format = { loader = errors.public(image['load' .. reading]),
    saver = errors.public(image['save' .. name]),
    sizer = errors.public(image['get' .. reading .. 'size']) }
  for suffix in suffixes:gmatch('%a+') do formats[suffix] = format end
end
image.supported_filetypes = formats

--- Tells whether files with a suffix can be loaded.
function image.is_supported(suffix)
  return formats[suffix] ~= nil
end

local JPEG_START, PNG_START = '\255\216\255', '\137PNG'

local function format_of_bytes(bytes)
  if bytes:sub(1, #JPEG_START) == JPEG_START then return 'jpg' end
  if bytes == PNG_START then return 'png' end
  return bytes:match('^P[25]') and 'pgm' or bytes:match('^P[36]') and 'ppm' or nil
end

-- The format of a file, by its first bytes or else by its suffix.
local function format_of(file, name)
  local handle, message = open(file, 'rb')
  if not handle then errors.fail(message) end
  local bytes = handle:read(4) or ''
  handle:close()
  local suffix = format_of_bytes(bytes) or string.match(file, '%.(%a+)$')
  if image.is_supported(suffix) then return formats[suffix] end
  if not suffix then fail('unable to determine image type for file: ' .. file, name) end
  fail('unknown image type: ' .. suffix, 'image.load')
end

--- Loads an image file.
-- @param depth 1 or 3; nil for that of the file
-- @param kind 'float', 'double' or 'byte'; nil for the default type
function image.load(file, depth, kind)
  arguments.need(file, { name = 'image.load', complaint = 'missing file name' })
  return format_of(file, 'image.load').loader(file, depth, kind)
end

--- Depth, height and width of the image in a file.
function image.getSize(file)
  arguments.need(file, { name = 'image.getSize', complaint = 'missing file name' })
  return torch.LongTensor{ format_of(file, 'image.getSize').sizer(file) }
end

--- Saves an image in the format that the file's suffix names.
function image.save(file, img)
  arguments.need(file and img,
    { name = 'image.save', complaint = 'missing file name | tensor to save' })
  local suffix = string.match(file, '%.(%a+)$')
  if not image.is_supported(suffix) then
    fail('unknown image type: ' .. (suffix or file), 'image.save')
  end
  formats[suffix].saver(file, img)
end

--- The image of a JPEG or PNG file whose bytes are in a ByteTensor.
function image.decompress(tensor, depth, kind)
  if torch.typename(tensor) ~= 'torch.ByteTensor' then
    fail('Input tensor must be a byte tensor', 'image.decompress')
  end
  local start = ''
  if tensor:nElement() >= 4 then
    for i = 1, 4 do start = start .. string.char(tensor[i]) end
  end
  local format = format_of_bytes(start)
  if format == 'jpg' then return image.decompressJPG(tensor, depth, kind) end
  if format == 'png' then return image.decompressPNG(tensor, depth, kind) end
  fail('Input must be either jpg or png format', 'image.decompress')
end

-- ------------------------------------------------------------------ known pictures

-- A picture that comes with the original package, which a program may have in its path.
local function asset(name, depth, title)
  for folder in package.path:gmatch('([^;?]*)%?%.lua') do
    for _, suffix in ipairs{ '.jpg', '.png' } do
      local file = folder .. 'image/assets/' .. name .. suffix
      if python_calls.ask(host.os_kind, file) == 'file' then return image.load(file, depth) end
    end
  end
  fail(('the picture %s.jpg comes with the original package: '
    .. 'th --install https://github.com/torch/image brings it'):format(name), title)
end

function image.lena()
  return asset('grace_hopper_512', 3, 'image.lena')
end

function image.fabio()
  return asset('fabio', 1, 'image.fabio')
end
