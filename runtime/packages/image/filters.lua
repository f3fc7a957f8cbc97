--- image: kernels for convolutions; convolutions, pyramids, and what grows or shrinks shapes.
-- @module image_filters

local image, arguments = ...
local errors = import 'core.errors'
local fail = xlua.error

local exp, pow, ceil, floor = math.exp, math.pow, math.ceil, math.floor

-- A parameter of a function that takes named arguments; a string as default names another one.
local function parameter(name, help, default, kind)
  local from = type(default) == 'string'
  return {
    arg = name, type = kind or 'number', help = help,
    default = not from and default or nil, defaulta = from and default or nil,
  }
end

local function in_plane(sigma)
  return {
    parameter('size', 'size of the kernel (size x size)', 3),
    parameter('sigma', 'deviation in both directions, as a part of the size', sigma),
    parameter('amplitude', 'largest value', 1),
    { arg = 'normalize', type = 'number', help = 'whether the sum is to be 1', default = false },
    parameter('width', 'width of the kernel', 'size'),
    parameter('height', 'height of the kernel', 'size'),
    parameter('sigma_horz', 'deviation across', 'sigma'),
    parameter('sigma_vert', 'deviation down', 'sigma'),
    parameter('mean_horz', 'middle across, as a part of the width', 0.5),
    parameter('mean_vert', 'middle down, as a part of the height', 0.5),
  }
end

local function check_result(tensor, dims)
  assert(tensor:dim() == dims, ('expecting %dD tensor'):format(dims))
  assert(tensor:nElement() > 0, 'expecting non-empty tensor')
end

