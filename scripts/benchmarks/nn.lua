--- Steps of nets, which nn.py times: th's, or the real Torch7's. nn_torch.py has the same ones.
-- Reads lines of a row's name, the element type, a clock ('cpu' or 'wall') and seconds, and answers
-- the milliseconds of a step, the best of rounds for so long; or why there are none.

require 'nn'
for _, name in ipairs{ 'nngraph', 'optim', 'rnn' } do pcall(require, name) end
local threads = tonumber(arg[1])
if threads then torch.setnumthreads(threads) end

local rows = {}
local tensor_type -- torch.FloatTensor or torch.DoubleTensor, by its name

local function as(module) return module:type(tensor_type) end
local function randn(...) return torch.randn(...):type(tensor_type) end
local function classes(count, most) return torch.Tensor(count):random(most):type(tensor_type) end

local function chain(...)
  local net = nn.Sequential()
  for _, module in ipairs{...} do net:add(module) end
  return net
end

-- A step that trains: gradients, and what an update makes of the parameters.
local function trainer(net, criterion, x, y, update)
  net, criterion = as(net), as(criterion)
  local parameters, gradients = net:getParameters()
  return function()
    gradients:zero()
    local out = net:forward(x)
    criterion:forward(out, y)
    net:backward(x, criterion:backward(out, y))
    if update then
      update(function() return 0, gradients end, parameters)
    else
      parameters:add(-.01, gradients)
    end
  end
end

-- A step without an update; the gradient of the result is the result itself.
local function passes(net, x)
  net = as(net)
  return function() net:backward(x, net:forward(x)) end
end

local function inference(net, x)
  net = as(net)
  net:evaluate()
  return function() net:forward(x) end
end

local function conv(from, to, size, step, padding)
  return nn.SpatialConvolution(from, to, size, size, step or 1, step or 1, padding or 0,
    padding or 0)
end
local function max_pool(size, step, padding)
  return nn.SpatialMaxPooling(size, size, step or size, step or size, padding or 0, padding or 0)
end
local function norm(planes) return nn.SpatialBatchNormalization(planes) end
local ReLU = nn.ReLU

rows['MLP 784-256-10, 32'] = function()
  local net = chain(nn.Linear(784, 256), nn.Tanh(), nn.Linear(256, 10), nn.LogSoftMax())
  return trainer(net, nn.ClassNLLCriterion(), randn(32, 784), classes(32, 10))
end

rows['MLP 20-50-5, 10'] = function()
  local net = chain(nn.Linear(20, 50), ReLU(), nn.Linear(50, 5), nn.LogSoftMax())
  return trainer(net, nn.ClassNLLCriterion(), randn(10, 20), classes(10, 5))
end

rows['LeNet, 32'] = function()
  local net = chain(conv(1, 6, 5), ReLU(), max_pool(2), conv(6, 16, 5), ReLU(), max_pool(2),
    nn.View(400), nn.Linear(400, 120), ReLU(), nn.Linear(120, 84), ReLU(), nn.Linear(84, 10),
    nn.LogSoftMax())
  return trainer(net, nn.ClassNLLCriterion(), randn(32, 1, 32, 32), classes(32, 10))
end

rows['convolution 64-64 3x3 56x56, 2'] = function()
  return passes(conv(64, 64, 3, 1, 1), randn(2, 64, 56, 56))
end

rows['batch-norm 64 28x28, 8'] = function() return passes(norm(64), randn(8, 64, 28, 28)) end

rows['1-D convolution + max 50x100, 16'] = function()
  return passes(chain(nn.TemporalConvolution(100, 64, 5), ReLU(), nn.Max(2)), randn(16, 50, 100))
end

-- A step of an LSTM as programs write it in nngraph: a table of the next cells and states.
local function lstm(x, c, h, from, size)
  local sums = nn.CAddTable()({ nn.Linear(from, 4 * size)(x), nn.Linear(size, 4 * size)(h) })
  local gates = { nn.SplitTable(2)(nn.Reshape(4, size)(sums)):split(4) }
  local write = nn.CMulTable()({ nn.Sigmoid()(gates[1]), nn.Tanh()(gates[4]) })
  local next_c = nn.CAddTable()({ nn.CMulTable()({ nn.Sigmoid()(gates[2]), c }), write })
  return next_c, nn.CMulTable()({ nn.Sigmoid()(gates[3]), nn.Tanh()(next_c) })
