-- Prints, for each call and number of elements, a name, the number and the microseconds of one call,
-- by the processor's clock: the best of some rounds. It runs here and in Torch7; see calls.py.

local SECONDS, ROUNDS = 0.004, 4

local function time(f)
  for _ = 1, 60 do f() end
  local count, taken = 20, 0
  while taken < SECONDS do
    count = count * 2
    local start = os.clock()
    for _ = 1, count do f() end
    taken = os.clock() - start
  end
  local best = taken / count
  for _ = 2, ROUNDS do
    local start = os.clock()
    for _ = 1, count do f() end
    best = math.min(best, (os.clock() - start) / count)
  end
  return best * 1e6
end

local function calls(n, kind)
  local class = torch[kind .. 'Tensor']
  local rows = n / 10
  local side = math.floor(math.sqrt(n))
  local x, y, out = class(n):uniform(), class(n):uniform(), class(n):zero()
  local m, other = class(rows, 10):uniform(), class(rows, 10):uniform()
  local square, product = class(side, side):uniform(), class(side, side):zero()
  local v, w = class(side):uniform(), class(side):zero()
  local at = torch.LongTensor(n):random(1, n)
  local row, columns = torch.LongTensor(rows):random(1, rows), torch.LongTensor(rows, 1):random(1, 10)
  local column = class(rows, 1):uniform()
  local mask = x:gt(0.5)
  local source, values, places = class(n):uniform(), class(n), torch.LongTensor(n)
  return {
    { 'dot', function() return x:dot(y) end },
    { 'mv', function() return w:mv(square, v) end },
    { 'mm', function() return product:mm(square, square) end },
    { 'torch.mm', function() return torch.mm(square, square) end },
    { 'm * v', function() return square * v end },
    { 'ger', function() return torch.ger(v, v) end },
    { 'addmv', function() return w:addmv(0, 1, square, v) end },
    { 'addr', function() return product:addr(0.001, v, v) end },
    { 'addmm', function() return product:addmm(0, 1, square, square) end },
    { 'addmm, transposed', function() return product:addmm(0, 1, square:t(), product) end },
    { 'gather', function() return m:gather(2, columns) end },
    { 'gather, vector', function() return x:gather(1, at) end },
    { 'scatter', function() return m:scatter(2, columns, column) end },
    { 'scatter, vector', function() return out:scatter(1, at, 1) end },
    { 'index', function() return m:index(1, row) end },
    { 'index, vector', function() return x:index(1, at) end },
    { 'indexCopy', function() return m:indexCopy(1, row, other) end },
    { 'indexAdd', function() return m:indexAdd(1, row, other) end },
    { 'indexFill', function() return out:indexFill(1, at, 2) end },
    { 'maskedFill', function() return out:maskedFill(mask, 3) end },
    { 'maskedSelect', function() return x:maskedSelect(mask) end },
    { 'maskedCopy', function() return out:maskedCopy(mask, source) end },
    { 'x[mask]', function() return x[mask] end },
    { 'x[mask] = v', function() out[mask] = 1 end },
    { 'sort', function() return x:sort() end },
    { 'sort to', function() return torch.sort(values, places, x) end },
    { 'sort rows', function() return m:sort(2) end },
    { 'topk', function() return x:topk(3, 1, true, true) end },
    { 'kthvalue', function() return x:kthvalue(3) end },
    { 'median of rows', function() return m:median(2) end },
    { 'mode', function() return x:mode() end },
    { 'uniform', function() return out:uniform(-1, 1) end },
    { 'normal', function() return out:normal() end },
    { 'bernoulli', function() return out:bernoulli(0.5) end },
    { 'randperm', function() return torch.randperm(n) end },
    { 'multinomial', function() return torch.multinomial(x, 1) end },
    { 'ones', function() return torch.ones(n) end },
    { 'range', function() return torch.range(1, n) end },
    { 'linspace', function() return torch.linspace(0, 1, n) end },
    { 'cat', function() return torch.cat(x, y) end },
    { 'repeatTensor', function() return x:repeatTensor(2) end },
  }
end

for _, n in ipairs{ 10, 100, 1000 } do
  for _, kind in ipairs{ 'Double', 'Float' } do
    for _, call in ipairs(calls(n, kind)) do
      io.write(('%s\t%s\t%d\t%.3f\n'):format(call[1], kind, n, time(call[2])))
    end
  end
end
