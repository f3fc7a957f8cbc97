-- Calls with wrong or empty tensors, nans and infinities: the message, or the name and the result.
require 'nn.THNN'
local N, T, nan, inf = torch.getmetatable('torch.DoubleTensor').THNN, torch.DoubleTensor, 0 / 0, 1 / 0
local function try(name, ...)
  local args, n = { ... }, select('#', ...)
  for k = 1, n do if torch.isTensor(args[k]) then args[k] = args[k]:cdata() end end
  local ok, message = pcall(function() N[name](unpack(args, 1, n)) end)
  print(ok and name or (message:gsub('^[^:]*:%d+: ', ''):gsub(' at [^ ]*%.c:%d+', '')))
end
local function show(t) print(table.concat(t:view(-1):totable(), ' ')) end
local x, out = T{ { nan, 3, -3 } }, T()
try('HardTanh_updateOutput', x, out, -1, 1, true) show(x)
try('HardTanh_updateOutput', T{ { 0, 3, -3 } }, out, 2, -2, false) show(out)
try('MultiMarginCriterion_updateGradInput', T{ 5, 0 }, torch.LongTensor{ 1 }, out, true, 2, T{ inf, 1 }, 1) show(out)
try('BatchNormalization_backward', T{ { inf }, { 2 } }, T{ { 1 }, { 2 } }, out, nil, nil, nil, T{ 0 },
  T{ 1 }, T{ 0 }, T{ 1 }, false, 1, 0) show(out)
local w = T{ { inf, 1 }, { 2, 3 } }
try('IndexLinear_updateParameters', T{ { 1, 1 } }, T{ 0, 0 }, w, T{ 0, 0 }, torch.LongTensor{ 1 }, torch.LongTensor(1):zero(), -1, 0, 1) show(w)
try('RReLU_updateGradInput', T{ nan }, T{ 4 }, out, T{ 1 }, 0.5, 0.5, true, false) show(out)
try('RReLU_updateOutput', T(), out, T(), 0.1, 0.2, true, false, require('ffi').typeof('THGenerator**')(torch._gen)[0])
try('ClassNLLCriterion_updateGradInput', T(), torch.LongTensor{ 1 }, out, true, nil, T{ 1 }, 0)
try('ClassNLLCriterion_updateGradInput', T{ 1, 2 }, torch.LongTensor{ 1 }, out, true, T{ 1 }, T{ 1 }, 0)
try('LookupTable_renorm', torch.LongTensor{ 1 }, T(), 1, 2)
try('PReLU_updateOutput', T(2, 3):zero(), out, T{ 1 }, 100)
try('PReLU_accGradParameters', T(2, 3):zero(), T(2, 3):zero(), nil, nil, T{ 1 }, nil, nil, -1, 1)
