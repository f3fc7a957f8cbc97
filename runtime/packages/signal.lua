--- signal: Fourier and cosine transforms, windows and cepstra, with the interface of Soumith
-- Chintala's package for Torch7. The transforms are in Python (runtime/packages/signal.py).
-- @module signal

local signal = { complex = require 'signal.complex' }
for name, value in pairs(require 'signal.fft') do signal[name] = value end

return signal
