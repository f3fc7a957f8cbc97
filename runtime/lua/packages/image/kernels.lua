--- image: kernels for convolutions.
-- @module image_kernels

local th, image = ...
local torch = th.torch
local dok = _G.dok

local type, assert, exp, pow, unpack = type, assert, math.exp, math.pow, unpack

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
  local given = dok.unpack({ ... }, 'image.gaussian', 'Makes a Gaussian kernel.',
    unpack(GAUSSIAN))
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
  local given = dok.unpack({ ... }, 'image.gaussian1D', 'Makes a Gaussian kernel.',
    unpack(GAUSSIAN_1D))
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
  local given = dok.unpack({ ... }, 'image.laplacian', 'Makes a Laplacian kernel.',
    unpack(LAPLACIAN))
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