end

rows['LSTM cell 128, 50 x 10'] = function()
  local x, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
  local net = as(nn.gModule({ x, c, h }, { lstm(x, c, h, 128, 128) }))
  local parameters, gradients = net:getParameters()
  local inputs, cells, states = randn(50, 128), randn(50, 128), randn(50, 128)
  return function()
    gradients:zero()
    local a, b = cells, states
    for _ = 1, 10 do
      local out = net:forward{ inputs, a, b }
      net:backward({ inputs, a, b }, { cells, states })
      a, b = out[1]:clone(), out[2]:clone()
    end
    parameters:add(-.01, gradients)
  end
end

rows['VGG-like 3 x conv 3x3, 8x3x64x64'] = function()
  local net = chain(conv(3, 32, 3, 1, 1), ReLU(), max_pool(2), conv(32, 64, 3, 1, 1), ReLU(),
    max_pool(2), conv(64, 128, 3, 1, 1), ReLU(), max_pool(2), nn.View(128 * 64),
    nn.Linear(128 * 64, 10), nn.LogSoftMax())
  return trainer(net, nn.ClassNLLCriterion(), randn(8, 3, 64, 64), classes(8, 10))
end

-- A block of two convolutions and what passes them by.
local function residual(from, to, step)
  local by = step == 1 and from == to and nn.Identity() or chain(conv(from, to, 1, step), norm(to))
  local block = chain(conv(from, to, 3, step, 1), norm(to), ReLU(), conv(to, to, 3, 1, 1), norm(to))
  return chain(nn.ConcatTable():add(block):add(by), nn.CAddTable(), ReLU())
end

rows['ResNet block 64 28x28, 8'] = function()
  return passes(residual(64, 64, 1), randn(8, 64, 28, 28))
end

-- What OneHot of char-rnn does.
local OneHot = torch.class('OneHotOfBenchmark', 'nn.Module')
function OneHot:__init(size) nn.Module.__init(self) self.size, self.eye = size, torch.eye(size) end
function OneHot:updateOutput(input)
  self.output:resize(input:size(1), self.size):zero()
  self.output:copy(self.eye:type(self.output:type()):index(1, input:long()))
  return self.output
end

-- char-rnn: a net of one step, of which there is a copy for each, with common parameters.
rows['char-rnn 2 x LSTM 128, 50 x 50'] = function()
  local batch, steps, size, kinds = 50, 50, 128, 65
  local x, inputs, outputs = nn.Identity()(), {}, {}
  for k = 1, 4 do inputs[k] = nn.Identity()() end
  local c1, h1 = lstm(OneHotOfBenchmark(kinds)(x), inputs[1], inputs[2], kinds, size)
  local c2, h2 = lstm(h1, inputs[3], inputs[4], size, size)
  local told = nn.LogSoftMax()(nn.Linear(size, kinds)(h2))
  local net = as(nn.gModule({ x, unpack(inputs) }, { c1, h1, c2, h2, told }))
  local parameters, gradients = net:getParameters()
  parameters:uniform(-.08, .08)
  local nets, criteria, texts, wanted = {}, {}, {}, {}
  for t = 1, steps do
    nets[t] = net:clone('weight', 'bias', 'gradWeight', 'gradBias')
    criteria[t] = as(nn.ClassNLLCriterion())
    texts[t], wanted[t] = classes(batch, kinds), classes(batch, kinds)
  end
  local start = {}
  for k = 1, 4 do start[k] = torch.zeros(batch, size):type(tensor_type) end
  local settings = { learningRate = 2e-3, alpha = .95 }
  local function gradient()
    gradients:zero()
    local states, answers, loss = { [0] = start }, {}, 0
    for t = 1, steps do
      local out = nets[t]:forward{ texts[t], unpack(states[t - 1]) }
      states[t], answers[t] = { unpack(out, 1, 4) }, out[5]
      loss = loss + criteria[t]:forward(out[5], wanted[t])
    end
    local back = {}
    for k = 1, 4 do back[k] = start[k]:clone():zero() end
    for t = steps, 1, -1 do
      back[5] = criteria[t]:backward(answers[t], wanted[t])
      back = { unpack(nets[t]:backward({ texts[t], unpack(states[t - 1]) }, back), 2, 5) }
    end
    gradients:clamp(-5, 5)
    return loss / steps, gradients
  end
  return function() optim.rmsprop(gradient, parameters, settings) end
