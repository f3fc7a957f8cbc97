--- torch.test: a short test of this installation, with torch.Tester's progress and report.
-- @module selftest

local suite = torch.TestSuite()
local tester

local REAL, WHOLE = { 'Float', 'Double' }, { 'Byte', 'Char', 'Short', 'Int', 'Long' }

local function precision()
  return torch.getdefaulttensortype() == 'torch.FloatTensor' and 1e-4 or 1e-10
end

function suite.construction()
  tester:eq(torch.Tensor{ { 1, 2 }, { 3, 4 } }, torch.range(1, 4):resize(2, 2))
  tester:eq(torch.eye(2):sum(), 2)
  tester:eq(torch.linspace(0, 1, 3), torch.Tensor{ 0, 0.5, 1 }, precision())
  tester:eq(torch.zeros(2, 3):size():totable(), { 2, 3 })
end

function suite.types()
  for _, name in ipairs(WHOLE) do
    local x = torch.Tensor{ 1.9, 2, 100 }:type('torch.' .. name .. 'Tensor')
    tester:eq(x:double(), torch.DoubleTensor{ 1, 2, 100 }, name)
  end
  for _, name in ipairs(REAL) do
    tester:eq(torch.Tensor{ 1.5 }:type('torch.' .. name .. 'Tensor')[1], 1.5, name)
  end
end

function suite.views()
  local x = torch.zeros(4, 5)
  x:narrow(1, 2, 2):select(2, 3):fill(7)
  tester:eq(x:sum(), 14)
  x:t()[3][1] = 1
  tester:eq(x[{ 1, 3 }], 1)
  tester:eq(x:unfold(2, 2, 1):size():totable(), { 4, 4, 2 })
  tester:eq(torch.ones(1, 3):expand(2, 3):stride(1), 0)
end

function suite.indexing()
  local x = torch.range(1, 12):resize(3, 4)
  tester:eq(x[{ {}, 2 }], torch.Tensor{ 2, 6, 10 })
  tester:eq(x[x:gt(10)], torch.Tensor{ 11, 12 })
  tester:eq(x:index(1, torch.LongTensor{ 3, 1 })[1], torch.range(9, 12))
  tester:assertError(function() return x[4] end)
end

function suite.arithmetic()
  local x, y = torch.range(1, 6):resize(2, 3), torch.ones(2, 3)
  tester:eq(x + y * 2 - 1, x + 1)
  tester:eq(torch.cmul(x, x), torch.pow(x, 2), precision())
  tester:eq(torch.exp(torch.log(x)), x, precision())
  tester:eq(torch.add(x, 2, y), x + 2)
end

function suite.reduction()
  local x = torch.Tensor{ { 3, 1 }, { 2, 5 } }
  local values, indices = torch.max(x, 2)
  tester:eq(values, torch.Tensor{ { 3 }, { 5 } })
  tester:eq(indices, torch.LongTensor{ { 1 }, { 2 } })
  tester:eq({ x:sum(), x:min(), x:mean() }, { 11, 1, 2.75 })
  tester:eq((torch.sort(x:view(4))), torch.Tensor{ 1, 2, 3, 5 })
  tester:eq(torch.cumsum(x, 1)[2], torch.Tensor{ 5, 6 })
end

function suite.algebra()
  local a = torch.rand(5, 5) + torch.eye(5) * 5
  tester:assertlt((a * torch.inverse(a) - torch.eye(5)):abs():max(), precision() * 10)
  local b = torch.rand(5, 2)
  tester:assertlt((a * torch.gesv(b, a) - b):abs():max(), precision() * 10)
  local u, s, v = torch.svd(a)
  tester:assertlt((u * torch.diag(s) * v:t() - a):abs():max(), precision() * 100)
  tester:eq(torch.conv2(torch.ones(3, 3), torch.ones(2, 2)), torch.ones(2, 2) * 4)
end

function suite.random()
  local state = torch.getRNGState()
  local first = torch.randn(10)
  torch.setRNGState(state)
  tester:eq(torch.randn(10), first)
  tester:eq((torch.sort(torch.randperm(8))), torch.range(1, 8))
  tester:assertlt(math.abs(torch.rand(1000):mean() - 0.5), 0.1)
end

function suite.loops()
  local x = torch.range(1, 3)
  x:apply(function(v) return v * v end)
  tester:eq(x, torch.Tensor{ 1, 4, 9 })
  x:map(torch.ones(3), function(a, b) return a - b end)
  tester:eq(x, torch.Tensor{ 0, 3, 8 })
end

function suite.storages()
  local s = torch.LongStorage{ 4, 5, 6 }
  tester:eq(torch.LongStorage(s, 2, 2):totable(), { 5, 6 })
  tester:eq(torch.Tensor(2, 2):storage():size(), 4)
end

function suite.serialization()
  local x = torch.range(1, 4)
  local copy = torch.deserialize(torch.serialize{ x, x:narrow(1, 2, 2), name = 'pair' })
  copy[1]:fill(9)
  tester:eq(copy[2], torch.Tensor{ 9, 9 })
  tester:eq(copy.name, 'pair')
end

--- Runs the tests (all, or those whose names match); returns the tester.
return function(names)
  tester = torch.Tester()
  tester:add(suite)
  tester:run(names)
  return tester
end
