--- signal.convolution: a kernel that goes along a signal.
-- @module signal_convolution

local bridge, errors = import('core.bridge', 'core.errors')
local python = bridge.python_half 'signal'

local convolution = {}

--- The products of a kernel with each part of a signal, `stride` elements apart, summed up.
-- @param mode 'valid', or 'same' for as many results as elements by `stride`
function convolution.conv1d(input, kernel, stride, mode)
  local n, k = input:size(1), kernel:size(1)
  local size
  if mode == nil or mode == 'valid' then
    size = math.floor((n - k + stride) / stride)
  elseif mode == 'same' then
    size = math.floor(math.max(n / stride, k / stride))
  else
    errors.fail("Supported modes are 'valid' or 'same'")
  end
  return python.convolve(input, kernel:typeAs(input), size, stride)
end

errors.make_public(convolution)

return convolution
