--- signal.fft: transforms, windows and cepstra.
-- @module signal_fft

local bridge, errors = import('core.bridge', 'core.errors')
local complex = require 'signal.complex'
local fail = errors.fail
local floor, cos, abs, pi = math.floor, math.cos, math.abs, math.pi

local python = bridge.python_half 'signal'

local signal = {}

local function check_type(input)
  local kind = input:type()
  if kind ~= 'torch.FloatTensor' and kind ~= 'torch.DoubleTensor' then
    -- luacheck: globals xlua
    xlua.error(('Unsupported precision of input tensor: %s  . Supported precision is Float/Double.')
      :format(kind))
  end
end

-- Tells whether a tensor has complex numbers in so many dimensions.
local function is_complex(input, dims)
  check_type(input)
  return input:dim() == dims + 1 and input:size(dims + 1) == 2
end

local function check_dimensions(input, dims, message)
  check_type(input)
  if input:dim() ~= dims then fail(message) end
end

-- ------------------------------------------------------------- Fourier transforms

-- Adds the transform `name` of tensors with `dims` dimensions over the last `rank` of them, and its
-- inverse, both of real or complex numbers.
local function add_transform(name, dims, rank, message)
  for prefix, is_inverse in pairs{ [''] = false, i = true } do
    signal[prefix .. name] = function(input)
      local complex_numbers = is_complex(input, dims)
      if not complex_numbers and input:dim() ~= dims then fail(message) end
      return python.transform(input, rank, complex_numbers, is_inverse)
    end
  end
end

add_transform('fft', 1, 1, 'Input has to be 1D Tensor of size N (Real FFT with N points) or '
  .. '2D Tensor of size Nx2 (Complex FFT with N points)')
add_transform('fft2', 2, 2, 'Input has to be 2D Tensor of size MxN (Real 2D FFT with MxN points) '
  .. 'or 3D Tensor of size MxNx2 (Complex FFT with MxN points')
add_transform('fft3', 3, 3, 'Input has to be 3D Tensor of size MxNxP (Real 3D FFT with MxNxP '
  .. 'points) or 4D Tensor of size MxNxPx2 (Complex FFT with MxNxP points')
add_transform('fftM', 2, 1, 'Input has to be 2D Tensor of size NxM (N real FFTs with M points) or '
  .. '3D Tensor of size NxMx2 (N complex FFTs with M points)')

-- Adds the transform of real numbers that leaves out the negative frequencies.
local function add_real(name, dims, rank, message)
  signal[name] = function(input)
    check_dimensions(input, dims, message)
    return python.transform_real(input, rank)
  end
end

add_real('rfft', 1, 1, 'Input has to be 1D Tensor of size N (Real FFT with N points)')
add_real('rfft2', 2, 2, 'Input has to be 2D Tensor of size NxM (Real FFT with NxM points)')
add_real('rfftM', 2, 1, 'Input has to be 2D tensor of size NxM (N real FFTs with M points).')

-- Adds the inverse of such a transform, of complex numbers in `dims` dimensions. Its second
-- argument is the last size of the result.
local function add_real_inverse(name, dims, rank, message)
  signal[name] = function(input, size)
    if not is_complex(input, dims) then fail(message) end
    size = size or (input:size(dims) - 1) * 2
    if not (type(size) == 'number' and size < math.huge) then fail('Size has to be a number') end
    return python.real_inverse(input, rank, size)
  end
end

add_real_inverse('irfft', 1, 1,
  'Input has to be 2D Tensor of size Nx2 (Complex input with N points)')
add_real_inverse('irfft2', 2, 2,
  'Input has to be 3D Tensor of size NxMx2 (Complex input with NxM points)')
add_real_inverse('irfftM', 2, 1, 'Input has to be 3D Tensor of size Nx(2*(M-1))x2')

-- ------------------------------------------------------------- cosine transforms

