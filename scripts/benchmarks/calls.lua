-- Prints, for each call and number of elements, a name, the number and the microseconds of one call,
-- by the processor's clock: the best of some rounds. It runs here and in Torch7; see calls.py.
-- Arguments: the seconds that a round takes at least, and the rows to time, each in a line as it is
-- printed, without its time; none for all.

local SECONDS, ROUNDS = tonumber(arg[1]), 4
local chosen = arg[2] and '\n' .. arg[2] .. '\n'

-- Each call is timed by loops of its own: LuaJIT compiles for a loop only so many ways through it.
local TIME = [[
local SECONDS, ROUNDS, f = ...
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
]]

local function time(f)
  collectgarbage()
  return assert(loadstring(TIME))(SECONDS, ROUNDS, f)
end

-- A function that returns tensors in turn: where elements decide which way a call takes, a processor
-- that meets one tensor again and again predicts all of it, as it cannot in a program.
local function in_turn(make)
  local made, k = {}, 0
  for i = 1, 64 do made[i] = make() end
  return function()
    k = k % #made + 1
    return made[k]
  end
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
  local any = in_turn(function() return class(n):uniform() end)
  local any_rows = in_turn(function() return class(rows, 10):uniform() end)
  local any_mask = in_turn(function() return class(n):uniform():gt(0.5) end)
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
    { 'maskedFill', function() return out:maskedFill(any_mask(), 3) end },
    { 'maskedSelect', function() return x:maskedSelect(any_mask()) end },
    { 'maskedCopy', function() return out:maskedCopy(any_mask(), source) end },
    { 'x[mask]', function() return x[any_mask()] end },
    { 'x[mask] = v', function() out[any_mask()] = 1 end },
    { 'sort', function() return any():sort() end },
    { 'sort to', function() return torch.sort(values, places, any()) end },
    { 'sort rows', function() return any_rows():sort(2) end },
    { 'topk', function() return any():topk(3, 1, true, true) end },
    { 'kthvalue', function() return any():kthvalue(3) end },
    { 'median of rows', function() return any_rows():median(2) end },
    { 'mode', function() return any():mode() end },
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

