--- signal.wavelet: wavelet transforms.
-- @module signal_wavelet

local errors = import 'core.errors'
local convolution = require 'signal.convolution'
local xmath = require 'signal.extramath'

local wavelet = {}

local function kernel(first, second)
  return function(input)
    return convolution.conv1d(input, torch.Tensor{ first, second }:typeAs(input), 2)
  end
end

--- Haar's wavelet: the function that scales a signal, and that of the coefficients.
function wavelet.haar1d()
  return kernel(0.5, 0.5), kernel(0.5, -0.5)
end

function wavelet.daubechies1d()
  errors.fail('implementation not finished') -- in torch-signal, too
end

-- The signal with zeros behind it, up to a power of 2.
local function padded(input)
  local n = input:size(1)
  local whole = 2 ^ math.ceil(xmath.log2(n))
  if whole == n then return input end
  local result = torch.zeros(whole):typeAs(input)
  result:narrow(1, 1, n):copy(input)
  return result
end

--- The discrete wavelet transform.
-- @param phi scales a signal to half of its length
-- @param psi the coefficients of a signal
-- @return a table of the coefficients of each level, and the signal that is left
function wavelet.dwt1d(input, phi, psi, maxlevels)
  input = padded(input)
  local levels, output = xmath.log2(input:size(1)), {}
  for level = levels, 1, -1 do
    if maxlevels and levels - level == maxlevels then break end
    table.insert(output, psi(input))
    input = phi(input)
  end
  return output, input
end

errors.make_public(wavelet)

return wavelet
