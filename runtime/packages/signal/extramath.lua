--- signal.extramath: functions of numbers.
-- @module signal_extramath

local errors = import 'core.errors'

local xmath = {}

--- The nearest whole number; of two, the one that is farther from 0.
function xmath.round(x)
  return x >= 0 and math.floor(x + 0.5) or math.ceil(x - 0.5)
end

function xmath.log2(x) return math.log(x) / math.log(2) end

function xmath.nextpow2(x) return math.ceil(xmath.log2(math.abs(x))) end

errors.make_public(xmath)
return xmath