local DCT_MESSAGES = {
  'Input has to be 1D Tensor of size N (Real FFT with N points)',
  'Input has to be 2D Tensor of size NxM (Real FFT with NxM points)',
  'Input has to be 3D Tensor of size NxM (Real FFT with NxMxP points)',
}

for dims, message in ipairs(DCT_MESSAGES) do
  local name = dims == 1 and 'dct' or 'dct' .. dims
  for prefix, is_inverse in pairs{ [''] = false, i = true } do
    signal[prefix .. name] = function(input)
      check_dimensions(input, dims, message)
      return python.cosine(input, is_inverse)
    end
  end
end

-- ------------------------------------------------------------------------ windows

-- A tensor of n numbers, which a function of the index from 0 computes.
local function tensor_of(n, f)
  local out = torch.zeros(n)
  for i = 1, n do out[i] = f(i - 1) end
  return out
end

local function hann(i, last) return 0.5 * (1 - cos(2 * pi * i / last)) end

-- Adds a window: of n points, or the first n of n + 1 where it is periodic.
local function add_window(name, value)
  signal[name] = function(n, flag)
    local last = flag == 'periodic' and (n > 1 or name ~= 'blackman') and n or n - 1
    return tensor_of(n, function(i) return value(i, last) end)
  end
end

add_window('hann', hann)

add_window('blackman', function(i, last)
  if last == 0 then return 1 end
  i = math.min(i, last - i) -- both halves have the same numbers
  return 0.42 - 0.5 * cos(2 * pi * i / last) + 0.08 * cos(4 * pi * i / last)
end)

add_window('blackmanharris', function(i, last)
  return 0.35875 - 0.48829 * cos(2 * pi / last * i) + 0.14128 * cos(4 * pi / last * i)
    - 0.01168 * cos(6 * pi / last * i)
end)

-- Functions for the factor of a point in a window of `last` + 1 points, by the kind of window.
local SHAPES = {
  hamming = function(i, last) return 0.53836 - 0.46164 * cos(2 * pi * i / last) end,
  hann = hann,
  bartlett = function(i, last) return 2 / last * (last / 2 - abs(i - last / 2)) end,
}

local function shape_of(size, kind)
  local value = SHAPES[kind]
  if not value then return torch.DoubleTensor(size):fill(1) end
  return tensor_of(size, function(i) return value(i, size - 1) end):double()
end

-- Makes the result of a short-time transform.
local function rows_for(input, size, step, points)
  check_dimensions(input, 1, 'Need 1D Tensor input')
  local count = floor((input:size(1) - size) / step + 1)
  return input.new(count, points, 2):zero(), count
end

--- Transforms of windows that go along a signal, each a row.
-- @param kind what they are multiplied with: 'hamming', 'hann', 'bartlett'; nothing by default
function signal.stft(input, size, step, kind)
  local out, count = rows_for(input, size, step, size)
  if count > 0 then python.windows(input, shape_of(size, kind), step, out, false) end
  return out
end

-- Multiplies the windows of a signal with a shape in the signal itself, one after the other, and
-- makes the transform of each.
local function transform_in_place(input, shape, step, out)
  for row = 1, out:size(1) do
    local window = input:narrow(1, (row - 1) * step + 1, shape:size(1))
    window:copy(window:double():cmul(shape))
    out[row]:copy(signal.rfft(window))
  end
end

--- Transforms of windows of real numbers that go along a signal, without the negative frequencies.
-- torch-signal: multiplies the windows in the signal, which it changes, so that a part that several
-- windows share is multiplied several times; not in one whose elements do not follow each other.
function signal.rstft(input, size, step, kind)
  local out, count = rows_for(input, size, step, floor(size / 2 + 1))
  if count > 0 and SHAPES[kind] and input:isContiguous() then
    transform_in_place(input, shape_of(size, kind), step, out)
  elseif count > 0 then
    python.windows(input, shape_of(size), step, out, true)
  end
  return out
end