-- Element by element, and reductions: of vectors, and of rows of ten.
local function elements(n, kind)
  local class = torch[kind .. 'Tensor']
  local rows = n / 10
  local x, y, r = class(rows, 10):uniform(), class(rows, 10):uniform(), class(rows, 10)
  local column, line, placed = class(rows, 1), class(1, 10), class(rows, 10)
  local spread = class(rows, 1):uniform():expand(rows, 10)
  local turned = class(10, rows):uniform():t()
  local mask = torch.ByteTensor(rows, 10)
  local is, js = torch.LongTensor(rows, 1), torch.LongTensor(1, 10)
  local list = {}
  for i = 1, n do list[i] = i end
  local calls = {
    { 'torch.Tensor{…}', function() return class(list) end },
    { 'class(rows, 10)', function() return class(rows, 10) end },
    { 'clone', function() return x:clone() end },
    { 'copy, transposed', function() return r:copy(turned) end },
    { 'size()', function() return x:size() end },
    { 'set', function() return placed:set(x) end },
    { 'resize', function() return r:resize(rows, 10) end },
    { 'resizeAs', function() return r:resizeAs(x) end },
    { 'x[1]', function() return x[1] end },
    { 'x[{{}, 2}]', function() return x[{ {}, 2 }] end },
    { 'view', function() return x:view(10, rows) end },
    { 'serialize', function() return torch.serialize(x) end },
    { 'x + y', function() return x + y end },
    { 'x * 2', function() return x * 2 end },
    { '-x', function() return -x end },
    { 'fill', function() return r:fill(1) end },
    { 'add number', function() return r:add(x, 1) end },
    { 'add', function() return r:add(x, 0.5, y) end },
    { 'add, spread', function() return r:add(x, 0.5, spread) end },
    { 'csub', function() return r:csub(x, y) end },
    { 'mul', function() return r:mul(x, 2) end },
    { 'cmul', function() return r:cmul(x, y) end },
    { 'cmul, transposed', function() return r:cmul(x, turned) end },
    { 'div', function() return r:div(x, 2) end },
    { 'cdiv', function() return r:cdiv(x, y) end },
    { 'cdiv, spread', function() return r:cdiv(x, spread) end },
    { 'pow 2', function() return r:pow(x, 2) end },
    { 'pow 2.5', function() return r:pow(x, 2.5) end },
    { 'cpow', function() return r:cpow(x, y) end },
    { 'addcmul', function() return r:addcmul(x, 0.5, x, y) end },
    { 'addcdiv', function() return r:addcdiv(x, 0.5, x, y) end },
    { 'abs', function() return r:abs(x) end },
    { 'neg', function() return r:neg(x) end },
    { 'sign', function() return r:sign(x) end },
    { 'sqrt', function() return r:sqrt(x) end },
    { 'exp', function() return r:exp(x) end },
    { 'log', function() return r:log(x) end },
    { 'sin', function() return r:sin(x) end },
    { 'sigmoid', function() return r:sigmoid(x) end },
    { 'tanh', function() return r:tanh(x) end },
    { 'floor', function() return r:floor(x) end },
    { 'round', function() return r:round(x) end },
    { 'clamp', function() return r:clamp(x, 0.2, 0.8) end },
    { 'cmax', function() return r:cmax(x, y) end },
    { 'cmax number', function() return r:cmax(x, 0.5) end },
    { 'lerp', function() return r:lerp(x, y, 0.3) end },
    { 'fmod', function() return r:fmod(x, 0.3) end },
    { 'gt', function() return x:gt(0.5) end },
    { 'gt to', function() return x.gt(mask, x, y) end },
    { 'eq', function() return x:eq(y) end },
    { 'sum', function() return x:sum() end },
    { 'sum(1)', function() return line:sum(x, 1) end },
    { 'sum(2)', function() return column:sum(x, 2) end },
    { 'torch.sum(x, 2)', function() return torch.sum(x, 2) end },
    { 'mean', function() return x:mean() end },
    { 'mean(1)', function() return line:mean(x, 1) end },
    { 'mean(2)', function() return column:mean(x, 2) end },
    { 'prod', function() return x:prod() end },
    { 'prod(2)', function() return column:prod(x, 2) end },
    { 'var', function() return x:var() end },
    { 'var(1)', function() return torch.var(line, x, 1) end },
    { 'var(2)', function() return torch.var(column, x, 2) end },
    { 'std', function() return x:std() end },
    { 'std(1)', function() return torch.std(line, x, 1) end },
    { 'std(2)', function() return torch.std(column, x, 2) end },
    { 'norm', function() return x:norm() end },
    { 'norm 1', function() return x:norm(1) end },
    { 'norm(2, 1)', function() return line:norm(x, 2, 1) end },
    { 'norm(2, 2)', function() return column:norm(x, 2, 2) end },
    { 'dist', function() return x:dist(y) end },
    { 'renorm', function() return r:renorm(x, 2, 1, 1) end },
    { 'max', function() return x:max() end },
    { 'max(1)', function() return torch.max(line, js, x, 1) end },
    { 'max(2)', function() return torch.max(column, is, x, 2) end },
    { 'min(1)', function() return torch.min(line, js, x, 1) end },
    { 'min(2)', function() return torch.min(column, is, x, 2) end },
    { 'x:max(1)', function() return x:max(1) end },
    { 'x:max(2)', function() return x:max(2) end },
    { 'cumsum(1)', function() return r:cumsum(x, 1) end },
    { 'cumsum(2)', function() return r:cumsum(x, 2) end },
    { 'cumprod(2)', function() return r:cumprod(x, 2) end },
    { 'all', function() return mask:all() end },
    { 'trace', function() return x:trace() end },
    { 'tril', function() return r:tril(x) end },
    { 'nonzero', function() return x:nonzero() end },
    { 'equal', function() return x:equal(y) end },
  }
  if n <= 100 then
    local square = class(rows, rows):uniform()
    local right = class(rows, 2):uniform()
    for _, name in ipairs{ 'qr', 'svd', 'inverse', 'eig' } do
      calls[#calls + 1] = { name, function() return torch[name](square) end }
    end
    calls[#calls + 1] = { 'symeig', function() return torch.symeig(square, 'V') end }
    calls[#calls + 1] = { 'gesv', function() return torch.gesv(right, square) end }
  end
  return calls
end

for _, n in ipairs{ 10, 100, 1000 } do
  for _, kind in ipairs{ 'Double', 'Float' } do
    for _, rows in ipairs{ calls(n, kind), elements(n, kind) } do
      for _, call in ipairs(rows) do
        local name = ('%s\t%s\t%d'):format(call[1], kind, n)
        if not chosen or chosen:find('\n' .. name .. '\n', 1, true) then
          io.write(('%s\t%.3f\n'):format(name, time(call[2])))
        end
      end
    end
  end
end
