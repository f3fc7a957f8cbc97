--- signal: Fourier and cosine transforms, windows, cepstra and wavelets, with the interface of
-- Soumith Chintala's package for Torch7. The transforms are in Python (runtime/packages/signal.py).
-- @module signal

local signal = {}
for _, part in ipairs{ 'signal.convolution', 'signal.fft' } do
  for name, value in pairs(require(part)) do signal[name] = value end
end
signal.wavelet = require 'signal.wavelet'
signal.complex = require 'signal.complex'

return signal