end

rows['SeqLSTM 128, 50 x 50'] = function()
  local net = as(nn.SeqLSTM(128, 128))
  local parameters, gradients = net:getParameters()
  local x = randn(50, 50, 128)
  return function()
    gradients:zero()
    net:backward(x, net:forward(x))
    parameters:add(-.01, gradients)
  end
end

-- Words of 10,000, of which 32 lines of 50 are looked up.
local function looking_up(update)
  local settings = { learningRate = .01 }
  local net = as(nn.LookupTable(10000, 128))
  local parameters, gradients = net:getParameters()
  local words, back = torch.LongTensor(32, 50):random(10000), randn(32, 50, 128)
  return function()
    gradients:zero()
    net:forward(words)
    net:backward(words, back)
    update(function() return 0, gradients end, parameters, settings)
  end
end
rows['LookupTable 10000x128, sgd'] = function() return looking_up(optim.sgd) end
rows['LookupTable 10000x128, adam'] = function() return looking_up(optim.adam) end

rows['autoencoder 28x28, 32'] = function()
  local net = chain(conv(1, 16, 3, 2, 1), ReLU(), conv(16, 32, 3, 2, 1), ReLU(),
    nn.SpatialFullConvolution(32, 16, 3, 3, 2, 2, 1, 1, 1, 1), ReLU(),
    nn.SpatialFullConvolution(16, 1, 3, 3, 2, 2, 1, 1, 1, 1), nn.Sigmoid())
  local x = randn(32, 1, 28, 28)
  return trainer(net, nn.MSECriterion(), x, x)
end

rows['ResNet-18 224x224, 1'] = function()
  local net = chain(conv(3, 64, 7, 2, 3), norm(64), ReLU(), max_pool(3, 2, 1))
  local from = 64
  for k, to in ipairs{ 64, 128, 256, 512 } do
    net:add(residual(from, to, k == 1 and 1 or 2)):add(residual(to, to, 1))
    from = to
  end
  net:add(nn.SpatialAveragePooling(7, 7)):add(nn.View(512)):add(nn.Linear(512, 1000))
  return inference(net, randn(1, 3, 224, 224))
end

rows['VGG-16 224x224, 1'] = function()
  local net, from = nn.Sequential(), 3
  for block, count in ipairs{ 2, 2, 3, 3, 3 } do
    for _ = 1, count do
      local to = math.min(32 * 2 ^ block, 512)
      net:add(conv(from, to, 3, 1, 1)):add(ReLU(true))
      from = to
    end
    net:add(max_pool(2))
  end
  net:add(nn.View(512 * 49)):add(nn.Linear(512 * 49, 4096)):add(ReLU(true))
  net:add(nn.Linear(4096, 4096)):add(ReLU(true)):add(nn.Linear(4096, 1000))
  return inference(net, randn(1, 3, 224, 224))
end

local clocks = { cpu = os.clock }
function clocks.wall()
  clocks.timer = clocks.timer or torch.Timer()
  return clocks.timer:time().real
end

-- Milliseconds of a step: the best of short rounds.
local function time(step, clock, seconds)
  local best, count, begun = math.huge, 1, clock()
  repeat
    local start = clock()
    for _ = 1, count do step() end
    local taken = clock() - start
    best = math.min(best, taken / count)
    if taken < seconds / 40 then count = count * 2 end
  until clock() - begun > seconds
  return best * 1000
end

local name, step -- of the last row; there is memory for one alone
for line in io.lines() do
  local row, kind, clock, seconds = line:match('^(.*)\t(.*)\t(.*)\t(.*)$')
  local ok, told = true, nil
  if name ~= row .. kind then
    step, name, tensor_type = nil, row .. kind, 'torch.' .. kind .. 'Tensor'
    collectgarbage()
    collectgarbage()
    torch.setdefaulttensortype(tensor_type)
    torch.manualSeed(1)
    ok, step = pcall(rows[row])
    if ok then for _ = 1, 3 do step() end end
  end
  if ok then ok, told = pcall(time, step, clocks[clock], tonumber(seconds)) end
  print(ok and ('%.5f'):format(told) or tostring(told or step):gsub('\n.*', ''))
  io.flush()
end