local GAUSSIAN = in_plane(0.25)
GAUSSIAN[#GAUSSIAN + 1] = parameter('tensor', 'result, whose sizes hold', nil, 'torch.Tensor')

--- A kernel of the normal distribution in two dimensions.
function image.gaussian(...)
  local given = arguments.unpack('image.gaussian', 'Makes a Gaussian kernel.', GAUSSIAN, ...)
  if given.tensor then check_result(given.tensor, 2) end
  local kernel = given.tensor or torch.Tensor(given.height, given.width)
  kernel.image.gaussian(kernel, given.amplitude, given.normalize, given.sigma_horz,
    given.sigma_vert, given.mean_horz, given.mean_vert)
  return kernel
end

local GAUSSIAN_1D = {
  parameter('size', 'size of the kernel', 3),
  parameter('sigma', 'deviation, as a part of the size', 0.25),
  parameter('amplitude', 'largest value', 1),
  { arg = 'normalize', type = 'number', help = 'whether the sum is to be 1', default = false },
  parameter('mean', 'middle, as a part of the size', 0.5),
  parameter('tensor', 'result, whose size holds', nil, 'torch.Tensor'),
}

--- A kernel of the normal distribution in one dimension.
function image.gaussian1D(...)
  local given = arguments.unpack('image.gaussian1D', 'Makes a Gaussian kernel.', GAUSSIAN_1D, ...)
  if given.tensor then check_result(given.tensor, 1) end
  local size = given.tensor and given.tensor:size(1) or given.size
  local kernel = given.tensor or torch.Tensor(size)
  local middle = given.mean * size + 0.5
  for i = 1, size do
    kernel[i] = given.amplitude * exp(-(pow((i - middle) / (given.sigma * size), 2) / 2))
  end
  if given.normalize then kernel:div(kernel:sum()) end
  return kernel
end

local LAPLACIAN = in_plane(0.1)

--- A kernel of the second derivative of the normal distribution in two dimensions.
function image.laplacian(...)
  local given = arguments.unpack('image.laplacian', 'Makes a Laplacian kernel.', LAPLACIAN, ...)
  local width, height = given.width, given.height
  local middle_x, middle_y = given.mean_horz * width + 0.5, given.mean_vert * height + 0.5
  local kernel = torch.Tensor(height, width)
  -- Torch7: takes the row for the place across, and the column for that down.
  for y = 1, height do
    local row, across = kernel[y], pow((y - middle_x) / (given.sigma_horz * width), 2) / 2
    for x = 1, width do
      local distance = across + pow((x - middle_y) / (given.sigma_vert * height), 2) / 2
      row[x] = (1 - distance) * given.amplitude * exp(-distance)
    end
  end
  if given.normalize then kernel:div(kernel:sum()) end
  return kernel
end

-- -------------------------------------------------------------------- filters

local read_convolution = arguments.reader{
  name = 'image.convolve', least = 2, most = 3,
  has_target = function(_, _, _, third) return type(third) ~= 'string' end,
  kinds = { 'torch.Tensor', 'torch.Tensor' },
}

local AREAS = { full = 'F', same = 'F', valid = 'V' }

--- The convolution of an image with a kernel, or of each plane with the same one.
function image.convolve(...)
  local target, source, kernel, mode = read_convolution(...)
  if mode and not AREAS[mode] then
    fail('mode has to be one of: full | valid | same', 'image.convolve')
  end
  local area = AREAS[mode or 'valid']
  if kernel:nDimension() == 2 and source:nDimension() == 3 then
    local one = kernel
    kernel = source.new(source:size(1), one:size(1), one:size(2))
    for i = 1, source:size(1) do kernel[i]:copy(one) end
  end
  if target then
    torch.conv2(target, source, kernel, area)
  else
    target = torch.conv2(source, kernel, area)
  end
  if mode == 'same' then
    for d = target:dim() - 1, target:dim() do
      target = target:narrow(d, ceil(kernel:size(d) / 2), source:size(d))
    end
  end
  return target
end

local read_pyramid = arguments.reader{
  name = 'image.gaussianpyramid', least = 2, target = 'table', kinds = { 'torch.Tensor', 'table' },
}

--- A list of an image in several sizes, each made of the one before, which is smoothed.
function image.gaussianpyramid(...)
  local targets, source, scales = read_pyramid(...)
  targets = targets or {}
  local dims = source:nDimension()
  if dims ~= 2 and dims ~= 3 then fail('src image must be 2D or 3D', 'image.gaussianpyramid') end
  for i = 1, #scales do
    local target, scale = targets[i] or source.new(), tonumber(scales[i])
    if not scale then fail('scales must be numbers', 'image.gaussianpyramid') end
    local height, width = source:size(dims - 1) * scale, source:size(dims) * scale
    targets[i] = dims == 2 and target:resize(height, width)
      or target:resize(source:size(1), height, width)
  end
  local kernel = image.gaussian{ width = 3, normalize = true }:typeAs(source)
  local smooth = source
  for i = 1, #scales do
    if scales[i] == 1 then
      targets[i][{}] = smooth
    else
      image.scale(targets[i], smooth, 'simple')
    end
    smooth = image.convolve(targets[i], kernel, 'same')
  end
  return targets
end

local LCN_SIZE, LCN_SIGMA = 9, 1.591

--- A grey image whose brightness and contrast are made equal everywhere, without the borders that
-- the kernel does not reach.
function image.lcn(source, kernel)
  errors.check_argument(1, source, 'torch.Tensor')
  if kernel then errors.check_argument(2, kernel, 'torch.Tensor') end
  kernel = kernel
    or image.gaussian{ size = LCN_SIZE, sigma = LCN_SIGMA / LCN_SIZE, normalize = true }
  local im = source:clone():type('torch.DoubleTensor')
  if not (im:dim() == 2 or im:dim() == 3 and im:size(1) == 1) then
    errors.fail('grayscale image expected')
  end
  if im:dim() == 3 then im = im[1] end
  local mean, deviation = im:mean(), im:std()
  im:add(-mean):div(deviation)
  local local_mean = torch.conv2(im, kernel)
  local mean_of_squares = torch.conv2(torch.cmul(im, im), kernel)
  local variance = torch.cmul(local_mean, local_mean):add(-1, mean_of_squares):mul(-1)
  local contrast = variance:cmax(0):sqrt():cmax(1)
  local top, left = floor(kernel:size(1) / 2) + 1, floor(kernel:size(2) / 2) + 1
  local inner = im:narrow(1, top, contrast:size(1)):narrow(2, left, contrast:size(2)):clone()
  return inner:add(-1, local_mean):cdiv(contrast)
end

-- The sums of a kernel over an image with a border of some value.
local function kernel_sums(im, kernel, border)
  local down, across = kernel:size(1) / 2 - 0.5, kernel:size(2) / 2 - 0.5
  local height, width = im:size(1), im:size(2)
  local padded = torch.zeros(height + 2 * down, width + 2 * across):fill(border):typeAs(im)
  padded[{ { down + 1, height + down }, { across + 1, width + across } }]:copy(im)
  return padded:conv2(kernel)
end

local function need_image(im, kernel, name)
  arguments.need(im, { name = name, complaint = 'missing image' })
  errors.check_argument(1, im, 'torch.Tensor')
  if kernel then errors.check_argument(2, kernel, 'torch.Tensor') end
end

--- An image of 0 and 1 in which shapes shrink: 1 where all of the kernel is inside.
function image.erode(im, kernel, border)
  need_image(im, kernel, 'image.erode')
  kernel = kernel or torch.ones(3, 3):typeAs(im)
  return kernel_sums(im, kernel, border or 1):eq(kernel:sum()):typeAs(im)
end

--- An image of 0 and 1 in which shapes grow: 1 where any of the kernel is inside.
function image.dilate(im, kernel, border)
  need_image(im, kernel, 'image.dilate')
  kernel = image.hflip(image.vflip(kernel or torch.ones(3, 3):typeAs(im)))
  return kernel_sums(im, kernel, border or 0):gt(0):typeAs(im)
end
