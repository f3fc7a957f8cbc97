--- torch.test: a short test of this installation, with torch.Tester's progress and report. It tries
-- what depends on the libraries that are installed: LuaJIT, numpy, BLAS and LAPACK.
-- @module selftest

local suite = torch.TestSuite()
local tester

local function precision()
  return torch.getdefaulttensortype() == 'torch.FloatTensor' and 1e-4 or 1e-10
end

function suite.elements()
  local x = torch.zeros(4, 5)
  x:narrow(1, 2, 2):select(2, 3):fill(7)
  x:t()[3][1] = 1.5
  tester:eq(x:sum(), 15.5)
  tester:eq(x:int()[x:int():gt(6)], torch.IntTensor{ 7, 7 })
  x:apply(function(v) return v + 1 end)
  tester:eq(x[{ 1, 3 }], 2.5)
end

function suite.arithmetic()
  local x = torch.range(1, 6):resize(2, 3)
  tester:eq(torch.exp(torch.log(x)), x, precision())
  local values, indices = torch.max(x, 2)
  tester:eq(values, torch.Tensor{ { 3 }, { 6 } })
  tester:eq(indices, torch.LongTensor{ { 3 }, { 3 } })
end

function suite.algebra()
  local a, b = torch.rand(5, 5) + torch.eye(5) * 5, torch.rand(5, 2)
  tester:assertlt((a * torch.inverse(a) - torch.eye(5)):abs():max(), precision() * 10)
  tester:assertlt((a * torch.gesv(b, a) - b):abs():max(), precision() * 10)
  local u, s, v = torch.svd(a)
  tester:assertlt((u * torch.diag(s) * v:t() - a):abs():max(), precision() * 100)
end

function suite.random()
  local state = torch.getRNGState()
  local first = torch.randn(10)
  torch.setRNGState(state)
  tester:eq(torch.randn(10), first)
  tester:eq((torch.sort(torch.randperm(8))), torch.range(1, 8))
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
