-- Calls functions of nn's backend with odd numbers in the place of each of their whole numbers, and
-- prints what each call answers. Arguments: those of run_cases.lua up to the count of cases, and
-- for each function its name and the positions of its whole numbers, "name:3,4".
local THNN = require 'nn.THNN'

-- false stands for nil.
local ODD = {
  0 / 0, 1 / 0, -1 / 0, 1.7, 1e308, 2 ^ 31, 2 ^ 40, -2 ^ 40, 2 ^ 62, -2 ^ 31, 0, -1, 'x', false,
}
local cases = dofile(arg[1])
local r = { null = {}, type = 'torch.DoubleTensor' }

function r.int(a, b) return math.floor(torch.uniform(a, b + 1)) end
function r.real(a, b) return torch.uniform(a, b) end
function r.bool() return torch.uniform() < 0.5 end
function r.pick(...) return (select(r.int(1, select('#', ...)), ...)) end
function r.tensor(...) return torch.Tensor(...):normal() end
r.plain = r.tensor
function r.between(a, b, ...) return torch.Tensor(...):uniform(a, b) end
function r.positive(...) return r.between(0.05, 0.95, ...) end
function r.zeros(...) return torch.Tensor(...):zero() end
function r.out() return torch.Tensor() end
function r.index(max, ...)
  return torch.LongTensor(...):apply(function() return r.int(1, max) end)
end
function r.longs(...) return torch.LongTensor(...):zero() end
function r.ints(...) return torch.IntTensor(...):zero() end

local functions = torch.getmetatable(r.type).THNN

-- Calls a function with the arguments of a case, which the seed gives, but for one of them.
local function call(name, seed, at, value)
  torch.manualSeed(seed)
  local args = cases[name](r)
  local given, n = {}, args.n or #args
  for k = 1, n do
    local a = args[k]
    if torch.isTensor(a) then given[k] = a:cdata() elseif a ~= r.null then given[k] = a end
  end
  if at then given[at] = value end
  local ok, message = pcall(function() functions[name](unpack(given, 1, n)) end)
  return ok, message, args -- which must live so long
end

local function good_seed(name)
  for seed = 1, 50 do
    if call(name, seed) then return seed end
  end
  error('no case of ' .. name .. ' is right')
end

for k = 4, #arg do
  local name, places = arg[k]:match('^(.*):(.*)$')
  local seed = cases[name] and good_seed(name)
  for at in seed and places:gmatch('%d+') or function() end do
    for _, value in ipairs(ODD) do
      local ok, message = call(name, seed, tonumber(at), value or nil)
      message = ok and 'done' or message:gsub('^.*odd_numbers.lua:%d+: ', ''):gsub('\n', ' ')
      print(name, at, value or 'nil', message)
    end
  end
end