local LEAST = 0.01 -- is added to magnitudes: there is no logarithm of 0

--- The logarithms of the magnitudes of rstft, times 10; time goes along the second dimension.
function signal.spectrogram(input, size, step)
  check_type(input)
  local out = signal.rstft(input, size, step)
  local power = out:select(3, 1):clone():pow(2) + out:select(3, 2):clone():pow(2)
  return ((power + LEAST):log() * 10):transpose(1, 2)
end

-- ------------------------------------------------------------------------ phases

local ONE_DIMENSION = 'Input has to be 1D tensor'

--- Phases without jumps of more than `tol`, by default pi: multiples of 2 pi are added.
function signal.unwrap(a, tol)
  if a:dim() ~= 1 then fail(ONE_DIMENSION) end
  tol = abs(tol or pi)
  a = a:clone()
  for i = 1, a:size(1) - 1 do
    local jump = a[i + 1] - a[i]
    if abs(jump) > tol then a[i + 1] = a[i + 1] - 2 * pi * math.ceil((jump - tol) / (2 * pi)) end
  end
  return a
end

-- The nearest whole number; of two, the one that is farther from 0.
local function rounded(x)
  return x >= 0 and floor(x + 0.5) or math.ceil(x - 0.5)
end

-- Adds the phase of a lag of nd points.
local function shift_phase(y, nd)
  local n = y:size(1)
  local half = floor((n + 1) / 2)
  for i = 1, n do y[i] = y[i] + pi * nd * (i - 1) / half end
  return y
end

--- Phases without jumps and without the phase of a whole lag; and this lag.
function signal.rcunwrap(x)
  if x:dim() ~= 1 then fail(ONE_DIMENSION) end
  local y = signal.unwrap(x)
  local lag = rounded(y[floor((x:size(1) + 1) / 2) + 1] / pi)
  return lag == 0 and y or shift_phase(y, -lag), lag
end

--- Phases with the phase of a lag.
function signal.rcwrap(y, lag)
  if y:dim() ~= 1 then fail(ONE_DIMENSION) end
  y = y:clone()
  return (lag or 0) == 0 and y or shift_phase(y, lag)
end

-- ------------------------------------------------------------------------ cepstra

--- The complex cepstrum, and the lag that was taken out of the phases.
function signal.cceps(x)
  if not is_complex(x, 1) and x:dim() ~= 1 then
    fail('Input has to be 1D tensor or Nx2 2D tensor')
  end
  local h = signal.fft(x)
  local logarithms = h:clone()
  local phases, lag = signal.rcunwrap(complex.angle(h))
  logarithms:select(2, 1):copy(torch.log(complex.abs(h)))
  logarithms:select(2, 2):copy(phases)
  return complex.real(signal.ifft(logarithms)), lag
end

--- The signal with a complex cepstrum and a lag.
function signal.icceps(xhat, lag)
  check_dimensions(xhat, 1, ONE_DIMENSION)
  local h = signal.fft(xhat)
  h:select(2, 2):copy(signal.rcwrap(complex.imag(h), lag))
  return complex.real(signal.ifft(complex.exp(h)))
end

--- The real cepstrum.
function signal.rceps(x)
  check_dimensions(x, 1, ONE_DIMENSION)
  return complex.real(signal.ifft(torch.log(complex.abs(signal.fft(x)))))
end

--- The analytic signal, by Hilbert's transform.
function signal.hilbert(x)
  check_dimensions(x, 1, ONE_DIMENSION)
  local h, n = signal.fft(x), x:size(1)
  local half = floor((n + 1) / 2) -- frequencies of 0 and above, without that of n / 2
  if half > 1 then h:narrow(1, 2, half - 1):mul(2) end
  local first_negative = floor(n / 2) + 2
  if first_negative <= n then h:narrow(1, first_negative, n - first_negative + 1):zero() end
  return signal.ifft(h)
end

errors.make_public(signal)

return signal
